"""The rows of a published dataset that no table of a run holds: attempts, and the results of policies.

The row of an attempt, accepted or not, has its outcome without its steps. A result has the figures of a
policy at a task. It counts *success*, the site's report under the rule's thresholds, for evaluation;
*accepted* is the rule's result over all verdicts, replays and copies included, for training. A failure
for reasons outside the policy does not count as an attempt, and an outcome without a judgement is no
failure: both are counted separately.

`pass_at_k` is the estimator, as a function of two numbers; the interval is that of `schemas.proportion`.
"""

from typing import Annotated

from schemas.base import Record
from schemas.columns import Int32, Spread
from schemas.configuration.select_section import SelectKey
from schemas.episodes.episode import PolicyKind, StopReason
from schemas.verdicts.acceptance import AcceptanceStatus
from schemas.verdicts.verdict import Acceptance


class Attempt(Record):
    """One committed attempt, accepted or not: its policy, its end and the rule's decision."""

    episode_id: str
    """Its episode; the steps are in `steps` only if it is published as a trajectory."""
    run_id: str
    """The run it belongs to."""
    unit_id: str
    """The unit it was committed with."""
    task_id: str
    """The task attempted, a row of `tasks`."""
    template_id: str
    """The task's template."""
    group_id: str
    """The same for all attempts of one task in one run."""
    attempt: Annotated[int, Int32]
    """From 0."""
    site: str
    """The site that served the pages."""
    policy: str
    """The policy's name."""
    policy_kind: PolicyKind
    """What sort of policy."""
    privileged: bool | None = None
    """The policy was handed more than the observation: it read the page's structure. None where an
    earlier version recorded it."""
    model: str | None = None
    """The model's name; None without a model."""
    dialect: str | None = None
    """The dialect in which the model was prompted; None without a model."""
    seed: int
    """The task's seed."""
    n_steps: Annotated[int, Int32]
    """Actions taken."""
    stop_reason: StopReason
    """Why it ended."""
    failure_kind: str | None = None
    """What failed; None if nothing did."""
    trainable: bool
    """False if the environment, the engine or this program failed, and not the policy."""
    reward: float | None = None
    """The raw reward that the site reported at the end; None if it reported none."""
    reward_before: float | None = None
    """The raw reward that the site reported before the first action; None if it reported none."""
    done: bool
    """The site reported that the task is done."""
    success: bool | None = None
    """The site reported the task as done with a reward that reaches the threshold, as `outcome` judged
    it; None if `outcome` has not judged it, or could not."""
    status: AcceptanceStatus
    """`accepted`, `rejected`, or `unjudged` if no part of the rule failed and a verdict is missing."""
    deciding_reason: str | None = None
    """The one of `rejected_because` that decided; None if it was accepted."""
    left_out_by: SelectKey | None = None
    """The key of the configuration's `select` by which it is no trajectory here, though it might be; None: it is
    one, or it may be none, as it was not accepted."""
    acceptance: Annotated[Acceptance, Spread("")]
    """What the run's rule makes of it; its fields are columns, as in `trajectories`."""


class Result(Record):
    """The result of a policy at a task: the attempts that count, the successes, and the estimates from them."""

    task_id: str
    """The task, a row of `tasks`."""
    template_id: str
    """The task's template."""
    split: str
    """The split that the template is published in."""
    policy: str
    """The policy's name."""
    policy_kind: PolicyKind
    """What sort of policy."""
    model: str | None = None
    """The model's name; None without a model."""
    attempts: Annotated[int, Int32]
    """Attempts that count: neither among `outside_failures` nor among `unjudged`."""
    successes: Annotated[int, Int32]
    """Of these, attempts with `success`: the site's own word under the rule's thresholds."""
    accepted: Annotated[int, Int32]
    """Of these, attempts that the rule accepted; a copy or what no replay confirmed is a success all the
    same, so this may be less than `successes`."""
    pass_at_1: float | None = None
    """The share of `attempts` that succeeded; None if none counts."""
    pass_at_k: tuple[float, ...] = ()
    """For each k from 1 to `attempts`, the probability that one of k attempts succeeds, by the unbiased
    estimator 1 - C(n-c, k) / C(n, k) over n attempts with c successes; empty if none counts."""
    success_low: float | None = None
    """The lower end of the 95 % Wilson interval of the success rate; None if no attempt counts."""
    success_high: float | None = None
    """The upper end of the 95 % Wilson interval of the success rate; None if no attempt counts."""
    outside_failures: Annotated[int, Int32]
    """Attempts that failed for reasons outside the policy, `trainable` false; they count as no attempt."""
    unjudged: Annotated[int, Int32]
    """Other attempts whose outcome nobody judged, `success` None; they count as no attempt."""


def pass_at_k(attempts: int, successes: int) -> tuple[float, ...]:
    """Return, for each k from 1 to `attempts`, the probability that one of k attempts succeeds.

    It is the unbiased estimator of Chen et al. 2021, https://arxiv.org/abs/2107.03374: the share of the
    sets of k of these attempts that hold a success.

    Raises:
        ValueError: there are fewer attempts than successes, or fewer successes than none.
    """
    if not 0 <= successes <= attempts:
        raise ValueError(
            f"expected 0 to {attempts} successes in {attempts} attempts, got {successes}"
        )
    out: list[float] = []
    one_succeeds = 0.0
    for drawn in range(attempts):
        if drawn < attempts - successes:
            one_succeeds += (1 - one_succeeds) * successes / (attempts - drawn)
        else:  # there are no longer enough failures to draw
            one_succeeds = 1.0
        out.append(one_succeeds)
    return tuple(out)
