from pathlib import Path

import pytest
from support.episodes.factories import make_screenshot

from generators.policy.protocol import PolicyInput
from generators.policy.scripted import ScriptedPolicy, load_script
from schemas.episodes.action import Answer, Click, Key
from schemas.episodes.observation import Observation, PageState
from schemas.errors import BadTasks

SEEN = Observation(
    screenshot=make_screenshot(1),
    width=64,
    height=48,
    page=PageState(url="http://a.localhost/", title="", scroll_x=0, scroll_y=0),
    observe_ms=0,
)


async def test_actions_come_in_order_and_then_an_empty_answer() -> None:
    policy = ScriptedPolicy([Click(x=1, y=2), Key(key="Enter")], name="mine")
    taken = [(await policy.act(PolicyInput("", [], SEEN))).action for _ in range(4)]

    assert taken == [Click(x=1, y=2), Key(key="Enter"), Answer(), Answer()]
    assert policy.card.name == "mine"


def test_a_script_holds_a_list_for_each_template(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('{"a": [{"type": "key", "key": "Tab"}], "b": []}', encoding="utf-8")

    assert load_script(path) == {"a": (Key(key="Tab"),), "b": ()}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", r"script\.json:1:2: invalid JSON"),
        ("[]", r"script\.json: the whole: a script is an object"),
        ('{"a": {}}', r"script\.json: a: a script is an object"),
        ('{"a": [{"type": "fly"}]}', r"script\.json: a, action 0: .*'fly'"),
        ('{"a": [{"type": "wait"}, {"type": "click", "x": 1}]}', r"a, action 1: click/y: "),
        ('{"a": [{"type": "wait", "s": 1}]}', r"a, action 0: wait/s: "),
    ],
)
def test_a_bad_script_is_refused_and_its_place_named(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = tmp_path / "script.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(BadTasks, match=complaint):
        load_script(path)


def test_a_script_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTasks, match="cannot be read"):
        load_script(tmp_path / "nothing.json")

    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadTasks, match="cannot be read"):
        load_script(tmp_path / "binary.json")


def test_a_script_is_an_ordinary_file() -> None:
    """A device would be read without end."""
    with pytest.raises(BadTasks, match="/dev/zero: a script is an ordinary file"):
        load_script(Path("/dev/zero"))
