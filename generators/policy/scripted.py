"""A policy that takes its actions from a list, for tests and for tasks solved by hand.

A script is a JSON file: an object with a list of actions for each template. The whole script is checked
before a run starts. After the last action of a list the policy gives an empty answer.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.episodes.action import ACTION, Action, Answer
from schemas.episodes.episode import PolicyKind
from schemas.errors import BadTasks

_MAX_BYTES = 16 * 2**20
_SCRIPT: TypeAdapter[dict[str, list[dict[str, object]]]] = TypeAdapter(
    dict[str, list[dict[str, object]]]
)


class ScriptedPolicy:
    """A `Policy` that takes the given actions, one after another."""

    def __init__(self, actions: Sequence[Action], *, name: str = "scripted") -> None:
        self._actions = tuple(actions)
        self._name = name
        self._taken = 0

    @property
    def card(self) -> PolicyCard:
        """Its name and kind."""
        return PolicyCard(name=self._name, kind=PolicyKind.SCRIPTED)

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the next action of the list; an empty answer after the last."""
        del turn
        if self._taken >= len(self._actions):
            return Decision(action=Answer())
        self._taken += 1
        return Decision(action=self._actions[self._taken - 1])


def load_script(path: Path) -> dict[str, tuple[Action, ...]]:
    """Return the actions of a script by template.

    Raises:
        BadTasks: it cannot be read, or it has an invalid action; the text says where.
    """
    try:
        lists = _SCRIPT.validate_python(_parse_json(_read(path), path))
    except ValidationError as error:
        where = "/".join(str(part) for part in error.errors()[0]["loc"]) or "the whole"
        raise BadTasks(
            f"{path}: {where}: a script is an object with a list of actions for each template"
        ) from error
    return {
        template: tuple(_action(item, f"{path}: {template}, action {n}") for n, item in numbered)
        for template, numbered in ((key, enumerate(items)) for key, items in lists.items())
    }


def _read(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():
            raise BadTasks(f"{path}: a script is an ordinary file")
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise BadTasks(f"{path}: a script has at most {_MAX_BYTES:,} bytes")
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadTasks(
            f"{path}: the script cannot be read: byte {error.start} is not UTF-8"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadTasks(f"{path}: the script cannot be read: {reason}") from None


def _parse_json(text: str, path: Path) -> object:
    try:
        parsed: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadTasks(f"{path}:{error.lineno}:{error.colno}: invalid JSON: {error.msg}") from error
    except RecursionError:
        raise BadTasks(f"{path}: lists or objects are nested too deep for a script") from None
    except ValueError:  # Python refuses integers with more digits than its own limit
        raise BadTasks(f"{path}: a number has too many digits") from None
    return parsed


def _action(item: dict[str, object], where: str) -> Action:
    try:
        return ACTION.validate_python(item)
    except ValidationError as error:
        first = error.errors()[0]
        inside = "/".join(str(part) for part in first["loc"])
        raise BadTasks(
            f"{where}: {inside}: {first['msg']}" if inside else f"{where}: {first['msg']}"
        ) from error
