"""Removes credentials from text that is about to be stored or shown.

Users put credentials where they do not belong: into the URL of an engine or a bucket, or into a flag of
a server. Whatever is stored or shown of a configuration passes through here. Credentials are recognised
by their shape: the user part of a URL, a signature or token among its parameters, and the value of a
flag whose name has key, token, secret or password in it. A few harmless words may be removed too.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

MASK = "***"
"""The text that replaces a credential."""

_FLAG = r"--?(?:[\w-]*[-_])?(?:key|token|secret|password)"
_SHAPES = (
    # A password may contain a slash; then everything up to the last @ belongs to it.
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
    """Return `text` with everything masked that looks like a credential."""
    for shape, masked in _SHAPES:
        text = shape.sub(masked, text)
    return text


def is_secret_flag(flag: str) -> bool:
    """Return whether the value of a flag with this name counts as a credential."""
    return _SECRET_FLAG.fullmatch(flag.partition("=")[0]) is not None


def redact_variables(text: str, environ: Mapping[str, str]) -> str:
    """Return `text` with the values masked of all variables whose names suggest a credential.

    A client's own message may quote a credential without any of the known shapes. A value of fewer than
    eight characters stays: it is more likely a word than a secret.
    """
    for name, value in environ.items():
        if len(value) >= _MIN_CHARACTERS and _SECRET_NAME.search(name):
            text = text.replace(value, MASK)
    return text


def redact_values(value: "JsonValue") -> "JsonValue":
    """Return `value` with everything masked in it that may be a credential."""
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
