"""At the end the teacher claims nothing but what it sees and has done."""

from support.browsers.reference_pages import SEEN
from support.episodes.factories import make_screenshot, make_step

from generators.policy.teacher.last_thought import last_thought
from schemas.episodes.action import Click, TypeText
from schemas.episodes.observation import Sight


def test_what_was_entered_is_named_where_it_is_in_sight() -> None:
    history = [
        make_step(0, picture=1, action=TypeText(text="Ada")),
        make_step(1, picture=2, action=Click(x=1, y=1)),
    ]
    seen = SEEN.model_copy(update={"sights": (Sight(text="Ada Byron", bbox=(0, 0, 9, 9)),)})
    gone = SEEN.model_copy(update={"sights": ()})

    assert "'Ada', which I have entered" in last_thought(history, seen)
    assert "Ada" not in last_thought(history, gone)


def test_a_change_is_claimed_only_where_the_picture_is_another() -> None:
    before = make_step(0, picture=1, action=Click(x=1, y=1))
    same = SEEN.model_copy(update={"screenshot": before.screenshot})
    other = SEEN.model_copy(update={"screenshot": make_screenshot(77)})

    assert "as it did before" in last_thought([before], same)
    assert "has changed" in last_thought([before], other)
