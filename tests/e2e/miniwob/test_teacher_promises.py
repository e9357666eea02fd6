"""What the teacher promises of the templates, and what is called wrong about its thoughts."""

import pytest
from support.episodes.factories import make_step
from support.episodes.untrue_thoughts import untrue

from generators.policy.teacher.skill_table import (
    HAND_SKILLS,
    IMPOSSIBLE,
    PAGE_SKILLS,
    SKILLS,
    UNRELIABLE,
)
from generators.sites.miniwob import template_paths
from schemas.episodes.action import Answer, Click
from schemas.episodes.episode import ThoughtSource
from schemas.episodes.observation import Target


@pytest.mark.parametrize(
    ("said", "thought", "picture"),
    [
        ("has no thought", "", 0),
        ("says div", "It is out of view, so I scroll to the div.", 0),
        ("says class", "There is no button of class red.", 0),
        ("says .ui-t", "I click .ui-tabs-anchor.", 0),
        ("says None", "The name of it is None.", 0),
        ("says rgb(", "This is rgb(1, 2, 3).", 0),
        ("points at 'Submit'", "I click 'Cancel'.", 0),
        ("opens nothing", "The link is not in sight, so I look under the 1st tab.", 1),
        ("opens nothing", "'Submit' is folded, so I unfold it.", 1),
    ],
)
def test_an_untrue_thought_is_told(said: str, thought: str, picture: int) -> None:
    target = Target(tag="button", text="Submit", bbox=(0, 0, 9, 9))
    told = {"thought": thought, "thought_source": ThoughtSource.TEMPLATE, "target": target}
    first = make_step(0, picture=1, action=Click(x=1, y=1)).model_copy(update=told)
    last = make_step(1, picture=picture, action=Answer(text="")).model_copy(
        update={"thought": "All is done."}
    )

    [wrong] = untrue([first, last])
    assert said in wrong


def test_every_family_is_taken_on_or_said_to_be_impossible() -> None:
    small = {name for name in template_paths() if not name.startswith("flight.")}

    assert PAGE_SKILLS.keys().isdisjoint(HAND_SKILLS)
    assert set(SKILLS).isdisjoint(IMPOSSIBLE)
    assert set(SKILLS) | set(IMPOSSIBLE) == set(template_paths())
    assert set(UNRELIABLE) < set(SKILLS)
    assert len(set(SKILLS) & small - set(UNRELIABLE)) >= 90
    assert all(len(reason.split()) > 3 for reason in (IMPOSSIBLE | UNRELIABLE).values())
