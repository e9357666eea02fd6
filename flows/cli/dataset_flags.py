"""The flags of the commands that write published datasets, or compare them.

Help needs them, so nothing heavy is loaded here.
"""

import argparse

from flows.cli.flags import configuration_flags, json_flag, prefect_flag, where_flag


def publish_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `publish`."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="the run: a folder, file://… or s3://…; several make a collection",
    )
    parser.add_argument(
        "--to",
        metavar="DEST",
        required=True,
        help="a folder, s3://BUCKET/PREFIX, hf://datasets/ORG/NAME[@BRANCH] or hf://buckets/OWNER/NAME[/PREFIX]",
    )
    parser.add_argument(
        "--append",
        action="store_true",
        help="add the run to the collection there, a dataset over many runs (publish.append)",
    )
    parser.add_argument(
        "--version", type=int, metavar="N", help="the run's version; the last one by default"
    )
    where_flag(parser)
    configuration_flags(parser)
    prefect_flag(parser)
    json_flag(parser)


def withdraw_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `withdraw`."""
    parser.add_argument(
        "place",
        metavar="PLACE",
        help="a published dataset or a collection: a folder, s3://… or hf://…; or a run",
    )
    parser.add_argument("episodes", metavar="EPISODE", nargs="+", help="the ids of the episodes")
    parser.add_argument(
        "--reason", required=True, metavar="TEXT", help="why; it stays beside the ids"
    )
    configuration_flags(parser)
    json_flag(parser)


def review_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `review`."""
    parser.add_argument("run", metavar="RUN", help="the run: a folder, file://… or s3://…")
    files = parser.add_mutually_exclusive_group()
    files.add_argument(
        "--import", dest="source", metavar="FILE", help="add the reviews of a file to the run"
    )
    files.add_argument(
        "--export", dest="to", metavar="FILE", help="write the reviews of the run to a file"
    )
    parser.add_argument(
        "--format",
        choices=("jsonl", "label-studio"),
        default="jsonl",
        help="of the file: a review a line, or Label Studio's tasks, with its labelling configuration beside them",
    )
    configuration_flags(parser)
    json_flag(parser)


def diff_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `diff`."""
    where = (
        "a run or a dataset: a folder, s3://…, hf://datasets/ORG/NAME or hf://buckets/OWNER/NAME; "
        "@N at its end: version N"
    )
    parser.add_argument("first", metavar="A", help=where)
    parser.add_argument("second", metavar="B", help="what it is compared with, given alike")
    parser.add_argument(
        "--all", action="store_true", help="every template, every changed result and column"
    )
    configuration_flags(parser)
    json_flag(parser)


def view_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `view`."""
    parser.add_argument(
        "places",
        metavar="PLACE",
        nargs="+",
        help="a run, a dataset or a collection: a folder, s3://…, hf://datasets/ORG/NAME or hf://buckets/OWNER/NAME",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="of this machine's loopback (default: 127.0.0.1)",
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="the port (default: a free one)"
    )
    parser.add_argument(
        "--reviewer", metavar="NAME", help="who gives the reviews (default: this user)"
    )
    parser.add_argument(
        "--forget",
        action="store_true",
        help="remove what was kept of these places in the cache, and show nothing",
    )
    json_flag(parser)
