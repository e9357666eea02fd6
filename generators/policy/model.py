"""A policy that asks an engine: picture, prompt, reply, action.

Each step shows the model the page as the screenshot has it, in a prompt that only grows, and reads
its reply by the rules of its dialect. A reply that cannot be read gets one repair turn, which says
what to fix and leaves no trace in the prompt; a second one ends the episode as the policy's own
failure. A reply that was cut off at its longest counts as unreadable.
"""

import asyncio
from collections.abc import Sequence

from generators.browser.protocol import PageReader
from generators.engine.protocol import Message, Reply, Role
from generators.policy.account import Account
from generators.policy.dialects.protocol import Understood, Unreadable
from generators.policy.protocol import Decision, PolicyCard
from generators.policy.speaker import Speaker, Voice, make_picture, model_name, sampling_row
from generators.policy.window import Budget, Window
from schemas.episode import PolicyKind, Step, ThoughtSource
from schemas.errors import FailureKind, RolloutFailure
from schemas.observation import Observation

NAME = "model"
"""What runs call it."""

WHOLE = frozenset({"stop", "tool_calls", "function_call", None})
"""Finish reasons of a reply that the model ended by itself."""


class ModelPolicy:
    """A `Policy` for one episode."""

    def __init__(self, voice: Voice, account: Account, *, budget: Budget, session: str) -> None:
        self._voice = voice
        self._speaker = Speaker(voice, account, session=session)
        self._budget = budget
        self._window: Window | None = None

    @property
    def card(self) -> PolicyCard:
        """Who it is."""
        return model_card(self._voice, name=NAME)

    async def act(
        self,
        instruction: str,
        history: Sequence[Step],
        seen: Observation,
        reader: PageReader | None,
    ) -> Decision:
        """Return what the model says to do.

        Raises:
            RolloutFailure: the engine gives no reply, or two replies cannot be read.
        """
        del reader
        window = await self._look(instruction, history, seen)
        reply = await self._ask(window, step=len(history))
        window.counted(reply.prompt_tokens)
        problem: str | None = None
        try:
            understood = self._read(reply)
        except Unreadable as error:
            problem = str(error)
            reply = await self._repair(window, reply, problem, step=len(history))
            understood = self._reread(reply, problem)
        window.answered(understood.echo)
        return Decision(
            action=understood.action,
            thought=understood.thought,
            thought_source=ThoughtSource.POLICY if understood.thought is not None else None,
            note=understood.note,
            raw_reply=reply.text,
            parse_error=problem,
        )

    async def _look(self, instruction: str, history: Sequence[Step], seen: Observation) -> Window:
        """Append what is seen now, and what came of the last action, to the prompt."""
        dialect, frame = self._voice.dialect, self._voice.frame
        if self._window is None:
            self._window = Window(
                self._voice.prompt.text,
                dialect.opening(instruction),
                gone=dialect.gone,
                budget=self._budget,
            )
        size = frame.sent_width, frame.sent_height
        picture = (
            make_picture(seen, step=len(history), size=size)
            if size == (seen.width, seen.height)
            else await asyncio.to_thread(make_picture, seen, step=len(history), size=size)
        )
        before, after = dialect.around(len(history), seen.page)
        result = dialect.result(history[-1]) if history else ""
        tokens = dialect.image_tokens(*size)
        self._window.saw(result + before, picture, after, picture_tokens=tokens)
        return self._window

    async def _ask(self, window: Window, *, step: int) -> Reply:
        return await self._speaker.ask(
            window.messages, step=step, role="policy", segment=window.segment
        )

    async def _repair(self, window: Window, reply: Reply, problem: str, *, step: int) -> Reply:
        said = Message(role=Role.ASSISTANT, parts=(reply.text[:REPEATED_CHARS],))
        asked = Message(role=Role.USER, parts=(self._voice.dialect.repair(problem),))
        return await self._speaker.ask(
            (*window.messages, said, asked), step=step, role="repair", segment=window.segment
        )

    def _read(self, reply: Reply) -> Understood:
        if reply.finish_reason not in WHOLE:
            raise Unreadable(
                f"the reply ended early ({reply.finish_reason}); be brief and finish it"
            )
        return self._voice.dialect.read(reply.text, self._voice.frame)

    def _reread(self, reply: Reply, problem: str) -> Understood:
        try:
            return self._read(reply)
        except Unreadable as error:
            raise RolloutFailure(
                FailureKind.POLICY, f"no reply could be read: {problem}; and again: {error}"
            ) from error


REPEATED_CHARS = 4_000
"""Of an unreadable reply, shown back to the model."""


def model_card(voice: Voice, *, name: str) -> PolicyCard:
    """Return the card of a policy that speaks with `voice` first of all."""
    card = voice.engine.card
    return PolicyCard(
        name=name,
        kind=PolicyKind.MODEL,
        dialect=voice.dialect.name,
        model=model_name(card.model),
        engine=card.product,
        engine_version=card.version,
        sampling=sampling_row(voice.sampling),
        prompts=(voice.prompt,),
    )
