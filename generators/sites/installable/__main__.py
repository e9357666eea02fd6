"""`python -m generators.sites.installable serve|tasks NAME`: an application by hand.

`serve` puts the content of each seed into a folder of its own below `worlds`, for resets, and then becomes the application's
own program, so that whoever started it stops it directly; `tasks` writes a task file. Everything is found again by the application's name and the user's folder.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from generators.sites.installable.application import Application, Installed, Serving
from generators.sites.installable.application_task import CONTENTS, content_of
from generators.sites.installable.packages import find_installed
from generators.sites.installable.registry import (
    APPLICATIONS,
    find_application,
    not_installed,
    put_back,
)
from generators.sites.installable.snapshots import base_folder
from generators.whole_folder import data_folder
from schemas.errors import Refusal, StepmillError

AT = "2026-01-15 10:00:00"
"""The moment at which an instance's clock stands still, UTC; no record of any content is later."""


def main(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> int:
    """Do what is asked for and return the exit code."""
    asked = _parser().parse_args(arguments)
    try:
        application = find_application(asked.name)
        _DO[asked.command](application, asked, environ)
    except Refusal as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 2
    except StepmillError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m generators.sites.installable",
        description="Serve an application, or write tasks for it.",
    )
    parser.add_argument("command", choices=tuple(_DO), help="what is done")
    parser.add_argument("name", help=", ".join(APPLICATIONS))
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="the instance's (the current one)"
    )
    parser.add_argument("--port", type=int, default=0, help="of 127.0.0.1, to serve at")
    parser.add_argument(
        "--seed", type=int, default=0, help="of a task; it says which content it is set in (0)"
    )
    parser.add_argument(
        "--seeds", type=int, default=1, help="how many, from --seed on, to draw tasks of"
    )
    parser.add_argument(
        "--at", default=AT, help=f"when its clock stands still, UTC ({AT}); '': it runs"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("tasks.jsonl"), help="the task file to write"
    )
    return parser


def _serve(application: Application, asked: argparse.Namespace, environ: Mapping[str, str]) -> None:
    found, data = _installed(application, environ), data_folder(environ)
    asked.folder.mkdir(parents=True, exist_ok=True)
    for content in range(CONTENTS):
        folder = asked.folder / "worlds" / str(content)
        folder.mkdir(parents=True, exist_ok=True)
        put_back(application, found, data=data, folder=folder, content=content)
    put_back(application, found, data=data, folder=asked.folder, content=content_of(asked.seed))
    base = base_folder(application, found, data=data)
    serving = Serving(folder=asked.folder.resolve(), base=base, port=asked.port)
    command = application.command(found, serving)
    environment = command.environment | found.environment(environ, at=asked.at or None)
    os.execve(command.arguments[0], command.arguments, environment)  # noqa: S606 - what it is for


def _tasks(application: Application, asked: argparse.Namespace, environ: Mapping[str, str]) -> None:
    del environ
    rows = [
        task.row(site=application.name, origin=application.origin)
        for seed in range(asked.seed, asked.seed + asked.seeds)
        for task in application.draw_tasks(seed)
    ]
    lines = (f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    asked.out.write_text("".join(lines), encoding="utf-8")


def _installed(application: Application, environ: Mapping[str, str]) -> Installed:
    found = find_installed(application, data_folder(environ))
    if found is None:
        raise Refusal(not_installed(application))
    return found


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


_DO = {"serve": _serve, "tasks": _tasks}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
