"""Whole runs of a policy that asks an engine: over HTTP, through each dialect, and with faults.

The engine is the scripted one. As a puppet it says what the teacher would do, so everything from
picture to prompt to reply to action is on the way, and the trajectories are accepted.
"""

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from support.runs.commands import UNREPLAYED, Said, called

from generators.policy.model import seen_prefixes

pytestmark = pytest.mark.browser

FAMILIES = "['click-test','enter-text','click-checkboxes-large','choose-list']"
ASKED = (
    "generate",
    "--json",
    "--no-prefect",
    "--set=policy.name=model",
    "--set=engine.kind=scripted",
    "--set=browser.viewport=[512,512]",
    "--set=browser.sessions=4",
    *UNREPLAYED,
)


def generate(run: Path, *flags: str, args: str = "[]", families: str = FAMILIES) -> Said:
    """Roll out one seed of each family with a policy that asks."""
    return called(
        *ASKED,
        f"--run={run}",
        f"--set=engine.args={args}",
        f"--set=tasks.include={families}",
        "--set=tasks.seeds=[0,0]",
        *flags,
    )


def rows(run: Path, table: str, *columns: str) -> list[dict[str, Any]]:
    """Return the rows of a run's table."""
    read = DeltaTable(run / "tables" / table).to_pyarrow_table(columns=list(columns) or None)
    return list(read.to_pylist())


def assert_pictures_leave_in_blocks(run: Path) -> None:
    """Hold the longest episode's calls against how prompts grow."""
    steps = Counter(call["episode_id"] for call in rows(run, "calls", "episode_id"))
    [(longest, count)] = steps.most_common(1)
    own = [call for call in rows(run, "calls") if call["episode_id"] == longest]
    calls = sorted(own, key=lambda call: call["call"])
    assert count > 4
    assert [call["image_steps"] for call in calls[:5]] == [[0], [0, 1], [0, 1, 2], [3], [3, 4]]
    assert [call["segment"] for call in calls[:5]] == [0, 0, 0, 1, 1]
    for before, after in itertools.pairwise(calls):
        if before["segment"] == after["segment"]:
            earlier = before["prompt_token_ids"]
            common = after["cacheable_tokens"]
            assert 0 < len(earlier) - common < 10 + 16, "whole blocks of 16 tokens"
            assert after["prompt_token_ids"][:common] == earlier[:common]
            assert after["cached_tokens"] == common


@pytest.mark.parametrize(
    "dialect",
    ["holotron", *(pytest.param(name, marks=pytest.mark.full) for name in ("holo1_5", "holo2"))],
)
def test_what_the_teacher_does_is_done_through_a_models_mouth(tmp_path: Path, dialect: str) -> None:
    run, dataset = tmp_path / "run", tmp_path / "dataset"
    said = generate(
        run,
        f"--set=policy.dialect={dialect}",
        f"--set=publish.to=['{dataset}']",
        "--set=engine.usd_per_hour=3.6",
        args="['--puppet','--delay-ms','60']",
    )
    shown = called("show", str(run), "--json").answer
    calls = rows(run, "calls")
    [episode, *_] = rows(run, "episodes")
    engine: dict[str, Any] = json.loads(json.dumps(shown["engine"]))

    assert said.code == 0, said.err
    assert said.answer["accepted"] == said.answer["episodes"] == 4
    assert len(calls) == said.answer["steps"]
    assert {call["role"] for call in calls} == {"policy"}
    assert all(call["finish_reason"] == "stop" for call in calls)
    assert {(call["sent_width"], call["coordinates"]) for call in calls} == {
        {"holotron": (512, "0-1000"), "holo1_5": (504, "resized"), "holo2": (512, "0-1000")}[
            dialect
        ]
    }
    assert sum(call["prompt_tokens"] for call in calls) == said.answer["prompt_tokens"]
    assert engine["prompt_tokens"] == said.answer["prompt_tokens"]
    assert engine["completion_tokens"] == said.answer["completion_tokens"]
    assert engine["cost_usd"] == pytest.approx(sum(call["cost_usd"] for call in calls))
    assert engine["cost_usd"] == pytest.approx(0.001 * engine["busy_seconds"], rel=0.2)
    assert (episode["policy"], episode["policy_kind"]) == ("model", "model")
    assert (episode["dialect"], episode["model"], episode["engine"]) == (
        dialect,
        "scripted",
        "scripted",
    )
    assert "127.0.0.1" not in json.dumps([calls, episode], default=str)
    assert_pictures_leave_in_blocks(run)
    assert called("audit", str(run), "--deep", "--json").code == 0
    assert {path.name for path in (dataset / "data").iterdir()} >= {"calls", "prompts"}


def test_what_a_model_may_not_do_is_on_record_and_ends_nothing(tmp_path: Path) -> None:
    families = "['click-test']"
    outside, forbidden = (
        generate(
            tmp_path / fault,
            "--set=limits.steps=3",
            args=f"['--fault','{fault}:-1']",
            families=families,
        )
        for fault in ("outside", "forbidden")
    )
    errors = {
        fault: [s["action_error"] for s in rows(tmp_path / fault, "steps", "action_error")]
        for fault in ("outside", "forbidden")
    }

    assert (outside.code, forbidden.code) == (1, 1)
    assert outside.answer["episodes"] == forbidden.answer["episodes"] == 1
    assert outside.answer["failed"] == 1
    assert any(
        "forbidden.example/ is not allowed here" in str(said) for said in errors["forbidden"]
    )


def test_replies_that_never_can_be_read_are_the_policys_failure_with_every_call_on_record(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    said = generate(run, args="['--fault','empty:-1']", families="['click-test','enter-text']")
    episodes = rows(run, "episodes", "stop_reason", "failure_kind", "trainable")
    roles = Counter(call["role"] for call in rows(run, "calls", "role"))

    assert said.code == 1
    assert said.answer["failed"] == said.answer["episodes"] == 2
    assert {row["failure_kind"] for row in episodes} == {"policy"}
    assert all(row["trainable"] for row in episodes)
    assert roles == {"policy": 2, "repair": 2}


def test_an_engine_that_stumbles_costs_no_episode(tmp_path: Path) -> None:
    run = tmp_path / "run"
    said = generate(
        run,
        args="['--puppet','--fault','cut:2:after=2','--fault','http-503:2:after=4']",
        families="['enter-text','click-checkboxes-large']",
    )
    calls = rows(run, "calls", "retries", "wasted_tokens")

    assert said.code == 0, said.err
    assert said.answer["accepted"] == 2
    assert sum(call["retries"] for call in calls) >= 1


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--set=engine.kind=none"], "needs an engine"),
        (["--set=engine.kind=openai"], "engine.urls: 'openai' needs the endpoints"),
        (
            ["--set=engine.kind=openai", "--set=engine.urls=['http://127.0.0.1:9/v1']"],
            "http://127.0.0.1:9/v1",
        ),
        (["--set=engine.args=['--sing']"], "engine.args: unrecognized arguments: --sing"),
        (["--set=engine.args=['--max-pictures','0']"], "does not support image input"),
        (["--set=engine.args=['--context','2048']"], "the prompt may have"),
        (["--set=policy.dialect=holo9"], "holo9"),
        (["--set=policy.dialect=claude"], "read and written only"),
        (["--set=policy.dialect_options={tune='x'}"], "tune"),
        (["--set=policy.context_tokens=32000"], "policy.context_tokens = 32000"),
        (
            [
                "--set=engine.usd_per_hour=1.0",
                "--set=engine.usd_per_million={prompt=1,completion=1}",
            ],
            "priced by the hour and by tokens",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_written(
    tmp_path: Path, flags: list[str], told: str
) -> None:
    run = tmp_path / "run"
    said = called(*ASKED, f"--run={run}", f"--set=tasks.include={FAMILIES}", *flags)

    assert said.code == 2
    assert told in said.err
    assert not run.exists()


@pytest.mark.parametrize(
    ("args", "times"),
    [
        ("['--puppet','--no-prefix-cache']", 1),
        pytest.param("['--puppet']", 0, marks=pytest.mark.full),
    ],
)
def test_a_prefix_cache_that_finds_nothing_is_said_once_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: str, times: int
) -> None:
    monkeypatch.setattr(seen_prefixes, "WATCHED_CALLS", 4)

    said = generate(
        tmp_path / "run", args=args, families="['choose-list','click-checkboxes-large']"
    )

    assert said.code == 0, said.err
    assert said.err.count(seen_prefixes.CACHE_REMEDY) == times
