"""Our keyboard makes the events that Playwright's makes, key by key."""

import pytest
from support.browsers.html_site import opened

from generators.browser.keyboard import _NAMED, parse_chord
from generators.browser.session import ChromiumSession
from schemas.episodes.action import Key, TypeText

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

PAGE = (
    "<textarea id=t autofocus></textarea><script>log=[];"
    "for (const kind of ['keydown','keypress','beforeinput','input','keyup'])"
    "t.addEventListener(kind, e => log.push([kind, e.key, e.code, e.keyCode, e.which, e.charCode,"
    "e.location, e.repeat, e.shiftKey, e.ctrlKey, e.altKey, e.metaKey, e.inputType, e.data,"
    "e.isTrusted, t.value]));"
    "addEventListener('keydown', e => { if (e.key === 'Tab' || /^F\\d/.test(e.key)) "
    "e.preventDefault() })</script>"
)
CHARACTERS = "".join(map(chr, range(32, 127))) + "\n"
CHORDS = ["Control+a", "Shift+ArrowLeft", "Shift+a", "Shift+1", "Control+Shift+ArrowLeft", "Alt+x"]
UNTYPED = {"Meta"}
"""Alone it does nothing; with others the system takes it."""


async def asked(session: ChromiumSession) -> object:
    return await session.evaluate("[log, t.value, t.selectionStart, t.selectionEnd]")


TEXTS = [CHARACTERS, "Käse für 5 € 日本", "two\nlines", "a+b"]


async def test_typed_texts_and_chords_make_the_same_events() -> None:
    async with opened({"/": PAGE}) as ours, opened({"/": PAGE}) as theirs:
        keyboard = theirs._tab.channel.page.keyboard
        for text in TEXTS:
            await both_begin(ours, theirs)
            await ours.act(TypeText(text=text))
            await keyboard.type(text)
            assert await asked(ours) == await asked(theirs), text
        for chord in [*sorted(_NAMED - UNTYPED), *CHORDS]:
            await both_begin(ours, theirs)
            await ours.act(Key(key=chord))
            names = parse_chord(chord)
            for name in names:
                await keyboard.down(name)
            for name in reversed(names):
                await keyboard.up(name)
            assert await asked(ours) == await asked(theirs), chord


async def both_begin(*sessions: ChromiumSession) -> None:
    for session in sessions:
        await session.evaluate("t.value='some text here'; t.focus(); t.setSelectionRange(5, 5)")
        await session.evaluate("log.length = 0")
