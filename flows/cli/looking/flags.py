"""The flags by which `show` looks at single attempts, and those of `report`.

Help imports this module, so it loads nothing heavy.
"""

import argparse

from flows.cli.flags import configuration_flags, json_flag, whole_number

FILE_FLAGS = ("picture", "strip", "gif", "mp4", "html")
"""The flags that write an attempt into a file."""


def attempt_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `show` that are about attempts."""
    parser.add_argument(
        "--failed",
        type=whole_number,
        metavar="N",
        help="explain N attempts that were not accepted, of as many causes as there are",
    )
    parser.add_argument(
        "--template", metavar="T", help="of this template alone, as click-test or shop/find"
    )
    about = {
        "picture": "the last picture, beside that of the first mistake, as a PNG",
        "strip": "all steps side by side, with what each did drawn on them, as a PNG",
        "gif": "the same as a film that repeats",
        "mp4": "the same as a film (needs stepmill[video])",
        "html": "the explanation and all steps as one page that needs nothing else",
    }
    for name in FILE_FLAGS:
        parser.add_argument(
            f"--{name}", metavar="FILE", help=f"write an episode into a file: {about[name]}"
        )


def report_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `report`."""
    parser.add_argument("run", metavar="RUN", help="the run: a folder, file://… or s3://…")
    parser.add_argument(
        "--to", metavar="FILE", required=True, help="the page: FILE.html, written over"
    )
    parser.add_argument(
        "--against", metavar="RUN0", help="an earlier run that this one is compared with"
    )
    configuration_flags(parser)
    json_flag(parser)
    parser.set_defaults(module="flows.cli.looking.report")
