"""Small runs of the same tasks, as two nights make them, for tests that compare runs."""

from collections.abc import Collection, Sequence
from pathlib import Path

from support.episodes.factories import (
    MadeRun,
    Unit,
    commit_whole_unit,
    make_run,
    make_task,
    make_unit,
    make_verdict,
)

from schemas.configuration.sections import AcceptSection
from schemas.verdicts.verdict import Status

TEMPLATES = ("choose-list", "click-button", "click-test", "enter-date", "enter-text")
"""The templates of a night, which are one unit."""

SEEDS, ATTEMPTS = 2, 2
"""Tasks of a template, and attempts at each."""


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
    await grow(made, *templates, lost=lost, salt=salt)
    return made


async def make_two_nights(folder: Path) -> None:
    """Make two runs of the same tasks, `monday` and `tuesday` in a folder.

    On Tuesday no replay of the first template was confirmed, one attempt was that had not been on Monday, and
    there is a template more.
    """
    await make_night(folder / "monday", lost={(TEMPLATES[1], 0)})
    lost = {(TEMPLATES[0], place) for place in range(SEEDS * ATTEMPTS)}
    await make_night(folder / "tuesday", templates=(*TEMPLATES, "enter-time"), lost=lost)


async def grow(
    made: MadeRun,
    *templates: str,
    lost: Collection[tuple[str, int]] = (),
    salt: int = 0,
) -> None:
    """Add a unit of some templates to a run, judged, and seal a version."""
    unit, lake = _unit(made, templates, salt), made.lake()
    await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=unit.episodes)
    for name in AcceptSection().passed:
        statuses = [
            Status.FAILED if name == "replay" and attempt in lost else Status.PASSED
            for attempt in _attempts(templates)
        ]
        verdicts = [
            make_verdict(one, verifier=name, status=status)
            for one, status in zip(unit.episodes, statuses, strict=True)
        ]
        await lake.commit_verdicts(
            unit.unit_id, verifier=name, version="1", round_=0, verdicts=verdicts
        )
    await lake.seal()
    await lake.close()


async def judge_again(made: MadeRun, template: str) -> None:
    """Have a second replay of all attempts at a template of a night fail, and seal a version."""
    unit, lake = _unit(made, TEMPLATES, 0), made.lake()
    found = zip(unit.episodes, _attempts(TEMPLATES), strict=True)
    verdicts = [
        make_verdict(one, verifier="replay", round_=1, status=Status.FAILED)
        for one, (name, _) in found
        if name == template
    ]
    await lake.commit_verdicts(
        unit.unit_id, verifier="replay", version="1", round_=1, verdicts=verdicts
    )
    await lake.seal()
    await lake.close()


def _unit(made: MadeRun, templates: Sequence[str], salt: int) -> Unit:
    tasks = [make_task(seed, template=name) for name in templates for seed in range(SEEDS)]
    unit_id, episodes = make_unit(tasks, attempts=ATTEMPTS, run_id=made.run_id, salt=salt)
    return Unit(unit_id, tasks, episodes)


def _attempts(templates: Sequence[str]) -> list[tuple[str, int]]:
    """Return the template and place of each attempt of a unit."""
    return [(name, place) for name in templates for place in range(SEEDS * ATTEMPTS)]
