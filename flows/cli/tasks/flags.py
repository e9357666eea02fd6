"""The flags of `stepmill tasks`.

Help imports this module, so it loads nothing heavy.
"""

import argparse

from flows.cli.flags import (
    Commands,
    add_commands,
    config_flag,
    configuration_flags,
    json_flag,
    seed_number,
    whole_number,
)

DEFAULT_SEEDS = 20
"""Seeds of each template that `tasks check` attempts by default."""


def tasks_flags(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `tasks`."""
    add_commands(parser, TASKS, dest="tasks_command", package="flows.cli.tasks")


def _list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("globs", metavar="GLOB", nargs="*", help="only templates that match any")
    parser.add_argument(
        "--tag", action="append", default=[], help="only with this tag, as typing; may be repeated"
    )
    parser.add_argument(
        "--split", choices=("train", "validation", "test"), help="only those of this split"
    )
    parser.add_argument("--source", help="a task file instead: its tasks, read and checked")
    config_flag(
        parser, "a run's TOML file: its sites are known, and without --source its tasks are listed"
    )
    json_flag(parser)


def _validate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        help="JSON Lines, a JSON array or Parquet; docs/tasks.md explains each",
    )
    config_flag(parser, "a run's TOML file: tasks may be of its sites")
    json_flag(parser)


def _show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "template",
        metavar="TEMPLATE",
        help="as click-test; with --config also a template or an id of its task files",
    )
    parser.add_argument(
        "--seed", type=seed_number, metavar="N", help="which task of it (0; of a file the first)"
    )
    parser.add_argument("--to", metavar="FILE", help="save its picture: .jpg as seen, or .png")
    configuration_flags(parser)
    json_flag(parser)


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--policy", metavar="NAME", help="the policy that acts (teacher)")
    parser.add_argument(
        "--seeds", type=whole_number, metavar="N", help=f"seeds of each template ({DEFAULT_SEEDS})"
    )
    parser.add_argument("--first-seed", type=seed_number, metavar="N", help="the first of them (0)")
    parser.add_argument(
        "--include", action="append", metavar="GLOB", help="only templates that match any"
    )
    parser.add_argument(
        "--exclude", action="append", metavar="GLOB", help="no templates that match any"
    )
    parser.add_argument("--sessions", type=whole_number, metavar="N", help="at once")
    parser.add_argument(
        "--sheet",
        metavar="FILE",
        help="save the first and final picture of each template on one: .png or .jpg",
    )
    configuration_flags(parser)
    json_flag(parser)


def _rephrase(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", metavar="FILE|RUN", help="a task file of worlds, or a run: its thoughts"
    )
    parser.add_argument(
        "--engine",
        metavar="URL",
        required=True,
        help="an endpoint, as http://127.0.0.1:8000/v1, or a TOML file with an [engine]",
    )
    parser.add_argument(
        "--model", metavar="NAME", help="the model to ask at a URL; the only one served by default"
    )
    parser.add_argument("--to", metavar="FILE", required=True, help="where the result is written")
    json_flag(parser)


def _record(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "recording",
        metavar="RECORDING",
        help="what `playwright codegen --target=jsonl` or Chrome's Recorder (as JSON) wrote",
    )
    parser.add_argument(
        "--task", metavar="FILE", required=True, help="a task file with the one task that it does"
    )
    parser.add_argument(
        "--answer", metavar="TEXT", help="the answer that it ends with, where the task asks for one"
    )
    parser.add_argument(
        "--to", metavar="FILE", required=True, help="where the task is written, with its reference"
    )
    configuration_flags(parser)
    json_flag(parser)


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run: a folder, file://… or s3://…")
    parser.add_argument(
        "globs", metavar="GLOB", nargs="*", default=["*"], help="only of templates that match any"
    )
    parser.add_argument(
        "--split", choices=("train", "validation", "test"), help="only those of this split"
    )
    parser.add_argument(
        "--to", metavar="FOLDER", required=True, help="a folder that is new, empty or has the same"
    )
    configuration_flags(parser)
    json_flag(parser)


TASKS: Commands = {
    "list": (
        _list,
        "list templates with their requirements and an example goal, or a task file's tasks",
        "stepmill tasks list 'click-*' --tag searching",
    ),
    "validate": (
        _validate,
        "name every defect of a task file with its line, and count its tasks",
        "stepmill tasks validate tasks.jsonl",
    ),
    "rephrase": (
        _rephrase,
        "let a model write other goals, and keep those that mean the same and give nothing away",
        "stepmill tasks rephrase tasks.jsonl --engine http://127.0.0.1:8000/v1 --to rephrased.jsonl",
    ),
    "record": (
        _record,
        "make a recording of a browser the reference of a task, if a browser can do the task by it",
        "stepmill tasks record recording.json --task task.jsonl --config run.toml --to recorded.jsonl",
    ),
    "export": (
        _export,
        "write the tasks that a run's accepted episodes did as Harbor's task directories",
        "stepmill tasks export runs/demo 'click-*' --to harbor-tasks",
    ),
    "show": (
        _show,
        "open one task's real page and show its goal, address, elements and picture",
        "stepmill tasks show book-flight --seed 3 --to flight.png",
    ),
    "check": (
        _check,
        "attempt templates with many seeds and replay what succeeded; by template, worst first",
        "stepmill tasks check --policy teacher --seeds 20 --include 'click-*'",
    ),
}
"""The subcommands of `tasks`."""
