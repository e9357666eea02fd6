"""Runs of an application that is not installed here, or not yet, or no more: stand-ins serve its pages."""

import json
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pytest
from support.inputs.offered_application import MISSING as WHY
from support.inputs.offered_application import Harbour
from support.runs.commands import Said, called
from support.runs.fake_miniwob import SCRIPT, Pretender, ScriptedWorkshop
from support.runs.locations import Place

from flows.job import open_job as open_module
from flows.resources.engines import PolicyRuntime
from flows.resources.resources import RunResources
from generators.sites.protocol import Site
from schemas.configuration.config import RunConfig

RUN = """
[sites]
harbour = "{base}/harbour.toml"

[tasks]
sources = [{sources}]
include = ["click-test"]
seeds = [0, 3]
unit_size = 3

[policy]
name = "scripted"
script = "{base}/script.json"

[browser]
viewport = [100, 100]

[verify]
verifiers = ["outcome", "replay"]

[accept]
passed = ["outcome"]
"""
SITE = """
origin = "http://harbour.localhost"

[start]
command = ["{python}", "-m", "generators.sites.installable", "serve", "harbour", "{folder}"]

[state]
sqlite = "{folder}/harbour.db"
"""
ROW = {
    "site": "harbour",
    "template_id": "click-test",
    "start_url": "/",
    "instruction": "Click.",
    "expect": {"answer": {"any": True}},
}


class Workshop(ScriptedWorkshop):
    """Stand-ins for browsers, in front of two sites."""

    started: list[Collection[str]]
    """The sites that were started, one after the other."""

    def __init__(self, config: RunConfig) -> None:
        super().__init__(config)
        assert isinstance(self.sites, dict)
        sites: dict[str, Site] = self.sites
        sites["harbour"] = Pretender()

    async def start(self, sites: Collection[str], *, rollouts: bool) -> PolicyRuntime | None:
        self.started.append(sites)
        return await super().start(sites, rollouts=rollouts)


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a run of four tasks of each site."""
    monkeypatch.setattr(open_module, RunResources.__name__, Workshop)
    monkeypatch.setattr(Workshop, "started", [], raising=False)
    rows = (json.dumps(ROW | {"seed": seed}) for seed in range(4))
    (tmp_path / "harbour.jsonl").write_text("\n".join(rows))
    (tmp_path / "harbour.toml").write_text(SITE)
    (tmp_path / "script.json").write_text(SCRIPT)
    write_run(tmp_path, "miniwob", f"{tmp_path}/harbour.jsonl")
    return tmp_path


def write_run(base: Path, *sources: str) -> None:
    listed = ", ".join(f'"{one}"' for one in sources)
    (base / "run.toml").write_text(RUN.format(base=base, sources=listed))


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harbour:
    """Return an application that a package offers and that is not here."""
    return Harbour(tmp_path, monkeypatch)


def generated(base: Path, *more: str) -> Said:
    return called(
        *("generate", "--no-prefect", "--json", f"--config={base / 'run.toml'}"),
        *(f"--run={base / 'run'}", *more),
    )


def shown(base: Path) -> dict[str, object]:
    made = called("show", str(base / "run"), "--json").answer["made"]
    assert isinstance(made, dict)
    return {key: made[key] for key in ("planned", "committed", "complete", "waiting")}


def verdicts(base: Path) -> Counter[tuple[str, str, int]]:
    """Return how many verdicts there are, by site, verifier and round."""
    run = Place(str(base / "run"))
    sites = {row["task_id"]: row["site"] for row in run.rows("tasks", "task_id", "site")}
    task_of = {r["episode_id"]: r["task_id"] for r in run.rows("episodes", "episode_id", "task_id")}
    assert len(task_of) == len(run.rows("episodes", "episode_id"))
    return Counter(
        (sites[task_of[row["episode_id"]]], row["verifier"], row["round"])
        for row in run.rows("verdicts", "episode_id", "verifier", "round")
    )


def test_a_run_goes_on_without_an_application_and_makes_its_tasks_once_it_is_installed(
    base: Path, harbour: Harbour
) -> None:
    without = generated(base)
    assert (without.code, without.answer["episodes"]) == (0, 4), without.err
    (line,) = (line for line in without.err.splitlines() if "left out" in line)
    assert line.endswith(f": 4 tasks are left out: {WHY} (then the same command attempts them too)")
    assert Workshop.started == [{"miniwob"}]
    assert shown(base) == {"planned": 8, "committed": 4, "complete": False, "waiting": {WHY: 4}}
    assert f"         4 tasks wait: {WHY}\n" in called("show", str(base / "run")).out

    harbour.install()
    assert shown(base) == {"planned": 8, "committed": 4, "complete": False, "waiting": {}}
    resumed = generated(base)
    assert (resumed.code, resumed.answer["rolled_out"]) == (0, 4), resumed.err
    assert "left out" not in resumed.err
    assert Workshop.started[1:] == [{"miniwob", "harbour"}]
    assert called("audit", str(base / "run"), "--deep", "--json").answer["whole"]
    whole = {"planned": 8, "committed": 8, "complete": True, "waiting": {}}
    assert shown(base) == whole

    harbour.remove()
    assert shown(base) == whole
    again = generated(base)
    assert (again.code, again.answer["rolled_out"]) == (0, 0), again.err


def test_what_an_application_made_is_judged_where_it_is_installed_and_nowhere_else(
    base: Path, harbour: Harbour
) -> None:
    harbour.install()
    assert generated(base, '--set=verify.verifiers=["outcome"]').code == 0
    harbour.remove()
    assert generated(base).code == 0
    assert verdicts(base) == {
        ("miniwob", "outcome", 0): 4,
        ("harbour", "outcome", 0): 4,
        ("miniwob", "replay", 0): 4,
    }
    harbour.install()
    assert generated(base).code == 0
    assert verdicts(base)["harbour", "replay", 0] == 4


def test_judging_again_starts_the_sites_of_what_is_committed(base: Path, harbour: Harbour) -> None:
    asked = ("verify", str(base / "run"), "--no-prefect", "--json")
    generated(base)
    assert called(*asked).code == 0
    harbour.install()
    generated(base)
    assert called(*asked).code == 0
    both = {"miniwob", "harbour"}
    assert Workshop.started == [{"miniwob"}, {"miniwob"}, both, both]


@pytest.mark.usefixtures("harbour")
def test_a_run_of_nothing_else_is_refused_in_a_line(base: Path) -> None:
    write_run(base, f"{base}/harbour.jsonl")
    refused = generated(base)
    assert refused.code == 2
    assert refused.err.splitlines() == [
        f"stepmill: tasks: none of 4 tasks can be attempted: {WHY}",
    ]
    assert not (base / "run").exists()


@pytest.mark.usefixtures("harbour")
def test_a_sample_is_drawn_from_what_waits_too(base: Path) -> None:
    sampled = generated(base, "--set=tasks.sample=4")
    assert (sampled.code, sampled.answer["episodes"]) == (0, 2), sampled.err
    assert f"2 tasks are left out: {WHY}" in sampled.err


@pytest.mark.usefixtures("harbour")
def test_a_site_that_is_not_installed_cannot_be_tried(base: Path) -> None:
    said = called("sites", "check", "harbour", f"--config={base / 'run.toml'}")
    assert said.code == 2
    assert f"sites.harbour: {WHY}" in said.err
