"""Pages that say what no table can hold, or far too much: rows like others, and no neighbour's loss.

The families are added to a copy of the site's pages, which the command finds before the installed
ones.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from deltalake import DeltaTable
from effort import THOROUGH
from source_tree import ROOT
from support.browsers.html_site import ORIGIN, opened
from support.runs.commands import Said, called, stepmill

from generators.sites.miniwob import pages_root
from schemas.base import canonical_json
from schemas.episodes.action import Click
from schemas.errors import FailureKind, RolloutFailure
from schemas.truncation import GOAL_BYTES, LABEL_BYTES, TITLE_BYTES, URL_BYTES, truncate

pytestmark = pytest.mark.browser

Test = TypeVar("Test", bound=Callable[..., object])


def shared(test: Test) -> Test:
    """Mark a test of pages in the worker's browser."""
    marks = (pytest.mark.asyncio(loop_scope="session"), pytest.mark.usefixtures("one_browser"))
    for mark in marks:
        test = mark(test)
    return test


PAGE = """<!DOCTYPE html><html><head><title>odd</title><script src="../core/core.js"></script>
<link rel="stylesheet" type="text/css" href="../core/core.css">
<script>
var genProblem = function() {{ {begins} }};
window.onload = function() {{ {loads}; core.startEpisode(); }};
var won = function() {{ core.endEpisode(1.0, false); }};
</script></head>
<body><div id="wrap"><div id="query">Press go.</div><div id="area">
<button style="width:150px;height:100px" onclick="{clicked}; won()">go</button></div></div></body>
</html>"""

GOAL, TITLE = (5_000_000, 10_000_000) if THOROUGH else (300_000, 600_000)
"""Characters of a page that says far too much."""

ODD: Mapping[str, str] = {
    "odd-half": PAGE.format(
        loads="core.getUtterance = () => 'half \\ud83d'", begins="", clicked="alert('\\ude00')"
    ),
    "odd-huge": PAGE.format(
        loads=f"core.getUtterance = () => 'Q'.repeat({GOAL})",
        begins=f"document.title = 'T'.repeat({TITLE}); history.replaceState(0, '', '?' + 'u'.repeat(1.9e6))",
        clicked="alert('A'.repeat(1e6)); confirm('B'.repeat(1e6))",
    ),
    "odd-throw": PAGE.format(
        loads="core.getUtterance = () => { throw Error('half \\ud83d' + 'x'.repeat(1e6)) }",
        begins="",
        clicked="",
    ),
}

FAMILIES = [*ODD, "click-test"]


@pytest.fixture(scope="module")
def odd_pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment in which the site has the odd families too."""
    place, installed = tmp_path_factory.mktemp("site"), pages_root().parents[1]
    shutil.copytree(pages_root(), place / "miniwob" / "html")
    for described in installed.glob("miniwob-*.dist-info"):
        shutil.copytree(described, place / described.name)
    for name, page in ODD.items():
        (place / "miniwob" / "html" / "miniwob" / f"{name}.html").write_text(page, encoding="utf-8")
    return {"PYTHONPATH": f"{place}:{ROOT}"}


def scripted(folder: Path, families: list[str]) -> tuple[str, ...]:
    """Return the flags of a policy that presses `go` in each family."""
    script = folder / "script.json"
    press = {"type": "click", "x": 60, "y": 110}
    script.write_text(json.dumps({family: [press] for family in families}))
    return ("--set=policy.name=scripted", f"--set=policy.script={script}")


def generate(folder: Path, families: list[str], env: Mapping[str, str], *flags: str) -> Said:
    """Attempt one task of each family, as a scripted policy unless the flags name another."""
    return stepmill(
        *("generate", "--json", "--no-prefect", f"--run={folder / 'run'}"),
        *(f"--set=tasks.include={families}", "--set=tasks.seeds=[0,0]", "--set=tasks.unit_size=1"),
        *("--set=browser.sessions=3", *(flags or scripted(folder, families))),
        env=env,
    )


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    read = DeltaTable(folder / "run" / "tables" / table).to_pyarrow_table()
    return list(read.to_pylist())


def by_family(folder: Path) -> dict[str, dict[str, Any]]:
    """Return each family's episode with the rows of its steps."""
    names = {task["task_id"]: task["template_id"] for task in rows(folder, "tasks")}
    steps = sorted(rows(folder, "steps"), key=lambda row: int(row["step"]))
    return {
        names[episode["task_id"]]: episode
        | {"steps": [step for step in steps if step["episode_id"] == episode["episode_id"]]}
        for episode in rows(folder, "episodes")
    }


@dataclass(frozen=True)
class Made:
    """A run over the odd families, and an innocent one among them."""

    folder: Path
    said: Said
    found: Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, odd_pages: dict[str, str]) -> Made:
    """Make the run."""
    folder = tmp_path_factory.mktemp("odd")
    said = generate(folder, FAMILIES, odd_pages)
    assert said.code in {0, 1}, said.err
    return Made(folder, said, by_family(folder))


def test_odd_pages_are_rows_like_others_and_cost_no_neighbour(made: Made) -> None:
    said, innocent = made.said, made.found["click-test"]

    assert "Traceback" not in said.err
    assert (said.answer["episodes"], said.answer["accepted"]) == (4, 3)
    assert (innocent["done"], innocent["reward"]) == (True, 1.0)
    assert called("audit", str(made.folder / "run"), "--deep").code == 0


@pytest.mark.full
def test_a_run_with_odd_rows_is_resumed_as_any_other(made: Made, odd_pages: dict[str, str]) -> None:
    again = generate(made.folder, FAMILIES, odd_pages)

    assert (again.code, again.answer["rolled_out"]) == (0, 0)


def test_half_a_character_is_a_mark_in_every_row(made: Made) -> None:
    half, thrown = made.found["odd-half"], made.found["odd-throw"]

    assert half["instruction"] == "half \ufffd"
    assert half["steps"][0]["result_text"] == "The page said: \ufffd"
    assert thrown["failure_kind"] == "page"
    assert thrown["failure_message"].startswith("the page threw: Error: half \ufffdxxx")
    assert len(thrown["failure_message"]) < 500


def test_what_is_far_too_long_is_cut_in_every_row_and_replays(made: Made) -> None:
    huge = made.found["odd-huge"]
    url = "http://miniwob.localhost/miniwob/odd-huge.html?" + "u" * 1_900_000
    [task] = [task for task in rows(made.folder, "tasks") if task["template_id"] == "odd-huge"]

    assert made.said.answer["reproduced"] == 3
    assert huge["instruction"] == task["instruction"] == truncate("Q" * GOAL, GOAL_BYTES)
    for step in huge["steps"]:
        assert step["title"] == truncate("T" * TITLE, TITLE_BYTES)
        assert step["url"] == truncate(url, URL_BYTES)
    told = huge["steps"][0]["result_text"]
    assert told.startswith("The page said: AAA")
    assert len(told.encode()) <= 2_000
    assert all(len(row["elements"]) < 10_000 for row in rows(made.folder, "observations"))


@pytest.mark.full
def test_what_is_far_too_long_is_cut_in_every_prompt(
    tmp_path: Path, odd_pages: dict[str, str]
) -> None:
    said = generate(
        tmp_path,
        ["odd-huge"],
        odd_pages,
        *("--set=policy.name=model", "--set=engine.kind=scripted"),
        *("--set=limits.steps=2", "--set=verify.verifiers=['structure']"),
        *("--set=accept.passed=['structure']", "--set=browser.viewport=[512,512]"),
    )
    assert said.code in {0, 1}, said.err
    calls = rows(tmp_path, "calls")

    assert calls
    for call in calls:
        assert len(call["messages"].encode()) < GOAL_BYTES + 10_000
        assert truncate("Q" * GOAL, GOAL_BYTES) in call["messages"]


TEXTS = (
    "",
    "T" * 1_000,
    "T" * 1_001,
    "é" * 500,
    "é" * 501,
    "\ufeffx" + "\U0001f600" * 300,
    "x\ud83d" + "\U0001f600" * 300 + "\ude00",
    "\ud83d" * 400,
    "\0\u2028" * 3_000,
)
"""Texts around the bound of a thousand bytes."""


@shared
async def test_a_text_is_cut_in_the_page_as_it_is_cut_here() -> None:
    async with opened({"/": "one"}) as session:
        for text in TEXTS:
            said = json.dumps(text)  # escaped, as halves cannot be sent
            assert await session._tab.channel.call(f"stepmill.cut({said}, 1000)") == truncate(
                text, 1000
            )


@shared
async def test_names_that_pages_make_up_are_bounded_wherever_they_are_read() -> None:
    page = """<script>
      const made = document.createElement("x" + "-y".repeat(2e4));
      made.textContent = "a word \\ud83d ".repeat(300);
      made.setAttribute("aria-label", "\\ud83d\\ude00".repeat(1e5));
      made.setAttribute("z".repeat(1e5), "v".repeat(1e5));
      made.style.cssText = "position:fixed;left:0;top:0;width:300px;height:60px;overflow:hidden";
      made.style.cursor = `url("data:,${"c".repeat(1e4)}"), pointer`;
      made.tabIndex = 0;
      document.title = "T".repeat(1e5);
      const frame = document.createElement("iframe");
      frame.src = "/frame#" + "f".repeat(1e5);
      document.body.append(made, frame);
      made.focus();
    </script>"""
    async with opened({"/": f"<body>{page}", "/frame": "<button>in</button>"}) as session:
        seen = await session.observe()
        effect = await session.act(Click(x=20, y=18))
        nodes = list((await session.reader.read()).walk())
        looked = await session._tab.channel.call("stepmill.observe()")
        read = await session._tab.channel.call("stepmill.read()")

    unhashed = {name: said for name, said in looked.items() if name not in ("dom", "form")}
    assert len(canonical_json(unhashed)) < 60_000, "what is cut is not even sent"
    assert len(canonical_json(read)) < 120_000, "what is cut is not even sent"
    assert effect.target is not None
    named = [element for element in seen.elements if element.tag.startswith("x-y")]
    assert named[0].tag == effect.target.tag == truncate("x" + "-y" * 20_000, LABEL_BYTES)
    assert named[0].name == "\U0001f600" * 100
    assert {element.frame for element in seen.elements} == {
        None,
        truncate(f"{ORIGIN}/frame#" + "f" * 100_000, URL_BYTES),
    }
    assert len(seen.model_dump_json(exclude={"screenshot"})) < 60_000
    for node in nodes:
        texts = [node.tag, node.text, node.own_text, *node.attrs, *node.attrs.values()]
        texts += [*node.style.values(), *(word for word, _ in node.words)]
        assert max(len(text.encode()) for text in texts) <= GOAL_BYTES


@shared
async def test_what_a_page_throws_is_cut_and_well_formed() -> None:
    async with opened({"/": "one"}) as session:
        with pytest.raises(RolloutFailure) as failure:
            await session.evaluate("(() => { throw 'half \\ud83d'.repeat(1e6) })()")

    assert failure.value.kind is FailureKind.PAGE
    assert canonical_json(failure.value.message).encode()
    assert len(failure.value.message) < 500
