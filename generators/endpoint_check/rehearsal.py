"""The rehearsal behind `stepmill engine rehearse`: the whole path to a model, walked before money is spent.

Files and memory are looked at before a server is started, and what it says of its memory afterwards; then steps are asked
as a run asks them, with pictures of the real size; then as many requests as a run may have under way, for what a thousand
trajectories would take and cost. Rates are measured; their use for a run is reckoned.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

from generators.endpoint_check.capacity_plan import Workload, tokens_per_step
from generators.endpoint_check.endpoint import CheckedEndpoint, RequestRefused, system, user
from generators.endpoint_check.probe_images import filler_page
from generators.endpoint_check.result import CheckResult, Fitness
from generators.engine.protocol import Reply
from generators.policy.dialects.protocol import Rationale
from schemas.base import Record
from schemas.configuration.sections import EngineKind, EngineSection
from schemas.episodes.action import Click
from schemas.errors import RolloutFailure

AT_ONCE = (1, 8, 32)
"""Requests under way at a time, one after another."""

STEPS = 3
"""Steps that are asked as a run asks them."""

TRAJECTORIES = 1_000

_GIB = 2**30
_WEIGHTS = "*.safetensors"
_HOUR = 3_600.0
_REPLY_TOKENS = 64


class Rate(Record):
    """What a server did with so many requests at a time."""

    at_once: int
    """Requests under way."""
    seconds: float
    """From the first to the last reply."""
    prompt_tokens: int
    """Of all prompts."""
    completion_tokens: int
    """Of all replies."""

    @property
    def tokens_per_second(self) -> float:
        """Prompt and reply together."""
        return (self.prompt_tokens + self.completion_tokens) / self.seconds


class Estimate(Record):
    """What a run would take, reckoned from the best measured rate."""

    tokens_per_step: float
    """Prompt and reply, as of an episode of the assumed length."""
    steps_per_second: float
    """By the best rate, nothing cached: a prefix cache makes it more."""
    hours: float
    """For the trajectories, each of them accepted at the first attempt."""
    dollars: float | None
    """Their price; None: the engine has none."""


def check_files(section: EngineSection) -> tuple[CheckResult, Path | None]:
    """Check that the model's files are on this machine; return their folder too, None where there is none."""
    if section.kind is not EngineKind.VLLM or section.model is None:
        found = (
            "another server has them" if section.kind is EngineKind.OPENAI else "none are needed"
        )
        return CheckResult(name="files", fitness=Fitness.FIT, found=found), None
    folder = Path(section.model).expanduser()
    if not folder.is_dir():
        try:
            place = snapshot_download(
                section.model, revision=section.revision, local_files_only=True
            )
        except (LocalEntryNotFoundError, HFValidationError, OSError):
            result = CheckResult(
                name="files",
                fitness=Fitness.UNFIT,
                found=f"{section.model} is not on this machine",
                remedy=f"hf download {section.model}",
            )
            return result, None
        folder = Path(place)
    size = weight_bytes(folder)
    if not size:
        result = CheckResult(
            name="files",
            fitness=Fitness.POOR,
            found=f"{folder} has no weights ({_WEIGHTS})",
            remedy=f"hf download {section.model}, unless it is to be served with dummy weights",
        )
        return result, folder
    return CheckResult(
        name="files", fitness=Fitness.FIT, found=f"{size / _GIB:.1f} GiB in {folder}"
    ), folder


def weight_bytes(folder: Path) -> int:
    """Return the size of a model's weights; 0: it has none."""
    return sum(file.stat().st_size for file in folder.glob(_WEIGHTS))


def check_memory(folder: Path | None, cards: Sequence[float], share: float) -> CheckResult:
    """Check that the weights leave room for prompts on the smallest card.

    Args:
        folder: the model's; None: its weights are not known.
        cards: the memory of each card, GiB; empty: no card is known.
        share: of a card's memory, what the server may have.
    """
    weights = 0.0 if folder is None else weight_bytes(folder) / _GIB
    if not cards or not weights:
        found = "no card is known" if not cards else "the weights are not known"
        return CheckResult(
            name="memory",
            fitness=Fitness.POOR,
            found=found,
            remedy="what the server says of it decides",
        )
    left = min(cards) * share - weights
    found = f"{min(cards):.0f} GiB × {share:g} less {weights:.1f} GiB of weights: {left:.1f} GiB for prompts and work"
    remedy = "take a larger card, several of them (--tensor-parallel-size), or fewer bits"
    fitness = Fitness.UNFIT if left <= 0 else Fitness.FIT
    return CheckResult(
        name="memory",
        fitness=fitness,
        found=found,
        remedy=remedy if fitness is Fitness.UNFIT else "",
    )


class Rehearsal:
    """The questions to a server that runs."""

    def __init__(
        self, endpoint: CheckedEndpoint, section: EngineSection, workload: Workload
    ) -> None:
        self._endpoint, self._section, self._workload = endpoint, section, workload
        self.rates: list[Rate] = []
        """What was measured."""
        self.estimate: Estimate | None = None
        """What a run would take; None: nothing was measured."""

    async def run(self, report: Callable[[str], None]) -> AsyncIterator[CheckResult]:
        """Yield what each part found; `report` gets the name of each before it."""
        for name, part in (
            ("room", self._room),
            ("steps", self._steps),
            ("adjacent", self._adjacent),
            ("rates", self._rates),
        ):
            report(f"rehearsing: {name}")
            try:
                results = await part()
            except (RequestRefused, RolloutFailure) as error:
                found = CheckResult(
                    name=name,
                    fitness=Fitness.UNFIT,
                    found=str(error),
                    remedy="see the server's own log",
                )
                yield found
                return
            for result in results:
                yield result

    async def _room(self) -> list[CheckResult]:
        """Read what the server says of its memory."""
        metrics = await self._endpoint.metrics()
        memory = None if metrics is None else metrics.memory(self._endpoint.card.context_tokens)
        if memory is None:
            found = "the server does not say how much of prompts it can keep"
            return [CheckResult(name="room", fitness=Fitness.POOR, found=found)]
        prompt = round(tokens_per_step(self._picture_tokens, self._workload))
        fit = memory.episodes(prompt)
        found = (
            f"{memory.blocks:,} blocks of {memory.block_tokens} tokens, {memory.state_blocks} of them for a state: by "
            f"reckoning {fit:.0f} episodes; a run finds its own number"
        )
        return [
            CheckResult(
                name="room", fitness=Fitness.FIT if fit >= 1 else Fitness.UNFIT, found=found
            )
        ]

    @property
    def _picture_tokens(self) -> int:
        endpoint = self._endpoint
        return endpoint.dialect.image_tokens(*endpoint.sent_size)

    async def _steps(self) -> list[CheckResult]:
        """Ask steps as a run does, each with a page of the real size."""
        endpoint = self._endpoint
        window = endpoint.start_conversation(
            "Find the cheapest article and answer its price.", slack=2
        )
        replies: list[Reply] = []
        for step in range(STEPS):
            if step:
                action = endpoint.dialect.format_action(
                    Click(x=40, y=40), endpoint.frame, Rationale(thought="I look further.")
                )
                window.append_reply(action)
            picture = filler_page(endpoint.sent_size, seed=endpoint.unique_prefix, step=step)
            endpoint.append_page(window, picture, step=step)
            replies.append(await endpoint.ask(window.messages, tokens=_REPLY_TOKENS))
        width, height = endpoint.sent_size
        last = replies[-1]
        found = f"{STEPS} with pictures of {width}×{height} px; the last prompt has {last.prompt_tokens} tokens, "
        found += f"{last.image_tokens if last.image_tokens is not None else '?'} of them pictures"
        results = [
            CheckResult(
                name="steps",
                fitness=Fitness.POOR if last.prompt_tokens is None else Fitness.FIT,
                found=found,
                remedy=""
                if last.prompt_tokens
                else "a server that counts no tokens cannot be priced",
            )
        ]
        second = replies[1]
        if second.cached_tokens is None:
            return [
                *results,
                CheckResult(
                    name="second step",
                    fitness=Fitness.POOR,
                    found="the server does not say what its cache served",
                    remedy="vLLM: --enable-prompt-tokens-details",
                ),
            ]
        served = second.cached_tokens > 0
        return [
            *results,
            CheckResult(
                name="second step",
                fitness=Fitness.FIT if served else Fitness.POOR,
                found=f"{second.cached_tokens} of {second.prompt_tokens} tokens from the cache",
                remedy=""
                if served
                else "serve with a prefix cache (vLLM: --enable-prefix-caching)",
            ),
        ]

    async def _adjacent(self) -> list[CheckResult]:
        """Ask about pictures that stand beside each other, as a validator's do."""
        endpoint = self._endpoint
        pictures = [
            filler_page(endpoint.sent_size, seed=f"{endpoint.unique_prefix} beside", step=number)
            for number in range(STEPS)
        ]
        await endpoint.ask([system("You compare."), user(*pictures, "What differs?")], tokens=8)
        found = f"{STEPS} pictures beside each other are read"
        return [CheckResult(name="adjacent", fitness=Fitness.FIT, found=found)]

    async def _rates(self) -> list[CheckResult]:
        """Ask as many at a time as a run may, each with a prompt that no cache has."""
        results: list[CheckResult] = []
        for at_once in AT_ONCE:
            begun = time.perf_counter()
            async with asyncio.TaskGroup() as group:
                asked = [group.create_task(self._ask_new(at_once, n)) for n in range(at_once)]
            seconds = time.perf_counter() - begun
            replies = [task.result() for task in asked]
            rate = Rate(
                at_once=at_once,
                seconds=seconds,
                prompt_tokens=sum(reply.prompt_tokens or 0 for reply in replies),
                completion_tokens=sum(reply.completion_tokens or 0 for reply in replies),
            )
            self.rates.append(rate)
            found = f"{rate.tokens_per_second:,.0f} tokens a second, prompts and replies together"
            results.append(CheckResult(name=f"{at_once} at once", fitness=Fitness.FIT, found=found))
        return [*results, self._price()]

    async def _ask_new(self, at_once: int, number: int) -> Reply:
        endpoint = self._endpoint
        salt = f"{endpoint.unique_prefix} {at_once} {number}"
        window = endpoint.start_conversation(
            "Find the cheapest article.", slack=0, salt=f"{salt}\n"
        )
        picture = filler_page(endpoint.sent_size, seed=salt, step=0)
        endpoint.append_page(window, picture, step=0)
        return await endpoint.ask(window.messages, tokens=_REPLY_TOKENS)

    def _price(self) -> CheckResult:
        """Reckon what a thousand trajectories take and cost at the best rate."""
        best = max(self.rates, key=lambda rate: rate.tokens_per_second)
        work, section = self._workload, self._section
        tokens = tokens_per_step(self._picture_tokens, work)
        steps = best.tokens_per_second / tokens
        hours = TRAJECTORIES * work.steps / steps / _HOUR
        dollars = None
        if section.usd_per_hour is not None:
            dollars = hours * section.usd_per_hour
        elif (price := section.usd_per_million) is not None:
            prompt = tokens - work.reply_tokens
            million = TRAJECTORIES * work.steps / 1e6
            dollars = million * (prompt * price.prompt + work.reply_tokens * price.completion)
        self.estimate = Estimate(
            tokens_per_step=tokens, steps_per_second=steps, hours=hours, dollars=dollars
        )
        cost = "no price is set" if dollars is None else f"{dollars:,.2f} dollars"
        found = (
            f"{TRAJECTORIES:,} trajectories of {work.steps} steps: {hours:.1f} hours, {cost}, at {steps:.2f} steps a "
            f"second ({best.at_once} requests at once, nothing cached; each accepted at once)"
        )
        return CheckResult(name="a thousand", fitness=Fitness.FIT, found=found)
