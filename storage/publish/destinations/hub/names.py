"""Names on the Hub: a destination's URL, and the tags of published versions.

A URL is `hf://datasets/ORG/NAME`, with `@BRANCH` for a branch other than the main one. Names are
checked by the Hub's rules, so that an invalid one is refused before any work.
"""

import re
from collections.abc import Iterable

from schemas.errors import BadConfig

MAIN = "main"
"""The default branch."""

_URL = re.compile(r"(?i:hf)://datasets/(?P<name>[^/@]+/[^/@]+?)/?(?:@(?P<branch>[^@\s]+))?")
_BRANCH = re.compile(r"(?!refs/)[A-Za-z0-9][A-Za-z0-9._/-]*")
_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?")
_NAME_CHARS = 96


def tag_names(branch: str, version: int, tag_count: int) -> Iterable[str]:
    """Return the tags a version may get, in order; one that is published again gets the next."""
    first = f"v{version}" if branch == MAIN else f"{branch}-v{version}"
    return [first, *(f"{first}.{number}" for number in range(1, tag_count + 1))]


def parse_url(url: str) -> tuple[str, str]:
    """Return the repository's name and the branch.

    Raises:
        BadConfig: the URL names no repository, or an invalid one.
    """
    match = _URL.fullmatch(url)
    if match is None:
        raise BadConfig(f"{url}: write hf://datasets/ORG/NAME or hf://datasets/ORG/NAME@BRANCH")
    branch = match["branch"] or MAIN
    if not _BRANCH.fullmatch(branch) or ".." in branch or branch.endswith(("/", ".lock")):
        raise BadConfig(f"{url}: '{branch}' is not a valid name of a branch")
    if not all(_is_name(part) for part in match["name"].split("/")):
        raise BadConfig(
            f"{url}: the Hub does not allow the name {match['name']}: letters, digits, '-', '_' and "
            f"'.', at most {_NAME_CHARS}, neither '--' nor '..', no '-' or '.' at an end, no '.git'"
        )
    return match["name"], branch


def _is_name(part: str) -> bool:
    plain = _NAME.fullmatch(part) is not None and len(part) <= _NAME_CHARS
    return plain and "--" not in part and ".." not in part and not part.endswith(".git")
