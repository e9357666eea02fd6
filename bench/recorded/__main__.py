"""Prompts of a real run, asked again of a server by the client of runs: with fixed numbers of sessions, and governed.

    python -m bench.recorded record RUN FILE.zip
    python -m bench.recorded play FILE.zip --url http://127.0.0.1:8000/v1 64:35:35 governed:128:100:120

A phase is `SESSIONS:WARM_SECONDS:SECONDS`, or `governed:WANTED:WARM_SECONDS:SECONDS`: so many sessions ask, their first
episodes begun in the middle, and what they do after the warm-up is measured. Each phase ends when its last replies are
there; then the sums of the replies' tokens are held against the server's counters, to the token. It prints a line of
JSON for each phase, and for a governed one when its limits changed.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.recorded import recording
from bench.recorded.player import Player, figures
from bench.recorded.recording import Recording
from generators.engine.client.client import OpenAIEngine
from generators.engine.client.metrics import EngineMetrics

SETTLE_SECONDS = 1.0
GOVERNED = "governed"


@dataclass(frozen=True, slots=True)
class Phase:
    """Sessions, and for how long."""

    sessions: int
    warm_seconds: float
    seconds: float
    governed: bool


def read_phase(text: str) -> Phase:
    """Return a phase as it is given.

    Raises:
        ValueError: it is not one.
    """
    governed = text.startswith(f"{GOVERNED}:")
    sessions, warm, seconds = text.removeprefix(f"{GOVERNED}:").split(":")
    return Phase(int(sessions), float(warm), float(seconds), governed)


async def play(
    url: str, found: Recording, phases: Sequence[Phase], *, seed: int, as_words: bool
) -> bool:
    """Play every phase; return whether all replies came and all sums agree."""
    held = True
    for number, phase in enumerate(phases):
        live = phase.sessions if phase.governed else None
        async with OpenAIEngine([url], requests=512, live_episodes=live) as engine:
            player = Player(engine, found, seed=seed + number, as_words=as_words)
            before, begun = await _metrics(engine), time.monotonic()
            await player.run(
                phase.sessions, phase.warm_seconds + phase.seconds, governed=phase.governed
            )
            await asyncio.sleep(SETTLE_SECONDS)
            after = await _metrics(engine)
        start = begun + phase.warm_seconds
        sums = _sums(player, before, after)
        held = held and not player.errors and all(ours == theirs for ours, theirs in sums.values())
        name = f"{GOVERNED} {phase.sessions}" if phase.governed else f"{phase.sessions} sessions"
        row = {
            "phase": name,
            **figures(player, start, start + phase.seconds),
            "sums": sums,
            "errors": dict(player.errors),
            "every_20_s": [
                figures(player, at, at + 20)
                for at in range(int(begun), int(start + phase.seconds) - 19, 20)
            ],
            "limits": _changes(player, begun),
        }
        print(json.dumps(row), flush=True)
    return held


async def _metrics(engine: OpenAIEngine) -> EngineMetrics:
    found = next(iter((await engine.metrics()).values()))
    if found is None:
        raise SystemExit("the server has no metrics")
    return found


def _sums(
    player: Player, before: EngineMetrics, after: EngineMetrics
) -> dict[str, tuple[float, float]]:
    """Return our tokens beside the server's."""
    ours = {
        "prompt_tokens": sum(one.prompt_tokens for one in player.answers),
        "cached_prompt_tokens": sum(one.cached_tokens for one in player.answers),
        "generation_tokens": sum(one.reply_tokens for one in player.answers),
    }
    return {
        name: (total, (getattr(after, name) or 0) - (getattr(before, name) or 0))
        for name, total in ours.items()
    }


def _changes(player: Player, begun: float) -> list[tuple[float, int, int, int, int, str]]:
    """Return when which limits held: seconds, live, their limit, parked, the limit of requests, and why."""
    found, last = [], None
    for look in player.looks:
        load, at = look.load, round(look.at - begun, 1)
        now = load.live_limit, load.request_limit
        if now != last:
            found.append((at, load.live, now[0], load.parked, now[1], load.because))
        last = now
    return found


async def _record(url: str) -> Recording:
    from schemas.configuration.sections import StorageSection  # noqa: PLC0415 - the player needs no storage
    from storage.lake.lake import Lake  # noqa: PLC0415
    from storage.objects.urls import open_store  # noqa: PLC0415

    storage = StorageSection()
    lake = Lake(url, open_store(url, storage), storage)
    try:
        units = sorted(await lake.committed_units())
        return recording.record([one for unit in units for one in await lake.episodes(unit)])
    finally:
        await lake.close()


def main() -> int:
    """Record or play; the exit status says whether all sums agreed."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser("record").add_argument
    add("run", help="a run's URL")
    add("file", type=Path)
    add = commands.add_parser("play").add_argument
    add("file", type=Path)
    add("--url", required=True)
    add("--seed", type=int, default=1)
    add(
        "--text",
        action="store_true",
        help="send texts as they are, not as tokens of the card's model",
    )
    add("phases", nargs="+", type=read_phase)
    given = parser.parse_args()
    if given.command == "record":
        found = asyncio.run(_record(given.run))
        recording.write(found, given.file)
        print(
            f"{len(found.episodes)} episodes, {found.steps} steps, {given.file.stat().st_size:,} bytes"
        )
        return 0
    found = recording.read(given.file)
    held = asyncio.run(
        play(given.url, found, given.phases, seed=given.seed, as_words=not given.text)
    )
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
