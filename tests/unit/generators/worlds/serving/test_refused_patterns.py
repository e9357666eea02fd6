"""Patterns that no world can have are refused, each for its reason."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from support.worlds.drawn import specification
from support.worlds.made_world import SHOP

from generators.worlds.drawing.draw import FOLDER, read_family
from schemas.errors import BadTasks
from schemas.worlds.field import PICKERS
from schemas.worlds.patterns import Section, Shape
from schemas.worlds.world import Transition, Workflow, World


def test_a_board_without_a_workflow_is_refused() -> None:
    world = specification("help_desk", 0)
    view = world.views[0].model_copy(
        update={
            "shape": Shape.BOARD,
            "entity": "contact",
            "columns": ("name",),
            "filters": (),
            "sorts": (),
        }
    )

    with pytest.raises(ValidationError, match="'contact' has no workflow, as a board needs"):
        World.model_validate(world.model_dump() | {"views": [view.model_dump()]})


def test_a_calendar_without_a_date_and_rows_apart_by_none_are_refused() -> None:
    world = specification("library", 0)
    views = [one.model_copy(update={"day": None}) for one in world.views]
    entities = [one.model_copy(update={"apart": one.apart[1:]}) for one in world.entities]

    for change, reason in (
        ({"views": views}, "a calendar has the day of its rows"),
        ({"entities": entities}, "entity 'booking': what keeps rows apart are fields, a date"),
    ):
        with pytest.raises(ValidationError, match=reason):
            World.model_validate(world.model_dump() | change)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"text": "subject"}, "thread of 'ticket': 'comment' has no long_text 'subject'"),
        ({"messages": "letter"}, "thread of 'ticket': there is no entity 'ticket', or no 'letter'"),
        ({"entity": "agent"}, "thread of 'agent': 'comment.ticket' does not lead to 'agent'"),
    ],
)
def test_a_thread_of_what_is_not_there_is_refused(change: dict[str, str], reason: str) -> None:
    world = specification("help_desk", 0)
    (thread,) = world.threads
    whole = world.model_dump() | {"threads": [thread.model_dump() | change]}

    with pytest.raises(ValidationError, match=reason):
        World.model_validate(whole)


def test_a_picker_without_its_package_is_refused() -> None:
    asked = [
        (world, entity, field)
        for world in (specification("clinic", seed) for seed in range(20))
        for entity in world.entities
        for field in entity.fields
        if field.asked_with in PICKERS
    ]
    world, entity, field = asked[0]
    others = [one for one in world.packages if not one.startswith(field.asked_with.value)]

    with pytest.raises(
        ValidationError,
        match=f"'{entity.name}.{field.name}': there is no package '{field.asked_with.value}'",
    ):
        World.model_validate(world.model_dump() | {"packages": others})


def test_settings_of_several_rows_and_sections_of_nothing_are_refused() -> None:
    world = specification("project_board", 0)
    several = [one.model_copy(update={"rows": 2}) for one in world.entities]
    section = Section(label="Other", fields=("none",))
    loose = [one.model_copy(update={"sections": (section,)}) for one in world.entities]

    for entities, reason in ((several, "has one row for ever"), (loose, "'none' is no field")):
        with pytest.raises(ValidationError, match=reason):
            World.model_validate(world.model_dump() | {"entities": entities})


@pytest.mark.parametrize(
    ("family", "old", "new", "reason"),
    [
        ("help_desk", 'messages = "comment"', 'messages = "x"', "threads.ticket.messages: there is no entity 'x'"),
        ("help_desk", 'text = "text"', 'text = "x"', "threads.ticket: 'comment' has no field 'x' in every world"),
        ("help_desk", 'reply = "Reply', 'reply = "Solve', "threads.ticket.reply: workflows.ticket.solve may be called 'Solve' too"),
        ("project_board", 'section = "week"', 'section = "x"', "entities.preferences.fields.begins.section: there is no section 'x'"),
        ("project_board", 'shape = "settings"', 'shape = "x"', "views.preferences.shape: Input should be 'list'"),
    ],
)  # fmt: skip
def test_a_pattern_that_is_not_there_is_refused_by_its_file(
    tmp_path: Path, family: str, old: str, new: str, reason: str
) -> None:
    path = tmp_path / f"{family}.toml"
    text = (FOLDER / f"{family}.toml").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")

    with pytest.raises(BadTasks) as refused:
        read_family(path)

    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ((("a", ("New",), "Done"), ("a", ("Done",), "New")), "two steps of the name 'a'"),
        ((("a", ("New", "Done"), "Done"),), "the step 'a' leads from 'Done' to itself"),
        ((("a", ("New",), "Done"),), "no step leads to 'Lost' or from it"),
    ],
)
def test_a_workflow_that_leads_nowhere_is_refused(
    steps: tuple[tuple[str, tuple[str, ...], str], ...], reason: str
) -> None:
    states = ("New", "Done", "Lost") if "Lost" in reason else ("New", "Done")
    order = SHOP.entity("purchase")
    fields = tuple(
        one.model_copy(update={"choices": states}) if one.name == "status" else one
        for one in order.fields
    )
    flow = Workflow(
        entity="purchase",
        field="status",
        transitions=tuple(
            Transition(name=name, label=f"Step {number}", before=before, after=after)
            for number, (name, before, after) in enumerate(steps)
        ),
    )
    entities = tuple(
        one.model_copy(update={"fields": fields}) if one.name == "purchase" else one
        for one in SHOP.entities
    )

    with pytest.raises(ValidationError, match=reason):
        World.model_validate(
            SHOP.model_copy(update={"entities": entities, "workflows": (flow,)}).model_dump()
        )
