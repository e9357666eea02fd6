"""What `steps` says of the clumsy teacher's steps, beside the teacher's own record of what it did wrong.

Beside what it records, a step was wrong that ended its episode without success, and one that the teacher,
led astray by an earlier mistake, took while picture and page stood still to the byte. What it left out has
no step of its own: there the episode's end without success has to be found. A button pressed before its
turn was no mistake where the episode succeeded. No kind of mistake may go without being found. `make test-full`
tries every template but those named in `UNTOLD`.

No thought of the clumsy teacher contradicts its action, as wrong as the action may be.
"""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from effort import THOROUGH
from support.episodes.clumsy_record import Clumsy, record_clumsy

from generators.policy.teacher.skill_table import SKILLS
from generators.sites.gateway import Gateway
from generators.sites.miniwob import NAME, MiniWob
from generators.verify.steps import Steps
from generators.verify.thoughts import contradiction
from schemas.episodes.action import Answer, KeyDown, KeyUp
from schemas.episodes.mistake import InjectedMistake
from schemas.verdicts.step_label import GOOD_STEPS

FEW = (
    "choose-list",
    "click-button-sequence",
    "click-checkboxes",
    "click-dialog-2",
    "click-option",
    "enter-text",
    "find-word",
    "login-user",
    "search-engine",
    "use-autocomplete",
)
UNTOLD = {
    "bisect-angle": "a point beside the right one is drawn like it",
    "chase-circle": "the circle moves whatever the pointer does",
    "click-pie": "the menu folds and unfolds by itself",
    "hot-cold": "each place that is looked at gives an answer",
    "moving-items": "circles move whatever is clicked",
    "simon-says": "buttons light up by themselves, and what is pressed is not shown",
}
"""Templates on which a mistake looks like what is right, with why."""

MIN_RIGHT = 0.95
"""Share of the steps called wrong that were."""

MIN_FOUND = 0.95
"""Share of the wrong steps that are called so. What is missed cannot be told from stored states: a wrong
choice among many that look alike and that the goal does not name (`number-checkboxes`, tools of
`text-editor`), one that it names as well, and a needless wait on a page that moves by itself."""


def _wrong(clumsy: Clumsy, *, succeeded: bool) -> set[int]:
    """Return the steps that went wrong."""
    harmless = (
        {InjectedMistake.FORGOT, InjectedMistake.HURRIED} if succeeded else {InjectedMistake.FORGOT}
    )
    out = {step for step, slip in clumsy.slips.items() if slip not in harmless}
    steps = clumsy.episode.steps
    for step, after in pairwise(steps):
        ended = step.terminated or isinstance(step.action, Answer)
        still = step.screenshot_sha256 == after.screenshot_sha256 and step.page == after.page
        still = still and not isinstance(step.action, KeyDown | KeyUp)  # never to be seen
        led_astray = min(clumsy.slips, default=step.step) < step.step
        if ended and succeeded:
            out.discard(step.step)  # it missed by so little that it still hit
        elif ended or (led_astray and still):
            out.add(step.step)
    return out


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.usefixtures("one_browser")
async def test_steps_finds_what_the_clumsy_teacher_knows_it_did_wrong() -> None:
    templates = sorted(SKILLS.keys() - UNTOLD.keys()) if THOROUGH else FEW
    made = await record_clumsy(templates, (0, 1, 2))
    found, wrong = set[tuple[int, int]](), set[tuple[int, int]]()
    drawn, told = Counter[InjectedMistake](), Counter[InjectedMistake]()
    async with Gateway() as gateway:
        verifier = Steps({NAME: MiniWob(gateway)})
        for number, clumsy in enumerate(made):
            evidence: Any = (await verifier.examine(clumsy.task, clumsy.episode)).evidence
            rows = evidence.get("steps", ())
            bad = {row["step"] for row in rows if row["label"] not in {*GOOD_STEPS, None}}
            found |= {(number, step) for step in bad}
            truth = _wrong(clumsy, succeeded=evidence.get("succeeded", False))
            wrong |= {(number, step) for step in truth}
            for step, slip in clumsy.slips.items():
                left_out = slip is InjectedMistake.FORGOT and not evidence.get("succeeded", False)
                drawn[slip] += left_out or step in truth
                told[slip] += any(step <= one for one in bad) if left_out else step in bad
            assert (evidence.get("first_mistake") is None) or not evidence["succeeded"]

    thoughts = [contradiction(step) for clumsy in made for step in clumsy.episode.steps]
    assert {*thoughts} == {None}

    def say(those: set[tuple[int, int]]) -> list[str]:
        return [f"{made[n].task.template_id} {made[n].task.seed}: {step}" for n, step in those]

    both = len(found & wrong)
    assert not THOROUGH or {*drawn} == {*InjectedMistake}
    assert all(told[kind] > 0 for kind, times in drawn.items() if times > 1), (drawn, told)
    assert both >= MIN_RIGHT * len(found), (both, len(found), say(found - wrong))
    assert both >= MIN_FOUND * len(wrong), (both, len(wrong), say(wrong - found))
