"""Each step of a reference has a thought, which quotes only what can be known before it."""

import re
from collections.abc import Iterator
from datetime import timedelta
from random import Random

import pytest
from support.episodes.said import says
from support.worlds import drawn
from support.worlds.made_world import SHOP, shop_rows
from support.worlds.tried import families_of, tasks_of

from generators.policy.sentences.vary import vary
from generators.tasks.worlds.ground.mentions import FieldSaid, RowSaid, TermSaid, ValueSaid
from generators.tasks.worlds.ground.task import Draft
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.kinds import KINDS
from generators.tasks.worlds.references.forms import count_to, put
from generators.tasks.worlds.references.pattern_steps import to_month
from generators.tasks.worlds.references.steps import (
    OPENS_ROW,
    answer,
    choose,
    click,
    fill,
    to_list,
)
from generators.tasks.worlds.references.thoughts import think
from schemas.tasks.reference import Do, Purpose, ReferenceStep
from schemas.tasks.task import Task
from schemas.worlds.field import Widget
from schemas.worlds.patterns import Shape

SETTING = Setting(SHOP, shop_rows())
QUOTED = re.compile(r'"([^"]+)"')


def unknown(task: Task) -> list[str]:
    """Return what thoughts of a task's reference quote, though nothing before them says it, be it in small letters."""
    known, found = task.instruction, list[str]()
    for step in task.reference or ():
        assert step.why is not None
        known = f"{known}\n{step.on}\n{step.within}\n{step.text}"
        found += [
            quoted
            for quoted in QUOTED.findall(step.why)
            if quoted.casefold() not in known.casefold()
        ]
    return found


def test_every_step_is_thought_about_by_what_is_known(subtests: pytest.Subtests) -> None:
    for kind in sorted(KINDS):
        for family in families_of(kind):
            with subtests.test(msg=f"{kind} in {family}"):
                tasks = tasks_of(family, kind)
                assert tasks
                assert [words for task in tasks for words in unknown(task)] == []


def thoughts(*steps: ReferenceStep, goal: str = "", answer_kind: str = "none") -> set[str]:
    """Return what may be thought before the last step of a reference in the shop."""
    return {think(steps, goal, answer_kind, Random(seed))[-1].why or "" for seed in range(30)}


def test_what_stands_in_the_goal_is_told_from_what_was_read() -> None:
    named = fill("Name", "Lamp")
    read, stated = thoughts(named), thoughts(named, goal='Name "Lamp"')

    assert all(says(one, "steps.carry", text="Lamp") for one in read)
    assert all(says(one, "steps.fill", text="Lamp") for one in stated)
    assert not any("before" in one for one in stated)
    assert not read & thoughts(fill("Name", ""))


def test_what_was_typed_before_or_is_a_part_of_a_word_is_not_what_the_task_gives() -> None:
    first, again = fill("Price", "4"), fill("Other price", "4")

    assert all(says(one, "steps.carry") for one in thoughts(first, again, goal="Copy it."))
    assert all(says(one, "steps.carry") for one in thoughts(again, goal='It has "14" now.'))
    assert all(says(one, "steps.fill") for one in thoughts(again, goal="Make it 4."))


def test_a_choice_of_a_list_narrows_it_and_one_of_a_form_fills_it() -> None:
    view = SHOP.views[0]
    entity = SHOP.entity(view.entity)
    field = entity.field(view.filters[0])
    (*_, narrowed, _) = to_list(SETTING, view, {field.name: field.choices[0]})
    chosen = field.model_copy(update={"widget": Widget.SELECT})
    filled = put(SETTING, chosen, field.choices[0], before=None)

    assert (narrowed.on, narrowed.text) == (filled[0].on, filled[0].text)
    assert not thoughts(narrowed) & thoughts(*filled)


def test_an_answer_says_where_it_comes_from() -> None:
    endings = [
        thoughts(answer(), answer_kind="none"),
        thoughts(answer("impossible"), answer_kind="none"),
        thoughts(answer("3"), answer_kind="computed"),
        thoughts(answer("3"), answer_kind="verbatim"),
    ]

    assert len(set.union(*endings)) == sum(map(len, endings))


def test_a_thought_that_a_step_has_is_kept() -> None:
    mine = click("Save").model_copy(update={"why": "I like it."})

    assert thoughts(mine) == {"I like it."}


def test_a_way_back_to_a_list_is_not_a_first_visit() -> None:
    to_view = click(SHOP.views[0].label, Purpose.VIEW)

    assert not thoughts(to_view) & thoughts(to_view, to_view)


def test_a_row_that_the_goal_names_is_told_from_one_that_it_does_not() -> None:
    row = click(SETTING.titles(SHOP.entity("product"))[0], Purpose.ROW)

    assert not thoughts(row) & thoughts(row, goal=row.on or "")


def test_a_row_that_is_changed_by_its_menu_is_told_from_one_that_is_read() -> None:
    row, menu = (
        click(SETTING.titles(SHOP.entity("product"))[0], Purpose.ROW),
        click("More", Purpose.MENU),
    )
    for last, key in (
        (click("Edit", Purpose.EDIT), "meant"),
        (click("Facts", Purpose.PART), "row"),
    ):
        said = [think((row, menu, last), "", "none", Random(seed))[0].why for seed in range(20)]
        assert all(says(one, f"steps.{key}") for one in said)


def test_a_slider_is_taken_to_an_end_before_keys_bring_it_closer() -> None:
    order = SHOP.entity("purchase")
    slid = tuple(
        field.model_copy(update={"widget": Widget.SLIDER}) if field.name == "quantity" else field
        for field in order.fields
    )
    entities = tuple(
        order.model_copy(update={"fields": slid}) if entity is order else entity
        for entity in SHOP.entities
    )
    setting = Setting(SHOP.model_copy(update={"entities": entities}), shop_rows())
    steps = put(setting, setting.world.entity("purchase").field("quantity"), 3, before=1)

    for seed in range(10):
        said = [step.why or "" for step in think(steps, "", "none", Random(seed))]
        assert says(said[0], "steps.slider")
        assert says(said[1], "steps.end_of_slider")
        assert all(says(one, "steps.key") for one in said[2:])


def test_a_thought_that_opens_a_closed_list_names_none_of_its_options() -> None:
    view = SHOP.views[0]
    field = SHOP.entity(view.entity).field(view.filters[0])
    (*_, narrowed, _) = to_list(SETTING, view, {field.name: field.choices[0]})

    for said in (thoughts(narrowed), thoughts(choose(field.label, field.choices[0]))):
        assert said
        assert not any(field.choices[0] in one for one in said)


def reasons(kind: str) -> Iterator[tuple[Draft, str]]:
    """Yield drafts of a kind in the shop, each with the thought that it gives for what follows from what was read."""
    for seed in range(40):
        draft = KINDS[kind].draw(SETTING, Random(seed))
        if draft is not None:
            (why,) = [step.why for step in draft.reference if step.why is not None]
            yield draft, vary(why, Random(seed))


def test_an_aggregate_is_worked_out_of_what_was_read() -> None:
    ways = set[str]()
    for draft, why in reasons("aggregate"):
        field, way = draft.words["field"], draft.words["way"]
        assert isinstance(field, FieldSaid)
        assert isinstance(way, TermSaid)
        if field.fields[0].label not in {"In stock", "Quantity"}:
            continue
        *read, result = map(int, re.findall(r"\d+", why))
        match way.name:
            case "total":
                assert sum(read) == result
            case "mean":
                *read, count = read
                assert len(read) == count
                assert sum(read) == result * count
            case "⟦span⟧":
                assert max(read) - min(read) == result
        assert draft.reference[-1].text == str(result)
        ways.add(way.name)
    assert ways == {"total", "mean", "span"}


def test_of_two_rows_both_values_are_named_and_the_one_that_is_asked_for() -> None:
    chosen = set[bool]()
    for draft, why in reasons("compare"):
        *told, best = re.findall(r'"[^"]+"', why)
        first, second = (draft.words[name] for name in ("first", "second"))
        assert isinstance(first, RowSaid)
        assert isinstance(second, RowSaid)
        assert {f'"{first.title}"', f'"{second.title}"'} == {*told}
        assert f'"{draft.reference[-1].text}"' == best
        chosen.add(f'"{first.title}"' == best)
    assert chosen == {True, False}


def test_a_condition_is_thought_to_be_met_where_its_first_value_is_what_the_task_wants() -> None:
    met = set[bool]()
    for draft, why in reasons("conditional"):
        is_met = "condition is met" in why
        wanted = draft.words["first" if is_met else "second"]
        assert isinstance(wanted, ValueSaid)
        shown = SETTING.show(wanted.entity, wanted.field, wanted.value).rstrip(".")
        assert says(why, "kinds.condition", met="" if is_met else "not ", after=shown)
        met.add(is_met)
    assert met == {True, False}


@pytest.mark.parametrize("kind", ["rank", "rank-three", "choose"])
def test_what_comes_first_in_an_order_is_named_with_what_the_list_shows_of_it(kind: str) -> None:
    shown = set[bool]()
    for draft, why in reasons(kind):
        assert ", ".join(QUOTED.findall(why)) == draft.reference[-1].text
        shown.add('", ' in why)
    assert True in shown


def test_a_calendar_is_turned_to_a_month() -> None:
    setting = Setting(*drawn.whole("library", 12))
    view = next(view for view in setting.world.views if view.shape is Shape.CALENDAR)
    later = (setting.world.at.date() + timedelta(days=45)).isoformat()

    assert any("month" in one for one in thoughts(*to_month(setting, view, later)))


def test_a_field_whose_label_names_a_part_of_pages_is_filled_in() -> None:
    parts = SHOP.behaviour.model_copy(update={"parts": ("Overview", "Name")})
    setting = Setting(SHOP.model_copy(update={"behaviour": parts}), shop_rows())
    name = SHOP.entity("product").title

    assert thoughts(*put(setting, name, "Lamp", before=None)) == thoughts(fill("Name", "Lamp"))


def test_an_end_says_nothing_of_what_the_page_shows() -> None:
    row = click(SETTING.titles(SHOP.entity("product"))[0], Purpose.ROW)
    saved = click(SHOP.words.save, Purpose.SAVE)

    for steps in ((row, saved, answer()), (saved, row, answer())):
        said = thoughts(*steps)
        assert any("all that" in one.casefold() for one in said)
        assert not any("shows the change" in one for one in said)


def test_a_row_that_the_goal_does_not_name_is_opened_for_the_conditions_that_it_meets() -> None:
    opened = list[ReferenceStep]()
    for family in families_of("delete-several")[:4]:
        for task in tasks_of(family, "delete-several"):
            steps = task.reference or ()
            chosen = {one.text for one in steps if one.purpose is Purpose.FILTER}
            rows = [one for one in steps if one.purpose in OPENS_ROW and one.by[1:]]
            assert all(chosen <= {fact.value for fact in one.by} for one in rows)
            opened += rows

    assert opened
    assert all(fact.of == one.on for one in opened for fact in one.by)


def test_a_row_that_the_goal_names_is_opened_for_its_name() -> None:
    for family in families_of("edit"):
        for task in tasks_of(family, "edit"):
            rows = [one for one in task.reference or () if one.purpose in OPENS_ROW]
            assert not any(one.by for one in rows if f'"{one.on}"' in task.instruction)


def test_a_button_beside_a_number_is_clicked_for_the_number_that_it_has_to_be() -> None:
    steps = count_to("More", "4", 2)
    said = [one.why or "" for one in think(steps, "", "none", Random(1))]
    assert len(said) == 2
    assert all(says(one, "steps.count_to", text="4") for one in said)


def test_a_row_that_the_goal_describes_is_looked_for_by_what_it_says() -> None:
    found = list[ReferenceStep]()
    for family in families_of("delete"):
        for task in tasks_of(family, "delete"):
            steps = [one for one in task.reference or () if one.do is Do.FIND]
            assert not any(one.by for one in steps if (one.on or "") in task.instruction)
            found += [one for one in steps if one.by]
    assert found
    assert all(fact.of == one.on and fact.value for one in found for fact in one.by)


def aims(kind: str) -> Iterator[tuple[Task, ReferenceStep]]:
    """Yield tasks of a kind with the step that reads a list to its end."""
    for family in families_of(kind)[:6]:
        for task in tasks_of(family, kind):
            yield from ((task, one) for one in task.reference or () if one.do is Do.READ)


def test_a_list_is_read_for_the_conditions_that_the_goal_says() -> None:
    told = list[str]()
    for task, step in aims("count"):
        if says(step.why, "kinds.aim_rows"):
            assert all(one in task.instruction for one in QUOTED.findall(step.why or ""))
            told.append(step.why or "")
        else:
            assert says(step.why, "steps.list")
        assert {fact.of for fact in step.by} == {fact.of for fact in step.keep}
    assert told


def test_a_list_is_read_for_the_values_that_are_added_up() -> None:
    read = list(aims("aggregate"))
    assert read
    for _, step in read:
        assert says(step.why, "kinds.aim_values") or says(step.why, "kinds.aim_all_values")


def test_a_list_that_is_read_in_vain_is_read_for_nothing_that_is_known() -> None:
    read = list(aims("impossible"))
    assert read
    assert all(says(step.why, "steps.list") and not step.by for _, step in read)


def test_the_answer_that_something_is_missing_names_what_was_looked_for() -> None:
    named = [
        (task, task.reference[-1])
        for family in families_of("impossible")[:8]
        for task in tasks_of(family, "impossible")
        if task.reference and task.reference[-1].by
    ]
    assert named
    for task, end in named:
        assert says(end.why, "steps.missing")
        assert end.by[0].of.casefold() in task.instruction.casefold()
        assert f" {end.by[0].of}" in (end.why or "")
        assert '"' not in (end.why or "")  # what it quotes would have to be the answer
