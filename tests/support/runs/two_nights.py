"""Small runs of the same tasks, as two nights make them, for tests that compare runs."""

from collections.abc import Collection, Sequence
from pathlib import Path

from support.episodes.factories import (
    MadeRun,
    commit_whole_unit,
    make_run,
    make_task,
    make_unit,
    make_verdict,
)

from schemas.configuration.sections import AcceptSection
from schemas.episodes.episode import Episode
from schemas.verdicts.verdict import Status
from storage.lake.lake import Lake

TEMPLATES = ("choose-list", "click-button", "click-test", "enter-date", "enter-text")
"""The templates of a night, a unit each."""

SEEDS = 2
"""Tasks of a template; there are two attempts at each."""


async def make_night(
    place: Path | str,
    *,
    templates: Sequence[str] = TEMPLATES,
    lost: Collection[tuple[str, int]] = (),
    salt: int = 0,
) -> MadeRun:
    """Return a finished run of two attempts at each task of some templates.

    `lost` are the attempts that no replay confirms: a template, and a place among its attempts. Runs of another
    `salt` see other pictures.
    """
    made = await make_run(place)
    lake = made.lake()
    for template in templates:
        await _commit(lake, made.run_id, template, lost=lost, salt=salt)
    await lake.seal()
    await lake.close()
    return made


async def make_two_nights(folder: Path, *templates: str) -> tuple[MadeRun, MadeRun]:
    """Return two runs of the same tasks, `monday` and `tuesday` in a folder.

    On Tuesday no replay of the first template was confirmed, one attempt was that had not been on Monday, and
    there is a template more.
    """
    usual = templates or TEMPLATES
    monday = await make_night(folder / "monday", templates=usual, lost={(usual[1], 0)})
    lost = {(usual[0], place) for place in range(4)}
    tuesday = await make_night(folder / "tuesday", templates=(*usual, "enter-time"), lost=lost)
    return monday, tuesday


async def grow(made: MadeRun, template: str) -> None:
    """Add a template to a run, and seal another version."""
    lake = made.lake()
    await _commit(lake, made.run_id, template, lost=(), salt=0)
    await lake.seal()
    await lake.close()


async def judge_again(made: MadeRun, template: str) -> None:
    """Have a replay of all attempts at a template fail, and seal another version."""
    lake = made.lake()
    _, episodes = _rolled(made.run_id, template, salt=0)
    await lake.commit_verdicts(
        episodes[0].unit_id,
        verifier="replay",
        version="1",
        round_=1,
        verdicts=[
            make_verdict(one, verifier="replay", round_=1, status=Status.FAILED) for one in episodes
        ],
    )
    await lake.seal()
    await lake.close()


def _rolled(run_id: str, template: str, *, salt: int) -> tuple[str, list[Episode]]:
    tasks = [make_task(seed, template=template) for seed in range(SEEDS)]
    return make_unit(tasks, attempts=2, run_id=run_id, salt=salt)


async def _commit(
    lake: Lake, run_id: str, template: str, *, lost: Collection[tuple[str, int]], salt: int
) -> None:
    tasks = [make_task(seed, template=template) for seed in range(SEEDS)]
    unit_id, episodes = _rolled(run_id, template, salt=salt)
    await commit_whole_unit(lake, unit_id, tasks=tasks, episodes=episodes)
    for name in AcceptSection().passed:
        statuses = [
            Status.FAILED if name == "replay" and (template, place) in lost else Status.PASSED
            for place in range(len(episodes))
        ]
        verdicts = [
            make_verdict(one, verifier=name, status=status)
            for one, status in zip(episodes, statuses, strict=True)
        ]
        await lake.commit_verdicts(unit_id, verifier=name, version="1", round_=0, verdicts=verdicts)
