"""The format `playwright`: what each action becomes in either language, whatever a page calls its elements."""

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.episodes.acted import Page, acted, element, lines
from support.inputs.hostile_texts import HOSTILE
from support.runs.exports import exported
from support.runs.memory_run import small_run

from schemas.episodes.action import (
    Action,
    Answer,
    AnswerDialog,
    Back,
    Button,
    Click,
    Direction,
    Drag,
    DropFile,
    Goto,
    Hover,
    Key,
    Scroll,
    Select,
    Tab,
    TabOperation,
    TypeText,
    Wait,
)
from schemas.episodes.observation import DialogKind, Element, OpenDialog
from schemas.tasks.task_file import TaskFile
from schemas.verdicts.full_episode import FullEpisode
from storage.export.protocol import File
from storage.export.scripts.acts import Unwritable
from storage.export.scripts.playwright import PlaywrightScripts, make_script
from storage.export.scripts.python import literal, python
from storage.export.scripts.typescript import literal as typescript_literal
from storage.export.scripts.typescript import typescript

SAVE = element("button", "Save")
ON_SAVE: dict[str, Any] = {"x": 20.0, "y": 15.0}
ASTRAL = re.compile(r"\\u\{([0-9a-f]+)\}")


def python_of(source: FullEpisode) -> list[str]:
    """Return the lines of an episode's script in Python, which has to be one."""
    text = python(make_script(source, Counter()))
    ast.parse(text)
    return lines(text)


def typescript_of(source: FullEpisode) -> list[str]:
    """Return the lines of an episode's script in TypeScript."""
    return lines(typescript(make_script(source, Counter())))


def done(action: Action, *elements: Element, after: Page | None = None) -> FullEpisode:
    """Return an episode of one action on a page."""
    page = Page(*elements)
    return acted((page, action), end=after or page)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_a_text_in_both_languages(text: str) -> None:
    assert ast.literal_eval(literal(text)) == text
    assert literal(text).isprintable()

    written = typescript_literal(text)
    pairs = ASTRAL.sub(lambda found: json.dumps(chr(int(found[1], 16)))[1:-1], written)
    assert json.loads(pairs) == text
    assert written.isprintable()


@pytest.mark.parametrize(
    "name", ['a "b" \\', "${process.exit()}", "`x`", "a\u202eb", "'; import os #"]
)
def test_a_hostile_name_stays_in_its_quotes(name: str) -> None:
    source = done(Click(**ON_SAVE), element("button", name))

    assert f'page.get_by_role("button", name={literal(name)}, exact=True).click()' in python_of(
        source
    )
    called = f'getByRole("button", {{ name: {typescript_literal(name)}, exact: true }}).click();'
    assert f"await page.{called}" in typescript_of(source)


def test_a_goal_and_an_answer_are_texts_of_the_script() -> None:
    source = done(Click(**ON_SAVE), SAVE)
    hostile = source.episode.model_copy(update={"instruction": '"""\n${x}', "answer": '"\u202e'})
    script = make_script(FullEpisode(hostile, source.task, source.acceptance), Counter())

    assert (
        ast.get_docstring(ast.parse(python(script)), clean=False)
        == '"""\n${x}\n\nAnswered: "\u202e'
    )
    assert 'test("\\"\\"\\"\\n${x}", async' in typescript(script)


@pytest.mark.parametrize(
    ("action", "there", "said"),
    [
        (Click(**ON_SAVE), SAVE, 'get_by_role("button", name="Save", exact=True).click()'),
        (
            Click(**ON_SAVE, button=Button.RIGHT),
            SAVE,
            'get_by_role("button", name="Save", exact=True).click(button="right")',
        ),
        (
            Click(**ON_SAVE, count=2),
            SAVE,
            'get_by_role("button", name="Save", exact=True).click(click_count=2)',
        ),
        (Hover(**ON_SAVE), SAVE, 'get_by_role("button", name="Save", exact=True).hover()'),
        (
            Click(**ON_SAVE),
            element("slider", "Price", tag="input"),
            'get_by_role("slider", name="Price", exact=True).click(position={"x": 10.0, "y": 5.0})',
        ),
        (
            Click(**ON_SAVE),
            element("", "More", tag="summary"),
            'get_by_text("More", exact=True).filter(visible=True).click()',
        ),
        (
            Click(**ON_SAVE),
            element("button", "SAVE", text="Save"),
            'get_by_role("button", name="Save", exact=True).click()',
        ),
        (
            TypeText(**ON_SAVE, text="a b", overwrite=True, enter=True),
            element("textbox", "Name", tag="input"),
            'get_by_role("textbox", name="Name", exact=True).fill("a b")',
        ),
        (
            TypeText(**ON_SAVE, text="ab"),
            element("combobox", "Name", tag="input"),
            'get_by_role("combobox", name="Name", exact=True).press_sequentially("ab")',
        ),
        (
            Select(**ON_SAVE, option="Red"),
            element("combobox", "Colour", tag="select"),
            'get_by_role("combobox", name="Colour", exact=True).select_option(label="Red")',
        ),
        (Key(key="ctrl+Return"), SAVE, 'keyboard.press("Control+Enter")'),
        (TypeText(text="x"), SAVE, 'keyboard.type("x")'),
        (Scroll(direction=Direction.UP, amount=300), SAVE, "mouse.wheel(0, -300)"),
        (Goto(url="http://miniwob.localhost/a?b#c"), SAVE, 'goto(BASE_URL + "/a?b#c")'),
        (Goto(url="http://other.localhost/a"), SAVE, 'goto("http://other.localhost/a")'),
        (Back(), SAVE, "go_back()"),
        (Wait(ms=200), SAVE, "wait_for_timeout(200)"),
    ],
    ids=lambda value: getattr(value, "type", None),
)
def test_an_action_is_the_call_that_does_it(action: Action, there: Element, said: str) -> None:
    assert f"page.{said}" in python_of(done(action, there))


def test_what_has_no_name_is_acted_on_by_its_place_with_a_word_about_it() -> None:
    script = python_of(done(Click(x=20, y=15), element("", "", tag="div")))

    at = script.index("page.mouse.click(20.0, 15.0)")
    assert script[at - 2].startswith("# No name that would do")
    assert script[at - 1] == 'page.evaluate("window.scrollTo(0, 0)")'


def test_a_drag_is_a_press_a_way_and_a_release() -> None:
    script = python_of(done(Drag(x=1, y=2, to_x=3, to_y=4), SAVE))

    at = script.index("page.mouse.move(1.0, 2.0)")
    assert script[at + 1 : at + 4] == [
        "page.mouse.down()",
        "page.mouse.move(3.0, 4.0, steps=8)",
        "page.mouse.up()",
    ]


def test_an_element_has_a_number_only_where_the_page_showed_others_of_its_name() -> None:
    twin = element("button", "Save", at=(10.0, 60.0))

    assert 'name="Save", exact=True).nth(1).click()' in "\n".join(
        python_of(done(Click(x=20, y=65), SAVE, twin))
    )
    assert "nth" not in "\n".join(
        python_of(done(Click(**ON_SAVE), SAVE, element("link", "Save", at=(10.0, 60.0))))
    )


def test_a_field_with_a_label_is_found_by_it_whatever_a_style_adds_to_the_name() -> None:
    field = element("textbox", "Price", tag="input", text="")
    label = element("label", "Price", tag="label", at=(10.0, 60.0))
    own = Counter[str]()

    source = done(Click(**ON_SAVE), field, label)

    assert 'page.get_by_label("Price", exact=True).click()' in python_of(source)
    make_script(source, own)
    assert own == {"clicks": 1, "by_label": 1}


def test_an_option_of_a_list_that_was_drawn_is_chosen_without_opening_it() -> None:
    closed = element("combobox", "Colour", tag="select", text="", value="r")
    red, blue = (
        element("option", name, tag="div", at=(10.0, y))
        for name, y in (("Red", 30.0), ("Blue", 50.0))
    )
    page, opened = Page(closed), Page(closed, red, blue)
    chosen = Page(closed.model_copy(update={"value": "b"}))
    by_click = acted((page, Click(**ON_SAVE)), (opened, Click(x=20, y=55)), end=chosen)
    by_keys = acted(
        (page, Click(**ON_SAVE)),
        (opened, TypeText(text="bl")),
        (opened, Key(key="Enter")),
        end=chosen,
    )

    for source in (by_click, by_keys):
        script = python_of(source)
        acts = [line for line in script if line.startswith("page.get")]
        assert acts == [
            'page.get_by_role("combobox", name="Colour", exact=True).select_option("Blue")'
        ]


def test_a_date_typed_in_parts_is_the_value_that_its_field_has_then() -> None:
    field = element("textbox", "Day", tag="input", text="", value="")
    after = Page(field.model_copy(update={"value": "2026-02-01"}))

    script = python_of(
        done(TypeText(**ON_SAVE, text="02012026", overwrite=True), field, after=after)
    )

    assert 'page.get_by_role("textbox", name="Day", exact=True).fill("2026-02-01")' in script


def test_what_follows_is_waited_for() -> None:
    moved = python_of(done(Click(**ON_SAVE), SAVE, after=Page(SAVE, path="/saved?id=1")))
    told = element("", "Saved.", tag="p", interactive=False)
    stayed = python_of(done(Click(**ON_SAVE), SAVE, after=Page(SAVE, told)))

    assert 'expect(page).to_have_url(BASE_URL + "/saved?id=1")' in moved
    visible = 'expect(page.get_by_text("Saved.", exact=True).filter(visible=True).nth(0))'
    assert stayed.count(f"{visible}.to_be_visible()") == 2  # after the click, and in the end


def test_a_tab_that_opens_is_the_page_until_it_is_closed() -> None:
    there = Page(SAVE, path="/b", tab=1, tabs=("A", "B"))
    source = acted(
        (Page(SAVE), Click(**ON_SAVE, button=Button.MIDDLE)),
        (there, Tab(operation=TabOperation.CLOSE)),
        end=Page(SAVE),
    )

    script = python_of(source)
    at = script.index("with context.expect_page() as opened:")
    assert script[at + 2 : at + 7] == [
        "page = opened.value",
        'expect(page).to_have_url(BASE_URL + "/b")',
        "# Step 1: tab",
        "page.close()",
        "page = context.pages[0]",
    ]
    assert 'const opened2 = context.waitForEvent("page");' in typescript_of(source)


def test_a_dialog_is_answered_when_it_opens() -> None:
    asked = OpenDialog(kind=DialogKind.PROMPT, title="", message="Name?", text="")
    source = acted(
        (Page(SAVE), Click(**ON_SAVE)),
        (Page(SAVE, dialog=asked), AnswerDialog(accept=True, text="Mia")),
        end=Page(SAVE),
    )

    script = python_of(source)
    at = script.index('answers += [lambda dialog: dialog.accept("Mia")]')
    assert script[at + 1].endswith(".click()")
    assert 'answers.push((dialog) => dialog.accept("Mia"));' in typescript_of(source)


def test_a_file_of_the_task_is_given_and_dropped_with_its_contents() -> None:
    asked = OpenDialog(kind=DialogKind.FILE, title="", message="", text="")
    source = acted(
        (Page(SAVE), Click(**ON_SAVE)),
        (Page(SAVE, dialog=asked), AnswerDialog(accept=True, text="a.txt")),
        (Page(SAVE), DropFile(**ON_SAVE, name="a.txt")),
        end=Page(SAVE),
    )
    task = source.task.model_copy(update={"files": (TaskFile(name="a.txt", text="hi"),)})
    script = python_of(FullEpisode(source.episode, task, source.acceptance))

    assert "with page.expect_file_chooser() as chooser:" in script
    assert any('"buffer": b64decode("aGk=")' in line for line in script)
    assert any("DragEvent" in line and "aGk=" in line for line in script)
    with pytest.raises(Unwritable, match="files"):
        make_script(source, Counter())


@pytest.mark.parametrize("kind", [DialogKind.PERMISSION, DialogKind.CONFIRM])
def test_an_episode_without_a_call_for_an_action_gives_no_script_and_is_counted(
    kind: DialogKind,
) -> None:
    asked = OpenDialog(kind=kind, title="", message="")
    left_open = acted(
        (Page(SAVE), Click(**ON_SAVE)), (Page(SAVE, dialog=asked), Answer()), end=Page(SAVE)
    )
    counts = Counter[str]()

    assert list(PlaywrightScripts().pieces(left_open, counts)) == []
    word = "permissions" if kind is DialogKind.PERMISSION else "open_dialogs"
    assert counts == {f"without_{word}": 1}


def test_a_task_on_which_the_site_goes_wrong_on_purpose_gives_no_script() -> None:
    source = done(Click(**ON_SAVE), SAVE)
    faulty = FullEpisode(
        source.episode, source.task.model_copy(update={"fault": "save_fails"}), source.acceptance
    )
    counts = Counter[str]()

    assert list(PlaywrightScripts().pieces(faulty, counts)) == []
    assert counts == {"without_fault": 1}


def test_every_accepted_episode_of_a_run_gives_a_script_in_each_language(tmp_path: Path) -> None:
    report = exported(small_run().seal(), PlaywrightScripts(), tmp_path)

    assert report.counts["scripts"] == len(list(tmp_path.rglob("test_*.py"))) > 0
    assert len(list(tmp_path.rglob("*.spec.ts"))) == report.counts["scripts"]
    for path in tmp_path.rglob("test_*.py"):
        ast.parse(path.read_text("utf-8"))


def test_equal_episodes_give_equal_bytes() -> None:
    source = done(Click(**ON_SAVE), SAVE)

    first, second = (
        [one.data for one in PlaywrightScripts().pieces(source, Counter()) if isinstance(one, File)]
        for _ in range(2)
    )
    assert first == second
