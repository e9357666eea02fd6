"""Files of reviews: JSON, one review a line, as `stepmill review --export` and the window write them.

A file comes from anywhere, so it is read line by line within bounds, and what is wrong is named by line and column.
Reviews are checked as rows of the table are; a file that was written by a later version is refused by the column that
this one does not know.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from schemas.base import canonical_json, first_mistake
from schemas.errors import BadReview
from schemas.verdicts.review import Review, identify

MAX_LINE = 200_000
"""The maximum of bytes in a line: more than the longest review takes, with every character escaped."""


def read_review_file(path: Path) -> list[Review]:
    """Return the reviews of a file, in its order.

    Raises:
        BadReview: it cannot be read, or a line is no review; the error names the line, and the column where the JSON
            breaks off.
    """
    return [_review(line, f"{path}: line {number}") for number, line in _lines(path)]


def review_lines(reviews: Iterable[Review]) -> Iterator[str]:
    """Yield the line of each review, with its id, without its end."""
    return (canonical_json(identify(one).model_dump(mode="json")) for one in reviews)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers from 1."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1):
                if len(line) > MAX_LINE:
                    raise BadReview(
                        f"{path}: line {number}: expected a review of at most {MAX_LINE} bytes, got more"
                    )
                if line.strip():
                    yield number, line
    except OSError as error:
        raise BadReview(f"{path}: cannot be read: {error.strerror}") from None


def _review(line: bytes, where: str) -> Review:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        raise BadReview(f"{where}, column {error.start + 1}: is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise BadReview(
            f"{where}, column {error.colno}: is not JSON, or torn: {error.msg}; "
            "expected one review a line, as `stepmill review --export` writes it"
        ) from None
    except (RecursionError, ValueError):
        raise BadReview(f"{where}, column 1: is no review") from None
    return review_of(row, where)


def review_of(row: object, where: str) -> Review:
    """Return the review that a JSON value holds; `where` names its place in an error.

    Raises:
        BadReview: it is none.
    """
    if not isinstance(row, dict):
        raise BadReview(f"{where}: expected a review, an object, got {type(row).__name__}")
    unknown = sorted(str(name) for name in row if name not in Review.model_fields)
    if unknown and {"episode_id", "reviewer", "decision"} <= row.keys():
        raise BadReview(
            f"{where}: has {unknown[0]!r}, which this version does not know; "
            "a later version of stepmill wrote it: import it with that one"
        )
    try:
        return Review.model_validate(row)
    except ValidationError as error:
        raise BadReview(f"{where}: {first_mistake(error)}") from None
