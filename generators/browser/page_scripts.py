"""The JavaScript that runs in pages: files, each beside the module that uses it.

A file is a script that is put into each document, or one function that is called in a page with values of
ours. No value is ever written into a script's text.
"""

from functools import cache
from importlib.resources import files

from schemas.base import canonical_json


@cache
def read_script(package: str, name: str) -> str:
    """Return the script of a name, as `page.js`, that lies in a package."""
    return files(package).joinpath(name).read_text("utf-8")


def to_call(function: str, *arguments: object) -> str:
    """Return the expression that calls a JavaScript function, given as its source, with values that JSON has.

    Raises:
        ValueError, TypeError: JSON cannot express one of them.
    """
    return f"({function})({', '.join(map(canonical_json, arguments))})"
