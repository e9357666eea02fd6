"""Flags that several commands share, each said in one way. It loads nothing heavy: help needs it."""

import argparse


def json_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument(
        "--json",
        action="store_true",
        help="print one JSON object as the last line of standard output, and nothing else there",
    )


def configuration_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--config` and `--set`."""
    parser.add_argument(
        "--config", metavar="FILE", help="a TOML file; paths in it are relative to here"
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="set a key, as browser.sessions=4; VALUE is read as TOML, else taken as text",
    )
