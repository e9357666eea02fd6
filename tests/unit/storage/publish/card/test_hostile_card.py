"""Hostile text in a card, in its plots and in its film strip: it is shown, and does nothing."""

import io
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from PIL import Image
from support.episodes.factories import make_task, make_unit, make_verdict
from support.inputs.hostile_texts import HOSTILE
from support.runs.memory_run import RULE, MemoryRun, make_run_file, published

from schemas.episodes.action import Goto, TypeText
from schemas.truncation import to_well_formed
from storage.publish.card.escape import MAX_CHARS, visible
from storage.publish.card.filmstrip import _wrap, action_words

TEXTS = tuple(to_well_formed(text) or "-" for text in HOSTILE.values())
"""What rows hold of them; a template has a name."""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Publish a run whose templates, goals and name are hostile, into a folder that is no better."""
    run = MemoryRun()
    tasks = [
        make_task(number).model_copy(update={"template_id": text, "instruction": text})
        for number, text in enumerate(TEXTS)
    ]
    _, episodes = make_unit(tasks, n_steps=1)
    run.commit(tasks, episodes)
    run.judge([make_verdict(one, verifier=name) for one in episodes for name in RULE.passed])
    to = tmp_path_factory.mktemp("data") / "a [folder](x) <b>`\u202e` {{x}}"
    name = "\n".join(text for text in TEXTS if len(text) < 99)
    published(run.seal(), to, run_file=make_run_file(name=name))
    return to


def _page(dataset: Path) -> list[Token]:
    text = (dataset / "README.md").read_text(encoding="utf-8")
    return MarkdownIt("gfm-like", {"linkify": False}).parse(text.split("---\n", 2)[2])


def test_a_card_holds_hostile_text_as_text(dataset: Path) -> None:
    text = (dataset / "README.md").read_text(encoding="utf-8")
    page = _page(dataset)
    images = [c for token in page for c in token.children or [] if c.type == "image"]
    kinds = {child.type for token in page for child in token.children or []}

    assert not [char for char in text if visible(char) != char and char not in " \n"]
    assert kinds <= {"text", "text_special", "code_inline", "softbreak", "image"}
    assert "html_block" not in {token.type for token in page}
    assert all(str(image.attrs["src"]).startswith("plots/") for image in images)


def test_a_card_shows_every_hostile_name(dataset: Path) -> None:
    cells = {
        "".join(child.content for child in token.children or [])
        for token in _page(dataset)
        if token.type == "inline"
    }
    for text in TEXTS:
        shown = visible(text)
        short = shown if len(shown) <= MAX_CHARS else f"{shown[: MAX_CHARS - 1]}…"
        assert short.strip() in cells, text


def test_the_head_of_a_card_is_the_yaml_it_was_meant_to_be(dataset: Path) -> None:
    _, head, _ = (dataset / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    read = yaml.safe_load(head)

    assert "license" not in read
    assert isinstance(read["pretty_name"], str)


@pytest.mark.parametrize("plot", ["yield.svg", "length.svg"])
def test_a_plot_is_made_of_nothing_but_its_own_elements(dataset: Path, plot: str) -> None:
    root = ET.fromstring((dataset / "plots" / plot).read_bytes())  # noqa: S314 - our own drawing
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    attributes = {name for element in root.iter() for name in element.attrib}

    assert names <= {"svg", "title", "rect", "text", "line"}
    assert not [name for name in attributes if re.match("on|.*href|style", name)]


def test_a_film_strip_is_drawn_whatever_its_actions_say(dataset: Path) -> None:
    with Image.open(io.BytesIO((dataset / "plots" / "filmstrip.png").read_bytes())) as picture:
        assert picture.width > 100
    for text in TEXTS:
        for action in (TypeText(text=text), Goto(url=text[:8_000])):
            lines = list(_wrap(f"0: {action_words(action)}"))
            assert len(lines) <= 2
            assert all(line == visible(line) and len(line) < 50 for line in lines)
