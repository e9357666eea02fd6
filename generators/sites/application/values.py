"""The values in an application's texts: placeholders in braces, and secrets as `$NAME`."""

import re
from collections.abc import Mapping

from pydantic import JsonValue

from schemas.configuration.application import GROUPS, PLACEHOLDERS, SECRET
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.task import Task

_MARK = re.compile(
    rf"\{{(?P<plain>{'|'.join(PLACEHOLDERS)})\}}|\{{(?P<named>(?:{'|'.join(GROUPS)})\.[A-Za-z0-9_]+)\}}"
    rf"|{SECRET.pattern.replace('(', '(?P<variable>', 1)}"
)

NOTHING: Mapping[str, str] = {}
"""No values."""


class Values:
    """The values of placeholders and secrets in one server or one visit."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        parameters: JsonValue = None,
        named: Mapping[str, str] = NOTHING,
        **stated: object,
    ) -> None:
        """`stated` and `named` are placeholders, the latter of groups, as `user.name`; `environ` has the secrets.

        `parameters` are the task's.
        """
        self._environ = environ
        self.parameters = parameters
        """The task's parameters; None outside of a visit."""
        self._stated = {name: str(value) for name, value in stated.items()}
        self._named = dict(named)

    def with_task(self, task: Task, *, session: str) -> "Values":
        """Return these values together with those of a visit of a task."""
        stated = self._stated | {
            "seed": str(task.seed),
            "template": task.template_id,
            "session": session,
        }
        return Values(
            environ=self._environ, parameters=task.parameters, named=self._named, **stated
        )

    def with_group(self, group: str, values: Mapping[str, str]) -> "Values":
        """Return these values together with those of a group, which may be written out nowhere else."""
        named = self._named | {f"{group}.{name}": value for name, value in values.items()}
        return Values(
            environ=self._environ, parameters=self.parameters, named=named, **self._stated
        )

    def fill(self, text: str) -> str:
        """Return `text` with placeholders and secrets filled in.

        Raises:
            RolloutFailure: a variable is not set, or a placeholder has no value here.
        """
        return _MARK.sub(lambda mark: self._value(mark, text), text)

    def _value(self, mark: re.Match[str], text: str) -> str:
        plain, named, variable = mark["plain"], mark["named"], mark["variable"]
        values: Mapping[str, str] = self._environ if variable else self._stated | self._named
        found = values.get(plain or named or variable)
        if found is not None:
            return found
        problem = f"'{text}': there is no {mark[0]} here"
        if variable:
            problem = f"the environment variable {variable} is not set"
        raise RolloutFailure(FailureKind.SITE, problem)

    def hide(self, text: str, *, of: object) -> str:
        """Return `text` without the values of the secrets that the part `of` an application's file names.

        Values of users, and those that steps found, are left out as well.
        """
        named = {name: value for name, value in self._named.items() if not name.startswith("port.")}
        secrets = {found[1]: self._environ.get(found[1], "") for found in SECRET.finditer(str(of))}
        for name, value in sorted([*named.items(), *secrets.items()], key=lambda one: -len(one[1])):
            if value:
                text = text.replace(value, f"${name}" if name in secrets else f"{{{name}}}")
        return text

    def fill_all(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return texts by name, each filled."""
        return {name: self.fill(text) for name, text in texts.items()}

    def fill_json(self, value: JsonValue) -> JsonValue:
        """Return a JSON value whose texts are filled; a text `{parameters}` becomes the task's."""
        if value == "{parameters}":
            return self.parameters
        if isinstance(value, str):
            return self.fill(value)
        if isinstance(value, list):
            return [self.fill_json(item) for item in value]
        if isinstance(value, dict):
            return {key: self.fill_json(item) for key, item in value.items()}
        return value
