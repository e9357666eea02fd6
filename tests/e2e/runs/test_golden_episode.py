"""Two recorded episodes, held field by field against files that are kept.

A recorder that drops or alters a field is told by its name. Where a value is another each time, its kind
stands in its place: what is None, zero or empty can still be told from what is not. What changes on purpose is
accepted with `pytest tests/e2e/runs/test_golden_episode.py --renew-golden`.
"""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
import pytest_asyncio
from adversarial.lies.retelling import Told
from adversarial.recorded import HEIGHT, WIDTH, recording
from conftest import GOLDEN
from support.episodes.altered_episodes import model_policy
from support.servers.stub_engine import called, clicked

from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.base import Record
from schemas.episodes.action import Action, Answer, Click, Drag, Key, TypeText
from schemas.episodes.episode import PolicyKind, ThoughtSource
from schemas.tables.tables import to_row

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

VOLATILE = {
    "at": "the time of day",
    "started_at": "the time of day",
    "ended_at": "the time of day",
    "observe_ms": "as fast as the machine is",
    "think_ms": "as fast as the machine is",
    "act_ms": "as fast as the machine is",
    "browser_seconds": "as fast as the machine is",
    "wall_seconds": "as fast as the machine is",
    "content_sha256": "covers the times",
    "browser_version": "the browser that is installed",
    "screenshot": "a rasteriser promises no bytes",
    "screenshot_sha256": "a rasteriser promises no bytes",
    "screenshot_phash": "a rasteriser promises no bytes",
    "target_bbox": "the fonts of the machine move it",
    "bbox": "the fonts of the machine move it",
}
"""Fields of which only the kind is held, with why; `structure` and `replay` hold their values."""


class Written:
    """Acts by a list, with a thought and a note to each action."""

    card = PolicyCard(name="written", kind=PolicyKind.SCRIPTED)

    def __init__(self, *actions: Action) -> None:
        self._actions = list(actions)

    async def act(self, turn: PolicyInput) -> Decision:
        number = len(turn.history)
        left = self._actions[number:]
        return Decision(
            action=left[0] if left else Answer(text="42"),
            thought=f"Thought {number}.",
            thought_source=ThoughtSource.TEMPLATE,
            note=f"Note {number}.",
        )


def _kind(value: object) -> object:
    """Return what is held of a value that is another each time."""
    match value:
        case None | "" | 0:
            return value
        case float():
            return "a positive number" if value > 0 else value
        case datetime():
            return "a time"
        case dict():
            return {name: _kind(part) for name, part in value.items()}
        case list() | tuple():
            return [type(part).__name__ for part in value]
    return f"{type(value).__name__} of {len(value)}" if isinstance(value, str) else "bytes"


def _held(name: str, value: object) -> object:
    if name == "browser_version":
        return bool(value)
    if name in VOLATILE:
        return _kind(value)
    match value:
        case dict():
            return {part: _held(part, own) for part, own in value.items()}
        case list() | tuple():
            return [_held("", part) for part in value]
    return value


def _rows(*records: Record) -> list[dict[str, Any]]:
    return [{name: _held(name, value) for name, value in to_row(one).items()} for one in records]


def _tables(told: Told) -> dict[str, Any]:
    """Return every field of an episode, as JSON has it."""
    episode = told.episode
    tables = {
        "tasks": _rows(told.task),
        "episodes": _rows(episode),
        "steps": _rows(*episode.steps),
        "observations": [
            [_held("", element.model_dump(mode="json")) for element in step.elements]
            for step in episode.steps
        ],
        "calls": _rows(*episode.calls),
        "prompts": _rows(*episode.prompts),
    }
    plain: dict[str, Any] = json.loads(json.dumps(tables, sort_keys=True, default=list))
    return plain


def _differing(kept: object, found: object, where: str = "") -> Iterator[str]:
    """Yield the address of each field that differs."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for name in sorted({*kept, *found}):
            yield from _differing(kept.get(name), found.get(name), f"{where}.{name}")
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for number, (one, other) in enumerate(zip(kept, found, strict=True)):
            yield from _differing(one, other, f"{where}[{number}]")
    elif kept != found:
        yield where.removeprefix(".")


@dataclass(frozen=True)
class Kept:
    """Both episodes as they were recorded now, and what is kept of them."""

    told: dict[str, Told]
    files: dict[str, dict[str, Any]]


def _read(name: str, tables: dict[str, Any], *, renew: bool) -> dict[str, Any]:
    path = GOLDEN / f"episode_of_a_{name}.json"
    if renew:
        text = json.dumps(tables, indent=1, sort_keys=True, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def recorded(request: pytest.FixtureRequest) -> AsyncIterator[Kept]:
    renew: bool = request.config.getoption("--renew-golden")
    written = Written(
        TypeText(text="Tora", x=80, y=64),
        Key(key="Tab"),
        Key(key="Nothing"),
        Click(x=900, y=9),
        Drag(x=20, y=20, to_x=60, to_y=20),
        Click(x=40, y=92),
    )
    said = model_policy(
        "I write it.",
        called(
            "write",
            content="Tora",
            element="the field",
            x=160,
            y=160,
            overwrite=True,
            press_enter=False,
        ),
        clicked(80, 230, element="Submit"),
        viewport=(WIDTH, HEIGHT),
    )
    async with recording() as recorder:
        told = {
            "list": await recorder.record("enter-text", 0, lambda _: written),
            "model": await recorder.record("enter-text", 0, said),
        }
    files = {name: _read(name, _tables(one), renew=renew) for name, one in told.items()}
    yield Kept(told, files)


@pytest.mark.parametrize("name", ["list", "model"])
async def test_an_episode_is_recorded_field_by_field(recorded: Kept, name: str) -> None:
    """One types, presses, drags, clicks and errs by a list; in the other a model is asked."""
    assert [*_differing(recorded.files[name], _tables(recorded.told[name]))] == []


DROPPED: list[tuple[str, str, dict[str, Any]]] = [
    *(("list", "steps[0]", {name: None}) for name in ("target", "note", "thought", "reward")),
    ("list", "steps[2]", {"action_error": None}),
    ("list", "steps[5]", {"terminated": False}),
    ("list", "steps[0]", {"state_changed": None}),
    ("list", "steps[0]", {"at": None}),
    ("list", "steps[0]", {"act_ms": 0.0}),
    ("list", "observations[0]", {"elements": ()}),
    ("list", "episodes[0]", {"instruction": ""}),
    ("list", "episodes[0]", {"done": False}),
    ("list", "episodes[0]", {"reward_before": None}),
    ("list", "episodes[0]", {"capsule": {}}),
    ("model", "steps[0]", {"raw_reply": None}),
    ("model", "calls[0]", {"reply": None}),
    ("model", "calls[0]", {"messages": None}),
    ("model", "calls[0]", {"total_ms": None}),
    ("model", "calls[1]", {"completion_token_ids": None}),
    ("model", "steps[0]", {"parse_error": None}),
]
"""Of which episode, where, and what a recorder drops there."""


@pytest.mark.parametrize(("name", "where", "dropped"), DROPPED, ids=str)
async def test_a_recorder_that_drops_a_field_is_told_which(
    recorded: Kept, name: str, where: str, dropped: dict[str, Any]
) -> None:
    told = recorded.told[name]
    table, number = where.rstrip("]").split("[")
    episode: Any = told.episode
    if table == "episodes":
        episode = episode.model_copy(update=dropped)
    else:
        own = "steps" if table == "observations" else table
        rows = list(getattr(episode, own))
        rows[int(number)] = rows[int(number)].model_copy(update=dropped)
        episode = episode.model_copy(update={own: tuple(rows)})

    found = [*_differing(recorded.files[name], _tables(Told(told.task, episode)))]

    assert found
    assert all(one.startswith(where) for one in found), found
    if table != "observations":
        assert all(next(iter(dropped)) in one for one in found), found
