"""The endpoint under test, asked as a run would ask it.

Every request goes through the client that runs use, and prompts are written as a run writes them:
the dialect's system prompt, a task, pages with pictures. A refusal by the server is a result too: it
is raised as `RequestRefused`, with the server's message.
"""

import asyncio
import secrets
import time
from collections.abc import Sequence

from generators.engine.client.client import OpenAIEngine
from generators.engine.client.metrics import EngineMetrics
from generators.engine.client.rendered_prompt import RenderedPrompt
from generators.engine.protocol import (
    EngineCard,
    EnginePrompt,
    Message,
    Part,
    Picture,
    Reply,
    Role,
    Sampling,
)
from generators.engine.stopwatch import Stopwatch
from generators.policy.dialects.coordinates import Frame, frame_of
from generators.policy.dialects.protocol import Dialect
from generators.policy.model.context_window import Budget, ContextWindow
from schemas.base import JsonObject
from schemas.configuration.picture_sizes import MODEL_VIEWPORT
from schemas.episodes.observation import PageState
from schemas.episodes.viewport import Viewport
from schemas.errors import FailureKind, NoEngine, RolloutFailure, StepmillError

GONE_SECONDS = 20.0
"""Time that an endpoint may be down before the check gives up, seconds."""

_POLL_SECONDS = 0.5
_REFUSAL = ": HTTP 4"


class RequestRefused(StepmillError):
    """The server does not take such a request; the text is its message."""


class CheckedEndpoint:
    """One endpoint, with the dialect that a run would use."""

    def __init__(
        self, engine: OpenAIEngine, dialect: Dialect, *, gone_seconds: float = GONE_SECONDS
    ) -> None:
        self._engine = engine
        self._gone_seconds = gone_seconds
        self.dialect = dialect
        """The dialect of the prompts."""
        self.frame = default_frame(dialect)
        """The frame of a run with the default viewport."""
        self.unique_prefix = secrets.token_hex(6)
        """Begins prompts that must not be in any cache yet."""
        self.max_images = 0
        """Largest number of pictures in a prompt; 0 before it was measured."""

    @property
    def card(self) -> EngineCard:
        """The result of discovery."""
        return self._engine.card

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        tokens: int = 64,
        schema: JsonObject | None = None,
        functions: tuple[JsonObject, ...] = (),
        temperature: float = 0.0,
        seed: int | None = None,
        logprobs: bool = False,
    ) -> Reply:
        """Return the reply to `messages`.

        Raises:
            RequestRefused: the server does not take such a request.
            RolloutFailure: the endpoint gave no reply, for another reason.
            NoEngine: the endpoint has gone away.
        """
        sampling = Sampling(
            temperature=temperature, max_tokens=tokens, seed=seed, logprobs=logprobs
        )
        prompt = EnginePrompt(messages=tuple(messages), reply_schema=schema, tools=functions)
        try:
            return await self._reply(prompt, sampling)
        except RolloutFailure as failure:
            _, refusal, message = failure.message.partition(_REFUSAL)
            if refusal:
                raise RequestRefused(f"HTTP 4{message}") from failure
            raise

    async def _reply(self, prompt: EnginePrompt, sampling: Sampling) -> Reply:
        """Return the reply, unless the endpoint goes down: the client alone would wait for it."""
        stopwatch, begun = Stopwatch(), time.perf_counter()
        session = f"check-{self.unique_prefix}"
        task = asyncio.create_task(
            self._engine.reply(prompt, sampling, session=session, stopwatch=stopwatch)
        )
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_POLL_SECONDS)
                down_seconds = time.perf_counter() - begun - stopwatch.seconds
                if down_seconds > self._gone_seconds and not task.done():
                    raise NoEngine(f"{self.card.endpoints[0]} has gone away; start it again")
        finally:
            task.cancel()
        try:
            return await task
        except NoEngine as error:  # which this question found, as far as a check is concerned
            raise RolloutFailure(FailureKind.ENGINE, str(error)) from error

    async def render(
        self, messages: Sequence[Message], *, suffix: bool = True
    ) -> RenderedPrompt | None:
        """Return `messages` as the server's chat template makes them; None: the server does not show them.

        They end in the generation suffix unless `suffix` is False.
        """
        return await self._engine.render(EnginePrompt(messages=tuple(messages)), suffix=suffix)

    async def metrics(self) -> EngineMetrics | None:
        """Return the server's metrics; None: it has none."""
        return next(iter((await self._engine.metrics()).values()))

    @property
    def sent_size(self) -> tuple[int, int]:
        """The size in which a run would send its pictures, px."""
        return self.frame.sent_width, self.frame.sent_height

    def start_conversation(self, task: str, *, slack: int, salt: str = "") -> ContextWindow:
        """Return a conversation without observations that keeps one picture and `slack` more.

        `salt` goes before everything.
        """
        return ContextWindow(
            salt + self.dialect.system_prompt(self.frame),
            self.dialect.task_message(task),
            image_placeholder=self.dialect.image_placeholder,
            budget=Budget(keep_images=1, slack_images=slack, tokens=None),
        )

    def append_page(self, window: ContextWindow, picture: Picture, *, step: int) -> None:
        """Append the observation of a made-up page."""
        page = PageState(
            url=f"http://shop.example/{step}", title=f"Page {step}", scroll_x=0.0, scroll_y=0.0
        )
        before, after = self.dialect.observation_text(step, page)
        window.append_observation(before, picture, after, picture_tokens=0)


def default_frame(dialect: Dialect) -> Frame:
    """Return the frame of the largest pictures of a run with the default viewport."""
    width, height = MODEL_VIEWPORT
    return frame_of(Viewport(width=width, height=height), dialect.sent_size(width, height))


def system(text: str) -> Message:
    """Return a system message."""
    return Message(role=Role.SYSTEM, parts=(text,))


def user(*parts: Part) -> Message:
    """Return a user message."""
    return Message(role=Role.USER, parts=parts)
