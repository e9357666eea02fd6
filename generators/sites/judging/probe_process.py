"""Runs one probe on one end of an attempt: `python -m generators.sites.judging.probe_process PROBE`.

`PROBE` identifies the probe as messages do: its name, its distribution with the version, and its place.
Standard output is a socket: the input is read from it to its end, and the reply is one line. Output of the
probe itself is discarded.
"""

import os
import socket
import sys

from pydantic import ValidationError

from generators.sites.judging.protocol import REASON_BYTES, Judgement, ProbeInput
from registries.entry_points import Group, find_plugins
from schemas.base import Record
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.truncation import truncate

MAX_REPLY_BYTES = 2**20
"""Largest size of a reply, bytes."""

MAX_REASONS = 100
"""Largest number of reasons; later ones are left out."""

_SHOWN_CHARS = 80
_OUT, _ERRORS = 1, 2


class ProbeReply(Record):
    """The result of running a probe."""

    judgement: Judgement | None = None
    """The probe's judgement; None: it gave no valid one."""
    wrong: str = ""
    """The probe's fault, to follow its name in a message; empty: there was none."""


def ask(named: str, given: bytes) -> ProbeReply:
    """Run the probe on `given`, the JSON of a `ProbeInput`, and return its reply."""
    plugin = next((one for one in find_plugins(Group.PROBES) if str(one) == named), None)
    if plugin is None:
        return ProbeReply(wrong="was replaced or uninstalled meanwhile; run the command again")
    try:
        with boundary(FailureKind.SITE, "fails"):
            found: object = plugin.entry.load()(ProbeInput.model_validate_json(given))
            if not isinstance(found, Judgement):
                shown = " ".join(repr(found).split())[:_SHOWN_CHARS]
                return ProbeReply(wrong=to_mend(f"returns {shown}, and not a Judgement"))
            reasons = (truncate(reason, REASON_BYTES) for reason in found.reasons[:MAX_REASONS])
            return ProbeReply(judgement=Judgement(reward=found.reward, reasons=tuple(reasons)))
    except RolloutFailure as failure:
        return ProbeReply(wrong=to_mend(_explain(failure)))
    except SystemExit as ending:
        return ProbeReply(wrong=to_mend(f"ends the program, with {ending.code!r}"))


def to_mend(wrong: str) -> str:
    """Return a probe's fault, followed by the advice on it."""
    return f"{wrong}; mend the probe, or leave out the tasks that name it"


def _explain(failure: RolloutFailure) -> str:
    """Return a failure in one line; for an invalid record, with the value and the reason."""
    error = failure.__cause__
    if not isinstance(error, ValidationError):
        return failure.message
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    shown = repr(first["input"])[:_SHOWN_CHARS]
    return f"makes no valid {error.title}: {where} = {shown}: {first['msg']}"


def main(named: str) -> None:
    """Run the probe, and write its reply."""
    with socket.socket(fileno=os.dup(_OUT)) as channel:
        os.dup2(_ERRORS, _OUT)
        with channel.makefile("rb") as stream:
            given = stream.read()
        channel.sendall(ask(named, given).model_dump_json().encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1])
