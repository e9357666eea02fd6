"""The prompts of sessions: made-up episodes of the shape of h_cua_perf, in our own dialects.

H Company's data set of engine work has 477 sessions of 38 steps on average (201 at most), one new
screenshot in each request, about ten tools. Here every episode has a task of its own, steps drawn
around that average, and prompts from the very `ContextWindow` and dialect that runs use. No picture comes
twice. A session's first episode begins somewhere in its middle, so that the prompts of a level are
as long as those of a run that has been going for a while.
"""

import asyncio
import io
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from random import Random

from PIL import Image, ImageDraw

from bench.loading.figures import Answer
from bench.loading.thinking import think_seconds
from generators.engine.protocol import EnginePrompt, Picture
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Dialect, Rationale, UnreadableReply
from generators.policy.model.context_window import Budget, ContextWindow, text_tokens
from schemas.base import JsonObject
from schemas.episodes.action import Click
from schemas.episodes.observation import PageState

STEPS, MAX_STEPS = 38, 201
"""Of an episode: the average, and the most."""

TEN_TOOLS = (
    *("select_option", "move_mouse", "drag", "key_down", "key_up"),
    *("go_forward", "open_tab", "close_tab", "answer_dialog", "drop_file", "restart"),
)
"""What is left out of Holotron's tools so that ten are left."""

Ask = Callable[[EnginePrompt, str], Awaitable[Answer]]
"""Asks for a reply in a session of that name."""

_AFTER_ERROR_SECONDS = 0.5
_BARS = 14
_THOUGHT = (
    "The list of results is on the screen and the one that I look for is not among the first of "
    "them, so I open the next page of results and compare names, prices and dates there."
)


@dataclass(frozen=True)
class Shape:
    """What every request is made of."""

    dialect: Dialect
    frame: Frame
    budget: Budget
    schema: JsonObject | None
    """None: replies are free."""
    think_scale: float = 1.0


class Session:
    """One session: an episode after another, until it is cancelled."""

    def __init__(self, shape: Shape, ask: Ask, *, seed: str) -> None:
        self._shape = shape
        self._ask = ask
        self._rng = Random(seed)
        self._seed = seed
        self._system = shape.dialect.system_prompt(shape.frame)
        self._echo = shape.dialect.format_action(
            Click(x=40, y=40), shape.frame, Rationale(thought=_THOUGHT)
        )

    async def run(self, note: Callable[[Answer], None]) -> None:
        """Run episodes without end; `note` is called with every answer."""
        await self._think()
        episode, begin = 0, self._rng.random()
        while True:
            steps = min(MAX_STEPS, 1 + int(self._rng.expovariate(1 / (STEPS - 1))))
            await self._episode(episode, steps, int(begin * steps), note)
            episode, begin = episode + 1, 0.0

    async def _episode(
        self, episode: int, steps: int, begin: int, note: Callable[[Answer], None]
    ) -> None:
        shape, name = self._shape, f"{self._seed}-{episode}"
        window = ContextWindow(
            self._system,
            shape.dialect.task_message(
                f"Find article {self._rng.randrange(10**9)} and tell its price."
            ),
            image_placeholder=shape.dialect.image_placeholder,
            budget=shape.budget,
        )
        for step in range(steps):
            await self._see(window, step, shown=step >= begin - _max_pictures(shape.budget))
            if step < begin:
                window.append_reply(self._echo)
                continue
            answer = await self._ask(
                EnginePrompt(messages=window.messages, reply_schema=shape.schema), name
            )
            note(answer)
            window.calibrate(answer.prompt_tokens)
            window.append_reply(self._echo_of(answer))
            await self._think()
            if answer.error is not None:
                await asyncio.sleep(_AFTER_ERROR_SECONDS)

    async def _see(self, window: ContextWindow, step: int, *, shown: bool) -> None:
        """Append an observation; its picture is drawn only if it is ever sent."""
        shape = self._shape
        size = shape.frame.sent_width, shape.frame.sent_height
        seed = self._rng.random()
        jpeg = await asyncio.to_thread(draw, size, seed) if shown else b""
        page = PageState(
            url=f"http://shop.example/results?page={step}", title="Results", scroll_x=0, scroll_y=0
        )
        before, after = shape.dialect.observation_text(step, page)
        picture = Picture(jpeg=jpeg, step=step, width=size[0], height=size[1])
        window.append_observation(
            before, picture, after, picture_tokens=shape.dialect.image_tokens(*size)
        )

    def _echo_of(self, answer: Answer) -> str:
        """Return what the prompt keeps of a reply: as in a run, or a stand-in of usual length."""
        try:
            return self._shape.dialect.parse(answer.text, self._shape.frame).canonical_reply
        except UnreadableReply:
            return self._echo

    async def _think(self) -> None:
        await asyncio.sleep(think_seconds(self._rng, scale=self._shape.think_scale))


def first_prompt(shape: Shape) -> EnginePrompt:
    """Return the prompt of an episode's first step."""
    size = shape.frame.sent_width, shape.frame.sent_height
    window = ContextWindow(
        shape.dialect.system_prompt(shape.frame),
        shape.dialect.task_message("Find the price of a lamp."),
        image_placeholder=shape.dialect.image_placeholder,
        budget=Budget(keep_images=1, slack_images=0, tokens=None),
    )
    page = PageState(url="http://shop.example/", title="Shop", scroll_x=0, scroll_y=0)
    before, after = shape.dialect.observation_text(0, page)
    picture = Picture(jpeg=draw(size, 0.5), step=0, width=size[0], height=size[1])
    window.append_observation(before, picture, after, picture_tokens=0)
    return EnginePrompt(messages=window.messages, reply_schema=shape.schema)


def fit_budget(shape: Shape, prompt_tokens: int | None) -> Shape:
    """Return the shape with its budget mended by what the first prompt really took.

    An episode that begins in its middle never learns how many tokens its beginning would have taken.
    """
    if prompt_tokens is None or shape.budget.tokens is None:
        return shape
    texts = [
        part for m in first_prompt(shape).messages for part in m.parts if isinstance(part, str)
    ]
    size = shape.frame.sent_width, shape.frame.sent_height
    estimated = sum(map(text_tokens, texts)) + shape.dialect.image_tokens(*size)
    tokens = int(shape.budget.tokens * min(1.0, estimated / prompt_tokens))
    return replace(shape, budget=replace(shape.budget, tokens=tokens))


def _max_pictures(budget: Budget) -> int:
    """Return how many of the last pictures a prompt may hold."""
    return budget.keep_images + budget.slack_images


def draw(size: tuple[int, int], seed: float) -> bytes:
    """Return a JPEG that looks a little like a page and is like no other."""
    rng = Random(seed)
    picture = Image.new("RGB", size, "#fafafa")
    pen = ImageDraw.Draw(picture)
    for _ in range(_BARS):
        left, top = rng.randrange(size[0]), rng.randrange(size[1])
        shade = rng.randrange(256), rng.randrange(256), rng.randrange(256)
        pen.rectangle((left, top, left + rng.randrange(20, 400), top + 18), fill=shade)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=80)
    return out.getvalue()
