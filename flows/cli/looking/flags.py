"""The flags by which `show` looks at single attempts.

Help imports this module, so it loads nothing heavy.
"""

import argparse

from flows.cli.flags import whole_number

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
