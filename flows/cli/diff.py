"""`stepmill diff`: compare two runs, datasets or versions of one.

A side is a run, or a dataset in a folder, a bucket or on the Hub; `@N` at its end chooses a version. A run is
judged by its own rule, under the user's settings; a dataset is as it was published.
"""

import asyncio
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as Bars

from flows import signals
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources, load
from flows.job.diff_lines import PolicyYields, diff_lines
from flows.job.pass_rates import Comparison, TaskAttempts, compare_runs
from flows.job.stored_run import open_stored_run
from flows.job.summary import TaskKind
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from schemas.errors import NotFound
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.diff.diff import DiffReport, Progress, diff
from storage.diff.episode_facts import EpisodeFacts
from storage.diff.sides import Side, dataset_side, open_run_side
from storage.reading.place import StorePlace, open_dataset, open_place
from storage.run_file import KEY

_AT_VERSION = re.compile(r"(?P<url>.+)@(?P<version>[1-9][0-9]{0,17})")


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    sources = Sources(config=args.config, settings=tuple(args.settings))
    report, yields = signals.run(_diff(args.first, args.second, sources))
    if args.json:
        found = [one.model_dump(mode="json") for one in yields]
        print_result({"same": report.same, **report.model_dump(mode="json"), "yields": found})
    else:
        print_lines(diff_lines(report, yields, whole=args.all))
    return ExitCode.DONE


async def _diff(
    first: str, second: str, sources: Sources
) -> tuple[DiffReport, tuple[PolicyYields, ...]]:
    """Return the difference of two sides, and their yields compared."""
    with _progress() as progress:
        one = await _open(first, sources)
        other = await _open(second, sources)
        report = await asyncio.to_thread(diff, one, other, progress=progress)
    return report, compare_yields(one, other)


async def _open(text: str, sources: Sources) -> Side:
    """Return the side that an argument names."""
    match = _AT_VERSION.fullmatch(text)
    url, version = (match["url"], int(match["version"])) if match else (text, None)
    place = open_place(url, version, load(sources, os.environ).storage)
    if not isinstance(place, StorePlace):
        version = None  # a tag has chosen it already
    if not isinstance(place, StorePlace) or await place.text(KEY) is None:
        dataset = await open_dataset(place, version)
        return await asyncio.to_thread(dataset_side, dataset, address=text)
    stored = await open_stored_run(url, sources, os.environ)
    try:
        snapshot = await stored.lake.reviewed_snapshot(version)
        if not snapshot.tables.get("episodes"):
            raise NotFound(f"{url}: version {snapshot.version} has no episodes to compare")
        return await open_run_side(
            snapshot, stored.config.accept, address=text, run_id=stored.run.run_id
        )
    finally:
        await stored.lake.close()


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """Show which part of the files was read, where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with Bars(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("opening", total=None)
        yield lambda done, total: bars.update(
            bar, description="files read", completed=done, total=total
        )


def compare_yields(first: Side, second: Side) -> tuple[PolicyYields, ...]:
    """Return the yields of two sides, of all policies together and, if there are several, of each."""
    policies = sorted({one.policy for side in (first, second) for one in side.episodes})
    wanted = [None, *(policies if len(policies) > 1 else ())]
    return tuple(
        PolicyYields(
            policy=policy,
            accepted=_compare(first, second, policy, success=False),
            success=_compare(first, second, policy, success=True),
        )
        for policy in wanted
    )


def _compare(
    first: Side, second: Side, policy: str | None, *, success: bool
) -> tuple[Comparison, ...]:
    sides = (
        _count((one for one in side.episodes if policy in (None, one.policy)), success=success)
        for side in (first, second)
    )
    return compare_runs(*sides)


def _count(episodes: Iterable[EpisodeFacts], *, success: bool) -> tuple[TaskAttempts, ...]:
    """Return the attempts that count by task and policy, and how many of them were accepted, or succeeded."""
    counts: dict[tuple[str, str], TaskAttempts] = {}
    for one in episodes:
        passed = one.success if success else _is_accepted(one)
        if passed is None or (success and one.outside):
            continue
        key = one.task_id, one.policy
        kind = TaskKind(one.site, one.template)
        before = counts.get(key, TaskAttempts(one.task_id, kind, one.policy, 0, 0))
        counts[key] = before._replace(
            attempts=before.attempts + 1, passed=before.passed + int(passed)
        )
    return tuple(counts[key] for key in sorted(counts))


def _is_accepted(episode: EpisodeFacts) -> bool | None:
    """Return whether an episode was accepted; None if nobody has judged it."""
    unjudged = episode.status is AcceptanceStatus.UNJUDGED
    return None if unjudged else episode.status is AcceptanceStatus.ACCEPTED
