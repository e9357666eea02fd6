"""An episode of a run as publication sees it, and the columns of its row that its verdicts decide."""

from dataclasses import dataclass
from datetime import datetime

from schemas.configuration.select_section import SelectKey
from schemas.tables.tables import Row, to_row
from schemas.verdicts.acceptance import AcceptanceStatus, deciding_reason
from schemas.verdicts.step_label import StepLabel
from schemas.verdicts.verdict import Acceptance


@dataclass(frozen=True, slots=True)
class Candidate:
    """A committed episode as publication sees it."""

    episode_id: str
    """The episode's id."""
    unit_id: str
    """The unit it was committed with."""
    task_id: str
    """The task attempted."""
    attempt: int
    """The number of the attempt."""
    template_id: str
    """The task's template."""
    site: str
    """The site that served the pages."""
    policy: str
    """The policy's name."""
    policy_kind: str
    """The kind of the policy."""
    model: str | None
    """The model's name; None without a model."""
    trainable: bool
    """Whether it did not fail for reasons outside the policy."""
    content_sha256: str
    """Hash over its step rows."""
    prompt_sha256: str | None
    """Hash of its system prompt; None without one."""
    n_steps: int
    """Actions taken."""
    whole: bool
    """Whether it must have one step more than actions; False if it failed before its end."""
    picture_bytes: int
    """Estimated size of one of its pictures, from the viewport."""
    status: AcceptanceStatus
    """Its status under the rule."""
    acceptance: Acceptance
    """The columns with the rule's result."""
    labels: tuple[StepLabel, ...] | None
    """The label of each of its actions; None if `steps` has not judged it."""
    success: bool | None
    """Whether the site reported success; None if no verifier judged it."""
    verdicts_hash: str | None
    """Hash over its verdicts, with the evidence that becomes columns; None without a verdict."""
    statuses: frozenset[tuple[str, str]]
    """Of each verifier whose verdict counts, its name and the status."""
    unit_ended_at: datetime
    """When the last episode of its unit ended."""
    left_out_by: SelectKey | None = None
    """What of the selection leaves it out; None: nothing, or it would not be published anyway."""

    @property
    def family(self) -> str:
        """What stands before the first `/` of its template, as `shop` of `shop/find`."""
        return family_of(self.template_id)


def family_of(template_id: str) -> str:
    """Return the family of a template: what stands before its first `/`."""
    return template_id.partition("/")[0]


def judged_row(candidate: Candidate) -> Row:
    """Return the columns of an episode that come from verdicts, its template, and what left it out."""
    reasons = candidate.acceptance.rejected_because
    return to_row(candidate.acceptance) | {
        "template_id": candidate.template_id,
        "success": candidate.success,
        "status": candidate.status.value,
        "deciding_reason": deciding_reason(reasons) if reasons else None,
        "left_out_by": candidate.left_out_by,
    }
