"""How much of recorded episodes each dialect can say, as training rows say it.

    .venv/bin/python -m bench.dialects RUN... [--most N]

Every action of the runs' episodes is written in every dialect and read again, as a training row does. An action that a
dialect has no words for ends the episode's rows, so all that comes after it is lost as well. The line that is held:
each dialect that an engine is asked in loses less than 3 % of the steps. What the families lose that are read and
written alone is listed beside it.
"""

import argparse
import asyncio
import os
from collections import Counter
from collections.abc import Iterable, Sequence

from bench.measuring.result import RESULTS, write_result
from flows.job.config_loader import Sources
from flows.job.stored_run import open_stored_run
from generators.policy.dialects.coordinates import frame_of
from generators.policy.dialects.protocol import (
    Dialect,
    InexpressibleAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.registry import DIALECTS, make_dialect, options_to_try
from schemas.base import Record
from schemas.episodes.action import NoAction
from schemas.episodes.episode import Episode, Step
from schemas.episodes.viewport import Viewport

MAX_LOST = 0.03
"""Share of the steps that a dialect may lose."""


class Loss(Record):
    """What one dialect loses of the episodes."""

    dialect: str
    """Its name."""
    asked: bool
    """Whether an engine is asked in it; False: it is read and written alone."""
    steps: int
    """Steps with an action."""
    lost: int
    """Steps that no row has."""
    ended: dict[str, int]
    """Episodes that end early, by the reason."""

    @property
    def share(self) -> float:
        """Share of the steps that are lost."""
        return self.lost / self.steps if self.steps else 0.0


def loss(name: str, episodes: Iterable[Episode]) -> Loss:
    """Return what a dialect loses of episodes."""
    dialect = make_dialect(name, options_to_try(name))
    steps, kept, ended = 0, 0, Counter[str]()
    for episode in episodes:
        acted = [step for step in episode.steps if not isinstance(step.action, NoAction)]
        said, why = _said(dialect, episode, acted)
        steps += len(acted)
        kept += said
        if why is not None:
            ended[why] += 1
    return Loss(
        dialect=name,
        asked=dialect.drives_engine,
        steps=steps,
        lost=steps - kept,
        ended=dict(ended.most_common()),
    )


def _said(dialect: Dialect, episode: Episode, steps: Sequence[Step]) -> tuple[int, str | None]:
    """Return how many steps of an episode have words, and what ends it; None: it is whole."""
    viewport = Viewport(
        width=episode.viewport_width,
        height=episode.viewport_height,
        scale=episode.device_scale_factor,
    )
    frame = frame_of(viewport, dialect.sent_size(*viewport.picture))
    for number, step in enumerate(steps):
        words = Rationale(thought=step.thought, note=step.note, element="the element")
        try:
            dialect.parse(dialect.format_action(step.action, frame, words), frame)
        except (InexpressibleAction, UnreadableReply):
            return number, f"unsaid_{step.action.type}"
    return len(steps), None


async def read_episodes(urls: Sequence[str]) -> list[Episode]:
    """Return the episodes of runs, in the order of their ids."""
    out = list[Episode]()
    for url in urls:
        stored = await open_stored_run(url, Sources(), os.environ)
        try:
            for unit in await stored.lake.committed_units():
                out += await stored.lake.episodes(unit)
        finally:
            await stored.lake.close()
    return sorted(out, key=lambda episode: episode.episode_id)


def main(words: Sequence[str] | None = None) -> None:
    """Count over the episodes of the runs, and print and keep what is lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+")
    parser.add_argument("--most", type=int, help="count over so many episodes at most")
    asked = parser.parse_args(words)
    episodes = asyncio.run(read_episodes(asked.runs))[: asked.most]
    losses = []
    for name in DIALECTS:
        losses.append(loss(name, episodes))
        one = losses[-1]
        print(f"{name:<13} {one.share:7.2%} {one.lost:>6} of {one.steps} {one.ended}", flush=True)
    worst = max(one.share for one in losses if one.asked)
    write_result(
        RESULTS,
        "dialects",
        {
            "bench": "dialects",
            "held": worst < MAX_LOST,
            "max_lost": MAX_LOST,
            "worst_asked": worst,
            "episodes": len(episodes),
            "dialects": [{**one.model_dump(mode="json"), "share": one.share} for one in losses],
        },
    )


if __name__ == "__main__":
    main()
