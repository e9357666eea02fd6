"""Sessions that send a recording's prompts through the client of runs, each as an episode of its own.

Every text but the system's, and every picture, is changed for each episode, so that a cache serves no episode what it read
for another. A prompt has the server's own replies where the run's were, as far as this episode has had them.
"""

import asyncio
import io
import itertools
import statistics
import time
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from string import ascii_letters, digits

from PIL import Image, ImageDraw

from bench.recorded.recording import PICTURE, Recording, Turn
from generators.engine.client.client import OpenAIEngine
from generators.engine.client.metrics import EngineMetrics
from generators.engine.client.turns import EndpointLoad
from generators.engine.protocol import EnginePrompt, Message, Part, Picture, Reply, Role, Sampling
from generators.policy.model.seen_prefixes import SeenPrefixes
from schemas.errors import RolloutFailure

REPLY_TOKENS = 150
THINK_SECONDS, THINK_SPREAD = 1.5, 0.3
CHARS = 4
"""Characters of English in a token."""

WORDS = 34 * 62 * 62
"""Tokens of the card's model that are written as a tilde and three digits; any other letter of it is a token."""

LOOK_SECONDS = 5.0
BOXES, BOX = 12, 120


@dataclass(frozen=True, slots=True)
class Answer:
    """One reply."""

    ended: float
    seconds: float
    prompt_tokens: int
    cached_tokens: int
    cacheable_tokens: int
    reply_tokens: int
    pictures: int


@dataclass(frozen=True, slots=True)
class Look:
    """The server and the governor at one time."""

    at: float
    metrics: EngineMetrics
    load: EndpointLoad


@dataclass(slots=True)
class Episode:
    """A recorded episode, as one of its own kind."""

    name: str
    steps: Sequence[Sequence[Turn]]
    recording: Recording
    as_words: bool
    replies: dict[int, str] = field(default_factory=dict)
    _pictures: dict[int, Picture] = field(default_factory=dict)

    def prompt(self, step: int) -> EnginePrompt:
        """Return the prompt of a step; takes some time to draw its pictures."""
        messages = [Message(role=Role.SYSTEM, parts=(self._text(self.recording.system, ""),))]
        number = itertools.count()
        for role, parts in self.steps[step]:
            if role == Role.ASSISTANT:
                before = next(number)
                said = self.replies.get(before) or self._text(str(parts[0]), self.name)
                messages.append(Message(role=Role.ASSISTANT, parts=(said,)))
            else:
                shown = tuple(self._part(part) for part in parts)
                messages.append(Message(role=Role.USER, parts=shown))
        return EnginePrompt(messages=tuple(messages))

    def answered(self, step: int, text: str) -> None:
        """Keep the reply to a step, for the prompts that follow."""
        self.replies[step] = text

    def _part(self, part: str | dict[str, int]) -> Part:
        if isinstance(part, str):
            return self._text(part, self.name)
        step = part[PICTURE]
        if step not in self._pictures:
            self._pictures[step] = self._draw(step)
        return self._pictures[step]

    def _text(self, text: str, salt: str) -> str:
        """Return a text as tokens of the card's model, one for each four characters, or with the salt before it."""
        if not self.as_words:
            return f"{salt} {text}" if salt else text
        return "".join(_word(salt + text[at : at + CHARS]) for at in range(0, len(text), CHARS))

    def _draw(self, step: int) -> Picture:
        random = Random(f"{self.name}/{step}")
        image = Image.open(io.BytesIO(random.choice(self.recording.pictures))).convert("RGB")
        draw = ImageDraw.Draw(image)
        for _ in range(BOXES):
            x, y = random.randrange(image.width - BOX), random.randrange(image.height - BOX)
            colour = (random.randrange(256), random.randrange(256), random.randrange(256))
            draw.rectangle((x, y, x + random.randrange(20, BOX), y + 20), fill=colour)
        encoded = io.BytesIO()
        image.save(encoded, "JPEG", quality=85)
        return Picture(jpeg=encoded.getvalue(), step=step, width=image.width, height=image.height)


def _word(text: str) -> str:
    letters, number = digits + ascii_letters, zlib.crc32(text.encode()) % WORDS
    return "~" + letters[number // 3844] + letters[number // 62 % 62] + letters[number % 62]


class Player:
    """Sessions at one endpoint, from their first requests until their time is over."""

    def __init__(
        self, engine: OpenAIEngine, recording: Recording, *, seed: int, as_words: bool
    ) -> None:
        self._engine, self._recording, self._seed = engine, recording, seed
        self._as_words = as_words
        self._seen = SeenPrefixes()
        self._sampling = Sampling(max_tokens=REPLY_TOKENS, extra={"ignore_eos": True})
        self._ends = False
        self._under_way, self._idle = 0, asyncio.Condition()
        self.answers: list[Answer] = []
        self.looks: list[Look] = []
        self.errors: Counter[str] = Counter()

    async def run(self, sessions: int, seconds: float, *, governed: bool) -> None:
        """Let so many sessions ask for so long, and wait for the last replies."""
        self._ends = False
        looking = asyncio.create_task(self._look())
        asking = [
            asyncio.create_task(self._session(number, governed=governed))
            for number in range(sessions)
        ]
        try:
            done, _ = await asyncio.wait(
                asking, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION
            )
            for task in done:
                task.result()
            self._ends = True
            async with self._idle:
                await self._idle.wait_for(lambda: not self._under_way)
        finally:
            looking.cancel()
            for task in asking:
                task.cancel()
            await asyncio.wait([looking, *asking])

    async def _session(self, number: int, *, governed: bool) -> None:
        random = Random(f"{self._seed}/{number}")
        for count in itertools.count():
            name = f"{self._seed}-{number}-{count}"
            steps = self._choose(random, in_the_middle=count == 0)
            begin = random.randrange(len(steps)) if count == 0 else 0
            episode = Episode(name, steps, self._recording, self._as_words)
            if governed:
                async with self._engine.live(name):
                    await self._play(episode, begin, random)
            else:
                await self._play(episode, begin, random)
            if self._ends:
                return

    def _choose(self, random: Random, *, in_the_middle: bool) -> Sequence[Sequence[Turn]]:
        """Return an episode; of those that are under way at any time, long ones are as many more as they are longer."""
        episodes = self._recording.episodes
        weights = [len(steps) if in_the_middle else 1 for steps in episodes]
        return random.choices(episodes, weights)[0]

    async def _play(self, episode: Episode, begin: int, random: Random) -> None:
        await asyncio.sleep(random.uniform(0, 3.0))
        for step in range(begin, len(episode.steps)):
            if self._ends:
                return
            prompt = await asyncio.to_thread(episode.prompt, step)
            if self._ends:
                return
            self._under_way += 1
            try:
                reply = await self._ask(episode, prompt)
            except RolloutFailure as error:
                self.errors[str(error)[:300]] += 1
                return
            finally:
                self._under_way -= 1
                async with self._idle:
                    self._idle.notify_all()
            episode.answered(step, reply.text or "~000" * REPLY_TOKENS)
            spread = random.uniform(1 - THINK_SPREAD, 1 + THINK_SPREAD)
            await asyncio.sleep(THINK_SECONDS * spread)

    async def _ask(self, episode: Episode, prompt: EnginePrompt) -> Reply:
        sent, began = self._seen.begin(), time.monotonic()
        reply = await self._engine.reply(prompt, self._sampling, session=episode.name)
        cacheable = self._seen.cacheable_tokens(prompt, reply, sent=sent)
        self._engine.hear(reply, session=episode.name, cacheable_tokens=cacheable)
        now = time.monotonic()
        shown = sum(isinstance(part, Picture) for m in prompt.messages for part in m.parts)
        self.answers.append(
            Answer(
                now,
                now - began,
                reply.prompt_tokens or 0,
                reply.cached_tokens or 0,
                cacheable or 0,
                reply.completion_tokens or 0,
                shown,
            )
        )
        return reply

    async def _look(self) -> None:
        while True:
            metrics = next(iter((await self._engine.metrics()).values()))
            load = next(iter(self._engine.loads.values()))
            if metrics is not None:
                self.looks.append(Look(time.monotonic(), metrics, load))
            await asyncio.sleep(LOOK_SECONDS)


def figures(player: Player, begin: float, end: float) -> dict[str, float | int | None]:
    """Return what was done in a span of time, by the server's counters and by the replies."""
    looks = [look for look in player.looks if begin - LOOK_SECONDS < look.at <= end]
    rows = [one for one in player.answers if begin <= one.ended < end]
    if not looks or not rows or looks[0] is looks[-1]:
        return {"replies": len(rows)}
    first, last = looks[0], looks[-1]
    seconds = last.at - first.at
    prompt = _rise(first.metrics.prompt_tokens, last.metrics.prompt_tokens)
    cached = _rise(first.metrics.cached_prompt_tokens, last.metrics.cached_prompt_tokens)
    late = sorted(one.seconds for one in rows)
    cacheable = sum(one.cacheable_tokens for one in rows)
    return {
        "replies_s": round(len(rows) / (end - begin), 3),
        "computed_tok_s": round((prompt - cached) / seconds),
        "cached_share": round(cached / prompt, 3) if prompt else None,
        "hit_efficiency": round(sum(r.cached_tokens for r in rows) / cacheable, 3)
        if cacheable
        else None,
        "latency_p50": round(statistics.median(late), 2),
        "latency_p90": round(late[len(late) * 9 // 10], 2),
        "prompt_mean": round(statistics.mean(one.prompt_tokens for one in rows)),
        "pictures_mean": round(statistics.mean(one.pictures for one in rows), 2),
        "live_mean": round(statistics.mean(look.load.live for look in looks), 1),
        "limit_last": last.load.live_limit,
        "running_mean": round(statistics.mean(look.metrics.running or 0 for look in looks), 1),
        "waiting_mean": round(statistics.mean(look.metrics.waiting or 0 for look in looks), 1),
        "preemptions": _rise(first.metrics.preemptions, last.metrics.preemptions),
    }


def _rise(before: float | None, now: float | None) -> float:
    return (now or 0.0) - (before or 0.0)
