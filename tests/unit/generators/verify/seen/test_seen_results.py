"""An end claims a change only in sight of what the change made: typed words on an unsaved form are none."""

import pytest
from support.episodes.factories import make_episode, make_step, make_task
from support.episodes.seen_episodes import look

from generators.verify.seen import Seen
from schemas.base import JsonObject
from schemas.episodes.action import Action, Answer, Key, NoAction, Select, TypeText
from schemas.episodes.episode import Step
from schemas.tasks.expectation import Expectation, RowRule
from schemas.verdicts.verdict import Finding, Status

RULE = RowRule(table="orders", where={"id": 1}, set={"city": "Bonn"})
TYPED, SAVE = TypeText(text="Bonn"), Key(key="Enter")
END = Answer(text="")
FIELD, SHOWN = ("City", (10.0, 10.0, 60.0, 14.0)), ("Bonn", (10.0, 60.0, 60.0, 14.0))


def _step(do: Action, *, shows: bool = False, changes: bool = False) -> Step:
    texts = (FIELD, SHOWN) if shows else (FIELD,)
    return look(*texts, do=do).model_copy(update={"state_changed": changes})


async def _judge(*steps: Step, shown: tuple[str, ...] = ("Bonn",)) -> Finding:
    expect = Expectation(changed=(RULE,), shown=shown)
    task = make_task().model_copy(update={"expect": expect})
    numbered = [one.model_copy(update={"step": at}) for at, one in enumerate(steps)]
    final = make_step(len(steps), picture=1, action=NoAction())
    told = {"steps": (*numbered, final), "n_steps": len(steps), "instruction": "City is Bonn now"}
    return await Seen().examine(task, make_episode(task).model_copy(update=told))


def _missing(found: Finding) -> list[JsonObject]:
    missing = found.evidence["missing"]
    assert isinstance(missing, list)
    return [need for need in missing if isinstance(need, dict)]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param(
            (_step(TYPED), _step(SAVE, shows=True, changes=True), _step(END, shows=True)),
            id="the page after it",
        ),
        pytest.param(
            (
                _step(TYPED),
                _step(SAVE, changes=True),
                _step(SAVE, shows=True),
                _step(SAVE, changes=True),
                _step(END),
            ),
            id="before another change",
        ),
        pytest.param(
            (
                _step(TYPED),
                _step(SAVE, changes=True),
                _step(TYPED),
                _step(END, shows=True),
            ),
            id="looked for by its name",
        ),
        pytest.param((_step(SAVE, changes=True), _step(END, shows=True)), id="by a click alone"),
    ],
)
async def test_an_end_in_sight_of_the_change_has_a_basis(steps: tuple[Step, ...]) -> None:
    found = await _judge(*steps)

    assert found.status is Status.PASSED, found.reason


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((_step(TYPED), _step(SAVE, changes=True), _step(END)), id="never shown"),
        pytest.param(
            (_step(TYPED), _step(SAVE, shows=True, changes=True), _step(END)),
            id="on the form alone",
        ),
        pytest.param(
            (
                _step(SAVE, changes=True),
                _step(TYPED, shows=True),
                _step(SAVE, changes=True),
                _step(END),
            ),
            id="on a form after another change",
        ),
        pytest.param((_step(TYPED), _step(SAVE, shows=True), _step(END, shows=True)), id="unmade"),
    ],
)
async def test_an_end_without_sight_of_the_change_has_none(steps: tuple[Step, ...]) -> None:
    found = await _judge(*steps)

    assert found.status is Status.FAILED
    assert "'Bonn', by which a page shows that what it claims was done" in (found.reason or "")


async def test_each_of_several_texts_is_needed_and_a_selected_option_is_an_entry() -> None:
    ends = (_step(TYPED), _step(SAVE, changes=True), _step(END, shows=True))

    assert (await _judge(*ends, shown=("Bonn", "City"))).status is Status.PASSED
    assert (await _judge(*ends, shown=("Bonn", "Ulm"))).status is Status.FAILED


async def test_a_selected_option_is_an_entry() -> None:
    chosen = _step(Select(x=40, y=20, option="Bonn"))
    before = (_step(SAVE, changes=True), chosen, _step(SAVE, shows=True, changes=True))

    found = [need.get("what") for need in _missing(await _judge(*before, _step(END)))]

    assert any("'Bonn', by which" in str(what) for what in found)


async def test_an_episode_that_the_site_ends_claims_nothing() -> None:
    assert (await _judge(_step(TYPED), _step(SAVE, changes=True))).status is Status.PASSED


def test_what_a_change_looks_like_needs_a_change() -> None:
    with pytest.raises(ValueError, match="shown is what a change looks like"):
        Expectation(answer="4", shown=("Bonn",))
