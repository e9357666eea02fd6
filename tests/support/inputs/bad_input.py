"""One wrong input to a command: what is given, and what the one line of refusal has to name."""

from collections.abc import Mapping
from dataclasses import dataclass, field

GENERATE = ("generate", "--no-prefect", "--set=tasks.include=['click-test']")
"""A run that is refused at the latest because no browser starts."""

Inputs = Mapping[str, "BadInput"]
"""Wrong inputs by what is wrong with them."""


@dataclass(frozen=True)
class BadInput:
    """What a command is given, in a folder that holds nothing but `files`."""

    argv: tuple[str, ...]
    """The command and its arguments."""
    told: str
    """What the line has to name: what is wrong, where, or what to do."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """What lies in the folder, by its name."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """What the environment has."""


def setting(text: str, told: str) -> BadInput:
    """Return a run with one more `--set`."""
    return BadInput((*GENERATE, "--set", text), told)


def usage(told: str, *argv: str) -> BadInput:
    """Return a command line that is wrong by itself."""
    return BadInput(argv, told)


def file(name: str, text: str | bytes) -> Mapping[str, bytes]:
    """Return one file, of text or of bytes."""
    return {name: text if isinstance(text, bytes) else text.encode()}
