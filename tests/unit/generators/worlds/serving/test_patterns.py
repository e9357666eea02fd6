"""The patterns of worlds: what references over them change, and what a page refuses."""

from collections.abc import Iterable
from random import Random

import pytest
from support.worlds.drawn import rows_of, specification
from support.worlds.drawn_visits import Row, reward, setting_of, visiting

from generators.tasks.worlds.ground.changes import reply_rule, set_rule
from generators.tasks.worlds.ground.new_values import new_value
from generators.tasks.worlds.ground.world_rows import Setting
from generators.tasks.worlds.references.pattern_steps import (
    drag_card,
    press_card,
    reply,
    to_month,
    to_setting,
    views_of,
)
from generators.tasks.worlds.references.steps import Steps, choose, click, fill, to_row, to_view
from generators.worlds.state.form_fields import asked_fields, form_parts
from generators.worlds.words.catalogue import catalogue
from schemas.tasks.expectation import Expectation, RowRule
from schemas.worlds.field import DataField
from schemas.worlds.patterns import Shape
from schemas.worlds.world import Transition, View, World


def do_to_all(setting: Setting, titles: Iterable[str], action: str) -> Steps:
    """Return how rows of the list in sight are ticked, and what is done to all of them.

    Args:
        setting: the world.
        titles: the rows' titles; all are on the list's page in sight.
        action: its words: a step's label, what deleting is called, or `bulk_label` of a choice.
    """
    words = setting.world.words
    ticks = (click(words.tick.format(title=title)) for title in titles)
    chosen = choose(words.ticked, action)
    return (*ticks, chosen, click(words.run))


def bulk_label(field: DataField, choice: str) -> str:
    """Return the words of the action that gives all ticked rows a choice."""
    return f"{field.label}: {choice}"


def to_day(setting: Setting, view: View, day: str) -> Steps:
    """Return the way from any page to the form for a new row on a day of a calendar, which holds the day."""
    add = setting.world.words.add.format(one=setting.world.entity(view.entity).one)
    return (*to_month(setting, view, day), click(f"{add}, {day}"))


@pytest.mark.parametrize("seed", range(4))
async def test_settings_are_changed_on_a_page_of_sections(seed: int) -> None:
    world = specification("project_board", seed)
    setting, random = setting_of(world), Random(seed)
    (view,) = views_of(setting, Shape.SETTINGS)
    entity = world.entity(view.entity)
    now = setting.row(entity, 1)
    values = {
        field.name: new_value(setting, random, entity, field, unlike=(now[field.name],))
        for field in random.sample(asked_fields(world, entity), 3)
    }

    steps = to_setting(setting, view, values)
    assert await reward(world, steps, Expectation(changed=(set_rule(view, values),))) == 1
    async with visiting(world) as seen:
        page = (await seen.http.get(f"/{view.name}")).text
        bad = await seen.http.post(f"/{view.name}", data={"per_page": "0"})
    assert [section.label in page for section in entity.sections] == [True] * 3
    assert bad.status_code == 422
    told = catalogue(world.language).say("form.number_between", least=5, most=100)
    assert told in bad.text


@pytest.mark.parametrize("seed", range(4))
async def test_a_message_is_written_on_the_page_of_its_row(seed: int) -> None:
    world = specification("help_desk", seed)
    setting, random = setting_of(world), Random(seed)
    (thread,) = world.threads
    entity, view = world.entity(thread.entity), world.view_of(thread.entity)
    assert view is not None
    row = setting.pick(random, entity, setting.namable(view, entity))
    steps = (*to_row(setting, view, entity, row), *reply(setting, thread, "Done, at last."))

    rule = reply_rule(setting, thread, row, "Done, at last.")
    assert await reward(world, steps, Expectation(added=(rule,))) == 1
    assert (rule.where["author"], rule.where["ticket"]) == (world.user, row["id"])


async def test_a_rows_page_shows_its_messages_by_their_days_and_refuses_an_empty_one() -> None:
    world = specification("help_desk", 1)
    (thread,) = world.threads
    rows = rows_of(world)[thread.messages]
    row = max((one[thread.link] for one in rows), key=[o[thread.link] for o in rows].count)
    mine = sorted((o for o in rows if o[thread.link] == row), key=lambda o: (o["written"], o["id"]))
    async with visiting(world) as seen:
        page = (await seen.http.get(f"/ticket/{row}")).text
        empty = await seen.http.post(f"/ticket/{row}/reply", data={"text": "  "})
        none = await seen.http.post("/contact/1/reply", data={"text": "x"})

    places = [page.index(str(one["text"])) for one in mine]
    assert len(mine) > 1
    assert places == sorted(places)
    assert all(str(one["code"]) not in page for one in mine)
    assert empty.status_code == 422
    assert "is required." in empty.text
    assert none.status_code == 404


def a_step(world: World, setting: Setting, random: Random) -> tuple[View, Row, Transition]:
    """Return a board with a row and a step that it may take."""
    (view,) = views_of(setting, Shape.BOARD)
    entity, flow = world.entity(view.entity), world.workflow(view.entity)
    assert flow is not None
    listed = world.view_of(view.entity)
    assert listed is not None
    named = setting.namable(listed, entity)
    able = [
        (row, step) for row in named for step in flow.transitions if row[flow.field] in step.before
    ]
    return (view, *random.choice(able))


@pytest.mark.parametrize("seed", range(3))
async def test_a_card_is_moved_by_dragging_or_by_its_button(seed: int) -> None:
    worlds = (specification("project_board", number) for number in range(10 * seed, 10 * seed + 10))
    world = next(one for one in worlds if views_of(setting_of(one), Shape.BOARD))
    setting, random = setting_of(world), Random(seed)
    view, row, step = a_step(world, setting, random)
    title = str(row["title"])
    rule = RowRule(table="task", where={"id": row["id"]}, set={"status": step.after})

    dragged = drag_card(setting, view, title, step.after)
    pressed = press_card(setting, view, title, step)

    for steps in (dragged, pressed):
        assert await reward(world, steps, Expectation(changed=(rule,))) == 1
    async with visiting(world) as seen:
        page = (await seen.http.get(f"/{view.name}")).text
        sent = await seen.http.post(f"/{view.name}")
        lost = await seen.http.post(f"/task/{row['id']}/do/{step.name}?from=none")
    assert page.count("data-card") == world.entity("task").rows
    assert sent.status_code == 405
    assert lost.url.path == f"/task/{row['id']}"


async def test_a_form_of_several_pages_saves_nothing_before_its_last() -> None:
    world = specification("library", 2)
    member = world.entity("member")
    first, *_, last = form_parts(world, member)
    async with visiting(world) as seen:
        before = seen.table("member")
        await seen.browser.open("/member/new")
        refused = (await seen.http.post("/member/new", data={"page": "0", "go": "next"})).text
        for field in first[1]:
            await seen.browser.do(fill(field.label, "Nemo 1"))
        await seen.browser.do(click(world.words.next))
        await seen.browser.do(click(world.words.previous))
        await seen.browser.do(click(world.words.next))
        between = seen.table("member")
        skipped = await seen.http.post("/member/new", data={"page": "9", "go": "save"})
        after = seen.table("member")

    told = catalogue(world.language).say("form.required", field=first[1][0].label)
    assert told in refused
    assert before == between == after
    assert (skipped.status_code, last[0] in skipped.text) == (422, True)


@pytest.mark.parametrize("action", ["step", "choice", "delete"])
async def test_something_is_done_to_all_rows_that_are_ticked(action: str) -> None:
    world, setting, view = next(
        (world, setting_of(world), view)
        for world in (specification("project_board", seed) for seed in range(40))
        if (view := world.view_of("task")) is not None and view.bulk
    )
    entity, flow = world.entity("task"), world.workflow("task")
    assert flow is not None
    listed = setting.rows_of(entity)[: view.page_size]
    step = next(s for s in flow.transitions if any(r["status"] in s.before for r in listed))
    rows = [row for row in listed if row["status"] in step.before][:3]
    field = entity.field("priority")
    rules = [RowRule(table="task", where={"id": row["id"]}) for row in rows]
    match action:
        case "step":
            label, values = step.label, {"status": step.after}
        case "choice":
            label, values = bulk_label(field, field.choices[0]), {"priority": field.choices[0]}
        case _:
            label, values = world.words.delete, {}
    changed = tuple(
        rule.model_copy(update={"set": values})
        for rule, row in zip(rules, rows, strict=True)
        if values and any(row[name] != value for name, value in values.items())
    )
    expect = Expectation(changed=changed) if values else Expectation(removed=tuple(rules))
    titles = [setting.title(entity, row) for row in rows]

    steps = (*to_view(setting, view), *do_to_all(setting, titles, label))

    assert await reward(world, steps, expect) == 1


async def test_what_cannot_be_done_to_all_ticked_rows_is_done_to_none() -> None:
    world = next(
        world
        for world in (specification("help_desk", seed) for seed in range(40))
        if (view := world.view_of("ticket")) is not None and view.bulk
    )
    view, flow = world.view_of("ticket"), world.workflow("ticket")
    assert view is not None
    assert flow is not None
    step = next(one for one in flow.transitions if one.name == "solve")
    ids: list[object] = [row["id"] for row in rows_of(world)["ticket"]]
    async with visiting(world) as seen:
        before = seen.server.state("a")
        sends: list[tuple[str, list[object], int]] = [
            (f"do:{step.name}", ids, 409),
            ("delete", ids, 409),
            ("delete", [], 409),
            ("delete", ["x", 99_999], 409),
            ("do:none", ids, 400),
        ]
        for action, chosen, status in sends:
            got = await seen.http.post(f"/{view.name}", data={"action": action, "id": chosen})
            assert got.status_code == status, action
        assert seen.server.state("a") == before


async def test_a_calendar_shows_rows_at_their_days_and_leads_to_a_new_one() -> None:
    world = specification("library", 3)
    setting = setting_of(world)
    (view,) = views_of(setting, Shape.CALENDAR)
    booking = world.entity("booking")
    row = max(setting.rows_of(booking), key=lambda one: str(one["day"]))
    day = str(row["day"])
    async with visiting(world) as seen:
        for step in to_month(setting, view, day):
            await seen.browser.do(step)
        month = seen.browser.read[-1]
        for step in to_day(setting, view, day):
            await seen.browser.do(step)
        field = next(one for one in seen.browser.root.walk() if one.attrs.get("name") == "day")
        strange = await seen.http.get(f"/{view.name}?month=9999-99")

    assert str(row["code"]) in month
    assert field.attrs["value"] == day
    assert strange.status_code == 200


async def test_what_another_row_has_taken_is_refused_and_the_rest_is_not() -> None:
    world = specification("library", 3)
    rows = rows_of(world)["booking"]
    taken, other = rows[0], rows[1]
    key = {name: str(taken[name]) for name in ("day", "slot", "branch")}
    new = {"code": "RB-1", "people": "4", "purpose": "", **key}
    purpose = next((one for one in world.entity("booking").fields if one.name == "purpose"), None)
    new |= {"purpose": purpose.choices[0]} if purpose is not None else {}
    free = {**new, "day": "2031-05-05", **({} if world.behaviour.sure is None else {"_sure": "1"})}
    async with visiting(world) as seen:
        before = seen.table("booking")
        clash = await seen.http.post("/booking/new", data=new)
        moved = await seen.http.post(f"/booking/{other['id']}/edit", data={**new, "code": "RB-2"})
        unchanged = seen.table("booking")
        same = await seen.http.post(
            f"/booking/{taken['id']}/edit", data={**free, **key, "code": "RB-3"}
        )
        added = await seen.http.post("/booking/new", data=free)
        after = seen.table("booking")

    assert before == unchanged
    assert (clash.status_code, moved.status_code) == (422, 422)
    assert f"This is taken already: {taken['code']}." in clash.text
    assert (same.status_code, added.status_code) == (200, 200)
    assert (len(after), after[0]["code"]) == (len(before) + 1, "RB-3")


@pytest.mark.parametrize("seed", range(5))
def test_no_two_drawn_rows_have_taken_the_same(seed: int) -> None:
    rows = rows_of(specification("library", seed))["booking"]

    assert len({(row["day"], row["slot"], row["branch"]) for row in rows}) == len(rows)
