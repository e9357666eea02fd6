"""A run that an earlier version left behind, interrupted: today's version takes it up as its own.

It is `tests/golden/run`, made by `stepmill generate --config tests/golden/run.toml --run run`,
interrupted after its first commit, begun again, and killed while it judged. It holds every table but
`reviews`, rows of the teacher, the clumsy one and a model, a version, a unit that owes verdicts, and
finished episodes that wait in the spool.
"""

import hashlib
import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import GOLDEN, Golden
from support.runs.commands import called, contents
from support.runs.locations import Place

RUN = GOLDEN / "run"

COMMAND = ("generate", "--no-prefect", "--json", f"--config={GOLDEN / 'run.toml'}")

EXPORTS = (
    ("atif",),
    ("chat", "--dialect=holotron"),
    ("chat", "--dialect=ui_tars"),
    ("grounding",),
    ("verifiers",),
    ("sft",),
    ("lance",),
)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RUN, tmp_path / "run"))


def test_it_is_whole(run: Path) -> None:
    said = called("audit", str(run), "--deep", "--json")

    assert said.code == 0, said.err
    assert said.answer["whole"]


def test_it_is_published_to_the_same_bytes(run: Path, tmp_path: Path, golden: Golden) -> None:
    said = called(
        "publish",
        str(run),
        f"--to={tmp_path / 'to'}",
        "--no-prefect",
        "--version=1",
        "--set=publish.include_rejected=true",
        "--json",
    )

    assert said.code == 0, said.err
    golden("run_published.txt", _digests(tmp_path / "to"))


@pytest.mark.parametrize("asked", EXPORTS, ids=lambda one: "-".join(one).replace("--dialect=", ""))
def test_it_is_exported_to_the_same_bytes(
    run: Path, tmp_path: Path, golden: Golden, asked: tuple[str, ...]
) -> None:
    name, *options = asked
    to = tmp_path / "to"
    said = called(
        "export",
        str(run),
        f"--format={name}",
        *options,
        f"--to={to}",
        "--include-rejected",
        "--json",
    )

    assert said.code == 0, said.err
    golden(f"run_exported_{'_'.join(asked).replace('--dialect=', '')}.txt", _digests(to))


def test_it_is_judged_anew_from_what_it_stored_and_says_what_it_lacks(
    run: Path, tmp_path: Path
) -> None:
    """It stored neither what its pictures show, nor which policy was privileged."""
    anew = ["structure", "steps", "outcome", "novelty", "seen"]

    said = called(
        *("verify", str(run), "--no-prefect", "--json", f"--verifiers={','.join(anew)}"),
        '--set=accept.passed=["structure", "outcome", "novelty"]',
    )

    assert said.code == 0, said.err
    rows = Place(str(run)).rows("verdicts", "verifier", "status", "reason", "evidence")
    found = {name: [row for row in rows if row["verifier"] == name] for name in anew}
    assert {row["status"] for name in anew[:2] for row in found[name]} == {"passed"}
    assert {row["status"] for row in found["novelty"]} == {"passed"}
    assert {(row["status"], row["reason"]) for row in found["seen"]} == {
        (
            "unsupported",
            "step 0 was recorded without what its picture shows (`sights` in observations)",
        )
    }
    assert len(found["steps"]) == len(_episodes(run))

    published = called(
        *("publish", str(run), f"--to={tmp_path / 'to'}", "--no-prefect", "--json"),
        '--set=accept.passed=["structure", "outcome", "novelty", "replay"]',
    )

    assert published.code == 0, published.err
    card = (tmp_path / "to" / "README.md").read_text(encoding="utf-8")
    accepted = published.answer["accepted"]
    assert accepted
    assert f"Of {accepted} published episodes an earlier version did not record" in card


@pytest.mark.browser
def test_it_is_gone_on_with_and_nothing_is_made_twice(run: Path) -> None:
    before = _episodes(run)
    waiting = {
        json.loads(data)["episode_id"]: json.loads(data)["content_sha256"]
        for data in contents(run / "spool").values()
    }
    assert before
    assert waiting

    said = called(*COMMAND, f"--run={run}")

    assert said.code == 0, said.err
    after = _episodes(run)
    assert len(after) == 12
    assert said.answer["rolled_out"] == 12 - len(before) - len(waiting)
    assert after.items() >= (before | waiting).items()
    assert called("audit", str(run), "--deep").code == 0


@pytest.mark.browser
def test_what_was_withdrawn_from_it_is_gone_after_a_compaction_and_not_made_again(
    run: Path, tmp_path: Path
) -> None:
    """A whole unit that is judged, and one episode of a unit that owes verdicts."""
    place = Place(str(run))
    units: dict[str, list[str]] = {}
    for row in place.rows("episodes", "episode_id", "unit_id"):
        units.setdefault(row["unit_id"], []).append(row["episode_id"])
    judged, owing = sorted(units.values(), key=len, reverse=True)[:2]
    gone = {*judged, owing[0]}

    for command in (
        ("withdraw", str(run), *sorted(gone), "--reason=shows a name"),
        ("compact", str(run)),
        ("audit", str(run), "--deep"),
        (*COMMAND, f"--run={run}"),
        ("audit", str(run), "--deep"),
        ("publish", str(run), f"--to={tmp_path / 'to'}", "--no-prefect"),
    ):
        said = called(*command)
        assert said.code == 0, said.err

    assert gone.isdisjoint(_episodes(run))
    assert len(_episodes(run)) == 12 - len(gone)
    for path in (run / "tables").glob("*/*.parquet"):
        if "episode_id" in pq.read_schema(path).names:
            held = pq.read_table(path, columns=["episode_id"])["episode_id"].to_pylist()
            assert gone.isdisjoint(held), path
    assert called("withdraw", str(run), *gone, "--reason=again").code == 0
    assert called(*COMMAND, f"--run={run}").answer["rolled_out"] == 0


def _episodes(run: Path) -> dict[str, str]:
    rows = Place(str(run)).rows("episodes", "episode_id", "content_sha256")
    return {row["episode_id"]: row["content_sha256"] for row in rows}


def _digests(folder: Path) -> str:
    """Return a line for each file: its hash and path."""
    lines = (f"{hashlib.sha256(data).hexdigest()}  {key}" for key, data in contents(folder).items())
    return "\n".join(lines) + "\n"
