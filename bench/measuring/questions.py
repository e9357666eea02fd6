"""The two figures of `make measure` that a reader takes: names guessed from paths, and files opened to answer.

The reader has not worked on the code, and writes everything down before asking for a sheet.

    python -m bench.measuring.questions paths      # 25 modules: what does each do?
    python -m bench.measuring.questions sheet      # the same, with the first line of each docstring
    python -m bench.measuring.questions questions  # 12 questions: where is it decided?
    python -m bench.measuring.questions answers    # the same, with the file and the name that decide it

*Names guessed*: the reader sees the paths and nothing else, and writes one sentence for each. A path is
guessed if its sentence says what the first line of the docstring says; one that is too general to tell it
from its neighbours is not. Target: 22 of 25.

*Files opened*: the reader begins at the table "Where is it decided" of `docs/architecture.md`, which counts
nothing, and opens files until one decides the question, which counts as well; a search that shows lines of
a file opens that file. The figure is the median of the 12. Target: 1.

The paths are drawn by a hash of each path with a seed, so that a change elsewhere leaves nearly all of a draw
as it was. Whoever has seen the sheet reads another draw (`--seed`).
"""

import argparse
import ast
import hashlib
import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

from bench.measuring.source import ROOT, is_of_worlds, product_files

SEED = "25 paths"
PATHS, OF_WORLDS = 25, 8
"""Paths that are drawn, and how many of them are of worlds and tasks."""

MIN_GUESSED, MAX_OPENED = 22, 1
"""The targets."""

QUESTIONS = Path(__file__).with_name("questions.toml")


class Question(NamedTuple):
    """One question with its answers."""

    ask: str
    answers: tuple[str, ...]
    """Each a file and a name in it, `file: name`; any one is right."""


def draw_paths(root: Path, seed: str = SEED) -> list[Path]:
    """Return the paths that a reader is shown, in a drawn order; all of them where there are fewer."""

    def rank(path: Path) -> str:
        about = f"{seed} {path.relative_to(root).as_posix()}"
        return hashlib.sha256(about.encode()).hexdigest()

    ranked = sorted((p for p in product_files(root) if not p.stem.startswith("__")), key=rank)
    worlds = [path for path in ranked if is_of_worlds(path, root)][:OF_WORLDS]
    others = [path for path in ranked if not is_of_worlds(path, root)][: PATHS - OF_WORLDS]
    return sorted([*worlds, *others], key=rank)


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring; empty without one."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def read_questions(path: Path = QUESTIONS) -> list[Question]:
    """Return the questions, in their order."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Question(one["ask"], tuple(one["answers"])) for one in table["question"]]


def wrong_answers(questions: list[Question], root: Path) -> list[str]:
    """Return the answers whose file is not there or does not define the name."""
    return [answer for one in questions for answer in one.answers if not _is_there(answer, root)]


def _is_there(answer: str, root: Path) -> bool:
    file, _, name = answer.partition(": ")
    path = root / file
    defines = rf"^\s*(?:(?:async )?def |class |\[+)?{re.escape(name)}\b"
    return path.is_file() and bool(
        re.search(defines, path.read_text(encoding="utf-8"), re.MULTILINE)
    )


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Print one of the four lists."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("paths", "sheet", "questions", "answers"))
    parser.add_argument("--seed", default=SEED, help="another draw of paths")
    given = parser.parse_args(arguments)
    what = given.what
    if what in ("paths", "sheet"):
        for number, path in enumerate(draw_paths(root, given.seed), 1):
            line = f"\n    {first_line(path)}" if what == "sheet" else ""
            print(f"{number:2} {path.relative_to(root).as_posix()}{line}")
    else:
        for number, question in enumerate(read_questions(), 1):
            answers = "".join(f"\n    {one}" for one in question.answers)
            print(
                f"{number:2} Where is it decided {question.ask}?{answers if what == 'answers' else ''}"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
