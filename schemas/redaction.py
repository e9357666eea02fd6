"""Credentials taken out of what is about to be written or shown.

Users put them where they do not belong: into the URL of an engine or a bucket, into a flag of a
server. What is stored or shown of a configuration passes through here. Credentials are known by
their shape: the user part of a URL, a signed or token parameter of one, and what
follows a flag that speaks of a key, token, secret or password. A few harmless words may go too.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

MASK = "***"
"""What stands where a credential was."""

_FLAG = r"--?(?:[\w-]*[-_])?(?:key|token|secret|password)"
_SHAPES = (
    # A password may hold a slash, and then everything up to the last @ is of it.
    (re.compile(r"(?<=://)(?:[^/@\s\"',]*:[^\s\"',]*|[^/\s\"',]*)@"), f"{MASK}@"),
    (
        re.compile(
            r"(?i)([?&][^=&\s]*(?:token|key|secret|password|signature)[^=&\s]*=)[^&\s\"',]+"
        ),
        rf"\g<1>{MASK}",
    ),
    (
        re.compile(rf"(?i)((?<![\w-]){_FLAG}(?:=|[\"']\s*,\s*[\"']))[^\s\"',\]]+"),
        rf"\g<1>{MASK}",
    ),
)
_SECRET_FLAG = re.compile(rf"(?i){_FLAG}")
_SECRET_NAME = re.compile(r"(?i)key|token|secret|password|credential")
_MIN_CHARACTERS = 8


def redact(text: str) -> str:
    """Return `text` with everything blotted out that looks like a credential."""
    for shape, blot in _SHAPES:
        text = shape.sub(blot, text)
    return text


def is_secret_flag(flag: str) -> bool:
    """Say whether what follows a flag of this name, or `=` in it, is taken for a credential."""
    return _SECRET_FLAG.fullmatch(flag.partition("=")[0]) is not None


def redact_variables(text: str, environ: Mapping[str, str]) -> str:
    """Return `text` without the value of any variable whose name speaks of a credential.

    Shapes cannot tell what a client's own message quotes. A value of fewer than eight characters
    stays: it is more likely a word than a secret.
    """
    for name, value in environ.items():
        if len(value) >= _MIN_CHARACTERS and _SECRET_NAME.search(name):
            text = text.replace(value, MASK)
    return text


def redact_values(value: "JsonValue") -> "JsonValue":
    """Return `value` with everything blotted out in it that may be a credential."""
    if isinstance(value, dict):
        return {key: redact_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return _without_secret_flags([redact_values(item) for item in value])
    return redact(value) if isinstance(value, str) else value


def _without_secret_flags(items: "list[JsonValue]") -> "list[JsonValue]":
    out: list[JsonValue] = []
    for item in items:
        before = out[-1] if out else None
        bare = isinstance(item, str) and not item.startswith("-")
        secret = bare and isinstance(before, str) and is_secret_flag(before)
        out.append(MASK if secret else item)
    return out
