"""What fills a placeholder of a goal: a mention, said in the form that stands there."""

from typing import Protocol

from generators.tasks.worlds.ground.mentions import Mention


class Says(Protocol):
    """Puts mentions into words."""

    def say(self, said: Mention, form: str = "") -> str:
        """Return a mention in words; `form` is what stands after a placeholder's colon."""


class Voice:
    """A mention that is said when a placeholder is filled."""

    def __init__(self, speaker: Says, said: Mention) -> None:
        self._speaker, self._said = speaker, said

    def __format__(self, form: str) -> str:
        return self._speaker.say(self._said, form)
