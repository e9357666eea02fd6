"""`stepmill export`, from whole runs: what a model was sent comes out as it was sent."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory
from conftest import CopyRun
from deltalake import DeltaTable
from PIL import Image
from support.episodes.factories import MadeRun, make_whole_run
from support.runs.commands import called, contents
from support.runs.exports import lines
from support.runs.library import Kept, RunLibrary

from generators.policy.dialects.registry import DEFAULT, DIALECTS
from storage.export.format_factory import NEEDS_REJECTED
from storage.export.registry import FormatName

ACCEPT = "--set=accept.passed=['outcome']"
"""What the made run's episodes meet: no other verifier looked at them."""


@pytest.fixture(scope="module")
def made(copy_run: CopyRun, tmp_path_factory: pytest.TempPathFactory) -> MadeRun:
    """Return a run at rest that took no browser."""
    return copy_run(tmp_path_factory.mktemp("made") / "run")


def rows(run: Path, table: str, *columns: str) -> list[dict[str, Any]]:
    """Return the rows of a run's table."""
    read = DeltaTable(run / "tables" / table).to_pyarrow_table(columns=list(columns))
    return list(read.to_pylist())


def normal(message: dict[str, Any], prompts: dict[str, str]) -> dict[str, Any]:
    """Return a message of a call's row as an export writes it, in OpenAI's shape."""
    if "prompt_sha256" in message:
        return {"role": message["role"], "content": prompts[message["prompt_sha256"]]}
    parts = message["content"]
    if len(parts) == 1 and parts[0]["type"] == "text":
        return {"role": message["role"], "content": parts[0]["text"]}
    return {"role": message["role"], "content": parts}


def as_recorded(message: dict[str, Any]) -> dict[str, Any]:
    """Return an exported message with its pictures by step, as rows of `calls` have them."""
    content = message["content"]
    if not isinstance(content, str):
        content = [
            part
            if part["type"] == "text"
            else {"type": "image", "step": int(Path(part["image_url"]["url"]).stem)}
            for part in content
        ]
    return {"role": message["role"], "content": content}


SIDES = {"holotron": 512, "holo1_5": 504}
"""How wide and high each dialect sends a picture of 512 by 512, px."""


@pytest.mark.browser
@pytest.mark.parametrize(
    ("dialect", "flags"),
    [
        pytest.param("holo1_5", [], marks=pytest.mark.full),
        ("holotron", ["--dialect=holotron"]),
    ],
)
def test_conversations_are_the_very_messages_that_the_run_recorded(
    run_library: RunLibrary, tmp_path: Path, dialect: str, flags: list[str]
) -> None:
    """They are in the dialect of the run's first policy where the command does not say another."""
    run, to = run_library.read(Kept.MODEL).run, tmp_path / "chat"
    said = called("export", str(run), "--format=chat", f"--to={to}", "--json", *flags)
    own = {
        row["episode_id"]
        for row in rows(run, "episodes", "episode_id", "dialect")
        if row["dialect"] == dialect
    }
    prompts = {row["prompt_sha256"]: row["text"] for row in rows(run, "prompts", *PROMPT)}
    calls = [call for call in rows(run, "calls", *CALL) if call["episode_id"] in own]
    found = {
        (line["episode_id"], line["segment"]): line
        for line in lines(to)
        if line["episode_id"] in own
    }

    assert said.code == 0, said.err
    assert found.keys() == {(call["episode_id"], call["segment"]) for call in calls}
    assert max(segment for _, segment in found) > 0
    for call in calls:
        if call["role"] == "repair" or not call["reply"]:
            continue  # a step whose first reply could not be read is told as if it could
        line = found[call["episode_id"], call["segment"]]
        sent = [normal(message, prompts) for message in json.loads(call["messages"])]
        beginning = line["messages"][: len(sent)]
        assert [as_recorded(message) for message in beginning] == sent
        reply = line["messages"][len(sent)]
        assert reply == {"role": "assistant", "content": call["reply"], "weight": 1}
        assert call["step"] in line["steps"]
    steps = {(call["episode_id"], call["step"]) for call in calls}
    assert sum(sum(line["loss_mask"]) for line in found.values()) == len(steps)
    for line in found.values():
        for picture in pictures(line):
            with Image.open(to / picture) as opened:
                assert opened.size == (SIDES[dialect], SIDES[dialect])


def pictures(line: dict[str, Any]) -> list[str]:
    """Return where the pictures of a conversation lie."""
    parts = [
        part
        for message in line["messages"]
        if not isinstance(message["content"], str)
        for part in message["content"]
    ]
    return [part["image_url"]["url"] for part in parts if part["type"] != "text"]


PROMPT = ("prompt_sha256", "text")
CALL = ("episode_id", "step", "segment", "role", "messages", "reply")


@pytest.mark.browser
def test_a_teacher_s_run_becomes_every_format(run_library: RunLibrary, tmp_path: Path) -> None:
    run = run_library.copy(Kept.TEACHER, tmp_path / "made").run
    said = {
        name: called(
            *("export", str(run), f"--format={name}", f"--to={tmp_path / name}", "--json"),
            *(["--include-rejected"] if name in NEEDS_REJECTED else []),
        )
        for name in FormatName
    }
    actions = rows(run, "steps", "action_type")
    taken = sum(row["action_type"] != "none" for row in actions)

    short = {name for name, one in said.items() if one.code}
    # There is one attempt at each task, and no engine gave tokens.
    assert short == {FormatName.PREFERENCE, FormatName.OPENENV}
    assert said[FormatName.OPENENV].answer["counts"] == {"without_tokens": 6}
    assert said[FormatName.PREFERENCE].answer["counts"] == {"groups_of_one_attempt": 6}
    for name in (FormatName.KTO, FormatName.SFT, FormatName.STEP_LABELS):
        assert said[name].answer["counts"] == {"rows": taken}
    assert said[FormatName.CHAT].answer["counts"] == {"lines": 8, "replies": taken}
    documents = list((tmp_path / "atif").rglob("trajectory.json"))
    assert len(documents) == 6
    for path in documents:
        Trajectory.model_validate_json(path.read_bytes())
    for line in lines(tmp_path / "grounding"):
        left, top, right, bottom = line["box"]
        assert left <= line["point"][0] <= right
        assert top <= line["point"][1] <= bottom
        with Image.open(tmp_path / "grounding" / line["image"]) as picture:
            assert picture.size == (line["width"], line["height"])
    assert len(list(lines(tmp_path / "verifiers"))) == 6
    assert called("audit", str(run), "--deep", "--json").code == 0


@pytest.mark.parametrize("name", list(FormatName))
def test_a_format_explains_itself(name: FormatName) -> None:
    said = called("export", f"--format={name}", "--help")

    assert said.code == 0
    assert f"{name}: " in said.out
    assert f"Example: stepmill export runs/demo --format {name}" in said.out


def test_help_of_conversations_names_every_dialect() -> None:
    told = called("export", "--format=chat", "--help").out
    [named] = re.findall(r"whose words: ([^;]*);", told)

    assert " ".join(named.split()).split(", ") == list(DIALECTS)
    assert f"else {DEFAULT}" in told


def test_help_lists_every_format() -> None:
    out = called("export", "--help").out

    assert all(f"\n  {name} " in out for name in FormatName)


@pytest.mark.parametrize("name", [FormatName.ATIF, FormatName.GROUNDING, FormatName.VERIFIERS])
def test_the_command_writes_once_and_says_what_is_there(
    made: MadeRun, tmp_path: Path, name: FormatName
) -> None:
    args = ("export", made.url, f"--format={name}", f"--to={tmp_path / 'to'}", ACCEPT, "--json")
    first, again = called(*args), called(*args)

    assert (first.code, again.code) == ((0, 0) if name is not FormatName.GROUNDING else (1, 1))
    assert first.answer["episodes"] == 8
    assert (first.answer["written"], again.answer["written"]) == (True, False)
    assert {**again.answer, "written": True} == first.answer


def test_a_run_in_a_bucket_is_exported_to_a_folder(bucket_url: str, tmp_path: Path) -> None:
    made = asyncio.run(make_whole_run(bucket_url, units=1))
    said = called(
        *("export", made.url, "--format=verifiers", f"--to={tmp_path / 'to'}", ACCEPT, "--json")
    )

    assert said.code == 0, said.err
    assert said.answer["lines"] == len(list(lines(tmp_path / "to"))) == 4


def test_a_person_is_told_what_was_written(made: MadeRun, tmp_path: Path) -> None:
    said = called("export", made.url, "--format=atif", f"--to={tmp_path / 'to'}", ACCEPT)

    assert said.code == 0
    assert "atif of version 1; written" in said.out
    assert "episodes 8: 8 documents, 16 steps" in said.out


def test_nothing_accepted_is_an_empty_export_and_short(made: MadeRun, tmp_path: Path) -> None:
    said = called("export", made.url, "--format=atif", f"--to={tmp_path / 'to'}", "--json")

    again = called("export", made.url, "--format=atif", f"--to={tmp_path / 'to'}")

    assert (said.code, again.code) == (1, 1)
    assert said.answer["episodes"] == 0
    assert "`--set publish.include_rejected=true` exports the others too" in again.out


@pytest.mark.parametrize(
    ("flags", "exported"),
    [
        ([], 0),
        (["--config=FILE"], 0),
        (["--set=publish.include_rejected=false"], 0),
        (["--set=publish.include_rejected=true"], 8),
        (["--include-rejected"], 8),
    ],
)
def test_what_is_not_accepted_is_exported_only_where_the_command_says_so(
    copy_run: CopyRun,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    exported: int,
) -> None:
    """The run, a file and the environment all publish what is rejected, and none of them counts."""
    run = copy_run(tmp_path / "run")
    told = json.loads((run.folder / "run.json").read_bytes())
    told["config"]["publish"]["include_rejected"] = True
    (run.folder / "run.json").write_text(json.dumps(told), encoding="utf-8")
    monkeypatch.setenv("STEPMILL_PUBLISH__INCLUDE_REJECTED", "true")
    file = tmp_path / "whole.toml"
    file.write_text("[publish]\ninclude_rejected = true\n", encoding="utf-8")

    said = called(
        *("export", run.url, "--format=atif", f"--to={tmp_path / 'to'}", "--json"),
        *(flag.replace("FILE", str(file)) for flag in flags),
    )

    assert said.answer["episodes"] == exported
    assert said.code == (0 if exported else 1)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--format=chta"], "did you mean 'chat'?"),
        (["--format=atif", "--dialect=claude"], "--dialect: 'atif' has no such option"),
        (["--format=grounding", "--pictures=data"], "it is for chat and verifiers and openenv"),
        (["--format=chat", "--dialect=holotorn"], "did you mean 'holotron'"),
        (["--format=chat", "--shape=round"], "invalid choice: 'round'"),
        (["--format=sft", "--spelling=sharegpt"], "invalid choice: 'sharegpt'"),
        (["--format=kto", "--include-rejected", "--spelling=image"], "it is for sft"),
        (["--format=kto"], "add --include-rejected"),
        (["--format=atif", "--version=9"], "has no version 9"),
        (["--format=atif", "--to=s3://bucket/x"], "an export is written to a folder"),
        (["--format=atif", "--to=hf://datasets/a/b"], "an export is written to a folder"),
    ],
)
def test_what_cannot_be_exported_is_refused_before_anything_is_written(
    made: MadeRun, tmp_path: Path, flags: list[str], told: str
) -> None:
    said = called("export", made.url, f"--to={tmp_path / 'to'}", *flags)

    assert said.code == 2
    assert told in said.err
    assert contents(tmp_path) == {}


def test_a_run_is_never_exported_into_itself(made: MadeRun) -> None:
    before = contents(made.folder)
    said = called("export", made.url, "--format=atif", f"--to={made.folder / 'export'}")

    assert said.code == 2
    assert "folder of a run" in said.err
    assert contents(made.folder) == before
