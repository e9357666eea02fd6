"""`stepmill tasks check` holds tasks of an application to the gates, and fails for the right reason."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from effort import THOROUGH
from support.inputs.broken_tasks import BROKEN, WHOLE
from support.runs.commands import called
from support.servers.ledger_site import command

from schemas.base import JsonObject

pytestmark = [pytest.mark.browser, pytest.mark.full, pytest.mark.timeout(600)]

SEEN_BY_ATTEMPTS = (
    "never pays",
    "has no reference",
    "has a reference that cannot be carried out",
    "does not see a side effect",
    "shows its answer at the start",
)
"""Broken tasks of which each is found in another way; those that are found without an attempt are of the quick tests."""

CHANGING = "does not see a side effect"
"""The task before which the ledger's clock runs: it begins differently each time too."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Check broken tasks and whole ones; return the gates that fail, and why."""
    broken = [*(BROKEN if THOROUGH else SEEN_BY_ATTEMPTS)]
    whole = WHOLE if THOROUGH else {"add": WHOLE["add"]}
    rows = {name: BROKEN[name][0] for name in broken} | whole
    return checked(tmp_path_factory.mktemp("gates"), rows, f"clock@{broken.index(CHANGING)}")


def checked(
    folder: Path, rows: Mapping[str, JsonObject], *faults: str
) -> dict[str, dict[str, str]]:
    """Check tasks, not all of which are whole; return by template the gates that fail with their reasons."""
    start = json.dumps(command(*faults))
    (folder / "ledger.toml").write_text(
        f'origin = "http://ledger.localhost"\n[start]\ncommand = {start}\n'
        '[reset]\nrequest = { path = "/reset?seed={seed}" }\n'
        '[state]\nrequest = { method = "GET", path = "/state" }\n'
    )
    lines = [
        json.dumps(row | {"template_id": name, "seed": number})
        for number, (name, row) in enumerate(rows.items())
    ]
    (folder / "tasks.jsonl").write_text("\n".join(lines))
    (folder / "run.toml").write_text(
        f'[sites]\nledger = "{folder}/ledger.toml"\n[tasks]\nsource = "{folder}/tasks.jsonl"\n'
        f'[policy]\nname = "scripted"\nscript = "{folder}/script.json"\n'
        "[browser]\nviewport = [500, 400]\n"
    )
    (folder / "script.json").write_text(json.dumps({name: [] for name in rows}))
    said = called("tasks", "check", f"--config={folder}/run.toml", "--json")
    assert said.code == 1, said.err
    gates: list[dict[str, Any]] = said.answer["gates"]  # type: ignore[assignment]
    reasons: dict[str, dict[str, str]] = {}
    for one in gates:
        of_task = reasons.setdefault(one["template"], {})
        for gate, because in one["failing"]:
            of_task[gate] = f"{of_task.get(gate, '')}{because}; "
    return reasons


def test_broken_tasks_are_found_each_for_the_right_reason(found: dict[str, dict[str, str]]) -> None:
    broken = found.keys() & BROKEN.keys()
    wrong = {
        name: found[name]
        for name in broken
        if BROKEN[name][2] not in found[name].get(BROKEN[name][1], "")
    }

    assert wrong == {}
    assert len(broken) == (len(BROKEN) if THOROUGH else len(SEEN_BY_ATTEMPTS))


def test_whole_tasks_pass_all_gates(found: dict[str, dict[str, str]]) -> None:
    whole = [name for name in WHOLE if name in found]

    assert whole == [*(WHOLE if THOROUGH else ["add"])]
    assert [found[name] for name in whole] == [{} for _ in whole]


def test_an_application_that_begins_differently_each_time_is_found(
    found: dict[str, dict[str, str]],
) -> None:
    assert "two visits begin with different states" in found[CHANGING]["episode_determinism"]
