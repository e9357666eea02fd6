"""`stepmill tasks rephrase` as a user runs it, against a simulator in its own process."""

import json
from pathlib import Path

import httpx
import pytest
from conftest import CopyRun
from deltalake import DeltaTable
from support.runs.commands import called, end, start, until
from support.servers.engine_servers import scripted_engine
from support.worlds import drawn

from flows.terminal import ExitCode
from schemas.base import JsonObject
from schemas.episodes.rewritten_thought import RewrittenThought
from schemas.tasks.task import Task

ACCEPT = {"STEPMILL_ACCEPT__PASSED": '["outcome"]'}
"""What a run's episodes meet that no other verifier has looked at."""

PAID = 9
"""So many lines the file of a killed call has at least."""

KINDS = ("edit", "find", "delete", "create", "count")


def _tasks() -> list[Task]:
    seeds = {family: drawn.english(family) for family in ("banking", "shop")}
    told = [drawn.task(family, kind, seed) for family, seed in seeds.items() for kind in KINDS]
    return [one for one in told if one is not None]


def _file(path: Path, tasks: list[Task]) -> Path:
    rows = [one.model_dump(mode="json", exclude_defaults=True) for one in tasks]
    path.write_text("".join(f"{json.dumps(_told(row))}\n" for row in rows))
    return path


def _told(row: JsonObject) -> JsonObject:
    return {name: row[name] for name in ("site", "template_id", "seed", "parameters", "expect")}


def _rows(path: Path) -> list[JsonObject]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_file_is_rephrased_and_read_again(tmp_path: Path) -> None:
    tasks = _tasks()
    source, target = _file(tmp_path / "tasks.jsonl", tasks), tmp_path / "other.jsonl"
    with scripted_engine() as (_, url):
        said = called(
            "tasks", "rephrase", str(source), "--engine", url, "--to", str(target), "--json"
        )
    assert said.code == ExitCode.DONE, said.err
    told, rows = json.loads(said.out), _rows(target)
    new = [row for row in rows if "rephrased_by" in row]
    assert (told["goals"], told["rephrased"]) == (len(tasks), len(new))
    assert told["rephrased"] + sum(told["refused"].values()) == len(tasks)
    assert all(row["rephrased_by"] == "scripted" for row in new)
    goals = {one.instruction for one in tasks}
    assert all(row["original_instruction"] in goals for row in new)
    assert all(row["instruction"] not in goals for row in new)
    again = called("tasks", "validate", str(target))
    assert again.code == ExitCode.DONE, again.out


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("  ", "it says nothing"),
        ("{goal}", "it is the same goal"),
        ("I cannot help with that.", "it is not read"),
        ("{goal} The answer is {answer}.", "it gives the answer away"),
    ],
)
def test_what_a_writer_does_wrong_is_not_kept(tmp_path: Path, reply: str, why: str) -> None:
    task = drawn.task_that_is_read("find")
    assert task.expect is not None
    text = reply.format(goal=task.instruction, answer=task.expect.answer)
    source, target = _file(tmp_path / "tasks.jsonl", [task]), tmp_path / "other.jsonl"
    with scripted_engine("--puppet") as (_, url):
        _queue(url, task.task_id, text)
        said = called("tasks", "rephrase", str(source), "--engine", url, "--to", str(target))
    assert said.code == ExitCode.SHORT, said.err
    assert why in said.out
    assert f"{target}: 0 of 1 goals are rephrased" in said.out
    (row,) = _rows(target)
    assert row["instruction"] == task.instruction
    assert "original_instruction" not in row


def test_a_killed_call_is_gone_on_from(tmp_path: Path) -> None:
    tasks = _tasks()
    source, target = _file(tmp_path / "tasks.jsonl", tasks), tmp_path / "other.jsonl"
    part = tmp_path / "other.jsonl.part"
    with scripted_engine("--model", "first", "--at-once", "1", "--delay-ms", "300") as (_, url):
        argv = ("tasks", "rephrase", str(source), "--engine", url, "--to", str(target))
        call = start(*argv)
        until(lambda: part.exists() and part.read_bytes().count(b"\n") > PAID)
        call.kill()
        end(call)
    assert not target.exists()
    paid = part.read_bytes().rpartition(b"\n")[0].count(b"\n")
    with part.open("ab") as file:
        file.write(b'{"key": "torn')
    with scripted_engine("--model", "second") as (_, url):
        said = called("tasks", "rephrase", str(source), "--engine", url, "--to", str(target))
    assert said.code == ExitCode.DONE, said.err
    assert f"{part}: goes on behind {paid} that an earlier call has done" in said.err
    rows = _rows(target)
    assert [one["seed"] for one in rows] == [one.seed for one in tasks]
    assert {one.get("rephrased_by") for one in rows} >= {"first", "second"}
    assert not part.exists()


def test_replies_about_another_file_are_left_alone(tmp_path: Path) -> None:
    source, target = _file(tmp_path / "tasks.jsonl", _tasks()[:1]), tmp_path / "other.jsonl"
    part = tmp_path / "other.jsonl.part"
    part.write_text('{"about": "/somewhere/else.jsonl"}\n')
    argv = ("tasks", "rephrase", str(source), "--engine", "http://x/", "--to", str(target))
    said = called(*argv)
    assert said.code == ExitCode.REFUSED
    assert "it holds replies about /somewhere/else.jsonl" in said.err
    assert part.exists()


def _queue(url: str, session: str, text: str) -> None:
    httpx.put(f"{url}/puppet/{session}", json={"text": text}).raise_for_status()


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "there.jsonl"
    path.write_text("mine")
    said = called("tasks", "rephrase", "x.jsonl", "--engine", "http://x/", "--to", str(path))
    assert said.code == ExitCode.REFUSED
    assert "there is such a file" in said.err
    assert path.read_text() == "mine"


def test_an_engine_that_does_not_answer_is_named(tmp_path: Path) -> None:
    source, target = _file(tmp_path / "tasks.jsonl", _tasks()[:1]), tmp_path / "other.jsonl"
    url = "http://127.0.0.1:9/v1"
    said = called("tasks", "rephrase", str(source), "--engine", url, "--to", str(target))
    assert said.code == ExitCode.REFUSED
    assert "no engine answers" in said.err
    assert not target.exists()
    assert not (tmp_path / "other.jsonl.part").exists()


def test_thoughts_that_no_recorded_sight_can_bear_out_are_not_kept(
    copy_run: CopyRun, tmp_path: Path
) -> None:
    run, thoughts = copy_run(tmp_path / "run").url, tmp_path / "thoughts.jsonl"
    with scripted_engine() as (_, url):
        said = called(
            *("tasks", "rephrase", run, "--engine", url, "--to", str(thoughts)), env=ACCEPT
        )
    assert said.code == ExitCode.SHORT, said.err
    assert "not all that it needs was in sight" in said.out
    assert "0 of " in said.out
    assert thoughts.read_text() == ""


def test_a_killed_call_about_thoughts_is_gone_on_from(copy_run: CopyRun, tmp_path: Path) -> None:
    run, target = copy_run(tmp_path / "run").url, tmp_path / "thoughts.jsonl"
    part = tmp_path / "thoughts.jsonl.part"
    with scripted_engine("--at-once", "1", "--delay-ms", "300") as (_, url):
        argv = ("tasks", "rephrase", run, "--engine", url, "--to", str(target))
        call = start(*argv, env=ACCEPT)
        until(lambda: part.exists() and part.read_bytes().count(b"\n") > 1)
        call.kill()
        end(call)
    paid = part.read_bytes().rpartition(b"\n")[0].count(b"\n")
    with scripted_engine() as (_, url):
        whole = called(*argv[:3], "--engine", url, "--to", str(tmp_path / "whole"), env=ACCEPT)
        said = called(*argv[:3], "--engine", url, "--to", str(target), env=ACCEPT)
    assert f"{part}: goes on behind {paid} that an earlier call has done" in said.err
    assert said.out.replace(str(target), "") == whole.out.replace(str(tmp_path / "whole"), "")
    assert target.exists()
    assert not part.exists()


def test_rewritten_thoughts_are_exported(copy_run: CopyRun, tmp_path: Path) -> None:
    made = copy_run(tmp_path / "run")
    rows = DeltaTable(tmp_path / "run" / "tables" / "steps").to_pyarrow_table().to_pylist()
    first = next(row for row in rows if row["thought_source"] == "template" and row["step"] == 0)
    told = RewrittenThought(
        episode_id=first["episode_id"],
        step=0,
        thought="There it is: I go for it.",
        by="a model",
        instead_of=first["thought"],
    )
    path = tmp_path / "thoughts.jsonl"
    path.write_text(told.model_dump_json())
    targets = (tmp_path / "plain", tmp_path / "rewritten")
    for target, flags in zip(targets, ((), ("--thoughts", str(path))), strict=True):
        argv = ("export", made.url, "--format", "chat", "--to", str(target), *flags)
        said = called(*argv, env=ACCEPT)
        assert said.code == ExitCode.DONE, said.err
    plain, rewritten = (
        "".join(one.read_text() for one in target.glob("*.jsonl")) for target in targets
    )
    assert told.thought in rewritten
    assert told.thought not in plain
