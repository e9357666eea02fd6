"""A reply is asked for and read; one that cannot be read gets one repair turn.

The repair turn shows the model its own reply and says what to fix. It is asked beside the prompt
and never enters it, so it leaves no trace in what is asked next. A reply that was cut off at its
longest counts as unreadable. What becomes of an episode after two unreadable replies is the
matter of whoever asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from generators.engine.protocol import Message, Reply, Role
from generators.policy.dialects.protocol import Unreadable
from generators.policy.model.model_call import Speaker

Meant = TypeVar("Meant")
"""What a reply is read as."""

WHOLE = frozenset({"stop", "tool_calls", "function_call", None})
"""Finish reasons of a reply that the model ended by itself."""

REPEATED_CHARS = 4_000
"""Of an unreadable reply, shown back to the model."""


@dataclass(frozen=True, slots=True)
class Heard(Generic[Meant]):
    """A reply that could be read."""

    meant: Meant
    """What it was read as."""
    reply: Reply
    """The reply that was read."""
    prompt_tokens: int | None
    """Of the prompt without a repair turn; None where the engine does not say."""
    problem: str | None
    """Why the first reply could not be read; None if it could."""


class Listener(Generic[Meant]):
    """Asks and understands in one role, for one episode."""

    def __init__(
        self,
        speaker: Speaker,
        role: str,
        *,
        read: Callable[[str], Meant],
        repair: Callable[[str], str],
    ) -> None:
        """`read` raises `Unreadable`; `repair` turns its text into what is said to the model."""
        self._speaker = speaker
        self._role = role
        self._read = read
        self._repair = repair

    async def hear(
        self, messages: Sequence[Message], *, step: int, segment: int = 0
    ) -> Heard[Meant]:
        """Return the reply to `messages` and what it means.

        Raises:
            Unreadable: two replies could not be read, and why.
            RolloutFailure: the engine gives no reply.
        """
        first = await self._speaker.ask(messages, step=step, role=self._role, segment=segment)
        try:
            return Heard(self._understood(first), first, first.prompt_tokens, None)
        except Unreadable as error:
            problem = str(error)
        said = Message(role=Role.ASSISTANT, parts=(first.text[:REPEATED_CHARS],))
        asked = Message(role=Role.USER, parts=(self._repair(problem),))
        second = await self._speaker.ask(
            (*messages, said, asked), step=step, role="repair", segment=segment
        )
        try:
            return Heard(self._understood(second), second, first.prompt_tokens, problem)
        except Unreadable as error:
            raise Unreadable(f"no reply could be read: {problem}; and again: {error}") from error

    def _understood(self, reply: Reply) -> Meant:
        if reply.finish_reason not in WHOLE:
            raise Unreadable(
                f"the reply ended early ({reply.finish_reason}); be brief and finish it"
            )
        return self._read(reply.text)
