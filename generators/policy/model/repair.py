"""Asks for a reply and parses it; one that cannot be parsed gets one repair turn.

The repair turn repeats the model's own reply and says what to fix. It is sent after the prompt and
never added to it, so later prompts do not contain it. A reply that was cut off at its maximum length
counts as unreadable. Where the engine refuses a prompt as too long, with the repair turn or without it,
a block of it is evicted, and it is sent once more. The caller decides what two unreadable replies mean
for the episode.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from generators.engine.protocol import Message, PromptTooLong, Reply, Role
from generators.policy.dialects.protocol import ParsedAction, UnreadableReply
from generators.policy.dialects.shared.sanitize import break_words_in_reply
from generators.policy.model.model_call import RecordedEngine
from schemas.errors import FailureKind, RolloutFailure

Parsed = TypeVar("Parsed")
"""The value of a parsed reply."""

COMPLETE_FINISH_REASONS = frozenset({"stop", "tool_calls", "function_call", None})
"""Finish reasons of a reply that the model ended by itself."""

ROLE = "repair"
"""The role's name in rows of `calls`."""

MISPLACED = (
    "the reply is empty, and its answer is in the reasoning: the server takes all that the model writes for thinking; "
    "serve without --reasoning-parser, or with the model's own"
)
"""The kind of a reply that a server put into the wrong field."""

MAX_QUOTED_CHARS = 4_000
"""Largest length of an unreadable reply in the repair turn, characters."""


class AskedPrompt(Protocol):
    """What a role asks: messages, of which it may be able to leave some out."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages as they are sent now."""
        ...

    @property
    def segment(self) -> int:
        """Grows with every eviction."""
        ...

    def evict_block(self) -> bool:
        """Leave a block out, because the engine refused the messages as too long; return whether there was one."""
        ...

    def calibrate(self, prompt_tokens: int | None) -> None:
        """Learn how many tokens the messages take; None: the engine does not say."""
        ...


@dataclass(frozen=True, slots=True)
class WholePrompt:
    """A prompt of which nothing can be left out."""

    messages: tuple[Message, ...]
    """The messages."""
    segment: int = 0
    """The number of the question."""

    def evict_block(self) -> bool:
        """Return that there is nothing to leave out."""
        return False

    def calibrate(self, prompt_tokens: int | None) -> None:
        """Learn nothing."""


@dataclass(frozen=True, slots=True)
class ParsedReply(Generic[Parsed]):
    """A reply and its parsed value."""

    value: Parsed
    """The parsed value."""
    reply: Reply
    """The reply that was parsed."""
    problem: str | None
    """Why the first reply could not be parsed, or what of it was left out; None if neither."""


class ReplyParser(Generic[Parsed]):
    """Asks and parses in one role, for one episode."""

    def __init__(
        self,
        engine: RecordedEngine,
        role: str,
        *,
        read: Callable[[str], Parsed],
        repair: Callable[[str], str],
        switch_words: Sequence[str],
    ) -> None:
        """`read` raises `UnreadableReply`; `repair` returns the repair turn's text for that error.

        None of `switch_words` stands whole in the reply that the repair turn repeats.
        """
        self._engine = engine
        self._role = role
        self._read = read
        self._repair = repair
        self._switch_words = tuple(switch_words)

    async def ask_and_parse(self, prompt: AskedPrompt, *, step: int) -> ParsedReply[Parsed]:
        """Return the reply to `prompt` with its parsed value.

        Raises:
            UnreadableReply: two replies could not be parsed; the text says why.
            PromptTooLong: `prompt` does not fit into the model's context, shortened by a block neither.
            RolloutFailure: the engine gives no reply, puts both into the wrong field, or has no room for the
                repair turn, after a prompt that is shorter by a block neither.
        """
        first = await self._ask(prompt, step=step, role=self._role)
        prompt.calibrate(first.prompt_tokens)
        try:
            value = self._parse(first)
            return ParsedReply(value, first, find_dropped(value))
        except UnreadableReply as error:
            problem = str(error)
        quoted = quote_reply(first.text, self._switch_words)
        repeated = Message(role=Role.ASSISTANT, parts=(quoted,))
        request = Message(role=Role.USER, parts=(self._repair(problem),))
        try:
            second = await self._ask(prompt, repeated, request, step=step, role=ROLE)
        except PromptTooLong as error:
            raise RolloutFailure(
                FailureKind.ENGINE, f"no room to repair a reply ({problem}): {error.message}"
            ) from error
        try:
            return ParsedReply(self._parse(second), second, problem)
        except UnreadableReply as error:
            if is_misplaced(first) and is_misplaced(second):
                raise RolloutFailure(FailureKind.ENGINE, MISPLACED) from error
            raise UnreadableReply(twice_unreadable(problem, str(error))) from error

    async def _ask(self, prompt: AskedPrompt, *after: Message, step: int, role: str) -> Reply:
        """Return the reply to a prompt and what comes after it; where both are too long, a block is left out once.

        Raises:
            PromptTooLong: they do not fit.
        """

        async def ask() -> Reply:
            messages = (*prompt.messages, *after)
            return await self._engine.ask(messages, step=step, role=role, segment=prompt.segment)

        try:
            return await ask()
        except PromptTooLong:
            if not prompt.evict_block():
                raise
        return await ask()

    def _parse(self, reply: Reply) -> Parsed:
        return read_whole(reply.text, reply.finish_reason, self._read)


def quote_reply(text: str, switch_words: Sequence[str]) -> str:
    """Return the beginning of an unreadable reply as the repair turn repeats it."""
    return break_words_in_reply(text[:MAX_QUOTED_CHARS], switch_words)


def is_misplaced(reply: Reply) -> bool:
    """Return whether a server put the JSON of a reply into the field for its reasoning, and left the text empty."""
    return not reply.text.strip() and "{" in (reply.reasoning or "")


def find_dropped(value: object) -> str | None:
    """Return the part of a reply that the dialect left out when it read `value`; None: it left out nothing."""
    return value.dropped if isinstance(value, ParsedAction) else None


def read_whole(text: str, finish_reason: str | None, read: Callable[[str], Parsed]) -> Parsed:
    """Return the parsed value of a reply that the model ended by itself.

    Raises:
        UnreadableReply: it was cut off, or `read` cannot parse it.
    """
    if finish_reason not in COMPLETE_FINISH_REASONS:
        raise UnreadableReply(f"the reply ended early ({finish_reason}); be brief and finish it")
    return read(text)


def twice_unreadable(first: str, second: str) -> str:
    """Return the error for a reply and its repair, neither of which could be parsed."""
    return f"no reply could be read: {first}; and again: {second}"
