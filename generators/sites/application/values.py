"""The values in an application's texts: placeholders in braces, and secrets as `$NAME`."""

from collections.abc import Mapping

from pydantic import JsonValue

from schemas.configuration.application import PLACEHOLDERS, SECRET
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.task import Task


class Values:
    """The values of placeholders and secrets in one server or one visit."""

    def __init__(
        self, *, environ: Mapping[str, str], parameters: JsonValue = None, **stated: object
    ) -> None:
        """`stated` are placeholders; `environ` has the secrets; `parameters` are the task's."""
        self._environ = environ
        self.parameters = parameters
        """The task's parameters; None outside of a visit."""
        self._stated = {name: str(value) for name, value in stated.items()}

    def with_task(self, task: Task, *, session: str) -> "Values":
        """Return these values together with those of a visit of a task."""
        more = {"seed": task.seed, "template": task.template_id, "session": session}
        return Values(environ=self._environ, parameters=task.parameters, **{**self._stated, **more})

    def fill(self, text: str) -> str:
        """Return `text` with placeholders and secrets filled in.

        Raises:
            RolloutFailure: a variable is not set, or a placeholder has no value here.
        """
        for name in PLACEHOLDERS:
            mark = "{" + name + "}"
            if mark in text and name not in self._stated:
                raise RolloutFailure(FailureKind.SITE, f"'{text}': there is no {mark} here")
            text = text.replace(mark, self._stated.get(name, ""))
        for found in SECRET.finditer(text):
            if found[1] not in self._environ:
                raise RolloutFailure(
                    FailureKind.SITE, f"the environment variable {found[1]} is not set"
                )
        return SECRET.sub(lambda found: self._environ[found[1]], text)

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
