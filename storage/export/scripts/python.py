"""Writes a script in Python: a test for pytest, with the synchronous client, that also runs by itself."""

from collections.abc import Iterator, Mapping, Sequence

from storage.export.scripts.quoting import quote
from storage.export.scripts.statements import (
    Address,
    AnswerNext,
    Call,
    Chain,
    Check,
    Contents,
    Do,
    Keep,
    Note,
    Open,
    Script,
    Show,
    Statement,
    Upload,
    Value,
)

_BEGIN = """\
{goal}

{header}

{imports}

from playwright.sync_api import {names}

BASE_URL = os.environ.get("BASE_URL", {origin}).rstrip("/")
CHROMIUM = os.environ.get("CHROMIUM")  # the browser's program; without it the one that Playwright installs
TIMEOUT_MS = float(os.environ.get("TIMEOUT_MS", "15000"))  # how long each step and assertion may wait


def test_{name}() -> None:
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        context = browser.new_context({context})
        context.set_default_timeout(TIMEOUT_MS)
"""

_END = """\
        browser.close()


if __name__ == "__main__":
    test_{name}()
"""


def python(script: Script) -> str:
    """Return the text of a test in Python."""
    shown, answer = script.context, script.answer
    options: dict[str, Value] = {
        "viewport": {"width": shown.width, "height": shown.height},
        "locale": shown.locale,
        "timezone_id": shown.time_zone,
        "color_scheme": "dark" if shown.is_dark else "light",
        "reduced_motion": "reduce" if shown.moves_little else "no-preference",
    }
    asks = any(isinstance(one, AnswerNext) for one in script.statements)
    uploads = any(isinstance(one, Upload) for one in script.statements)
    imports = ["import os"]
    imports += ["from base64 import b64decode"] if uploads else []
    imports += ["from collections.abc import Callable"] if asks else []
    begin = _BEGIN.format(
        imports="\n".join(imports),
        names="Dialog, expect, sync_playwright" if asks else "expect, sync_playwright",
        goal=literal(script.goal if answer is None else f"{script.goal}\n\nAnswered: {answer}"),
        header="\n".join(f"# {line}" for line in header(script)),
        origin=literal(script.origin),
        name=script.name,
        context=", ".join(_options(options)),
    )
    lines = list[str]()
    if shown.clock_ms:
        lines.append(f"context.clock.install(time={shown.clock_ms / 1_000})")
    if asks:
        lines.append("answers: list[Callable[[Dialog], None]] = []")
        lines.append('context.on("dialog", lambda dialog: answers.pop(0)(dialog))')
    lines.append("page = context.new_page()")
    lines += [line for one in script.statements for line in _lines(one)]
    body = "".join(f"        {line}\n" for line in lines)
    return begin + body + _END.format(name=script.name)


def header(script: Script) -> Iterator[str]:
    """Yield the lines that say what a script needs."""
    if script.served_by is not None:
        yield f"`{script.served_by}` serves the site and prints its address."
    yield "BASE_URL is the address of a server in the state that the task begins in."


def literal(text: str) -> str:
    """Return a text as Python writes it."""
    return quote(text, long_escape="\\U{:08x}")


def _value(value: Value) -> str:
    match value:
        case str() | Address() | Contents():
            return _text(value)
        case Mapping():
            pairs = (f"{literal(key)}: {_value(each)}" for key, each in value.items())
            return f"{{{', '.join(pairs)}}}"
        case Sequence():
            return f"[{', '.join(map(_value, value))}]"
        case _:
            return repr(value)


def _text(value: str | Address | Contents) -> str:
    match value:
        case str():
            return literal(value)
        case Contents():
            return f"b64decode({literal(value.base64)})"
        case Address(path):
            return f"BASE_URL + {literal(path)}" if path.startswith("/") else literal(path)


def _options(options: Mapping[str, Value]) -> Iterator[str]:
    return (f"{name}={_value(each)}" for name, each in options.items())


def _call(call: Call) -> str:
    return f"{call.name}({', '.join([*map(_value, call.arguments), *_options(call.options)])})"


def _chain(chain: Chain) -> str:
    return ".".join(one if isinstance(one, str) else _call(one) for one in chain)


def _lines(statement: Statement) -> Iterator[str]:
    match statement:
        case Note(text):
            yield f"# {text}"
        case Do(chain):
            yield _chain(chain)
        case Check(of, is_so):
            yield f"expect({_chain(of)}).{_call(is_so)}"
        case Show(tab):
            yield f"page = context.pages[{tab}]"
        case Open(by):
            yield "with context.expect_page() as opened:"
            yield f"    {_chain(by.chain)}"
            yield "page = opened.value"
        case Upload(by, files):
            yield "with page.expect_file_chooser() as chooser:"
            yield f"    {_chain(by.chain)}"
            yield f"chooser.value.set_files({_value(files)})"
        case Keep(by, name):
            yield "with page.expect_download() as download:"
            yield from (f"    {line}" for line in _lines(by))
            yield f"assert download.value.suggested_filename == {literal(name)}"
        case AnswerNext(answers):
            yield f"answers += [{', '.join(_answer(*one) for one in answers)}]"


def _answer(accept: bool, text: str | None) -> str:  # noqa: FBT001 - a pair as it is kept
    how = f"accept({'' if text is None else literal(text)})" if accept else "dismiss()"
    return f"lambda dialog: dialog.{how}"
