"""Asks an engine for other thoughts of stored episodes, and keeps those that the verifier `seen` accepts."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from generators.engine.protocol import Engine, Picture, Reply
from generators.tasks.rephrase.gate import says_more_of_answer
from generators.tasks.rephrase.prompt import SAMPLING, read_reply, thought_prompt
from generators.tasks.resolver.tokens import key_of
from generators.verify.seen import Seen
from generators.verify.thoughts import quotes
from schemas.base import canonical_json
from schemas.episodes.episode import Episode, Step, ThoughtSource
from schemas.episodes.rewritten_thought import RewrittenThought
from schemas.errors import RolloutFailure
from schemas.tasks.task import Task
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.verdict import Status

AT_ONCE = 8
"""Requests on their way at once."""

MAX_CHARS = 600
"""Maximum length of a thought in characters."""

MIN_WORDS = 3
"""Minimum length of a thought in words and marks."""


_AHEAD = 2
"""Episodes begun at once: while thoughts of one are judged, those of the next are asked for."""


class Rewriting(NamedTuple):
    """What became of the thoughts of episodes, or of one."""

    kept: list[RewrittenThought]
    """The new thoughts."""
    refused: Counter[str]
    """Why others were not kept, with their number."""
    is_answered: bool = True
    """Whether the engine gave a reply for each."""


async def rewrite_thoughts(
    engine: Engine,
    sources: Iterable[FullEpisode],
    *,
    report: Callable[[str, Rewriting], None] = lambda _episode, _done: None,
) -> Rewriting:
    """Return new thoughts for those of episodes that this program wrote, in the episodes' order.

    `report` gets what became of each episode, by its id, as soon as it is known.
    """
    turns, begun = asyncio.Semaphore(AT_ONCE), asyncio.Semaphore(_AHEAD)

    async def one(source: FullEpisode) -> Rewriting:
        try:
            done = await _rewrite_episode(engine, source, turns)
        finally:
            begun.release()
        report(source.episode.episode_id, done)
        return done

    asked = list[asyncio.Task[Rewriting]]()
    async with asyncio.TaskGroup() as group:
        for source in sources:
            await begun.acquire()
            asked.append(group.create_task(one(source)))
    whole = Rewriting([], Counter())
    for each in asked:
        whole.kept.extend(each.result().kept)
        whole.refused.update(each.result().refused)
    return whole


async def _rewrite_episode(
    engine: Engine, source: FullEpisode, turns: asyncio.Semaphore
) -> Rewriting:
    done, episode = Rewriting([], Counter()), source.episode
    steps = [step for step in episode.steps if step.thought_source is ThoughtSource.TEMPLATE]

    async def ask(step: Step) -> Reply | None:
        async with turns:
            return await _ask(engine, episode, step)

    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(ask(step)) for step in steps]
    told, replies = dict[int, RewrittenThought](), [one.result() for one in asked]
    for step, reply in zip(steps, replies, strict=True):
        thought = "" if reply is None else read_reply(reply.text)
        why = "the engine gave no reply" if reply is None else _why_not(source.task, step, thought)
        if reply is None or why is not None:
            done.refused[str(why)] += 1
            continue
        told[step.step] = RewrittenThought(
            episode_id=episode.episode_id,
            step=step.step,
            thought=thought,
            by=reply.model or engine.card.model,
            instead_of=step.thought or "",
        )
    kept = await asyncio.to_thread(lambda: asyncio.run(_in_sight(source, told)))
    done.kept.extend(kept.values())
    if unseen := len(told) - len(kept):
        done.refused["not all that it needs was in sight"] += unseen
    return done._replace(is_answered=None not in replies)


async def _ask(engine: Engine, episode: Episode, step: Step) -> Reply | None:
    picture = Picture(
        jpeg=step.screenshot.bytes, step=step.step, width=step.width, height=step.height
    )
    action = canonical_json(step.action.model_dump(mode="json", exclude_none=True))
    prompt = thought_prompt(episode.instruction, step.thought or "", action, picture)
    try:
        return await engine.reply(prompt, SAMPLING, session=f"{episode.episode_id}/{step.step}")
    except RolloutFailure:
        return None


def _why_not(task: Task, step: Step, thought: str) -> str | None:
    """Return why a thought cannot stand for that of a step, before anybody looks at pictures; None: it may."""
    own = step.thought or ""
    if not thought:
        return "it says nothing"
    if len(thought) > MAX_CHARS:
        return f"it has more than {MAX_CHARS} characters"
    if key_of(thought) == key_of(own):
        return "it is the same thought"
    if len(key_of(thought)) < MIN_WORDS:
        return "it says too little"
    if not {*quotes(own)} <= {*quotes(thought)}:
        return "it leaves out what the thought names"
    return "it says the answer" if says_more_of_answer(task, own, thought) else None


async def _in_sight(
    source: FullEpisode, told: Mapping[int, RewrittenThought]
) -> dict[int, RewrittenThought]:
    """Return those thoughts with which `seen` finds nothing more that was not in sight than with the stored ones."""
    before, kept = await _unseen(source, {}), dict(told)
    if before is None:
        return {}
    while kept:
        bad = {step for step, _ in (await _unseen(source, kept) or before) - before}
        if not bad & kept.keys():
            return {} if bad else kept
        kept = {step: one for step, one in kept.items() if step not in bad}
    return kept


async def _unseen(
    source: FullEpisode, told: Mapping[int, RewrittenThought]
) -> set[tuple[int, str]] | None:
    """Return what `seen` lacks, by steps, if some think something else; None: it cannot judge the episode.

    The rule is the one for this program's own thoughts, which is the stricter.
    """
    steps = tuple(
        step
        if step.step not in told
        else step.model_copy(update={"thought": told[step.step].thought})
        for step in source.episode.steps
    )
    episode = source.episode.model_copy(update={"steps": steps})
    finding = await Seen().examine(source.task, episode)
    if finding.status is Status.UNSUPPORTED:
        return None
    missing = finding.evidence.get("missing")
    entries = missing if isinstance(missing, list) else []
    told_of = (one for one in entries if isinstance(one, dict))
    return {(int(str(one["step"])), str(one["what"])) for one in told_of}
