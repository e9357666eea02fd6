"""A model's policy whose engine is told what to say by another policy, for tests and benches.

The master decides with its privileged reader; what it decides is written in the model's dialect
and handed to the scripted engine through a side channel; then the model's policy asks the engine
as it always does. So a whole run goes from picture to prompt to reply to action over HTTP, with
replies that are right, and nothing of the usual path is left out.
"""

from collections.abc import Callable
from dataclasses import replace

from generators.policy.dialects.protocol import CannotSay, Rationale
from generators.policy.model.element_names import named
from generators.policy.model.model_config import Voice
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.testing.teacher_cues import Cues
from schemas.errors import FailureKind, RolloutFailure

Whisper = Callable[[str], None]
"""Tells the engine what to say next in this episode."""


class Puppet:
    """A `Policy` that says through a model's mouth what its master decides."""

    def __init__(
        self,
        model: Policy,
        master: Policy,
        voice: Voice,
        *,
        whisper: Whisper,
        cues: Cues | None = None,
    ) -> None:
        """`voice` is the one that `model` decides with; `cues` tell its other roles, if any."""
        self._model = model
        self._master = master
        self._voice = voice
        self._whisper = whisper
        self._cues = cues

    @property
    def card(self) -> PolicyCard:
        """Who it is: the model, but for the reader its master needs."""
        return self._model.card.model_copy(update={"privileged": self._master.card.privileged})

    async def act(self, turn: PolicyInput) -> Decision:
        """Return what the model understood of what it was made to say.

        Raises:
            RolloutFailure: the dialect has no words for what the master decided.
        """
        decided = await self._master.act(turn)
        try:
            text = self._voice.dialect.say(
                decided.action,
                self._voice.frame,
                Rationale(
                    thought=decided.thought,
                    note=decided.note,
                    element=named(decided.action, turn.observation.elements),
                ),
            )
            if self._cues is not None:
                self._cues.give(text, decided.action)
        except CannotSay as error:
            raise RolloutFailure(FailureKind.POLICY, f"cannot be said: {error}") from error
        self._whisper(text)
        return await self._model.act(replace(turn, reader=None))
