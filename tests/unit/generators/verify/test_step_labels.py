"""The type of an action decides nothing: what `steps` says of equal actions that differ by what they are for."""

from typing import Any

import pytest
from pydantic import JsonValue
from support.episodes.shop_steps import (
    HOME,
    LAMP,
    ON_LAMPS,
    ON_SAVE,
    ON_SHOES,
    SAVE,
    SHOE_LIST,
    TASK,
    page,
    said,
    shop_episode,
    write,
)
from support.episodes.step_states import AT, element

from generators.verify.steps import Steps
from schemas.episodes.action import Action, Answer, Click, Scroll, TypeText, Wait
from schemas.episodes.state_delta import Change, Delta
from schemas.tasks.expectation import Expectation
from schemas.verdicts.verdict import Status


async def test_a_look_at_another_view_is_not_on_the_path() -> None:
    """Defect of an earlier version: each click that changed what is seen was called useful."""
    actions: list[Action] = [ON_SHOES, ON_LAMPS, ON_SAVE, Answer()]
    states = [HOME, SHOE_LIST, LAMP, LAMP, LAMP]
    told = await said(shop_episode(actions, states, {2: write(5, 9)}))

    assert told == ["explores", "on_path", "on_path", "on_path"]


async def test_equal_clicks_differ_by_what_they_are_for() -> None:
    used = shop_episode([ON_LAMPS, ON_SAVE, Answer()], [HOME, LAMP, LAMP, LAMP], {1: write(5, 9)})
    wrong = shop_episode([ON_LAMPS, ON_SAVE, Answer()], [HOME, LAMP, LAMP, LAMP], {1: write(5, 8)})
    beside = Click(x=150.0, y=150.0)
    missed = shop_episode([beside, beside, Answer()], [LAMP] * 4)

    assert (await said(used))[:2] == ["on_path", "on_path"]
    assert (await said(wrong))[:2] == ["on_path", "mistake"]
    assert (await said(missed))[:2] == ["mistake", "redundant"]


async def test_idle_steps_are_redundant() -> None:
    told = await said(shop_episode([Wait(), Wait(), Answer()], [HOME] * 4))

    assert told == ["redundant", "redundant", "on_path"]


async def test_a_scroll_explores_leads_back_or_is_of_no_use() -> None:
    down = Scroll(direction="down", amount=9)  # type: ignore[arg-type]
    up = Scroll(direction="up", amount=9)  # type: ignore[arg-type]
    top, end = page("/lamps", SAVE, texts=["Blue lamp"]), page("/lamps", texts=["Green lamp"])
    actions: list[Action] = [down, down, up, ON_SAVE, Answer()]
    told = await said(shop_episode(actions, [top, end, end, top, top, top], {3: write(5, 9)}))
    looked = await said(shop_episode([down, down, Answer()], [top, end, end, end]))

    assert told[2:] == ["on_path", "on_path", "on_path"]
    assert looked == ["explores", "redundant", "on_path"]


async def test_a_wrong_save_is_a_mistake_and_the_next_one_mends_it() -> None:
    actions: list[Action] = [ON_SAVE, ON_SAVE, Answer()]
    other = await said(shop_episode(actions, [LAMP] * 4, {0: write(5, 8), 1: write(8, 9)}))
    alien = {0: write(3, 4, key=2), 1: write(4, 3, key=2)}
    undone = await said(shop_episode(actions, [LAMP] * 4, alien, won=False))

    assert other == ["mistake", "recovery", "on_path"]
    assert undone == ["mistake", "recovery", "mistake"]


async def test_a_save_that_takes_back_what_the_task_wants_is_a_mistake() -> None:
    both = {0: write(5, 9), 1: write(9, 5)}
    told = await said(shop_episode([ON_SAVE, ON_SAVE, Answer()], [LAMP] * 4, both, won=False))

    assert told == ["on_path", "mistake", "mistake"]


async def test_what_a_later_step_uses_up_was_no_mistake() -> None:
    row: JsonValue = {"id": 7, "thing": 1}
    into = Delta(added=(Change(at="/cart", key=7, after=row),))
    out = Delta(removed=(Change(at="/cart", key=7, before=row),), changed=write(5, 9).changed)
    actions: list[Action] = [ON_SAVE, ON_SAVE, Answer()]
    bought = await said(shop_episode(actions, [LAMP] * 4, {0: into, 1: out}))
    left = await said(shop_episode(actions, [LAMP] * 4, {0: into, 1: write(5, 9)}, won=False))

    assert bought == ["on_path", "on_path", "on_path"]
    assert left == ["mistake", "on_path", "mistake"]


async def test_a_mistyped_word_is_a_mistake_and_typing_it_again_mends_it() -> None:
    field = element("Find", value="")
    wrong, right = (field.model_copy(update={"value": text}) for text in ("Blue lanp", "Blue lamp"))
    states = [page("/lamps", one) for one in (field, wrong, right, right)]
    words = [TypeText(text=text, overwrite=True, **AT) for text in ("Blue lanp", "Blue lamp")]
    told = await said(shop_episode([*words, Answer()], states))

    assert told == ["mistake", "recovery", "on_path"]


async def test_a_label_is_not_given_to_an_episode_without_a_state() -> None:
    made = shop_episode([ON_LAMPS, Answer()], [HOME, LAMP, LAMP])
    bare = tuple(step.model_copy(update={"delta": None}) for step in made.steps)
    finding = await Steps({}).examine(TASK, made.model_copy(update={"steps": bare}))

    assert finding.status is Status.UNSUPPORTED
    assert "no state to judge its steps by" in finding.reason
    assert finding.evidence == {}


async def test_a_step_whose_change_is_not_recorded_has_no_label() -> None:
    made = shop_episode([ON_LAMPS, ON_SAVE, Answer()], [HOME, LAMP, LAMP, LAMP])
    steps = list(made.steps)
    steps[0] = steps[0].model_copy(update={"delta": None})
    finding = await Steps({}).examine(TASK, made.model_copy(update={"steps": tuple(steps)}))

    rows: Any = finding.evidence["steps"]
    assert rows[0]["label"] is None
    assert rows[0]["because"] == "what it changed in the server's state is not recorded"


@pytest.mark.parametrize("won", [True, False])
async def test_what_only_a_probe_knows_has_a_label_in_a_success_alone(*, won: bool) -> None:
    task = TASK.model_copy(update={"expect": Expectation(probe="of-a-plug-in")})
    made = shop_episode([ON_SAVE, Answer()], [LAMP] * 3, {0: write(5, 9)}, won=won)

    assert (await said(made, task))[0] == ("on_path" if won else None)


async def test_neither_thoughts_nor_recorded_mistakes_decide() -> None:
    made = shop_episode([ON_LAMPS, ON_SAVE, Answer()], [HOME, LAMP, LAMP, LAMP], {1: write(5, 9)})
    told = {"thought": "This is wrong, I only look around.", "injected_mistake": "confused"}
    steps = tuple(step.model_copy(update=told) for step in made.steps)

    assert await said(made.model_copy(update={"steps": steps})) == await said(made)
