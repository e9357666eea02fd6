"""The checks of a Hub destination before any work: the names in its URL, and the token's permissions.

A URL is `hf://datasets/ORG/NAME`, with `@BRANCH` for a branch other than the main one, or
`hf://buckets/OWNER/NAME`, with a prefix where the dataset is not at the top. Names are checked by the Hub's rules. The Hub states the permissions of the token, so a night of rollouts does not end at a
token that can only read. A permission that the Hub does not state counts as granted; the commit decides
in the end.
"""

import re
from collections.abc import Iterator, Mapping

from schemas.errors import BadConfig

MAIN = "main"
"""The default branch."""

_URL = re.compile(r"(?i:hf)://datasets/(?P<name>[^/@]+/[^/@]+?)/?(?:@(?P<branch>[^@\s]+))?")
_BUCKET_URL = re.compile(r"(?i:hf)://buckets/(?P<name>[^/@]+/[^/@]+?)/?(?:/(?P<prefix>[^/].*?)/?)?")
_FOLDER = re.compile(r"[A-Za-z0-9_=][A-Za-z0-9._=-]*")
_BRANCH = re.compile(r"(?!refs/)[A-Za-z0-9][A-Za-z0-9._/-]*")
_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_])?")
_NAME_CHARS = 96
_WRITE = "repo.write"


def parse_url(url: str) -> tuple[str, str]:
    """Return the repository's name and the branch.

    Raises:
        BadConfig: the URL names no repository, or an invalid one.
    """
    match = _URL.fullmatch(url)
    if match is None:
        raise BadConfig(
            f"{url}: write hf://datasets/ORG/NAME or hf://datasets/ORG/NAME@BRANCH, or for a bucket "
            "hf://buckets/OWNER/NAME or hf://buckets/OWNER/NAME/PREFIX"
        )
    branch = match["branch"] or MAIN
    if not _BRANCH.fullmatch(branch) or ".." in branch or branch.endswith(("/", ".lock")):
        raise BadConfig(f"{url}: '{branch}' is not a valid name of a branch")
    _refuse_name(url, match["name"])
    return match["name"], branch


def parse_bucket_url(url: str) -> tuple[str, str]:
    """Return the bucket's name and the prefix, which is empty at the top.

    Raises:
        BadConfig: the URL names no bucket, or an invalid one.
    """
    match = _BUCKET_URL.fullmatch(url)
    if match is None:
        raise BadConfig(f"{url}: write hf://buckets/OWNER/NAME or hf://buckets/OWNER/NAME/PREFIX")
    _refuse_name(url, match["name"])
    prefix = match["prefix"] or ""
    if prefix and not all(_FOLDER.fullmatch(part) for part in prefix.split("/")):
        raise BadConfig(
            f"{url}: '{prefix}' is not a valid prefix: folders of letters, digits, '-', '_', '=' and '.', "
            "none of which begins with '-' or '.'"
        )
    return match["name"], prefix


def is_bucket_url(url: str) -> bool:
    """Return whether a URL is of a bucket on the Hub."""
    return url.lower().startswith("hf://buckets/")


def _refuse_name(url: str, name: str) -> None:
    """Refuse a name that the Hub does not allow."""
    if not all(_is_name(part) for part in name.split("/")):
        raise BadConfig(
            f"{url}: the Hub does not allow the name {name}: letters, digits, '-', '_' and "
            f"'.', at most {_NAME_CHARS}, neither '--' nor '..', no '-' or '.' at an end, no '.git'"
        )


def _is_name(part: str) -> bool:
    plain = _NAME.fullmatch(part) is not None and len(part) <= _NAME_CHARS
    return plain and "--" not in part and ".." not in part and not part.endswith(".git")


def refuse_read_only(
    who: Mapping[str, object], repository: str, address: str, *, kind: str = "datasets"
) -> None:
    """Refuse a token that cannot write to `repository`, which is of a `kind`: `datasets` or `buckets`.

    Raises:
        BadConfig: the token cannot write; the error says which token can.
    """
    owner = repository.partition("/")[0]
    name = who.get("name")
    accounts = {name, *(org.get("name") for org in _tables(who.get("orgs")))}
    if who.get("type") == "user" and owner not in accounts:
        raise BadConfig(
            f"{address}: the token is {name}'s, who does not belong to {owner}; "
            "give a token of somebody who does, or another name"
        )
    token = _table(_table(who.get("auth")).get("accessToken"))
    if token.get("role") == "read":
        raise BadConfig(
            f"{address}: the token can only read; set HF_TOKEN to one with write access"
        )
    grants = token.get("fineGrained")
    if token.get("role") == "fineGrained" and not _grants(_table(grants), owner, repository, kind):
        raise BadConfig(
            f"{address}: the token may not write there; grant it write access to the contents of "
            f"{owner}'s repositories, or of {repository}"
        )


def _grants(grants: Mapping[str, object], owner: str, repository: str, kind: str) -> bool:
    """Return whether a fine-grained token may write to the owner's repositories, or to this one."""
    scoped = grants.get("scoped")
    if not isinstance(scoped, list):
        return True
    entities = [
        _table(scope.get("entity"))
        for scope in _tables(scoped)
        if _WRITE in str(scope.get("permissions"))
    ]
    named = {str(entity.get("name")) for entity in entities}
    return bool(named & {owner, repository, f"{kind}/{repository}"})


def _tables(value: object) -> Iterator[Mapping[str, object]]:
    for item in value if isinstance(value, list) else ():
        yield _table(item)


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
