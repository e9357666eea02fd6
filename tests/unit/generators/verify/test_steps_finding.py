"""What `steps` says of an episode as a whole: each step, how many are good, and the first mistake."""

from typing import Any

import pytest
from support.browsers.scripted_site import ScriptedSite
from support.episodes.step_states import AT, BUTTON, TASK, episode_of, state

from generators.sites.protocol import Threshold
from generators.verify.steps import Steps
from schemas.episodes.action import Action, Click, Hover, Wait
from schemas.episodes.episode import Episode
from schemas.verdicts.verdict import Finding


class Own(ScriptedSite):
    """A site of which one template has a threshold of its own."""

    def threshold(self, template_id: str) -> Threshold | None:
        own = Threshold(reward=0.8, reason="Pixels.")
        return own if template_id == TASK.template_id else None


UNTOLD = "only the pictures could tell, and one is missing or cut"
ACTIONS: list[Action] = [Wait(), Hover(**AT), Click(**AT), Click(x=50.0, y=40.0)]
STATES = [state(0), state(0), state(0), state(1), state(1)]


async def found(episode: Episode, site: ScriptedSite | None = None) -> Finding:
    return await Steps({} if site is None else {TASK.site: site}).examine(TASK, episode)


async def test_every_step_is_told_and_the_good_ones_are_counted() -> None:
    finding = await found(episode_of(ACTIONS, STATES))

    rows: Any = finding.evidence["steps"]
    assert [(row["step"], row["label"], row["visible_change"]) for row in rows] == [
        (0, "redundant", False),
        (1, "redundant", False),
        (2, "on_path", True),
        (3, "on_path", False),
    ]
    assert rows[3]["because"] == "it ended the task with success"
    assert (finding.score, finding.reason) == (0.5, "2 of 4 steps were of use")
    assert (finding.evidence["first_mistake"], finding.evidence["succeeded"]) == (None, True)


async def test_the_first_mistake_is_named() -> None:
    finding = await found(episode_of(ACTIONS, STATES, won=False))

    assert finding.evidence["first_mistake"] == 3
    assert finding.reason == "1 of 4 steps were of use; the first mistake is step 3"
    assert finding.score == 0.25


async def test_a_step_after_which_nothing_was_looked_at_has_no_label() -> None:
    whole = episode_of([Wait(), Click(**AT), Wait()], [state(n, BUTTON) for n in range(4)])
    open_end = whole.steps[1].model_copy(update={"terminated": False})
    cut = whole.model_copy(update={"steps": (whole.steps[0], open_end), "n_steps": 2})

    finding = await found(cut)

    rows: Any = finding.evidence["steps"]
    assert rows[1] == {"step": 1, "label": None, "visible_change": None, "because": UNTOLD}
    assert (finding.score, finding.reason) == (1.0, "2 of 2 steps were of use")


@pytest.mark.parametrize(
    ("reward", "site", "succeeded"),
    [
        (1.0, None, True),
        (0.8, None, False),
        (0.8, Own(), True),
        (0.79, Own(), False),
        (0.8, ScriptedSite(), False),
        (1.0, ScriptedSite(), True),
    ],
)
async def test_success_is_what_the_sites_own_threshold_makes_it(
    reward: float, site: ScriptedSite | None, *, succeeded: bool
) -> None:
    episode = episode_of(ACTIONS, STATES).model_copy(update={"reward": reward})

    assert (await found(episode, site)).evidence["succeeded"] is succeeded
