"""Inputs of any shape, size and encoding, for hypothesis."""

import json
from collections.abc import Mapping

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from support.inputs.strategies import ODD_TEXT, json_values

from schemas.configuration.config import config_keys

_MEANT = (
    *("\n", "\r", "\t", "\0", "\x1b[31m", "\x1b]0;x\x07", "\x7f", "\x9b", "\u202e", "\u2028"),
    *("[", "]", "{", "}", "(", "*", "?", "'", '"', "\\", "/", "../", "~", ":", "://", "@", "%00"),
    *(
        "=",
        ".",
        "-",
        "--",
        "#",
        "$HOME",
        "${x}",
        "{{x}}",
        "%s",
        "<b>",
        "|",
        "`",
        "&",
        ";",
        "9",
        "e9",
    ),
    *(
        "stepmill: ",
        "nan",
        "inf",
        "null",
        "true",
        "0x",
        "miniwob",
        "click-test",
        "site",
        "run.json",
    ),
)
"""What means something to a shell, a terminal, a parser, a URL or this program."""

words = st.lists(st.sampled_from(_MEANT) | st.sampled_from(ODD_TEXT), max_size=8).map("".join)
"""Text made of what means something somewhere."""

long_texts = st.builds(lambda unit, size: (unit * size)[:size], words, st.integers(0, 60_000))
"""Text that repeats itself: short, or longer than any name."""

any_text = st.text(max_size=30) | words | long_texts
"""Text that can be written down in UTF-8."""

arguments = any_text.map(lambda text: text.replace("\0", "0"))
"""What may be an argument of a process."""

wild_text = any_text | st.text(st.characters(exclude_categories=()), max_size=20)
"""Any text at all: with halves of surrogate pairs too."""

wild_json: SearchStrategy[object] = (
    json_values
    | wild_text
    | st.lists(wild_text, max_size=4)
    | st.integers(-(10**400), 10**400)
    | st.sampled_from((float("nan"), float("inf"), -0.0, 1e308))
)
"""Any value that a reader of JSON gives."""

wild_bytes = (
    st.binary(max_size=60)
    | any_text.map(str.encode)
    | any_text.map(lambda text: text.encode("utf-16", "replace"))
    | wild_json.map(lambda value: json.dumps(value).encode())
    | st.builds(
        lambda unit, size: unit * size,
        st.sampled_from((b"[", b'{"a":', b"\xff", b"9")),
        st.integers(0, 20_000),
    )
)
"""What a file or an answer may hold."""

_DANGEROUS = ("command", "urls", "endpoint_url", "sites", "args")
"""Parts of keys that would start a program, or ask somebody."""

keys = st.sampled_from([key for key in config_keys() if not set(key.split(".")) & {*_DANGEROUS}])
"""Keys of a configuration."""


def toml(value: object) -> str:
    """Return a value as TOML, or nearly so: half a surrogate is a mistake of the file's syntax."""
    match value:
        case dict():
            return f"{{{', '.join(f'{json.dumps(key)} = {toml(item)}' for key, item in value.items())}}}"
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case float():
            return repr(value)
        case None:
            return "{}"
        case _:
            return json.dumps(value)


def toml_file(table: Mapping[str, object]) -> bytes:
    """Return a file with these keys; a key in capitals could be no other's."""
    return "".join(f"{key} = {toml(value)}\n" for key, value in table.items()).encode()


layers = st.dictionaries(keys | words.map(json.dumps), wild_json, max_size=4).map(toml_file)
"""Files of a configuration whose values are anything."""


def damaged(data: bytes) -> SearchStrategy[bytes]:
    """Return what may be left of `data`: cut off, with bytes changed or put in, or something else."""
    places = st.integers(0, max(0, len(data) - 1))
    return (
        wild_bytes
        | places.map(lambda place: data[:place])
        | st.builds(
            lambda place, other: data[:place] + other + data[place + len(other) :],
            places,
            st.binary(min_size=1, max_size=8),
        )
        | st.builds(lambda place, other: data[:place] + other + data[place:], places, wild_bytes)
    )
