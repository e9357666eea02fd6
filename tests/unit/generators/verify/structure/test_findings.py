"""Every sentence that `structure` can find is found alone in some episode that only it rejects.

The sentences are read from the source, so that a new one without such an episode fails here.
"""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from support.episodes.altered_episodes import Lie, defects, examined, lost, replied, won
from support.servers.stub_engine import clicked

from generators.policy.dialects import stored
from generators.verify import derived_columns, model_columns, replies, structure
from generators.verify import rebuilt_messages as messages
from schemas.configuration.sections import PolicyName
from schemas.episodes.episode import Episode

MODULES = (structure, derived_columns, model_columns, replies, messages, stored)

RAISED = {"Unread", "ForeignPrompt"}
"""Errors whose text becomes a finding."""

ELSEWHERE = {
    "the row says .*×.*, the viewport is .*×.*": "row's size, beside the picture's",
    "the task asks for the split '.*', which does not exist": "a test of the task",
    "the task's id is not the hash of its content": "a test of the task",
    "the task's fault is .*, and its parameters have another": "a test of the task",
    ".* actions, but the task allows .*": "a test of the task",
    "the answer after the site's end has another outcome": "a test of the rollout",
    "the instruction is not the task's": "a test of a task that states its goal",
    ".* is outside the allowed origins": "a test of its own",
    "a system prompt that was used is not kept": "no reply can be read without it",
    "a call was made before the start or after the end": "a test of its own",
    "call .* repairs a reply that can be read": "the repair quotes the reply, and does so wrongly",
    "nobody was asked for step .*": "a test of its own",
    "of the server's state before and after and of what changed, a part is missing": "on a site that keeps state",
    "the server's state before and after, and what changed in it, contradict each other": "likewise",
    "an attempt that broke states what changed on the server": "likewise",
}
"""Sentences that tests of their own hold, or that never come alone, with where or why."""


def _pattern(node: ast.expr) -> str | None:
    """Return the regular expression of a text; None: it is none."""
    match node:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*"
                for part in parts
            )
    return None


def _sentences(module: ModuleType) -> Iterator[str]:
    """Yield the regular expression of each finding in a module's source."""
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
        found: list[ast.expr] = []
        match node:
            case ast.Yield(value=ast.expr() as text) | ast.Return(value=ast.JoinedStr() as text):
                found = [text]
            case ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=[text])) if name in RAISED:
                found = [text]
        pattern = _pattern(found[0]) if found else None
        if pattern is not None and pattern.strip(".*"):
            yield pattern


async def _episodes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Episode, Lie]]:
    """Return every episode of the tests of `structure`, and the lie told of it."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    rows = import_module("test_structure")
    columns = import_module("test_derived_columns")
    calls = import_module("test_model_columns")
    replies = import_module("test_model_replies")
    by_model, others = await replied(), await won()
    surfed = await replied(*replies.OTHER_ROLES, name=PolicyName.SURFER)
    repaired = await replied("I click it.", clicked(50, 100), clicked(60, 100))
    stuck = await lost(calls.StopReason.STUCK)
    out = [(others, lie) for _, lie in (rows.LIES | columns.LIES).values()]
    out += [(by_model, lie) for _, lie in calls.LIES.values()]
    out += [(surfed, lie) for _, lie in replies.SURFED.values()]
    out += [(repaired, lie) for _, lie in replies.REPAIRED.values()]
    keyed = await replied(*replies.KEYED)
    out += [(keyed, lie) for _, lie in replies.ONE_POINT.values()]
    out += [(stuck, lie) for _, lie in calls.WITHOUT.values()]
    return [*out, *[(await lost(stop), lie) for stop, _, lie in columns.END_LIES.values()]]


async def test_every_finding_is_found_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [defects(await examined(lie(one))) for one, lie in await _episodes(monkeypatch)]
    alone = [re.sub(r"^step \d+: ", "", one[0]) for one in found if len(one) == 1]

    sentences = [pattern for module in MODULES for pattern in _sentences(module)]
    missed = [
        pattern
        for pattern in sentences
        if re.sub(r"\\(.)", r"\1", pattern) not in ELSEWHERE
        and not any(re.search(pattern, text) for text in alone)
    ]
    assert len(sentences) > 90
    assert missed == [], "\n".join(missed)
