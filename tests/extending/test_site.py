"""A site from outside: pages behind the gateway, and a class that opens, seeds and reads them.

A site that configurations can name takes a row where the sites are listed (`docs/extending.md`);
the rollout and the verifiers take any site.
"""

import secrets

import pytest
from html_site import CLOCK, ORIGIN, browsing
from scripted_rollouts import attempt_it, scripted_task

from generators.browser.protocol import Session
from generators.sites.protocol import Outcome, Problem, Threshold, Visit
from generators.verify.panel import Panel
from generators.verify.verifiers import make_verifiers
from schemas.action import Click
from schemas.episode import StopReason
from schemas.errors import FailureKind, RolloutFailure
from schemas.sections import AcceptSection
from schemas.task import Task
from schemas.verdict import Status

PAGE = """
<button style="position: absolute; left: 10px; top: 10px; width: 50px; height: 40px">Go</button>
<script>
  var done = false, seed = null, nonce = null;
  document.querySelector("button").onclick = () => { done = true; };
</script>
"""


class ButtonSite:
    """One page, won by its button; the seed is in the goal."""

    name = "button"
    version = "1"
    repeatable = True

    def has_template(self, template_id: str) -> bool:
        """Say whether the template is the one page."""
        return template_id == "press"

    def area(self, template_id: str) -> tuple[int, int] | None:
        """Return none: its pages fill any viewport."""
        del template_id
        return None

    def threshold(self, template_id: str) -> Threshold | None:
        """Return none: the run's holds."""
        del template_id
        return None

    async def visit(self, task: Task) -> Visit:
        """Return the page in virtual time."""
        return Visit(
            start_url=task.start_url, allowed_origins=(ORIGIN,), clock=CLOCK, seed=str(task.seed)
        )

    async def begin(self, visit: Visit, session: Session) -> Problem:
        """Give the page its seed and the nonce."""
        problem = Problem(
            goal=f"Press the button, for number {visit.seed}.", nonce=secrets.token_hex(16)
        )
        await session.evaluate(f"[seed, nonce] = {[visit.seed, problem.nonce]!r}")
        return problem

    async def outcome(self, problem: Problem, session: Session) -> Outcome:
        """Ask the page; one that was loaded later does not have the nonce."""
        if await session.evaluate("nonce") != problem.nonce:
            return Outcome(reward=0.0, done=True)
        done = await session.evaluate("done")
        if not isinstance(done, bool):
            raise RolloutFailure(FailureKind.PAGE, f"expected true or false, got {done!r}")
        return Outcome(reward=float(done), done=done)


@pytest.mark.browser
async def test_a_site_is_attempted_judged_and_replayed() -> None:
    site = ButtonSite()
    task = scripted_task().model_copy(
        update={
            "site": "button",
            "template_id": "press",
            "start_url": f"{ORIGIN}/",
            "split": "train",
        }
    )
    async with browsing({"/": PAGE}) as (chromium, _):
        episode = await attempt_it(chromium, [Click(x=30, y=30)], site=site, task=task)
        names = ("outcome", "replay")
        verifiers = make_verifiers(names, sites={"button": site}, sessions=chromium)
        verdicts = await Panel(verifiers, AcceptSection()).judge(task, episode)

    assert episode.stop_reason is StopReason.FINISHED
    assert episode.instruction == "Press the button, for number 3."
    assert [(verdict.verifier, verdict.status) for verdict in verdicts] == [
        ("outcome", Status.PASSED),
        ("replay", Status.PASSED),
    ]
