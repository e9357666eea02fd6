"""How a run is killed and run again, and what must be true in the end.

A run over stand-ins is forked from a server process that has imported what it needs, so that one
costs a fraction of a second; the server itself never touches a table.
"""

import asyncio
import contextlib
import io
import json
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

import pyarrow.dataset as ds
import pytest
from support.runs.commands import SECONDS, Said, called
from support.runs.fake_miniwob import ScriptedWorkshop
from support.runs.forks import FORKS
from support.runs.kill_at import NEVER, Doom, Fate, Instant, run
from support.runs.locations import store_at
from support.runs.small_runs import Finished, Trial

from flows.cli import live_progress as driver
from flows.job import open_job as open_module
from flows.resources.resources import RunResources
from storage.audit import audit
from storage.publish.destinations.store import FolderDestination, StoreDestination
from storage.publish.plan.manifest import MANIFEST
from storage.publish.verify import verify_published

KILLED = -9
"""The exit code of a command that was killed."""

MIN_REWARD = 1.0
"""What the rule of a run that names none accepts."""

_BROKEN = 70
_ANSWERS = {"passed", "failed", "unsupported"}


class Fork:
    """A command at work in a process of its own."""

    def __init__(self, doom: Doom) -> None:
        self._ear, mouth = FORKS.Pipe(duplex=False)
        self._process = FORKS.Process(target=_live, args=(doom.model_dump_json(), mouth))
        self._process.start()
        mouth.close()

    def end(self) -> Said:
        """Wait until it has ended, one way or another."""
        said = Said(KILLED, "", "")
        with contextlib.suppress(EOFError):  # killed processes say nothing
            if not self._ear.poll(SECONDS):
                self._process.kill()
            said = Said(*self._ear.recv())
        self._ear.close()
        self._process.join()
        return said


def fork(doom: Doom) -> Said:
    """Carry out a command in a process of its own."""
    return Fork(doom).end()


def carry_out(doom: Doom) -> Said:
    """Carry out a command that nothing happens to in this process, which costs half as much."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "LINE_SECONDS", NEVER)
        if doom.scripted:
            patch.setattr(open_module, RunResources.__name__, ScriptedWorkshop)
        return called(*doom.argv, env=doom.environ)


def finish(trial: Trial, way: Callable[[Doom], Said] = fork) -> None:
    """Run the same command to its end, and hold the run against what is promised."""
    before = trial.finished()
    said = way(trial.doom())
    assert said.code == 0, said.err
    assert said.err == "", said.err
    assert said.answer["rolled_out"] == trial.episodes - len(before)
    asyncio.run(assert_whole(trial, before))


def stop_and_finish(
    trial: Trial, at: Instant, fate: Fate = Fate.KILLED, way: Callable[[Doom], Said] = fork
) -> bool:
    """Kill a run at an instant, if that comes, and finish it; return whether it came."""
    ended = fork(trial.doom(at=at, fate=fate))
    assert ended.code in {0, KILLED}, ended.err
    try:
        finish(trial, way)
    except AssertionError as error:
        error.add_note(f"it was killed at: {at}")
        raise
    return ended.code != 0


def _live(doom: str, mouth: "Connection[Any, Any]") -> None:
    out, err, code = io.StringIO(), io.StringIO(), _BROKEN
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run(Doom.model_validate_json(doom))
        except Exception:  # noqa: BLE001 - it is told to the test
            err.write(traceback.format_exc())
    mouth.send((code, out.getvalue(), err.getvalue()))


async def assert_whole(trial: Trial, before: Mapping[str, Finished] | None = None) -> None:
    """Hold a run that has ended against everything that is promised of one.

    `before` are the episodes that were durable when it was stopped.
    """
    there = before or {}
    now = trial.committed()
    assert len(now) == trial.episodes
    assert {key: now.get(key) for key in there} == there, "an episode was rolled out again"
    _assert_rows_are_there_once(trial)
    report = await audit(store_at(trial.url), deep=True)
    assert report.findings == ()
    to = trial.published()
    manifest = json.loads((to / MANIFEST).read_bytes())
    assert f"versions/{manifest['version']}.json" == max(trial.objects("versions/"))
    place = (
        FolderDestination(to)
        if trial.dataset is None
        else StoreDestination(store_at(trial.dataset))
    )
    assert (await verify_published(place, deep=True)).findings == ()
    published = ds.dataset(to / "data" / "trajectories").to_table(columns=["episode_id"])
    assert Counter(published.column("episode_id").to_pylist()) == Counter(_accepted(trial))


def _assert_rows_are_there_once(trial: Trial) -> None:
    heads = trial.rows("episodes", "episode_id", "task_id", "n_steps")
    wanted = Counter((key, step) for key, _, n_steps in heads for step in range(n_steps + 1))
    assert Counter(trial.rows("steps", "episode_id", "step")) == wanted
    assert Counter(trial.rows("observations", "episode_id", "step")) == wanted
    tasks = {(task_id,) for _, task_id, _ in heads}
    assert Counter(trial.rows("tasks", "task_id")) == Counter(tasks)


def _accepted(trial: Trial) -> set[str]:
    """Return the accepted episodes; every verifier answered once on what none before it failed."""
    found = trial.rows("verdicts", "episode_id", "verifier", "verifier_version", "round", "status")
    assert len({row[:4] for row in found}) == len(found), "a verdict is there twice"
    answers = [(*row[:2], row[4]) for row in found if row[4] in _ANSWERS]
    said = {(episode_id, verifier): status for episode_id, verifier, status in answers}
    assert len(said) == len(answers), "a question was answered twice"
    for episode_id, reward in trial.rows("episodes", "episode_id", "reward"):
        if said.get((episode_id, "outcome")) == "passed" and reward < MIN_REWARD:
            said[episode_id, "outcome"] = "failed"  # by the rule, which reads what `outcome` found
    accepted: set[str] = set()
    for episode_id in trial.committed():
        statuses = [said.pop((episode_id, name), None) for name in trial.verifiers]
        asked = statuses[: statuses.index("failed") + 1] if "failed" in statuses else statuses
        assert None not in asked, "a verdict is missing"
        if set(asked) == {"passed"}:
            accepted.add(episode_id)
    return accepted
