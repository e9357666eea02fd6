"""Recordings of either recorder as references, and every way in which one cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.servers.ledger_site import ledger_task

from generators.tasks.recordings.reader import read_recording
from schemas.errors import BadTasks, NotFound
from schemas.tasks.reference import ReferenceStep

TASK = ledger_task()
AT = {"name": "navigate", "url": "http://127.0.0.1:5000/"}
CHROME_AT = {"type": "navigate", "url": "http://127.0.0.1:5000/"}


def role(role: str, name: str, **more: Any) -> dict[str, Any]:
    """Return a locator of codegen's by role and name."""
    return {"kind": "role", "body": role, "options": {"attrs": [], "name": name}, **more}


ADD = {"name": "click", "selector": "the button", "button": "left", "modifiers": 0, "clickCount": 1}
ADD["locator"] = role("button", "Add")


def codegen(*entries: object) -> str:
    """Return the text of a file of codegen's."""
    return "\n".join(json.dumps(entry) for entry in ({"browserName": "chromium"}, *entries))


def chrome(*steps: object) -> str:
    """Return the text of a file of Chrome's Recorder."""
    return json.dumps({"title": "A recording", "steps": [*steps]})


def read(text: str, tmp_path: Path) -> list[ReferenceStep]:
    """Return the reference that a file comes to."""
    path = tmp_path / "recording"
    path.write_text(text, "utf-8")
    return list(read_recording(path, TASK).reference)


def steps(*made: dict[str, str]) -> list[ReferenceStep]:
    """Return steps of a reference."""
    return [ReferenceStep.model_validate(one) for one in made]


@pytest.mark.parametrize(
    ("entry", "made"),
    [
        (ADD, {"do": "click", "on": "Add"}),
        (ADD | {"clickCount": 2}, {"do": "double_click", "on": "Add"}),
        (ADD | {"button": "right"}, {"do": "right_click", "on": "Add"}),
        (ADD | {"name": "check"}, {"do": "click", "on": "Add"}),
        (ADD | {"name": "hover"}, {"do": "hover", "on": "Add"}),
        (
            {"name": "fill", "text": "Rope", "locator": role("textbox", "Entry *")},
            {"do": "type", "on": "Entry", "text": "Rope"},
        ),
        (
            {"name": "select", "options": ["r"], "locator": {"kind": "label", "body": "Colour"}},
            {"do": "choose", "on": "Colour", "text": "r"},
        ),
        ({"name": "press", "key": "a", "modifiers": 2}, {"do": "press", "text": "Control+a"}),
        (
            ADD | {"locator": role("row", "Soap", next=role("button", "Add"))},
            {"do": "click", "on": "Add", "within": "Soap"},
        ),
        (
            ADD | {"locator": {"kind": "default", "body": "#links", "next": role("link", "Home")}},
            {"do": "click", "on": "Home"},
        ),
        (ADD | {"locator": {"kind": "default", "body": "#add"}}, {"do": "click", "on": "#add"}),
        (
            ADD | {"locator": role("link", "Home", next={"kind": "first"})},
            {"do": "click", "on": "Home"},
        ),
        ({"name": "navigate", "url": "http://127.0.0.1:5000/a?b"}, {"do": "open", "text": "/a?b"}),
    ],
)
def test_a_line_of_codegen_is_a_step(
    entry: dict[str, Any], made: dict[str, str], tmp_path: Path
) -> None:
    told = {"name": "assertVisible", "selector": "x"}
    assert read(codegen(AT, entry, told), tmp_path) == steps(made)


@pytest.mark.parametrize(
    ("entries", "made"),
    [
        (
            [{"type": "click", "selectors": [["aria/Add"], ["#x"]], "offsetX": 1, "offsetY": 1}],
            {"do": "click", "on": "Add"},
        ),
        (
            [{"type": "click", "selectors": ["#x"], "button": "secondary"}],
            {"do": "right_click", "on": "#x"},
        ),
        (
            [{"type": "doubleClick", "selectors": [["aria/List", 'aria/Add[role="button"]']]}],
            {"do": "double_click", "on": "Add"},
        ),
        (
            [{"type": "change", "selectors": [["div > input"], ["text/Entry"]], "value": "Rope"}],
            {"do": "type", "on": "Entry", "text": "Rope"},
        ),
        (
            [{"type": "keyDown", "key": key} for key in ("Control", "a")]
            + [{"type": "keyUp", "key": key} for key in ("a", "Control")],
            {"do": "press", "text": "Control+a"},
        ),
        (
            [{"type": "keyDown", "key": "x"}, {"type": "keyDown", "key": "Enter"}],
            {"do": "press", "text": "Enter"},
        ),
    ],
)
def test_a_step_of_chrome_s_recorder_is_a_step(
    entries: list[Any], made: dict[str, str], tmp_path: Path
) -> None:
    around = {"type": "setViewport"}, {"type": "scroll", "y": 9}
    assert read(chrome(around[0], CHROME_AT, *entries, around[1]), tmp_path) == steps(made)


FAR = "http://shop.example"
BAD: dict[str, tuple[str, str]] = {
    "another origin": (
        codegen(AT | {"url": f"{FAR}/"}, ADD),
        f"line 2: was recorded at {FAR}, and the task is at http://ledger.localhost",
    ),
    "another origin in Chrome": (chrome(CHROME_AT | {"url": f"{FAR}/"}), f"step 1: .*{FAR}"),
    "a second origin": (
        codegen(AT, AT | {"url": "http://127.0.0.1:5001/"}, ADD),
        "line 3: .*:5001",
    ),
    "an unknown step": (codegen(AT, {"name": "dance"}), "line 3: unknown step 'dance'"),
    "an unknown step of Chrome's": (
        chrome(CHROME_AT, {"type": "customStep", "name": "x", "parameters": {}}),
        "step 2: unknown step 'customStep'",
    ),
    "broken lines": (codegen(AT) + '\n{"name": }', "line 3, column 10: is no JSON"),
    "a broken object": ('{"title": "a",\n "steps": [}', "line 2, column 12: is no JSON"),
    "nothing": ("", "is empty"),
    "no action": (codegen(AT), "holds no action"),
    "no action in Chrome": (chrome(CHROME_AT), "holds no action"),
    "too many": (codegen(AT, *[ADD] * 201), "holds 201 actions; a reference has at most 200"),
    "a list": ("[1]", "expected an object|expected a recording"),
    "another object": ('{"steps": 1}', "expected a recording"),
    "no words": (
        codegen(AT, ADD | {"selector": "div > b", "locator": {"kind": "default", "body": "div"}}),
        "line 3: the selector div > b names nothing by words",
    ),
    "one of several": (
        codegen(AT, ADD | {"locator": role("button", "Add", next={"kind": "nth", "body": "2"})}),
        "line 3: the selector the button names nothing by words",
    ),
    "no words in Chrome": (
        chrome(CHROME_AT, {"type": "click", "selectors": [["div > b"], ["xpath///b"]]}),
        "step 2: the selector div > b names nothing by words",
    ),
    "no selectors": (chrome(CHROME_AT, {"type": "click"}), "step 2: 'click' needs 'selectors'"),
    "a held key": (codegen(AT, ADD | {"modifiers": 8}), "line 3: a click with a key held down"),
    "no text": (codegen(AT, {"name": "fill", "locator": role("textbox", "a")}), "line 3: 'fill'"),
}


@pytest.mark.parametrize(("text", "why"), BAD.values(), ids=BAD)
def test_a_recording_that_is_no_reference_is_refused_with_the_place(
    text: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(BadTasks, match=why):
        read(text, tmp_path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere: cannot be read"):
        read_recording(tmp_path / "nowhere", TASK)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadTasks, match="is no UTF-8"):
        read_recording(tmp_path / "bytes", TASK)


def test_an_origin_of_the_task_itself_is_no_other(tmp_path: Path) -> None:
    assert read(codegen(AT | {"url": "http://ledger.localhost/"}, ADD), tmp_path) == steps(
        {"do": "click", "on": "Add"}
    )
