"""Whole runs of the surfer in a real browser, over the scripted engine: its roles and their rows."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from support.runs.commands import UNREPLAYED, Said, called

pytestmark = pytest.mark.browser

ASKED = (
    "generate",
    "--json",
    "--no-prefect",
    "--set=policy.name=surfer",
    "--set=engine.kind=scripted",
    "--set=browser.viewport=[512,512]",
    "--set=browser.sessions=4",
    "--set=tasks.seeds=[0,0]",
    *UNREPLAYED,
)

TWO_TOOLS = json.dumps(
    [
        *("write", "select_option", "scroll", "move_mouse", "drag", "press_keys", "key_down"),
        *("key_up", "goto", "go_back", "go_forward", "refresh", "switch_tab", "open_tab"),
        *("close_tab", "wait", "restart"),
    ]
)
"""All but `click` and `answer` left out."""


def generate(run: Path, *flags: str, families: str) -> Said:
    """Roll out one seed of each family."""
    return called(*ASKED, f"--run={run}", f"--set=tasks.include={families}", *flags)


def rows(run: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a run's table."""
    return list(DeltaTable(run / "tables" / table).to_pyarrow_table().to_pylist())


def test_what_the_teacher_does_is_done_where_the_localizer_points(tmp_path: Path) -> None:
    run = tmp_path / "run"
    said = generate(
        run,
        "--set=engine.args=['--puppet']",
        "--set=policy.localizer={dialect='holo1_5',max_tokens=64}",
        families="['click-test','enter-text','choose-list','drag-box']",
    )
    calls, prompts = rows(run, "calls"), rows(run, "prompts")
    localized = [call for call in calls if call["role"] == "localizer"]
    pointed = [step for step in rows(run, "steps") if step["x"] is not None]

    assert said.code == 0, said.err
    assert said.answer["accepted"] == said.answer["episodes"] == 4
    assert Counter(call["role"] for call in calls) == {
        "policy": said.answer["steps"],
        "localizer": len(pointed),
    }
    assert {(c["sent_width"], c["coordinates"]) for c in localized} == {(504, "resized")}
    assert all(json.loads(c["sampling"])["max_tokens"] == 64 for c in localized)
    assert all(c["image_steps"] == [c["step"]] for c in localized)
    assert {call["prompt_sha256"] for call in calls} < {row["prompt_sha256"] for row in prompts}
    assert len({row["prompt_sha256"] for row in prompts}) == 3
    for episode in rows(run, "episodes"):
        own = [call for call in calls if call["episode_id"] == episode["episode_id"]]
        assert (episode["policy"], episode["policy_kind"]) == ("surfer", "model")
        assert episode["prompt_tokens"] == sum(call["prompt_tokens"] for call in own)
        assert [call["call"] for call in own] == list(range(len(own)))
    assert called("audit", str(run), "--deep", "--json").code == 0


@pytest.mark.full
def test_answers_are_looked_at_twice_at_most_before_one_stands(tmp_path: Path) -> None:
    run = tmp_path / "run"
    generate(
        run,
        f"--set=policy.dialect_options={{leave_out={TWO_TOOLS}}}",
        "--set=limits.steps=6",
        families="['click-checkboxes*']",
    )
    calls = [call for call in rows(run, "calls") if call["role"] != "repair"]
    sent_back = 0
    for episode in rows(run, "episodes"):
        own = [call for call in calls if call["episode_id"] == episode["episode_id"]]
        verdicts = [
            json.loads(call["reply"])["success"] for call in own if call["role"] == "validator"
        ]
        assert len(verdicts) <= 2
        assert True not in verdicts[:-1]
        if episode["stop_reason"] == "answered":
            assert verdicts[-1:] == [True] or verdicts == [False, False]
        sent_back += verdicts.count(False)

    assert sent_back
