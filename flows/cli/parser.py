"""The commands and their flags. Help needs nothing else, so the module loads nothing heavy.

A command or flag that does not exist is refused with the nearest one that does.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from flows.cli.dataset_flags import (
    diff_flags,
    publish_flags,
    review_flags,
    view_flags,
    withdraw_flags,
)
from flows.cli.flags import (
    Adder,
    add_commands,
    configuration_flags,
    doctor_flags,
    engine_flags,
    export_flags,
    json_flag,
    prefect_flag,
    sites_flags,
    whole_number,
)
from flows.cli.looking.flags import attempt_flags, report_flags
from flows.cli.tasks.flags import tasks_flags
from flows.cli.worlds.flags import worlds_flags
from flows.terminal import ExitCode, print_error, print_lines
from flows.version import DISTRIBUTION, version_of
from schemas.errors import BadConfig
from schemas.nearest import did_you_mean
from storage.export.registry import RENDERED

Arguments = argparse.Namespace
"""The parsed command line; `module` is the module that runs the command."""


class _Parser(argparse.ArgumentParser):
    """Refuses wrong arguments in one line that points to the help."""

    def error(self, message: str) -> NoReturn:
        """Refuse, with exit code 2."""
        print_error(f"{message} (see '{self.prog} --help')")
        sys.exit(ExitCode.REFUSED)

    def print_help(self, file: object = None) -> None:
        """Print help as results are printed."""
        del file
        print_lines(self.format_help().splitlines())


class _Version(argparse.Action):
    """Prints the version and ends the program."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> NoReturn:
        """Print it."""
        del namespace, values, option_string
        print_lines([f"{DISTRIBUTION} {version_of()}"])
        parser.exit()


def parse(argv: Sequence[str]) -> Arguments:
    """Return the parsed `argv`; help, and an unknown command or flag, ends the program."""
    parser = build_parser()
    for word in argv:
        _refuse_bytes(word)
    commands = [action for action in parser._actions if action.dest == "command"]  # noqa: SLF001
    names = list(commands[0].choices or ())
    if argv and not argv[0].startswith("-") and argv[0] not in names:
        parser.error(
            f"there is no command '{argv[0]}'{did_you_mean(argv[0], names, count=1, cutoff=0.5)}"
        )
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        command: argparse.ArgumentParser = getattr(args, "parser", parser)  # the innermost
        flags = [flag for action in command._actions for flag in action.option_strings]  # noqa: SLF001
        what = unknown[0].partition("=")[0]
        kind = "flag" if what.startswith("-") else "argument"
        command.error(
            f"'{command.prog}' has no {kind} '{what}'{did_you_mean(what, flags, count=1, cutoff=0.5)}"
        )
    return args


def _refuse_bytes(word: str) -> None:
    """Refuse an argument with bytes that are not text: no configuration or row can hold it.

    Raises:
        BadConfig: the argument has such bytes.
    """
    try:
        word.encode()
    except UnicodeEncodeError:
        escaped = word.encode("ascii", "backslashreplace").decode()
        coding = sys.getfilesystemencoding()
        raise BadConfig(
            f"the argument '{escaped}' is not text in this locale's encoding, {coding}"
        ) from None


def command_of(args: Arguments) -> str:
    """Return the command's words, as `tasks check`; with a format that a dialect writes, that too."""
    words: str = args.parser.prog.partition(" ")[2]
    name = getattr(args, "format", None)
    return f"{words} --format {name}" if name in RENDERED else words


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = _Parser(
        prog="stepmill",
        description="Turn web tasks into a dataset of verified, replayable trajectories.",
        epilog="Example: stepmill generate --config configs/demo.toml",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    add_commands(parser, COMMANDS, dest="command", package="flows.cli")
    return parser


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the run: a folder, file://… or s3://…")


def _generate(parser: argparse.ArgumentParser) -> None:
    configuration_flags(parser)
    parser.add_argument("--run", metavar="URL", help="the URL of the run; over run.url")
    parser.add_argument(
        "--dry-run",
        action="store_const",
        dest="module",
        const="flows.cli.dry_run",
        help="print the resolved configuration and the plan",
    )
    prefect_flag(parser)
    json_flag(parser)


def _init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        default="demo",
        help="the configuration, as `smoke` or `worlds`; demo by default",
    )
    parser.add_argument("--to", metavar="FILE", help="the file; NAME.toml here by default")
    json_flag(parser)


def _serve(parser: argparse.ArgumentParser) -> None:
    configuration_flags(parser)
    parser.add_argument("--run", metavar="URL", help="the URL of the run; over run.url")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be served, and open nothing"
    )
    json_flag(parser)


def _stream(parser: argparse.ArgumentParser) -> None:
    _run(parser)
    parser.add_argument(
        "--cursor",
        type=int,
        default=0,
        metavar="N",
        help="go on after the line with this cursor; 0, the default, begins with the first episode",
    )
    parser.add_argument(
        "--follow", action="store_true", help="wait for more at the end, until interrupted"
    )
    parser.add_argument(
        "--groups",
        action="store_true",
        help="a line for each group of attempts once it is complete, and at the end one for each that is not",
    )
    parser.add_argument(
        "--trace", action="store_true", help="with the exact tokens, as OpenEnv's TrainingTrace"
    )
    parser.add_argument(
        "--pictures", action="store_true", help="with the pictures that traces name, in base64"
    )
    parser.add_argument(
        "--max-staleness",
        type=whole_number,
        metavar="N",
        help="how many versions of the weights an episode may be behind the newest one; over seats.max_staleness",
    )
    configuration_flags(parser)


def _verify(parser: argparse.ArgumentParser) -> None:
    _run(parser)
    parser.add_argument(
        "--verifiers", metavar="A,B", help="the verifiers, in this order; over verify.verifiers"
    )
    configuration_flags(parser)
    prefect_flag(parser)
    json_flag(parser)


def _replay(parser: argparse.ArgumentParser) -> None:
    _run(parser)
    parser.add_argument(
        "episode",
        metavar="EPISODE_ID",
        help="the episode: `episode_id` in the rows of the run or dataset",
    )
    json_flag(parser)


def _audit(parser: argparse.ArgumentParser) -> None:
    _run(parser)
    parser.add_argument(
        "--deep",
        action="store_true",
        help="read every shard and check every row and picture, read every published file",
    )
    configuration_flags(parser)
    json_flag(parser)


def _compact(parser: argparse.ArgumentParser) -> None:
    _run(parser)
    configuration_flags(parser)
    json_flag(parser)


def _show(parser: argparse.ArgumentParser) -> None:
    _run(parser)
    parser.add_argument(
        "other",
        metavar="EPISODE|RUN2",
        nargs="?",
        help="an episode to explain: its id, or the beginning of it; or another run, to compare the two by template",
    )
    attempt_flags(parser)
    parser.add_argument(
        "--all",
        action="store_true",
        help="every template, by policy too, and how well each figure is known",
    )
    parser.add_argument(
        "--k",
        type=whole_number,
        metavar="N",
        help="attempts of pass@k; by default as many as the run made at a task",
    )
    parser.add_argument(
        "--version",
        type=int,
        metavar="N",
        help="the run's version; the run as it is now by default",
    )
    configuration_flags(parser)
    json_flag(parser)


COMMANDS: dict[str, tuple[Adder, str, str]] = {
    "init": (
        _init,
        "write a configuration that ships into a file, to begin with",
        "stepmill init demo",
    ),
    "generate": (
        _generate,
        "make a run and publish it, or go on where it was left",
        "stepmill generate --config configs/demo.toml --set browser.sessions=8",
    ),
    "serve": (
        _serve,
        "let trainers step into the tasks, and keep every episode",
        "stepmill serve --config configs/seats.toml",
    ),
    "stream": (
        _stream,
        "print the episodes of a run as they are committed, each as a line of JSON",
        "stepmill stream runs/demo --follow --groups",
    ),
    "verify": (
        _verify,
        "judge the stored episodes again, without any rollout",
        "stepmill verify runs/demo --verifiers structure,outcome",
    ),
    "replay": (
        _replay,
        "execute one episode again and show where it agrees and where it diverges",
        "stepmill replay runs/demo 3f2a9c0d5e6b7a8190c1d2e3f4a5b6c7",
    ),
    "publish": (
        publish_flags,
        "write a version of a run as a dataset",
        "stepmill publish runs/demo --to demo-dataset",
    ),
    "withdraw": (
        withdraw_flags,
        "take episodes out of a published dataset, a collection or a run",
        "stepmill withdraw demo-dataset 3f2a9c0d5e6b7a8190c1d2e3f4a5b6c7 --reason 'shows a name'",
    ),
    "review": (
        review_flags,
        "show what people say of a run's episodes, or take it from a file or to one",
        "stepmill review runs/demo --import reviews.jsonl",
    ),
    "export": (
        export_flags,
        "write a version of a run in another program's format",
        "stepmill export runs/demo --format chat --dialect holotron --to demo-chat",
    ),
    "audit": (
        _audit,
        "check that a run and its published copies are whole, and list the findings",
        "stepmill audit runs/demo --deep",
    ),
    "compact": (
        _compact,
        "merge a run's small shards, and remove what no kept version needs",
        "stepmill compact runs/demo --set storage.shard_mb=256",
    ),
    "show": (
        _show,
        "show what a run holds and lacks, explain single attempts of it, or compare two runs by template",
        "stepmill show runs/demo --failed 10",
    ),
    "view": (
        view_flags,
        "open a window on runs, datasets or collections: look at any attempt, and see why it failed",
        "stepmill view runs/demo",
    ),
    "report": (
        report_flags,
        "write a run's report as one page: yields, costs, and why attempts failed, with pictures",
        "stepmill report runs/demo --to report.html",
    ),
    "diff": (
        diff_flags,
        "compare two runs, datasets or versions of one: rows, episodes, verdicts and yields",
        "stepmill diff runs/demo@1 runs/demo@2",
    ),
    "tasks": (
        tasks_flags,
        "list the tasks there are, look at one, or check a policy on many",
        "stepmill tasks check --policy teacher --seeds 20",
    ),
    "sites": (
        sites_flags,
        "describe an application of one's own in a first file, install one, or try it on its tasks",
        "stepmill sites check shop --config run.toml",
    ),
    "worlds": (
        worlds_flags,
        "look at the websites that are drawn from seeds: listed, in words, in pictures, in a browser",
        "stepmill worlds show shop/7 --to page.png",
    ),
    "engine": (
        engine_flags,
        "run vLLM under supervision, ask whether an endpoint is fit, or plan a viewport",
        "stepmill engine serve --config configs/laptop-vllm.toml",
    ),
    "doctor": (
        doctor_flags,
        "show what this machine has and lacks, each line with its remedy",
        "stepmill doctor --config run.toml",
    ),
}
"""Every command with its flags, a summary and an example."""
