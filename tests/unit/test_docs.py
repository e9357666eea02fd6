"""What the pages say is so: their Python runs, their commands parse, their links lead somewhere.

A `python` block is run, in an empty folder; one marked `python no-run` needs a dataset or a
network, so it is compiled and each thing it imports is looked up, and it is run where a dataset is
published (`tests/e2e/publishing/test_published_everywhere.py`). One marked `python file NAME` is a file: it is
compiled here, and run by `make test-trainers`, which has what it imports, or by
`tests/extending/test_plugin.py`. A line of an `sh` block that starts with `stepmill` or `make` must be a command as it stands; in running text the command, the target or the
file that is named must exist.
"""

import ast
import importlib
import re
import shlex
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import configuration
import pytest
from columns import renewed
from source_tree import ROOT
from support.inputs.offered_parts import offer

from flows.cli.parser import build_parser, parse
from generators.verify.registry import VERIFIER_NAMES
from schemas.episodes.episode import Actor, StopReason, ThoughtSource
from schemas.verdicts.verdict import Acceptance
from storage.publish.card.columns import member_docs

PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in (
        *sorted(ROOT.glob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted(ROOT.glob("plugins/*/README.md")),
    )
]
README_LINES = 150
TRAINING = "docs/training.md"
"""The page whose files `make test-trainers` takes."""

WITH_FILES = (
    TRAINING,
    "docs/extending.md",
    "docs/applications.md",
    "docs/seats.md",
    *(page for page in PAGES if page.startswith("docs/trainers/")),
)
"""The pages that show whole files; other tests run them."""

_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_PATH = re.compile(
    r"^(?:flows|generators|registries|schemas|storage|plugins|configs|bench|docs|tests|requirements)/"
)


def _text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def _blocks(language: str) -> Iterator[tuple[str, str, str]]:
    """Yield the page, mark and text of each fenced block of a language."""
    for page in PAGES:
        for found in _BLOCK.finditer(_text(page)):
            if found[1] == language:
                yield page, found[2].strip(), found[3]


def _spans(page: str) -> Iterator[str]:
    """Yield what stands in backticks in a page's running text."""
    prose = _BLOCK.sub("", _text(page))
    yield from (found[1] for found in _SPAN.finditer(prose))


def _shell_lines(word: str) -> Iterator[tuple[str, str]]:
    for page, _, text in _blocks("sh"):
        for line in text.replace("\\\n", " ").splitlines():
            command = line.removeprefix("$ ").removeprefix(".venv/bin/")
            if command.split(" ")[0] == word:
                yield page, command


def test_python_in_the_pages_runs(tmp_path: Path) -> None:
    for page, mark, code in _blocks("python"):
        if mark == "no-run" or (page in WITH_FILES and mark.startswith("file ")):
            continue
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, f"{page}:\n{code}\n{done.stderr}"


def test_python_that_needs_data_compiles_and_imports_what_there_is() -> None:
    for page, mark, code in _blocks("python"):
        if page in WITH_FILES and mark.startswith("file "):
            ast.parse(code)
            continue
        assert mark in ("", "no-run"), f"{page}: unknown mark {mark!r}"
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    importlib.import_module(alias.name)
            if isinstance(node, ast.ImportFrom) and node.module:
                module = importlib.import_module(node.module)
                missing = [a.name for a in node.names if not hasattr(module, a.name)]
                assert missing == [], f"{page}: {node.module} has no {missing}"


def test_commands_in_the_pages_are_commands(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(tmp_path, "stepmill-example", {"stepmill.formats:goals": "stepmill_example.format:Goals"})
    monkeypatch.syspath_prepend(tmp_path)
    refused = {
        line: capsys.readouterr().err
        for _, line in _shell_lines("stepmill")
        if not _parses(shlex.split(line, comments=True)[1:])
    }

    assert refused == {}


def _parses(words: list[str]) -> bool:
    try:
        parse(words)
    except SystemExit as ended:
        return not ended.code
    return True


def test_commands_named_in_running_text_exist() -> None:
    known = set(_commands())

    for page in PAGES:
        for span in _spans(page):
            words = span.removeprefix(".venv/bin/").split()
            if words[0] == "stepmill" and len(words) > 1 and words[1].isalpha():
                assert words[1] in known, f"{page}: {span}"


def _commands() -> Iterator[str]:
    for action in build_parser()._actions:
        if action.dest == "command" and action.choices is not None:
            yield from map(str, action.choices)


def test_make_targets_named_in_the_pages_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))

    named = {(page, line) for page, line in _shell_lines("make")}
    named |= {
        (page, span)
        for page in PAGES
        for span in _spans(page)
        if re.fullmatch(r"make [a-z]+.*", span)
    }
    assert {(page, line) for page, line in named if line.split()[1] not in targets} == set()


def test_files_named_in_the_pages_exist() -> None:
    missing = [
        (page, span)
        for page in PAGES
        for span in _spans(page)
        if _PATH.match(span) and not re.search(r"[<>*…{} ]", span) and not (ROOT / span).exists()
    ]

    assert missing == []


def test_links_in_the_pages_lead_somewhere() -> None:
    lost = [
        (page, link)
        for page in PAGES
        for link in _LINK.findall(_BLOCK.sub("", _text(page)))
        if "://" not in link and not _leads(page, link)
    ]

    assert lost == []


def _leads(page: str, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (ROOT / page).parent / name if name else ROOT / page
    if not target.exists():
        return False
    return not anchor or anchor in _anchors(target)


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}


def test_the_configuration_page_says_what_the_records_say() -> None:
    page = _text("docs/configuration.md")

    assert renewed(page, configuration.PARTS) == page, "docs/configuration.md is stale: `make docs`"


def test_the_columns_page_says_what_the_records_say() -> None:
    page = _text("docs/dataset.md")

    assert renewed(page) == page, "docs/dataset.md is stale: `make docs`"


def test_what_only_a_verifier_to_come_would_give_is_called_reserved() -> None:
    """Whoever adds one of these verifiers says in the records that the column is used."""
    docs = member_docs(Acceptance)
    waiting = {"judge_score": {"judge", "panel"}}

    for column, verifiers in waiting.items():
        assert ("Reserved" in docs[column]) == verifiers.isdisjoint(VERIFIER_NAMES), column
    assert docs["assurance"] == (
        "How sure: `replayed`; `probed`, where the site judged by its server's state and nothing was "
        "replayed; or `none`. Reserved: `judged`, as no verifier that ships is a judge."
    )


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (StopReason, "BLOCKED"),
        (StopReason, "CANCELLED"),
        (Actor, "USER"),
        (ThoughtSource, "REWRITTEN"),
    ],
)
def test_a_value_that_nothing_gives_is_called_reserved(kind: type[StrEnum], member: str) -> None:
    code = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("flows", "generators")
        for path in (ROOT / folder).rglob("*.py")
        if "verify" not in path.parts  # a verifier that refuses a value does not give it
    )

    assert ("Reserved" in member_docs(kind)[member]) == (f"{kind.__name__}.{member}" not in code)


def test_the_readme_is_short() -> None:
    assert len(_text("README.md").splitlines()) < README_LINES


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_one_title_and_ends_with_a_line(page: str) -> None:
    text = _BLOCK.sub("", _text(page))

    assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1
    assert text.startswith("# ")
    assert text.endswith("\n")


@pytest.mark.parametrize("name", sorted(p.name for p in (ROOT / "docs/decisions").glob("*.md")))
def test_a_decision_says_what_was_decided_and_what_was_not(name: str) -> None:
    text = _text(f"docs/decisions/{name}")

    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", name)
    assert re.findall(r"^## (\w+)", text, re.MULTILINE) == [
        "Context",
        "Decision",
        "Consequences",
        "Rejected",
    ]
    assert len(text.splitlines()) <= 60


def test_decisions_are_numbered_once_each() -> None:
    numbers = [path.name[:4] for path in (ROOT / "docs/decisions").glob("*.md")]

    assert len(numbers) == len(set(numbers))


def test_no_page_holds_what_hides_or_turns_round_a_part_of_it() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("tests/golden/**/*.md")]
    odd = {
        (page.name, ascii(char))
        for page in pages
        for char in page.read_text(encoding="utf-8")
        if unicodedata.category(char) in {"Cc", "Cf", "Co", "Cs"} and char != "\n"
    }

    assert pages
    assert odd == set()
