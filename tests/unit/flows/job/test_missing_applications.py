"""Runs of an application that is not installed here, or not yet, or no more: stand-ins serve its pages."""

import json
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import pytest
from support.runs.commands import Said, called
from support.runs.fake_miniwob import SCRIPT, Pretender, ScriptedWorkshop
from support.runs.locations import Place

from flows.job import open as open_module
from flows.resources.engines import PolicyRuntime
from flows.resources.resources import RunResources
from generators.sites.installable import registry
from generators.sites.installable.application import SYSTEM, Installed
from generators.sites.protocol import Site
from schemas.configuration.config import RunConfig

WHY = "fossil is not installed: stepmill sites install fossil"
RUN = """
[sites]
fossil = "{base}/fossil.toml"

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
origin = "http://fossil.localhost"

[start]
command = ["{python}", "-m", "generators.sites.installable", "serve", "fossil"]

[state]
sqlite = "{folder}/harbour.fossil"
"""
ROW = {
    "site": "fossil",
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
        sites["fossil"] = Pretender()

    async def start(self, sites: Collection[str], *, rollouts: bool) -> PolicyRuntime | None:
        self.started.append(sites)
        return await super().start(sites, rollouts=rollouts)


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a run of four tasks of each site."""
    monkeypatch.setattr(open_module, RunResources.__name__, Workshop)
    monkeypatch.setattr(Workshop, "started", [], raising=False)
    rows = (json.dumps(ROW | {"seed": seed}) for seed in range(4))
    (tmp_path / "fossil.jsonl").write_text("\n".join(rows))
    (tmp_path / "fossil.toml").write_text(SITE)
    (tmp_path / "script.json").write_text(SCRIPT)
    write_run(tmp_path, "miniwob", f"{tmp_path}/fossil.jsonl")
    return tmp_path


def write_run(base: Path, *sources: str) -> None:
    listed = ", ".join(f'"{one}"' for one in sources)
    (base / "run.toml").write_text(RUN.format(base=base, sources=listed))


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Return what changes whether fossil is here, which it is not."""
    monkeypatch.setattr(registry, "find_installed", lambda *_: None)
    return monkeypatch


def here(install: pytest.MonkeyPatch, *, found: bool) -> None:
    tree = Installed(tree=SYSTEM, version="1") if found else None
    install.setattr(registry, "find_installed", lambda *_: tree)


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
    base: Path, install: pytest.MonkeyPatch
) -> None:
    without = generated(base)
    assert (without.code, without.answer["episodes"]) == (0, 4), without.err
    (line,) = (line for line in without.err.splitlines() if "left out" in line)
    assert line.endswith(f": 4 tasks are left out: {WHY} (then the same command attempts them too)")
    assert Workshop.started == [{"miniwob"}]
    assert shown(base) == {"planned": 8, "committed": 4, "complete": False, "waiting": {WHY: 4}}
    assert f"         4 tasks wait: {WHY}\n" in called("show", str(base / "run")).out

    here(install, found=True)
    assert shown(base) == {"planned": 8, "committed": 4, "complete": False, "waiting": {}}
    resumed = generated(base)
    assert (resumed.code, resumed.answer["rolled_out"]) == (0, 4), resumed.err
    assert "left out" not in resumed.err
    assert Workshop.started[1:] == [{"miniwob", "fossil"}]
    assert called("audit", str(base / "run"), "--deep", "--json").answer["whole"]
    whole = {"planned": 8, "committed": 8, "complete": True, "waiting": {}}
    assert shown(base) == whole

    here(install, found=False)
    assert shown(base) == whole
    again = generated(base)
    assert (again.code, again.answer["rolled_out"]) == (0, 0), again.err


def test_what_an_application_made_is_judged_where_it_is_installed_and_nowhere_else(
    base: Path, install: pytest.MonkeyPatch
) -> None:
    here(install, found=True)
    assert generated(base, '--set=verify.verifiers=["outcome"]').code == 0
    here(install, found=False)
    assert generated(base).code == 0
    assert verdicts(base) == {
        ("miniwob", "outcome", 0): 4,
        ("fossil", "outcome", 0): 4,
        ("miniwob", "replay", 0): 4,
    }
    here(install, found=True)
    assert generated(base).code == 0
    assert verdicts(base)["fossil", "replay", 0] == 4


def test_judging_again_starts_the_sites_of_what_is_committed(
    base: Path, install: pytest.MonkeyPatch
) -> None:
    asked = ("verify", str(base / "run"), "--no-prefect", "--json")
    generated(base)
    assert called(*asked).code == 0
    here(install, found=True)
    generated(base)
    assert called(*asked).code == 0
    both = {"miniwob", "fossil"}
    assert Workshop.started == [{"miniwob"}, {"miniwob"}, both, both]


@pytest.mark.usefixtures("install")
def test_a_run_of_nothing_else_is_refused_in_a_line(base: Path) -> None:
    write_run(base, f"{base}/fossil.jsonl")
    refused = generated(base)
    assert refused.code == 2
    assert refused.err.splitlines() == [
        f"stepmill: tasks: none of 4 tasks can be attempted: {WHY}",
    ]
    assert not (base / "run").exists()


@pytest.mark.usefixtures("install")
def test_a_sample_is_drawn_from_what_waits_too(base: Path) -> None:
    sampled = generated(base, "--set=tasks.sample=4")
    assert (sampled.code, sampled.answer["episodes"]) == (0, 2), sampled.err
    assert f"2 tasks are left out: {WHY}" in sampled.err


@pytest.mark.usefixtures("install")
def test_a_site_that_is_not_installed_cannot_be_tried(base: Path) -> None:
    said = called("sites", "check", "fossil", f"--config={base / 'run.toml'}")
    assert said.code == 2
    assert f"sites.fossil: {WHY}" in said.err
