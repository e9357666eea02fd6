"""`stepmill show RUN EPISODE`, `--failed N` and `--template T`: attempts explained, with pictures, and bad input."""

import asyncio
import contextlib
import io
import os
import pty
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import av
import pytest
from PIL import Image
from pydantic import JsonValue
from support.episodes.factories import MadeRun, make_episode, make_run, make_task
from support.episodes.looked_at import (
    ACTS,
    make_looked_at,
    with_hostile_words,
    without_pictures_to_decode,
)
from support.runs.commands import SECONDS, STEPMILL, called, contents, environment
from support.runs.library import Kept, LibraryRun, RunLibrary

from storage.spool import Spool


@pytest.fixture(scope="module")
def pairs(run_library: RunLibrary) -> LibraryRun:
    return run_library.read(Kept.PAIRS)


@pytest.fixture(scope="module")
def ledger(run_library: RunLibrary) -> LibraryRun:
    return run_library.read(Kept.LEDGER)


def _failed(run: LibraryRun, *more: str) -> list[dict[str, JsonValue]]:
    said = called("show", run.url, "--json", "--failed=100", *more)
    assert said.code == 0, said.err
    found = said.answer["episodes"]
    assert isinstance(found, list)
    return [one for one in found if isinstance(one, dict)]


def _id(run: LibraryRun, *more: str) -> str:
    return str(_failed(run, *more)[0]["episode_id"])


def test_an_attempt_is_explained_by_the_beginning_of_its_id(ledger: LibraryRun) -> None:
    before, id_ = contents(ledger.run), _id(ledger)

    said = called("show", ledger.url, id_[:8])

    assert said.code == 0, said.err
    assert f"episode  {id_}  (rejected)\n" in said.out
    assert "goal     Add Ink to the ledger.\n" in said.out
    assert 'wrong: entries row 1 ("Salt") · text\n' in said.out
    assert '  expected "Ink"\n' in said.out
    assert '  found    "Salt"\n' in said.out
    assert "mistake  step 0 of 3: type “Salt”" in said.out
    assert "The site that judges the task did not find it done" in said.out
    assert "\x1b" not in said.out
    assert contents(ledger.run) == before


def test_the_last_picture_is_written_beside_that_of_the_mistake(ledger: LibraryRun) -> None:
    said = called("show", ledger.url, _id(ledger))

    [path] = re.findall(r"^picture  (.+)$", said.out, re.MULTILINE)
    with Image.open(path) as shown:
        assert shown.format == "PNG"
        assert shown.width > shown.height * 2


@pytest.mark.parametrize(
    ("environ", "begins"),
    [({"TERM": "xterm-kitty"}, b"\x1b_G"), ({"TERM_PROGRAM": "iTerm.app"}, b"\x1b]1337;File=")],
)
def test_a_terminal_that_can_gets_the_picture_and_a_plain_one_its_path(
    environ: dict[str, str], begins: bytes, ledger: LibraryRun
) -> None:
    plain = {"TERM": "xterm-256color", "TERM_PROGRAM": "", "LC_TERMINAL": "", "TMUX": ""}
    words = (*STEPMILL, "show", ledger.url, _id(ledger))

    able, other = (_in_terminal(words, plain | more) for more in (environ, {}))

    assert able.count(begins) >= 1
    assert b"picture  " not in able
    assert b"\x1b" not in other
    assert b"picture  /" in other


def _in_terminal(words: Sequence[str], more: dict[str, str]) -> bytes:
    """Return what a command prints in a terminal of its own."""
    master, slave = pty.openpty()
    inherited = {k: v for k, v in environment(more).items() if v and k != "KITTY_WINDOW_ID"}
    process = subprocess.Popen(words, stdout=slave, stderr=subprocess.DEVNULL, env=inherited)
    os.close(slave)
    out = b""
    with contextlib.suppress(OSError):  # the terminal closes with its last program
        while data := os.read(master, 65_536):
            out += data
    os.close(master)
    assert process.wait(timeout=SECONDS) == 0
    return out


def test_the_same_facts_are_there_for_programs(ledger: LibraryRun) -> None:
    said = called("show", ledger.url, _id(ledger), "--json")

    [one] = said.answer["episodes"] if isinstance(said.answer["episodes"], list) else []
    assert isinstance(one, dict)
    assert one["status"] == "rejected"
    assert one["differences"] == [
        {
            "kind": "wrong",
            "what": 'entries row 1 ("Salt") · text',
            "expected": '"Ink"',
            "found": '"Salt"',
        }
    ]
    mistake = one["first_mistake"]
    assert isinstance(mistake, dict)
    assert mistake["step"] == 0
    assert said.answer["not_accepted"] == 1


def test_as_many_failures_are_explained_as_were_asked_for_of_several_causes(
    pairs: LibraryRun,
) -> None:
    said = called("show", pairs.url, "--failed=3")

    assert said.code == 0, said.err
    found = re.findall(r"^task     (\S+) on", said.out, re.MULTILINE)
    assert len(set(found)) == 3
    assert re.search(
        r"^3 of \d+ attempts that were not accepted: --failed \d+$", said.out, re.MULTILINE
    )


def test_only_those_of_a_template_are_explained(pairs: LibraryRun) -> None:
    found = _failed(pairs, "--template=login-user")

    assert {one["template_id"] for one in found} == {"login-user"}


def test_each_form_is_written_into_a_file(pairs: LibraryRun, tmp_path: Path) -> None:
    id_ = _id(pairs, "--template=search-engine")
    files = {name: tmp_path / f"it.{name}" for name in ("picture", "strip", "gif", "mp4", "html")}

    said = called("show", pairs.url, id_, *(f"--{name}={path}" for name, path in files.items()))

    assert said.code == 0, said.err
    whole = called("show", pairs.url, id_, "--json").answer["episodes"]
    assert isinstance(whole, list)
    [one] = whole
    assert isinstance(one, dict)
    frames = int(str(one["n_steps"])) + 1
    with Image.open(files["gif"]) as film:
        assert getattr(film, "n_frames", 1) == frames
    with av.open(str(files["mp4"])) as container:
        assert sum(1 for _ in container.decode(video=0)) == frames
    for name in ("picture", "strip"):
        with Image.open(io.BytesIO(files[name].read_bytes())) as shown:
            shown.load()
    page = files["html"].read_text(encoding="utf-8")
    assert page.count('<div class="shot">') == frames
    assert page.count('<svg class="marks"') == frames
    assert page.count("http") == page.count("http://www.w3.org/2000/svg") + page.count("http-equiv")


def test_an_attempt_of_a_dataset_is_explained_too(pairs: LibraryRun) -> None:
    id_ = _id(pairs, "--template=search-engine")

    run, dataset = (called("show", str(url), id_) for url in (pairs.run, pairs.dataset))

    assert dataset.code == 0, dataset.err
    kept = [line for line in run.out.splitlines() if not line.startswith("picture")]
    assert [x for x in dataset.out.splitlines() if not x.startswith("picture")] == kept


def test_an_attempt_that_a_dataset_has_no_pictures_of_is_named(ledger: LibraryRun) -> None:
    id_ = _id(ledger)

    said = called("show", str(ledger.dataset), id_)

    assert said.code == 2
    assert f"has no steps and pictures of {id_}, which was rejected" in said.err
    assert "publish.include_rejected" in said.err
    assert "none has its steps here" in called("show", str(ledger.dataset), "--failed=3").out


@pytest.fixture
def made(tmp_path: Path) -> MadeRun:
    return asyncio.run(make_looked_at(tmp_path / "run"))


def test_an_unknown_id_names_the_nearest(made: MadeRun) -> None:
    known = made.units[0].episodes[0].episode_id
    wrong = known[:7] + ("0" if known[7] != "0" else "1")

    said = called("show", made.url, wrong)

    assert said.code == 2
    assert f"has no episode '{wrong}'" in said.err
    assert f"did you mean '{known[:8]}'" in said.err


def test_a_withdrawn_episode_is_named_with_its_reason(made: MadeRun) -> None:
    id_ = made.units[0].episodes[0].episode_id
    assert called("withdraw", made.url, id_, "--reason=shows a name").code == 0

    said = called("show", made.url, id_[:12])

    assert said.code == 2
    assert f"episode {id_} was withdrawn: shows a name" in said.err


def test_an_episode_of_a_run_under_way_that_is_not_committed_is_named(made: MadeRun) -> None:
    late = make_episode(make_task(77), run_id=made.run_id)
    asyncio.run(Spool(made.store).put(late))

    said, known = (
        called("show", made.url, id_)
        for id_ in (late.episode_id, made.units[0].episodes[0].episode_id)
    )

    assert said.code == 2
    assert "its unit is not committed yet: look again later" in said.err
    assert known.code == 0


def test_a_run_in_which_nothing_is_committed_says_so(tmp_path: Path) -> None:
    made = asyncio.run(make_run(tmp_path / "run"))
    assert "no episode" in called("show", made.url, "--failed=3").err
    asyncio.run(Spool(made.store).put(make_episode(run_id=made.run_id)))

    assert (
        "1 episodes have ended and none is committed yet"
        in called("show", made.url, "--failed=3").err
    )


def test_where_everything_is_accepted_there_is_nothing_to_explain(run_library: RunLibrary) -> None:
    said = called("show", run_library.read(Kept.TEACHER).url, "--failed=10")

    assert said.code == 0
    assert said.out == "all 6 attempts are accepted: there is no failure to explain\n"


def test_a_picture_that_does_not_decode_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    made = asyncio.run(make_looked_at(tmp_path / "run", without_pictures_to_decode))
    id_ = made.units[0].episodes[0].episode_id
    strip, page = tmp_path / "strip.png", tmp_path / "it.html"

    text = called("show", made.url, id_)
    files = called("show", made.url, id_, f"--strip={strip}", f"--html={page}")
    picture = called("show", made.url, id_, f"--picture={tmp_path / 'p.png'}")

    assert text.code == files.code == 0, files.err
    assert "outcome  The task was not done" in text.out
    assert "picture  the picture cannot be decoded" in text.out
    assert strip.stat().st_size > 0
    assert "The picture cannot be decoded." in page.read_text(encoding="utf-8")
    assert picture.code in (1, 2)
    assert "cannot be decoded" in picture.err


def test_hostile_words_reach_neither_terminal_nor_page_as_more_than_words(tmp_path: Path) -> None:
    made = asyncio.run(make_looked_at(tmp_path / "run", with_hostile_words))
    id_, page = made.units[0].episodes[0].episode_id, tmp_path / "it.html"

    text = called("show", made.url, id_, f"--html={page}")
    program = called("show", made.url, id_, "--json")

    assert text.code == program.code == 0, text.err
    written = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in written
    for told in (text.out, program.out, written):
        assert "alert(1)" in told
    for acting in ACTS[2:]:
        assert acting not in text.out + program.out + written
    for acting in ACTS[:2]:
        assert acting not in written


BAD = {
    "an id and many": (("{id}", "--failed=3"), "--failed: is for many episodes"),
    "an id and a template": (("{id}", "--template=login-user"), "--template: is for many episodes"),
    "a film of many": (("--failed=3", "--gif=x.gif"), "--gif: is for one episode"),
    "a film of a run": (("--mp4=x.mp4",), "--mp4: is for one episode"),
    "no failure at all": (("--failed=0",), "expected a whole number from 1"),
    "no number": (("--failed=some",), "expected a whole number from 1"),
    "a k of one episode": (("{id}", "--k=2"), "--k: is for a whole run"),
    "all of one episode": (("{id}", "--all"), "--all: is for a whole run"),
    "an unknown template": (("--template=login-usr",), "did you mean 'login-user'"),
    "a file in no folder": (("{id}", "--strip=/proc/none/x.png"), "cannot be written"),
    "an unknown version": (("{id}", "--version=99"), "has no version 99"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_name(name: str, pairs: LibraryRun) -> None:
    words, told = BAD[name]
    id_ = _id(pairs, "--template=login-user")

    said = called("show", pairs.url, *(word.format(id=id_) for word in words))

    assert said.code == 2
    assert told in said.err
    assert said.out == ""


def test_a_torn_shard_is_named(made: MadeRun) -> None:
    id_ = made.units[0].episodes[0].episode_id
    for file in (made.folder / "tables" / "steps").rglob("*.parquet"):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])

    said = called("show", made.url, id_)

    assert said.code in (1, 2)
    assert "stepmill audit" in said.err
