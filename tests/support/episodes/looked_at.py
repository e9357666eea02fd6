"""A run at rest whose attempts were not accepted, to be looked at: its words and pictures are what a test wants."""

from collections.abc import Callable, Sequence
from pathlib import Path

from support.episodes.factories import MadeRun, commit_whole_unit, make_run, make_verdict

from schemas.base import sha256_hex
from schemas.episodes.episode import Episode, Step, steps_sha256
from schemas.verdicts.verdict import Status

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\x1b]0;me\x07\x1b[31m\u202eevil\u2066"
)
"""A text that would act if it were taken for markup, steer a terminal, and turn what follows around."""

ACTS = ("<script>", "<img src=x", "\x1b", "\x07", "\u202e", "\u2066")
"""What must nowhere stand as it is."""


async def make_looked_at(
    place: Path, change: Callable[[Episode], Episode] = lambda episode: episode
) -> MadeRun:
    """Return a sealed run of four attempts at two tasks, each changed, that `outcome` failed."""
    made = await make_run(place)
    unit, lake = made.unit(0), made.lake()
    episodes = [change(episode) for episode in unit.episodes]
    await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=episodes)
    failed = [make_verdict(one, version="4", status=Status.FAILED) for one in episodes]
    told = {"reward": 0.0, "done": True}
    await lake.commit_verdicts(
        unit.unit_id,
        verifier="outcome",
        version="4",
        round_=0,
        verdicts=[one.model_copy(update={"evidence": told}) for one in failed],
    )
    await lake.seal()
    await lake.close()
    made.units.append(unit._replace(episodes=episodes))
    return made


def with_hostile_words(episode: Episode) -> Episode:
    """Return an episode whose page, policy and goal say what a program might take for more than words."""
    steps = [
        step.model_copy(
            update={
                "thought": HOSTILE,
                "page": step.page.model_copy(update={"title": HOSTILE}),
                "target": step.target and step.target.model_copy(update={"name": HOSTILE}),
                "action_error": HOSTILE,
            }
        )
        for step in episode.steps
    ]
    return _resealed(episode, steps).model_copy(
        update={"instruction": HOSTILE, "answer": HOSTILE, "reward": 0.0}
    )


def without_pictures_to_decode(episode: Episode) -> Episode:
    """Return an episode whose pictures were recorded as bytes that are none."""
    data = b"no picture at all"
    steps = [
        step.model_copy(
            update={
                "screenshot": step.screenshot.model_copy(update={"bytes": data}),
                "screenshot_sha256": sha256_hex(data),
            }
        )
        for step in episode.steps
    ]
    return _resealed(episode, steps).model_copy(update={"reward": 0.0})


def _resealed(episode: Episode, steps: Sequence[Step]) -> Episode:
    whole = tuple(steps)
    return episode.model_copy(update={"steps": whole, "content_sha256": steps_sha256(whole)})
