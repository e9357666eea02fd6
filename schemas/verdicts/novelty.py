"""Finds the episodes of a run that repeat another one, from the fingerprints in verdicts of `novelty`.

Two episodes are copies if all their pictures and actions are equal. They are near copies if goal,
actions and targets are the same, and each picture's difference hash is near the other's. Two tasks are
the same if template, goal and first picture are. Of those that repeat each other the first by id counts
as the original, whenever they were made. The time this takes grows linearly with the run: an episode is
compared with at most `MAX_COMPARED` others of its course.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from schemas.verdicts.verdict import Status, Verdict

NEAR_SHARE = 1 / 16
"""Share of their bits in which the difference hashes of near pictures may differ."""

MAX_COMPARED = 32
"""Originals of one course that an episode is compared with, in id order."""


class Fingerprints(NamedTuple):
    """The fingerprints by which episodes are compared."""

    trajectory: str
    """Hash of its pictures and actions."""
    course: str
    """Hash of its goal, and of its actions with their targets."""
    pictures: tuple[str, ...]
    """The difference hash of each picture, hex."""
    task: str
    """Hash of its template, its goal and its first picture."""


class Repeats(NamedTuple):
    """The episodes and task that an episode repeats."""

    duplicate_of: str | None = None
    """The episode that it is a copy of; None if it is the first."""
    near_duplicate_of: str | None = None
    """The episode that it nearly is a copy of; None if it is the first, or a copy."""
    same_task_as: str | None = None
    """The first of several tasks that are the same; None if its task is that one."""


def fingerprints_of(latest: Mapping[str, Verdict]) -> Fingerprints | None:
    """Return the fingerprints of an episode with these latest verdicts; None if it has none."""
    verdict = latest.get("novelty")
    if verdict is None or verdict.status is not Status.PASSED:
        return None
    match verdict.evidence:
        case {
            "trajectory": str(trajectory),
            "course": str(course),
            "pictures": list(pictures),
            "task": str(task),
        }:
            return Fingerprints(trajectory, course, tuple(map(str, pictures)), task)
    return None


def find_repeats(
    episodes: Mapping[str, Fingerprints], tasks: Mapping[str, str]
) -> dict[str, Repeats]:
    """Return the repetition of each episode that repeats another one.

    `episodes` are those that count, by id: an episode that the rule does not accept otherwise is no
    original. `tasks` has the task of each.
    """
    first_task: dict[str, str] = {}
    for id_, own in episodes.items():
        task = tasks[id_]
        first_task[own.task] = min(task, first_task.get(own.task, task))
    copies: dict[str, str] = {}
    originals: defaultdict[str, list[str]] = defaultdict(list)
    out: dict[str, Repeats] = {}
    for id_ in sorted(episodes):
        own = episodes[id_]
        copied = copies.setdefault(own.trajectory, id_)
        near = None
        if copied == id_:
            near = _near(own, ((one, episodes[one]) for one in originals[own.course]))
            if near is None and len(originals[own.course]) < MAX_COMPARED:
                originals[own.course].append(id_)
        same = first_task[own.task]
        repeats = Repeats(
            duplicate_of=None if copied == id_ else copied,
            near_duplicate_of=near,
            same_task_as=None if same == tasks[id_] else same,
        )
        if any(repeats):
            out[id_] = repeats
    return out


def _near(own: Fingerprints, originals: Iterable[tuple[str, Fingerprints]]) -> str | None:
    """Return the first of `originals` whose pictures are all near."""
    for id_, other in originals:
        if len(own.pictures) == len(other.pictures) and all(
            map(_is_near, own.pictures, other.pictures)
        ):
            return id_
    return None


def _is_near(one: str, other: str) -> bool:
    """Return whether two hashes are near; an invalid hash, as of a missing picture, is near no other."""
    try:
        differing = (int(one, 16) ^ int(other, 16)).bit_count()
    except ValueError:
        return False
    return len(one) == len(other) and differing <= NEAR_SHARE * 4 * len(one)
