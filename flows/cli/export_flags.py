"""The flags of `stepmill export`, and the help of each format.

`--format NAME --help` explains the one format; without a name, all are listed. It loads nothing
heavy: help needs it.
"""

import argparse
import difflib
from collections.abc import Sequence

from flows.cli.flags import configuration_flags, json_flag
from storage.export.registry import PAGES, SUMMARIES, FormatName, Pictures, Shape


class _FormatAction(argparse.Action):
    """Takes the name down, and makes the format's page what `--help` shows from there on."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Take the name down."""
        del option_string
        names = [name.value for name in FormatName]
        if values not in names:
            near = difflib.get_close_matches(str(values), names, n=1, cutoff=0.4)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            parser.error(f"there is no format '{values}'{hint}; there are {', '.join(names)}")
        setattr(namespace, self.dest, values)
        name = FormatName(str(values))
        parser.description = PAGES[name]
        parser.epilog = f"Example: stepmill export runs/demo --format {name} --to demo-{name}"


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags, and the list of formats to the help."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    listed = "\n".join(f"  {name:<10} {does}" for name, does in SUMMARIES.items())
    about = "`--format NAME --help` says what each holds"
    parser.description = f"{parser.description}\n\nformats ({about}):\n{listed}"
    parser.add_argument("run", metavar="RUN", help="the run: a folder, file://… or s3://…")
    parser.add_argument(
        "--format",
        metavar="NAME",
        required=True,
        action=_FormatAction,
        help=", ".join(FormatName),
    )
    parser.add_argument("--to", metavar="DIR", required=True, help="an empty folder, or a new one")
    parser.add_argument("--dialect", metavar="NAME", help="chat: whose words; the run's own")
    parser.add_argument(
        "--shape", choices=[shape.value for shape in Shape], help="chat: how parts are written"
    )
    parser.add_argument(
        "--pictures",
        choices=[place.value for place in Pictures],
        help="chat, verifiers: files beside the lines, or data URLs in them",
    )
    parser.add_argument(
        "--version", type=int, metavar="N", help="the run's version; the last one by default"
    )
    parser.add_argument(
        "--include-rejected",
        action="store_true",
        help="write what is not accepted too; what the run itself publishes does not count here",
    )
    configuration_flags(parser)
    json_flag(parser)
