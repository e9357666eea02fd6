"""Applications that are broken: what `sites check` says of them, and what a run makes of them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.inputs.broken_tasks import WHOLE
from support.runs.commands import called
from support.runs.locations import Place
from support.servers.ledger_site import SHARED, command

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]


def write_run(folder: Path, *faults: str, seeds: Sequence[int] = (1,), shared: bool = False) -> str:
    """Write a run over a ledger with these faults, one task for each seed; return its file's path."""
    headers = ", headers = { X-Session = '{session}' }" if shared else ""
    visits = f"visits = {{ carrier = '{SHARED['carrier']}', name = '{SHARED['name']}' }}\n"
    (folder / "ledger.toml").write_text(
        'origin = "http://ledger.localhost"\n'
        + (visits if shared else "")
        + f"[start]\ncommand = {json.dumps(command(*faults))}\n"
        f'[reset]\nrequest = {{ path = "/reset?seed={{seed}}"{headers} }}\n'
        f'[state]\nrequest = {{ method = "GET", path = "/state"{headers} }}\n'
    )
    rows = [json.dumps(WHOLE["add"] | {"template_id": "add", "seed": seed}) for seed in seeds]
    (folder / "tasks.jsonl").write_text("\n".join(rows))
    (folder / "run.toml").write_text(
        f'[run]\nurl = "{folder}/run"\n[sites]\nledger = "{folder}/ledger.toml"\n'
        f'[tasks]\nsource = "{folder}/tasks.jsonl"\n[policy]\nname = "scripted"\n'
        "[browser]\nviewport = [500, 400]\nsessions = 2\n"
    )
    return str(folder / "run.toml")


def failing(run: str, *, of: int) -> list[str]:
    """Check the ledger of a run; return the lines that fail, which are so many."""
    said = called("sites", "check", "ledger", f"--config={run}")

    assert said.code == 1, said.err
    assert f"ledger: {of} of" in said.out
    assert said.out.splitlines()[-1].startswith("tried ")
    return [line for line in said.out.splitlines() if line.startswith("FAILS")]


WRONG = (
    ("reset      add 1", "reset them, or mask in masks.state: /resets (hides "),
    ("masks      add 1", "two visits find pages that differ; mask fields: 'csrf' (hides '"),
    ("reset      add 2", "finds what the reference left: /entries; have reset put"),
    ("start      add 3", "ledger: state: GET /state: answered 500: no state today"),
)
"""Which check fails on which task, and what its line says, in their order."""


def test_a_site_that_is_not_fit_for_runs_is_told_what_to_mend(tmp_path: Path) -> None:
    faults = ("counts-resets@1", "token@1", "half-reset@2", "state-500@3")
    lines = failing(write_run(tmp_path, *faults, seeds=(1, 2, 3)), of=len(WRONG))

    assert len(lines) == len(WRONG), lines
    for line, (check, because) in zip(lines, WRONG, strict=True):
        assert line.startswith(f"FAILS  {check}: ")
        assert because in line


def test_what_differs_in_a_shadow_root_is_shown_as_in_the_document(tmp_path: Path) -> None:
    [line] = failing(write_run(tmp_path, "shadow"), of=1)

    assert line.startswith(
        "FAILS  masks      add 1: two visits find pages that differ; mask patterns: "
    )
    assert r"to\ number\ (\d+)' (hides '" in line


def test_a_task_of_an_application_is_shown_as_any_other(tmp_path: Path) -> None:
    run = write_run(tmp_path, seeds=(1, 2))
    said = called("tasks", "show", "add", "--seed=2", f"--config={run}", "--json")

    assert said.code == 0, said.err
    shown = said.answer
    assert (shown["site"], shown["template"], shown["seed"]) == ("ledger", "add", 2)
    assert (shown["url"], shown["note"]) == ("http://ledger.localhost/", None)
    assert shown["goal"] == WHOLE["add"]["instruction"]
    assert shown["elements"]


def test_a_site_whose_visits_are_not_apart_is_told_so(tmp_path: Path) -> None:
    [line] = failing(write_run(tmp_path, "leaks", shared=True), of=1)

    assert line.startswith("FAILS  isolation  add 1: ")
    assert "a visit held open meanwhile finds changed: /entries; keep" in line


SEEDS = {
    "reset-500": (2, "ledger: reset: POST /reset?seed={seed}: answered 500: cannot reset"),
    "page-500": (3, "ledger: the start page / answered 500"),
    "state-500": (4, "ledger: state: GET /state: answered 500: no state today"),
    "later-state-500": (5, "ledger: state: GET /state: answered 500: no state today"),
    "no-json": (6, "the answer to GET /state is no JSON"),
    "large": (7, "GET /state: answered with more than 64,000,000 bytes"),
    "dies": (8, "ledger: POST /add: "),
}
"""The seed in whose state a fault is, and what the row of its episode says."""


def test_a_run_goes_on_past_every_way_that_a_site_breaks_and_loses_nothing(tmp_path: Path) -> None:
    faults = [f"{fault}@{seed}" for fault, (seed, _) in SEEDS.items()]
    run = write_run(tmp_path, *faults, seeds=range(1, 10))
    said = called("generate", f"--config={run}", "--no-prefect", "--json")

    episodes = Place(f"{tmp_path}/run").table("episodes")
    assert episodes is not None
    rows = {row["seed"]: row for row in episodes.to_table().to_pylist()}
    assert said.code == 1, said.err
    assert "7 of 9 episodes failed for reasons outside the policy, 2 of them by site: " in said.err
    assert "Traceback" not in said.err
    assert (said.answer["episodes"], said.answer["reproduced"]) == (9, 2)
    assert {seed for seed, row in rows.items() if row["reward"] == 1} == {1, 9}
    for fault, (seed, because) in SEEDS.items():
        assert rows[seed]["failure_kind"] == "site", fault
        assert because in rows[seed]["failure_message"], fault
