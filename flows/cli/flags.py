"""The flags that several commands share, and those of `export`, `sites` and `engine`.

Help needs them, so nothing heavy is loaded here. `stepmill export --format NAME --help` explains one
format; without a name, all are listed.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from registries.entry_points import Group, find_plugins
from schemas.nearest import did_you_mean
from storage.export.registry import (
    PAGES,
    SUMMARIES,
    FormatName,
    MessageShape,
    Pictures,
    Spelling,
    StepChoice,
)
from storage.publish.training.options import SystemPrompt

Adder = Callable[[argparse.ArgumentParser], None]
"""Adds the flags of a command to its parser."""

Commands = Mapping[str, tuple[Adder, str, str]]
"""Commands by name, each with the function that adds its flags, a summary and an example."""


def add_commands(
    parser: argparse.ArgumentParser, commands: Commands, *, dest: str, package: str
) -> None:
    """Add `commands` to `parser`; the module of its name in `package` runs each.

    That module is loaded only for its own command; its name becomes `module`.
    """
    choices = parser.add_subparsers(dest=dest, metavar="COMMAND", required=True)
    for name, (add, does, example) in commands.items():
        command = choices.add_parser(
            name,
            help=does,
            description=does[0].upper() + does[1:] + ".",
            epilog=f"Example: {example}",
            allow_abbrev=False,
        )
        command.set_defaults(parser=command, module=f"{package}.{name}")
        add(command)


def json_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object as the last line of standard output, and nothing else there",
    )


def prefect_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--no-prefect`."""
    parser.add_argument(
        "--no-prefect", action="store_true", help="do not show the run to any Prefect server"
    )


def configuration_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--config` and `--set`."""
    config_flag(
        parser,
        "a TOML file, or the name of one that ships, as demo; paths in it are relative to here",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="set a key, as browser.sessions=4; VALUE is read as TOML, else taken as text",
    )


def where_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--where`."""
    parser.add_argument(
        "--where",
        metavar="SQL",
        help='only the episodes that meet an expression, as "n_steps <= 10"; over select.where',
    )


def where_settings(words: str | None) -> list[str]:
    """Return the setting that `--where` stands for; none without the flag."""
    return [] if words is None else [f"select.where={json.dumps(words, ensure_ascii=False)}"]


def doctor_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `doctor`."""
    configuration_flags(parser)
    json_flag(parser)


def config_flag(parser: argparse.ArgumentParser, about: str) -> None:
    """Add `--config`."""
    parser.add_argument("--config", metavar="FILE", help=about)


def _whole_number(
    text: str, *, minimum: int, maximum: int = 2**63 - 1, what: str = "a whole number"
) -> int:
    if not text.isascii() or not text.isdigit() or not minimum <= int(text[:20]) <= maximum:
        raise argparse.ArgumentTypeError(
            f"expected {what} from {minimum} to {maximum}, got '{text}'"
        )
    return int(text)


whole_number = partial(_whole_number, minimum=1)
"""Reads a count, from 1."""

seed_number = partial(_whole_number, minimum=0)
"""Reads a seed, from 0."""

_PORT = partial(_whole_number, minimum=1, maximum=65_535, what="a port, a whole number")


class _FormatAction(argparse.Action):
    """Stores the format's name, and makes `--help` show the format's page."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """Store the name, or refuse it and suggest the nearest one."""
        del option_string
        name = str(values)
        setattr(namespace, self.dest, name)
        parser.epilog = f"Example: stepmill export runs/demo --format {name} --to demo-{name}"
        if name in set(FormatName):
            parser.description = PAGES[FormatName(name)]
            return
        plugins = {plugin.name: plugin for plugin in find_plugins(Group.FORMATS)}
        if name not in plugins:
            names = [*(name.value for name in FormatName), *plugins]
            hint = did_you_mean(name, names, count=1, cutoff=0.4)
            parser.error(f"there is no format '{name}'{hint}; there are {', '.join(names)}")
        parser.description = f"{name}: from the plug-in {plugins[name].origin}"


def export_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `export`, and the list of formats to its help."""
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
    parser.add_argument(
        "--dialect",
        metavar="NAME",
        help="chat and training rows: the dialect; by default that of the run's policy",
    )
    parser.add_argument(
        "--shape",
        choices=[shape.value for shape in MessageShape],
        help="chat: how parts are written",
    )
    parser.add_argument(
        "--pictures",
        choices=[place.value for place in Pictures],
        help="chat, verifiers: files beside the lines, or data URLs in them",
    )
    parser.add_argument(
        "--steps",
        choices=[choice.value for choice in StepChoice],
        help="chat, sft: good learns only steps that were of use, by their label",
    )
    parser.add_argument(
        "--system",
        choices=[place.value for place in SystemPrompt],
        help="training rows: the system prompt in each row, or left to the trainer",
    )
    parser.add_argument(
        "--spelling",
        choices=[spelling.value for spelling in Spelling],
        help="sft: how rows hold their pictures",
    )
    parser.add_argument(
        "--version", type=int, metavar="N", help="the run's version; the last one by default"
    )
    parser.add_argument(
        "--include-rejected",
        action="store_true",
        help="export episodes that are not accepted too; the run's own setting does not count here",
    )
    parser.add_argument(
        "--thoughts", metavar="FILE", help="thoughts of `stepmill tasks rephrase RUN` to put in"
    )
    where_flag(parser)
    configuration_flags(parser)
    json_flag(parser)


def sites_flags(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `sites`."""
    add_commands(parser, SITES, dest="sites_command", package="flows.cli.sites")


def _site_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("site", metavar="NAME", help="the site's name in [sites]")
    configuration_flags(parser)
    json_flag(parser)


def _site_new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", help="a name for it, which becomes http://NAME.localhost"
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--url", metavar="URL", help="the address of a server that runs already")
    which.add_argument(
        "--command",
        metavar="WORDS",
        help="starts a server, with {port} and, for its data, {folder}",
    )
    parser.add_argument(
        "--start", metavar="PATH", default="/", help="the page to look at; default: /"
    )
    json_flag(parser)


def _site_install(parser: argparse.ArgumentParser) -> None:
    names = [*(plugin.name for plugin in find_plugins(Group.APPLICATIONS)), "worlds"]
    parser.add_argument("name", metavar="NAME", help=", ".join(names).replace("%", "%%"))
    json_flag(parser)


SITES: Commands = {
    "install": (
        _site_install,
        "bring an application that a package offers onto this machine, or the packages of worlds' pages",
        "stepmill sites install worlds",
    ),
    "new": (
        _site_new,
        "look at an application and write a first file of it: its login form, its state, what differs",
        "stepmill sites new shop --command 'python shop.py --port {port} --data {folder}'",
    ),
    "check": (
        _site_check,
        "open an application's tasks twice, carry their references out, and say what to mend or mask",
        "stepmill sites check shop --config run.toml",
    ),
}
"""The subcommands of `sites`."""


def engine_flags(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `engine`."""
    add_commands(parser, ENGINE, dest="engine_command", package="flows.cli.engine")


def _serve(parser: argparse.ArgumentParser) -> None:
    configuration_flags(parser)
    parser.add_argument(
        "--port", type=_PORT, metavar="N", help="where it listens; a free one by default"
    )
    json_flag(parser)


def _engine_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="the endpoint, as http://127.0.0.1:8000/v1")
    _dialect(parser)
    parser.add_argument(
        "--model", metavar="NAME", help="the model to ask; the only one served by default"
    )
    json_flag(parser)


def _plan(parser: argparse.ArgumentParser) -> None:
    _dialect(parser)
    configuration_flags(parser)
    json_flag(parser)


def _rehearse(parser: argparse.ArgumentParser) -> None:
    configuration_flags(parser)
    json_flag(parser)


def _dialect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dialect", metavar="NAME", help="the dialect of the model; holotron by default"
    )


ENGINE: Commands = {
    "serve": (
        _serve,
        "run vLLM as a configuration says, start it again when it dies, until interrupted",
        "stepmill engine serve --config configs/laptop-vllm.toml --port 8000",
    ),
    "check": (
        _engine_check,
        "ask an endpoint everything that a run in a dialect needs, a line each with its remedy",
        "stepmill engine check http://127.0.0.1:8000/v1 --dialect holotron",
    ),
    "plan": (
        _plan,
        "show sizes of pictures, and a run's own, by tokens, by legibility and by speed",
        "stepmill engine plan --dialect holotron --set browser.picture_side=[700,896]",
    ),
    "rehearse": (
        _rehearse,
        "walk the whole path of a configuration's engine once, and say what a thousand trajectories take",
        "stepmill engine rehearse --config configs/holotron-h100.toml",
    ),
}
"""The subcommands of `engine`."""
