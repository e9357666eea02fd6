"""Removes credentials from text that is about to be stored or shown.

Users put credentials where they do not belong: into the URL of an engine or a bucket, or into a flag of
a server. Every stored or shown part of a configuration passes through this module. Credentials are
recognised by their shape: the user part of a URL, a signature or token among its parameters, and the
value of a flag whose name has key, token, secret or password in it. A few harmless words may be removed
too.

Pages and models write some of these texts, so each is read once from its beginning to its end: no text
takes longer than its length.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

MASK = "***"
"""The text that replaces a credential."""

_FLAG = r"--?(?:[\w-]*[-_])?(?:key|token|secret|password)"
_FLAG_VALUE = re.compile(rf"(?i)((?<![\w-]){_FLAG}(?:=|[\"']\s*,\s*[\"']))[^\s\"',\]]+")
_ADDRESS = re.compile(r"(?<=://)[^\s\"',]++")
_USER_END = re.compile("[/@:]")
_PARAMETER = re.compile(r"[?&]([^=&\s]*+)")
_SECRET_PARAMETER = re.compile("(?i)token|key|secret|password|signature")
_VALUE = re.compile(r"=[^&\s\"',]+")
_SECRET_FLAG = re.compile(rf"(?i){_FLAG}")
_SECRET_NAME = re.compile(r"(?i)key|token|secret|password|credential")
_MIN_CHARACTERS = 8


def redact(text: str) -> str:
    """Return `text` with everything masked that looks like a credential."""
    text = _ADDRESS.sub(lambda address: _mask_users(address[0]), text)
    return _FLAG_VALUE.sub(rf"\g<1>{MASK}", _mask_parameters(text))


def _mask_users(address: str) -> str:
    """Return the text behind `://` with its user masked, and the users of addresses in it."""
    kept, at, last = list[str](), 0, address.rfind("@")
    while at <= last:
        slash = address.find("/", at)
        end = address.rfind("@", at, len(address) if slash < 0 else slash)
        mark = _USER_END.search(address, at)
        if mark is not None and mark[0] == ":":
            end = last  # a password may contain a slash, and everything up to the last @
        if end >= 0:
            kept.append(f"{MASK}@")
            at = end + 1
        inner = address.find("://", at)
        if inner < 0:
            break
        kept.append(address[at : inner + 3])
        at = inner + 3
    return "".join([*kept, address[at:]])


def _mask_parameters(text: str) -> str:
    kept, at, done = list[str](), 0, 0
    while (found := _PARAMETER.search(text, at)) is not None:
        at = found.end()
        value = _VALUE.match(text, at)
        if value is not None and _SECRET_PARAMETER.search(found[1]):
            kept += [text[done:at], f"={MASK}"]
            at = done = value.end()
    return "".join([*kept, text[done:]])


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
