"""`docs/architecture.md` finds things: its last table names files that define what it names."""

import ast
import re

import architecture
import pytest
from columns import renewed
from source_tree import ROOT

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
MIN_QUESTIONS = 40

_ROW = re.compile(r"^\| (.+) \| `([\w/]+\.py)` \| `([\w.]+)` \|$", re.MULTILINE)
_WORD = re.compile(r"^\| \*\*(.+?)\*\* \|", re.MULTILINE)


def _questions() -> list[tuple[str, str, str]]:
    _, _, section = PAGE.partition("## Where is it decided")
    return [(row[1], row[2], row[3]) for row in _ROW.finditer(section)]


def _names(nodes: list[ast.stmt], prefix: str = "") -> set[str]:
    """Return what a module or class body defines, methods as `Class.method`."""
    out: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            out.add(prefix + node.name)
        elif isinstance(node, ast.ClassDef):
            out |= {prefix + node.name} | _names(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Assign):
            out |= {prefix + ast.unparse(target) for target in node.targets}
        elif isinstance(node, ast.AnnAssign):
            out.add(prefix + ast.unparse(node.target))
    return out


def test_there_are_many_questions_and_none_is_asked_twice() -> None:
    asked = [question for question, _, _ in _questions()]

    assert len(asked) >= MIN_QUESTIONS
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize(("question", "file", "name"), _questions())
def test_a_question_leads_to_a_file_that_defines_the_name(
    question: str, file: str, name: str
) -> None:
    assert (ROOT / file).is_file(), question

    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in _names(tree.body), question


def test_every_row_of_the_questions_has_a_file_and_a_name() -> None:
    _, _, section = PAGE.partition("## Where is it decided")
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]

    assert [row for row in rows if not _ROW.match(row)] == []


def test_the_words_are_in_order_and_each_is_listed_once() -> None:
    words = [found[1] for found in _WORD.finditer(PAGE)]

    assert len(words) == len(set(words))
    assert words == sorted(words)


def test_the_decisions_are_listed_with_their_titles() -> None:
    assert renewed(PAGE, architecture.PARTS) == PAGE, "docs/architecture.md is stale: `make docs`"
    for path in (ROOT / "docs/decisions").glob("*.md"):
        assert f"(decisions/{path.name})" in PAGE
