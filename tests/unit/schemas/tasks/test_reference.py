"""The steps of a reference: what each needs."""

import pytest
from pydantic import ValidationError

from schemas.tasks.reference import REFERENCE


def test_each_kind_of_step_is_read() -> None:
    steps = REFERENCE.validate_python(
        [
            {"do": "click", "on": "Add", "within": "Lamp"},
            {"do": "type", "on": "Name", "text": ""},
            {"do": "type", "text": "where the focus is"},
            {"do": "select", "on": "Size", "text": "Large"},
            {"do": "drag", "on": "Lamp", "text": "Done"},
            {"do": "press", "text": "Enter"},
            {"do": "open", "text": "/basket"},
            {"do": "answer", "text": "12"},
        ]
    )

    assert [step.do.value for step in steps] == [
        "click",
        "type",
        "type",
        "select",
        "drag",
        "press",
        "open",
        "answer",
    ]


@pytest.mark.parametrize(
    ("step", "rule"),
    [
        ({"do": "click"}, "'click' needs 'on'"),
        ({"do": "click", "on": "Add", "text": "x"}, "'click' has no 'text'"),
        ({"do": "type", "on": "Name"}, "'type' needs 'text'"),
        ({"do": "drag", "on": "Lamp"}, "'drag' needs 'text'"),
        ({"do": "press", "on": "Name", "text": "Enter"}, "'press' is on nothing"),
        ({"do": "answer"}, "'answer' needs 'text'"),
        ({"do": "answer", "text": "1", "within": "Lamp"}, "'answer' is within nothing"),
        ({"do": "glance", "on": "Add"}, "Input should be"),
        ({"do": "hover"}, "'hover' needs 'on'"),
        ({"do": "double_click", "on": "Add", "text": "x"}, "'double_click' has no 'text'"),
        ({"do": "wait"}, "'wait' needs 'on'"),
        ({"do": "back", "text": "x"}, "'back' has no 'text'"),
        ({"do": "tab", "on": "Add", "text": "0"}, "'tab' is on nothing"),
        ({"do": "tab", "text": "first"}, "'tab' needs 'close' or a tab's number, got 'first'"),
        ({"do": "choose", "on": "Size"}, "'choose' needs 'text'"),
        ({"do": "click", "on": ""}, "at least 1 character"),
        ({"do": "click", "on": "Add", "near": "Lamp"}, "Extra inputs"),
    ],
)
def test_a_step_that_lacks_or_has_too_much_is_refused(step: object, rule: str) -> None:
    with pytest.raises(ValidationError, match=rule):
        REFERENCE.validate_python([step])


def test_a_reference_has_a_step() -> None:
    with pytest.raises(ValidationError, match="at least 1 item"):
        REFERENCE.validate_python([])
