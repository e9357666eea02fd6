"""A threshold that changes on a stored run: who is asked for what, and what is published then."""

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest
from support.runs.commands import Said, called
from support.runs.fake_miniwob import SCRIPT, Pretender, ScriptedWorkshop
from support.runs.locations import Place

from flows.job import open_job as open_module
from flows.resources.resources import RunResources
from generators.browser.protocol import Session
from generators.sites.protocol import Outcome, Problem

REWARDS = {0: 1.0, 1: 0.7, 2: 0.3, 3: 1.0}
"""What the page gives for winning, by seed."""


class Graded(Pretender):
    """Wins are worth more on some seeds than on others."""

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        found = await super().outcome(problem, session, answer=answer)
        seed = int(problem.goal.removesuffix(".").rpartition(" ")[2])
        return Outcome(reward=REWARDS[seed] if found.done else 0.0, done=found.done)


class GradedWorkshop(ScriptedWorkshop):
    """Stand-ins for browsers, in front of such a site."""

    site = Graded()


@pytest.fixture(autouse=True)
def _graded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_module, RunResources.__name__, GradedWorkshop)


JUDGES = '["structure", "outcome", "replay"]'
"""Without `novelty`: the stand-ins' episodes are copies of one another."""


def generated(base: Path, *more: str) -> Said:
    """Make the run, or go on with it."""
    script = base / "script.json"
    script.write_text(SCRIPT)
    settings = (
        *("policy.name=scripted", f"policy.script={script}", 'tasks.include=["click-test"]'),
        *("tasks.seeds=[0, 3]", "tasks.unit_size=4", "browser.viewport=[100, 100]"),
        *("browser.sessions=2", f"verify.verifiers={JUDGES}", f"accept.passed={JUDGES}", *more),
    )
    return called(
        *("generate", "--no-prefect", "--json", f"--run={base / 'run'}"),
        *(f"--set={one}" for one in settings),
    )


@pytest.fixture(scope="module")
def at_rest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run, made once by the usual rule; tests change copies of it."""
    base = tmp_path_factory.mktemp("graded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_module, RunResources.__name__, GradedWorkshop)
        first = generated(base)
    assert (first.code, first.answer["accepted"]) == (0, 2), first.err
    return base


@pytest.fixture
def made(at_rest: Path, tmp_path: Path) -> None:
    """Copy the run into the test's folder."""
    shutil.copytree(at_rest, tmp_path, dirs_exist_ok=True)


def verdicts(base: Path) -> Counter[tuple[str, str, int]]:
    """Return how many verdicts there are, by verifier, status and round."""
    rows = Place(str(base / "run")).rows("verdicts", "verifier", "status", "round")
    return Counter((row["verifier"], row["status"], row["round"]) for row in rows)


def published(base: Path, name: str, *more: str) -> tuple[Said, list[Mapping[str, Any]]]:
    """Publish the run with its rejected episodes; return its trajectories too."""
    to = base / name
    said = called(
        *("publish", str(base / "run"), f"--to={to}", "--no-prefect", "--json"),
        *("--set=publish.include_rejected=true", *more),
    )
    assert said.code == 0, said.err
    rows = ds.dataset(to / "data" / "trajectories").to_table().to_pylist()
    return said, sorted(rows, key=lambda row: row["seed"])


def test_a_lowered_threshold_owes_replays_and_a_raised_one_nothing(tmp_path: Path) -> None:
    first = generated(tmp_path)
    assert (first.code, first.answer["accepted"]) == (0, 2), first.err
    assert verdicts(tmp_path) == {
        ("structure", "passed", 0): 4,
        ("outcome", "passed", 0): 4,
        ("replay", "passed", 0): 2,
    }
    _, before = published(tmp_path, "before")

    lower = generated(tmp_path, "accept.min_reward=0.5")
    assert (lower.code, lower.answer["accepted"]) == (0, 3), lower.err
    assert lower.answer["rolled_out"] == 0
    judged = verdicts(tmp_path)
    assert judged == {
        ("structure", "passed", 0): 4,
        ("outcome", "passed", 0): 4,
        ("replay", "passed", 0): 2,
        ("replay", "passed", 1): 1,
    }

    back = generated(tmp_path)
    assert (back.code, back.answer["accepted"]) == (0, 2), back.err
    again = generated(tmp_path, "accept.min_reward=0.5")
    assert (again.code, again.answer["accepted"]) == (0, 3), again.err
    higher = generated(tmp_path, "accept.min_reward=1.5")
    assert (higher.code, higher.answer["accepted"]) == (1, 0), higher.err
    assert verdicts(tmp_path) == judged

    _, after = published(tmp_path, "after")
    assert [row for row in after if row["accepted"]] == [
        row for row in before if row["accepted"]
    ], [row["rejected_because"] for row in before]


@pytest.mark.usefixtures("made")
def test_what_a_lowered_threshold_owes_is_unjudged_until_verify_makes_it(tmp_path: Path) -> None:
    lower = "--set=accept.min_reward=0.5"
    run = str(tmp_path / "run")

    said, rows = published(tmp_path, "owing", lower)
    assert (said.answer["accepted"], said.answer["unjudged"]) == (2, 1), said.err
    assert rows[1]["rejected_because"] == ["replay: not judged"]
    assert called("show", run, "--json", lower).answer["unjudged"] == 1

    said = called("verify", run, "--no-prefect", "--json", lower)
    assert (said.code, said.answer["accepted"], said.answer["unjudged"]) == (0, 3, 0), said.err
    assert called("show", run, "--json").answer["accepted"] == 2


def test_one_table_has_one_threshold_whenever_its_episodes_were_judged(tmp_path: Path) -> None:
    generated(tmp_path, "accept.min_reward=0.5", "tasks.seeds=[0, 3]")
    for min_reward, accepted in ((1.0, [0, 3]), (0.7, [0, 1, 3])):
        said, rows = published(tmp_path, f"{min_reward}", f"--set=accept.min_reward={min_reward}")

        assert {row["min_reward"] for row in rows} == {min_reward}, said.err
        assert [row["seed"] for row in rows if row["accepted"]] == accepted
        card = (tmp_path / str(min_reward) / "README.md").read_text(encoding="utf-8")
        assert f"a raw reward of {min_reward:g} or more counts as success." in card


@pytest.mark.usefixtures("made")
def test_commands_that_only_read_say_what_the_rule_cannot_decide(tmp_path: Path) -> None:
    run, lower = str(tmp_path / "run"), "--set=accept.min_reward=0.5"
    owed = f"unjudged 1 (a verdict that this rule needs is missing: `stepmill verify {run}`"
    export = ("export", run, "--format=atif")

    assert owed in called("show", run, lower).out
    assert owed in called("publish", run, f"--to={tmp_path / 'p'}", "--no-prefect", lower).out
    assert owed in called(*export, f"--to={tmp_path / 'e'}", lower).out
    assert owed in called(*export, f"--to={tmp_path / 'e'}", lower).out
    for said in (
        called("show", run),
        called("publish", run, f"--to={tmp_path / 'p'}", "--no-prefect"),
        called(*export, f"--to={tmp_path / 'f'}"),
    ):
        assert "unjudged 1" not in said.out


@pytest.mark.usefixtures("made")
def test_verify_asks_three_times_at_most_and_says_whom_it_left_out(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    told = [called("verify", run, "--no-prefect", "--json").answer["left_out"] for _ in range(4)]

    spent = {"structure": 4, "outcome": 4, "replay": 2}
    assert told == [{}, {}, spent, spent]
    judged = verdicts(tmp_path)
    assert judged["replay", "passed", 2] == 2
    assert judged.total() == 3 * (4 + 4 + 2)

    said = called("verify", run, "--no-prefect")
    assert said.code == 0, said.err
    assert "left out 2 that `replay` has judged as often as it may" in said.out
    lower = called("verify", run, "--no-prefect", "--json", "--set=accept.min_reward=0.5")
    assert (lower.answer["accepted"], lower.answer["left_out"]) == (3, spent)
    _, rows = published(tmp_path, "to", "--set=accept.min_reward=0.5")
    assert [(row["replays"], row["replays_agreed"]) for row in rows] == [
        *[(3, 3), (1, 1), (None, None), (3, 3)]
    ]
