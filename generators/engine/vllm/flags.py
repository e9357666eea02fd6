"""The flags of `vllm serve` by version, and whether a configuration's flags are among them.

The table, `flags.toml`, is read from the sources of vLLM's wheels (`bench/measuring/vllm_flags.py`). It is used where the
version that would be started is known without starting anything: from the distribution installed beside the
program. A flag that this version does not know is refused before the start, in place of a server that dies at it.
Where the version is unknown, or is not in the table, nothing is refused and a note says so.
"""

import difflib
import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from schemas.base import Record
from schemas.errors import NoEngine

TABLE = Path(__file__).with_name("flags.toml")
"""Every flag with the versions that know it."""

_DISTRIBUTION = re.compile(r"^vllm(?:_cpu)?-(\d+\.\d+)")
_FLAG = re.compile(r"^--?[A-Za-z]")
_PROGRAM = re.compile(r"^(?:vllm|python[\d.]*)$")
_OPTIMIZATION = "-O"
"""A flag that vLLM's parser understands without registering it."""


class VllmVersion(NamedTuple):
    """A version of vLLM, as far as its flags depend on it."""

    major: int
    """The first number."""
    minor: int
    """The second number."""

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class KnownFlag(Record):
    """A row of the table: which versions know a flag, and what they say of it."""

    first: str | None = None
    """The first version that knows it; None: the oldest of the table does."""
    last: str | None = None
    """The last version that knows it; None: the newest of the table does."""
    short: tuple[str, ...] = ()
    """Its other names."""
    boolean: bool = False
    """It has a form with `--no-`."""
    no_effect: str | None = None
    """The first version that takes it without effect; None: none of the table does."""
    becomes: str | None = None
    """The name to use in its place, by the sources; None: they name none."""
    renamed: str | None = None
    """The first version whose source names that one; None: none does."""

    def is_known_to(self, version: VllmVersion) -> bool:
        """Return whether a version of the table knows it."""
        first, last = self.first, self.last
        return (first is None or version_of_text(first) <= version) and (
            last is None or version <= version_of_text(last)
        )


class FlagTable(Record):
    """The flags of all versions that were read."""

    versions: tuple[str, ...]
    """The versions, oldest first."""
    inverse: str | None = None
    """The version from which `--disable-x` is the opposite of `--enable-x`; None: in none."""
    flags: dict[str, KnownFlag]
    """The flags by their names with two hyphens."""


def version_of_text(text: str) -> VllmVersion:
    """Return the version that a text begins with, as `0.32.0`.

    Raises:
        ValueError: it begins with none.
    """
    found = re.match(r"(\d+)\.(\d+)", text)
    if found is None:
        raise ValueError(f"'{text}' is no version")
    return VllmVersion(int(found[1]), int(found[2]))


@cache
def flag_table() -> FlagTable:
    """Return the table that ships."""
    return FlagTable.model_validate(tomllib.loads(TABLE.read_text(encoding="utf-8")))


def installed_version(program: Sequence[str]) -> VllmVersion | None:
    """Return the version of vLLM that a program, before its arguments, starts; None: nothing says so.

    It is that of the distribution in the environment of the program `vllm`, or of the Python that runs it.
    """
    named = [part for part in program if _PROGRAM.match(Path(part).name)]
    found = shutil.which(named[-1]) if named else None
    if found is None:
        return None
    folders = {Path(found).absolute().parent.parent}
    if Path(found).name == "vllm":
        folders.add(Path(found).resolve().parent.parent)
    versions = {
        version_of_text(name[1])
        for folder in folders
        for path in folder.glob("lib/python3*/*-packages/vllm*.dist-info")
        if (name := _DISTRIBUTION.match(path.name))
    }
    return versions.pop() if len(versions) == 1 else None


def check_flags(args: Sequence[str], version: VllmVersion | None) -> tuple[str, ...]:
    """Return what is to be noted of a server's flags, each on a line.

    Raises:
        NoEngine: this version of vLLM does not know one of them; the message names what it knows.
    """
    table = flag_table()
    flags = list(_flags(args))
    if not flags:
        return ()
    if version is None:
        return ("the version of vLLM is not known before its start: engine.args are not checked",)
    if str(version) not in table.versions:
        known = f"{table.versions[0]} to {table.versions[-1]}"
        return (
            f"vLLM {version} is not in the table of flags ({known}): engine.args are not checked",
        )
    spellings = known_spellings(version)
    notes = (_note(flag, table, spellings, version) for flag in flags)
    return tuple(dict.fromkeys(note for note in notes if note))


def _flags(args: Sequence[str]) -> Iterator[str]:
    """Yield the flags among arguments, spelt as in the table: without values and keys of JSON, with hyphens."""
    for arg in args:
        if _FLAG.match(arg):
            name = arg.partition("=")[0].partition(".")[0]
            yield name.replace("_", "-") if name.startswith("--") else name


def known_spellings(version: VllmVersion) -> Mapping[str, str]:
    """Return every spelling of a flag that a version of the table knows, and the flag's own name."""
    found: dict[str, str] = {}
    table = flag_table()
    inverse = table.inverse is not None and version_of_text(table.inverse) <= version
    for name, flag in table.flags.items():
        if not flag.is_known_to(version):
            continue
        found.update(dict.fromkeys((name, *flag.short), name))
        if flag.boolean:
            found[f"--no-{name.removeprefix('--')}"] = name
            if inverse and name.startswith(("--enable-", "--disable-")):
                word = "disable" if name.startswith("--enable-") else "enable"
                found.setdefault(f"--{word}-{name.split('-', 3)[3]}", name)
    return found


def _note(
    flag: str, table: FlagTable, spellings: Mapping[str, str], version: VllmVersion
) -> str | None:
    """Return what is to be said of a flag that a version knows; None: nothing.

    Raises:
        NoEngine: it does not know the flag.
    """
    name = _known_name(flag, spellings)
    if name is None:
        raise NoEngine(f"engine.args: {_unknown(flag, table, spellings, version)}")
    row = table.flags.get(name)
    if row is None:
        return None
    if row.no_effect is not None and version_of_text(row.no_effect) <= version:
        return f"vLLM {version} takes {name} without effect; leave it out of engine.args"
    if row.renamed is not None and version_of_text(row.renamed) <= version:
        return f"vLLM {version} calls {name} by another name; use {row.becomes} in engine.args"
    return None


def _known_name(flag: str, spellings: Mapping[str, str]) -> str | None:
    """Return the name of the flag that a spelling stands for: itself, or one that it begins alone."""
    if flag in spellings:
        return spellings[flag]
    if flag.startswith("--"):
        begun = {name for spelling, name in spellings.items() if spelling.startswith(flag)}
        return begun.pop() if len(begun) == 1 else None
    if flag.startswith(_OPTIMIZATION):
        return _OPTIMIZATION
    # A value may follow a short flag without a space.
    short = [one for one in spellings if not one.startswith("--") and flag.startswith(one)]
    return spellings[max(short, key=len)] if short else None


def _unknown(
    flag: str, table: FlagTable, spellings: Mapping[str, str], version: VllmVersion
) -> str:
    """Return why a version does not know a flag, and what to write in its place."""
    row = table.flags.get(flag)
    if row is not None and row.becomes is not None:
        return f"vLLM {version} knows {flag} no more; it is {row.becomes} now"
    if row is not None and row.first is not None and version < version_of_text(row.first):
        return f"vLLM {version} does not know {flag} yet; versions from {row.first} on do"
    if row is not None and row.last is not None:
        return f"vLLM {version} knows {flag} no more; versions up to {row.last} did. Leave it out"
    opposite = f"--no-enable-{flag.removeprefix('--disable-')}"
    near = [opposite] if opposite in spellings else difflib.get_close_matches(flag, spellings, n=1)
    meant = f"did you mean {near[0]}?" if near else "`vllm serve --help=all` lists its flags"
    return f"vLLM {version} knows no {flag}; {meant}"
