"""How many changes of what guards truth the quick tests notice: what `make mutants` prints and keeps.

What is mutated, and by which tests it is to be killed, is in `pyproject.toml` (`tool.mutmut`). Left out
are texts of messages (an f-string, a literal with a space in it), log lines and docstrings: no promise
rests on them. Survivors that change nothing which matters are in `tests/adversarial/harmless.toml`, by
kind. `docs/verification.md` shows the last result.

    python -m bench.measuring.mutants [--again] [NAME …]

asks about all mutants; with `--again` only about those that were not killed, and with names (`*` stands
for anything) only about these. Other results stay as they are.
"""

import argparse
import fnmatch
import os
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mutmut.utils.format_utils import mangled_name_from_mutant_name

from bench.measuring.mutant_runner import Mutant, ask, make_mutants, read_mutants
from bench.measuring.result import ROOT, write_result

HARMLESS = ROOT / "tests" / "adversarial" / "harmless.toml"
RESULT = ROOT / "bench" / "measuring" / "mutants.json"

UNEXPLAINED = "unexplained"
"""The kind of a survivor that is of no kind in `HARMLESS`."""

MIN_SHARE = 0.9
"""The share of mutants that the quick tests kill at least."""


@dataclass(frozen=True)
class Kind:
    """Survivors of one sort, and why it is harmless that no test notices them."""

    name: str
    why: str
    changes: tuple[tuple[str, str], ...]
    """Which these are: a pattern of the function's name, and a part of the changed lines."""

    def has(self, mutant: Mutant) -> bool:
        """Return whether a mutant is of this kind."""
        function, change = mangled_name_from_mutant_name(mutant.name), mutant.change()
        return any(
            fnmatch.fnmatch(function, name) and part in change for name, part in self.changes
        )


def read_kinds() -> list[Kind]:
    """Return the kinds of harmless survivors."""
    kinds = tomllib.loads(HARMLESS.read_text(encoding="utf-8"))["kind"]
    return [
        Kind(one["name"], one["why"], tuple((name, part) for name, part in one["changes"]))
        for one in kinds
    ]


def summary(mutants: Sequence[Mutant], kinds: Sequence[Kind]) -> dict[str, Any]:
    """Return what is kept of a run: by module how many were killed, by kind who survived."""
    asked = [mutant for mutant in mutants if mutant.code is not None]
    survivors = [mutant for mutant in asked if not mutant.killed]
    by_kind: dict[str, list[Mutant]] = {kind.name: [] for kind in kinds}
    by_kind[UNEXPLAINED] = []
    for mutant in survivors:
        of = next((kind.name for kind in kinds if kind.has(mutant)), UNEXPLAINED)
        by_kind[of].append(mutant)
    modules = {
        module: {
            "mutants": sum(mutant.module == module for mutant in asked),
            "killed": sum(mutant.module == module and mutant.killed for mutant in asked),
            "not_asked": sum(mutant.module == module for mutant in mutants if mutant.code is None),
        }
        for module in sorted({mutant.module for mutant in mutants})
    }
    return {
        "mutants": len(asked),
        "killed": len(asked) - len(survivors),
        "share": round((len(asked) - len(survivors)) / len(asked), 4),
        "min_share": MIN_SHARE,
        "modules": modules,
        "survivors": {
            kind: [{"name": one.name, "change": one.change()} for one in of]
            for kind, of in by_kind.items()
            if of
        },
    }


def main() -> int:
    """Ask, print what came of it and keep it; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    os.chdir(ROOT)
    asked = [
        mutant
        for mutant in make_mutants()
        if (not given.names or any(fnmatch.fnmatch(mutant.name, name) for name in given.names))
        and not (given.again and mutant.killed)
    ]
    if not ask(asked):
        return 1
    figures = summary(read_mutants(), read_kinds())
    write_result(RESULT.parent, RESULT.stem, figures)
    for name, survivors in figures["survivors"].items():
        for one in survivors:
            print(f"survived ({name}): {one['name']}", one["change"], sep="\n")
    print(f"{figures['killed']} of {figures['mutants']} mutants killed: {figures['share']:.1%}")
    return int(figures["share"] < MIN_SHARE)


if __name__ == "__main__":
    sys.exit(main())
