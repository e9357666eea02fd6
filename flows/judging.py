"""From episodes to committed verdicts, by the numbers of their rounds.

What is asked is the panel's business. Here it is decided which round a unit's new verdicts are
of: for each verifier and version the next one that the unit has none of, so that a transaction
is never used twice for different verdicts, whichever of a unit's episodes are judged again.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from schemas.acceptance import latest
from schemas.task import Task
from schemas.verdict import Verdict
from storage.lake import Lake

Said = Mapping[str, Verdict]
"""What is known of one episode, by verifier (see `acceptance.latest`)."""


_Address = tuple[str, str, int]
"""Verifier, version, round."""


def by_episode(verdicts: Iterable[Verdict]) -> dict[str, dict[str, Verdict]]:
    """Return what counts of `verdicts`, by episode and verifier."""
    grouped: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        grouped[verdict.episode_id].append(verdict)
    return {episode_id: latest(found) for episode_id, found in grouped.items()}


def numbered(new: Iterable[Verdict], known: Iterable[Verdict]) -> dict[_Address, list[Verdict]]:
    """Return `new` verdicts of one unit by verifier, version and round, given those it has."""
    highest: dict[tuple[str, str], int] = {}
    for verdict in known:
        source = (verdict.verifier, verdict.verifier_version)
        highest[source] = max(verdict.round, highest.get(source, -1))
    out: defaultdict[_Address, list[Verdict]] = defaultdict(list)
    for verdict in new:
        source = (verdict.verifier, verdict.verifier_version)
        round_ = highest.get(source, -1) + 1
        out[(*source, round_)].append(verdict.model_copy(update={"round": round_}))
    return dict(out)


async def commit(
    lake: Lake, unit_id: str, new: Sequence[Verdict], known: Sequence[Verdict]
) -> None:
    """Commit `new` verdicts of a unit that has those `known`.

    Raises:
        Unwritable: the run cannot be written.
    """
    for (verifier, version, round_), verdicts in numbered(new, known).items():
        await lake.commit_verdicts(
            unit_id, verifier=verifier, version=version, round_=round_, verdicts=verdicts
        )


def told(tasks: Sequence[Task], instructions: Mapping[str, str]) -> list[Task]:
    """Return `tasks` with the goals that their pages stated, by task."""
    return [
        task.model_copy(update={"instruction": instructions[task.task_id]})
        if not task.instruction and instructions.get(task.task_id)
        else task
        for task in tasks
    ]
