"""Writes a script in TypeScript: a test for `@playwright/test`, in one file without a configuration."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

from storage.export.scripts.python import header
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

_MINUTES_MS = 30 * 60_000
_URL = re.compile("_url$")

_BEGIN = Path(__file__).with_name("typescript.txt")


def typescript(script: Script) -> str:
    """Return the text of a test in TypeScript."""
    shown = script.context
    options: dict[str, Value] = {
        "viewport": {"width": shown.width, "height": shown.height},
        "locale": shown.locale,
        "timezoneId": shown.time_zone,
        "colorScheme": "dark" if shown.is_dark else "light",
        "contextOptions": {"reducedMotion": "reduce" if shown.moves_little else "no-preference"},
    }
    browser = "launchOptions: CHROMIUM ? { executablePath: CHROMIUM } : {}"
    pairs = [f"{name}: {_value(each)}" for name, each in options.items()]
    begin = Template(_BEGIN.read_text("utf-8")).substitute(
        header="\n".join(f"// {line}" for line in header(script)),
        goal=literal(script.goal),
        origin=literal(script.origin),
        options=f"{{ {', '.join([*pairs, browser])} }}",
        limit=_MINUTES_MS,
    )
    lines = list[str]()
    if script.answer is not None:
        note = f'{{ type: "answer", description: {literal(script.answer)} }}'
        lines.append(f"test.info().annotations.push({note});")
    if shown.clock_ms:
        lines.append(f"await context.clock.install({{ time: {shown.clock_ms} }});")
    if any(isinstance(one, AnswerNext) for one in script.statements):
        lines.append("const answers: ((dialog: Dialog) => Promise<void>)[] = [];")
        lines.append('context.on("dialog", (dialog) => answers.shift()!(dialog));')
    lines.append("let page = await context.newPage();")
    for number, one in enumerate(script.statements):
        lines += _lines(one, number)
    return begin + "".join(f"  {line}\n" for line in lines) + "});\n"


def literal(text: str) -> str:
    """Return a text as TypeScript writes it."""
    return quote(text, long_escape="\\u{{{:x}}}")


def _camel(name: str) -> str:
    first, *others = _URL.sub("_u_r_l", name).split("_")
    return first + "".join(one.capitalize() for one in others)


def _value(value: Value) -> str:
    match value:
        case str() | Address() | Contents():
            return _text(value)
        case Mapping():
            pairs = (f"{key}: {_value(each)}" for key, each in value.items())
            return f"{{ {', '.join(pairs)} }}"
        case Sequence():
            return f"[{', '.join(map(_value, value))}]"
        case _:
            return json.dumps(value)


def _text(value: str | Address | Contents) -> str:
    match value:
        case str():
            return literal(value)
        case Contents():
            return f'Buffer.from({literal(value.base64)}, "base64")'
        case Address(path):
            return f"BASE_URL + {literal(path)}" if path.startswith("/") else literal(path)


def _call(call: Call) -> str:
    given = [*map(_value, call.arguments)]
    if call.options:
        given.append(_value({_camel(name): each for name, each in call.options.items()}))
    return f"{_camel(call.name)}({', '.join(given)})"


def _chain(chain: Chain) -> str:
    return ".".join(one if isinstance(one, str) else _call(one) for one in chain)


def _lines(statement: Statement, number: int) -> Iterator[str]:
    """Yield the lines of a statement; its number makes the names of what it declares differ from others'."""
    match statement:
        case Note(text):
            yield f"// {text}"
        case Do(chain):
            yield f"await {_chain(chain)};"
        case Check(of, is_so):
            yield f"await expect({_chain(of)}).{_call(is_so)};"
        case Show(tab):
            yield f"page = context.pages()[{tab}];"
        case Open(by):
            yield f'const opened{number} = context.waitForEvent("page");'
            yield f"await {_chain(by.chain)};"
            yield f"page = await opened{number};"
        case Upload(by, files):
            yield f'const chooser{number} = page.waitForEvent("filechooser");'
            yield f"await {_chain(by.chain)};"
            yield f"await (await chooser{number}).setFiles({_value(files)});"
        case Keep(by, name):
            yield f'const download{number} = page.waitForEvent("download");'
            yield from _lines(by, number)
            yield f"expect((await download{number}).suggestedFilename()).toBe({literal(name)});"
        case AnswerNext(answers):
            yield f"answers.push({', '.join(_answer(*one) for one in answers)});"


def _answer(accept: bool, text: str | None) -> str:  # noqa: FBT001 - a pair as it is kept
    how = f"accept({'' if text is None else literal(text)})" if accept else "dismiss()"
    return f"(dialog) => dialog.{how}"
