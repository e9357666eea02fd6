"""Sentences of the pages about what is verified, each held against the code or by named tests.

A sentence must stand literally in its page, so neither it nor what it rests on can change alone. Every
test and name that `docs/verification.md` gives as evidence must exist.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from adversarial.forgers import TRICKS
from source_tree import ROOT
from support.browsers.scripted_rollouts import scripted_task
from support.episodes.altered_episodes import changed, sealed, won

from generators.policy.noisy import NoisyPolicy
from generators.policy.scripted import ScriptedPolicy
from generators.policy.teacher.policy import TeacherPolicy
from generators.sites.miniwob import MiniWob
from generators.verify.outcome import OutcomeVerifier
from generators.verify.panel import MAX_ROUNDS
from generators.verify.pictures import CELL, MAX_CELLS, MAX_LEVELS
from generators.verify.replay import MAX_REPLAYS
from generators.verify.structure import Structure
from schemas.episodes.episode import PolicyKind
from schemas.tables.tables import trajectory_schema
from schemas.verdicts.verdict import Status

README = "README.md"
RUNNING = "docs/running.md"
VERIFICATION = "docs/verification.md"

_SPAN = re.compile(r"`([^`\n]+)`")


@cache
def _words(page: str) -> str:
    return " ".join((ROOT / page).read_text(encoding="utf-8").split())


def _trials_are_two() -> None:
    assert MAX_REPLAYS == 2
    assert {"replays", "replays_agreed"} <= set(trajectory_schema().names)


def _rounds_are_three() -> None:
    assert MAX_ROUNDS == 3


def _bounds_are_these() -> None:
    assert (MAX_CELLS, CELL, MAX_LEVELS) == (0.01 / 100, 4, 2)


def _the_teacher_and_its_twin_are_privileged() -> None:
    assert TeacherPolicy().card.privileged
    assert NoisyPolicy(TeacherPolicy(), seed="").card.privileged
    assert not ScriptedPolicy(()).card.privileged
    assert "privileged" in trajectory_schema().names


def _miniwob_is_repeatable() -> None:
    assert MiniWob.repeatable


def _there_are_so_many_tricks() -> None:
    assert len(TRICKS) == 31


CLAIMS: dict[str, tuple[str, Callable[[], None]]] = {
    "A replay that diverges is run once more": (README, _trials_are_two),
    "each row says how many runs there were and how many agreed": (README, _trials_are_two),
    "its rows are `privileged`": (README, _the_teacher_and_its_twin_are_privileged),
    "A replay that diverges is tried a second time": (VERIFICATION, _trials_are_two),
    "judges an episode three times at most": (VERIFICATION, _rounds_are_three),
    "judges an episode three times at most, errors not counted": (RUNNING, _rounds_are_three),
    "at most 0.01 % of the cells of 4 × 4 pixels may differ, and 2 of 255 levels in the mean": (
        VERIFICATION,
        _bounds_are_these,
    ),
    "repeatable, as MiniWoB++ does": (VERIFICATION, _miniwob_is_repeatable),
    "it reads the page's structure beside the picture, and so does its clumsy twin": (
        VERIFICATION,
        _the_teacher_and_its_twin_are_privileged,
    ),
    "31 tricks, beside an oracle": (VERIFICATION, _there_are_so_many_tricks),
}
"""By sentence: the page that it stands in, and what holds it."""


@pytest.mark.parametrize("sentence", CLAIMS)
def test_a_sentence_stands_in_its_page_and_holds(sentence: str) -> None:
    page, holds = CLAIMS[sentence]

    assert sentence in _words(page)
    holds()


SHOWN: dict[str, tuple[str, str]] = {
    "the first `done` is latched in the page as it happens, and nothing after it counts": (
        README,
        "tests/e2e/browser/test_latch.py::test_what_the_page_says_later_changes_no_end",
    ),
    "A page that is loaded again, another page or another tab is not the task's own problem": (
        README,
        "tests/adversarial/test_forgers.py::test_a_forger_is_rewarded_for_its_own_problem_alone",
    ),
    "with the same URL, form state, focus, scroll, DOM, elements and reward at every step": (
        README,
        "tests/e2e/runs/test_replay_tampered.py::test_what_was_tampered_with_is_named",
    ),
    "Splits are disjoint by template": (
        README,
        "tests/unit/storage/publish/plan/test_splits.py",
    ),
    "names what is not as it was written": (
        README,
        (
            "tests/adversarial/test_edits_at_rest.py"
            "::test_another_edited_object_is_found_unless_it_says_the_same"
        ),
    ),
}
"""By sentence: the page that it stands in, and the test that shows it."""


@pytest.mark.parametrize("sentence", SHOWN)
def test_a_sentence_stands_in_its_page_and_its_test_exists(sentence: str) -> None:
    page, shown = SHOWN[sentence]
    path, _, name = shown.partition("::")

    assert sentence in _words(page)
    assert (ROOT / path).is_file()
    assert not name or name in _names(ROOT / path)


async def test_success_is_the_site_s_word_and_no_verifier_asks_the_page_again() -> None:
    assert "no verifier judges it" in _words(README)
    assert "`outcome` and `replay` read the same reward from the same page" in _words(VERIFICATION)
    episode, task = await won(), scripted_task()
    [first, *_] = episode.steps
    nothing_to_see = sealed(episode, [first])

    for told in (episode, nothing_to_see):
        assert (await OutcomeVerifier({}).examine(task, told)).status is Status.PASSED
        paid_less = changed(reward=0.25)(told)
        found = await OutcomeVerifier({}).examine(task, paid_less)
        assert found.evidence["reward"] == 0.25


async def test_structure_holds_the_privilege_of_a_teacher_alone() -> None:
    said = (
        "`structure` checks the column of a teacher; that of a model rests on the recorder's word."
    )
    assert said in _words(VERIFICATION)
    episode, task = await won(), scripted_task()

    async def defects(kind: PolicyKind, *, privileged: bool) -> str:
        told = changed(policy_kind=kind, privileged=privileged)(episode)
        found = await Structure().examine(task, told)
        return str(found.evidence.get("defects", ""))

    assert "privileged is False" in await defects(PolicyKind.TEACHER, privileged=False)
    assert "privileged" not in await defects(PolicyKind.TEACHER, privileged=True)
    for privileged in (False, True):
        assert "privileged" not in await defects(PolicyKind.MODEL, privileged=privileged)


async def test_what_an_earlier_version_did_not_write_is_named() -> None:
    said = "Columns that an earlier version did not write are not compared, and the finding says so"
    assert said in _words(VERIFICATION)
    found = await Structure().examine(scripted_task(), changed(privileged=None)(await won()))

    assert found.status is Status.PASSED
    assert "privileged" in str(found.evidence["missing"])


@cache
def _names(path: Path) -> frozenset[str]:
    """Return the functions, and the names of constants, that a module has at its top."""
    out = set[str]()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                out.add(name)
            case ast.Assign(targets=targets):
                out.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                out.add(name)
            case _:
                pass
    return frozenset(out)


@cache
def _every_name() -> frozenset[str]:
    tests = (path for path in (ROOT / "tests").rglob("*.py") if "__pycache__" not in path.parts)
    return frozenset().union(*map(_names, tests))


def _rows() -> Iterator[tuple[str, str]]:
    """Yield each promise of the page with the cell that says what shows it."""
    text = (ROOT / VERIFICATION).read_text(encoding="utf-8")
    promises = text.partition("\n## Promises\n")[2].partition("\n## ")[0]
    for line in promises.splitlines():
        if line.startswith("| ") and not line.startswith("| promise |"):
            promise, *_, shown = line.strip("| ").split(" | ")
            yield promise, shown


def test_every_promise_names_what_shows_it_and_that_exists() -> None:
    promises = list(_rows())
    files = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    assert len(promises) > 10
    before = ""
    for promise, shown in promises:
        assert "`" in shown or (before and "the same" in shown), promise
        for span in _SPAN.findall(shown):
            if span.startswith("tests/"):
                assert (ROOT / span).exists(), f"{promise}: {span}"
            elif span.endswith(".py"):
                assert span in files, f"{promise}: {span}"
            elif re.fullmatch(r"[a-z]+(_[a-z]+)+", span):
                assert span in _every_name(), f"{promise}: {span}"
        before = shown


def test_every_list_that_the_page_points_to_exists() -> None:
    text = (ROOT / VERIFICATION).read_text(encoding="utf-8")
    named = re.findall(r"`([A-Z][A-Z_]+)`\s+in\s+`([^`]+)`", text)

    assert {"UNTOLD", "UNMISSED"} <= {name for name, _ in named}
    for name, path in named:
        assert name in _names(ROOT / path), f"{path} has no {name}"
