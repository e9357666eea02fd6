"""The tables of kits: what is refused of one, what becomes of its tags, and a part that a kit makes by a macro of its own."""

from pathlib import Path
from random import Random

import pytest
from support.worlds.made_world import SHOP

from generators.worlds.drawing.look import draw_look
from generators.worlds.kits.kit import FOLDER, KITS, end_tags, read_kit, start_tags
from generators.worlds.rendering.pages import _templates
from schemas.errors import Refusal

_PLAIN = (FOLDER / "plain" / "kit.toml").read_text("utf-8")

_OWN = """
{% import "templates/kit.html" as _all with context %}
{% set button = _all.button %}
{% macro notice(text) %}<aside>{{ text }}</aside>{% endmacro %}
"""


def kit_of(folder: Path, *, table: str = _PLAIN, macros: str = "") -> Path:
    """Return the folder of a kit that is made of a table and of macros."""
    kit = folder / "own"
    kit.mkdir()
    (kit / "kit.toml").write_text(table)
    if macros:
        (kit / "kit.html").write_text(macros)
    return kit


def shown(kit: Path, call: str) -> str:
    page = _templates(kit).from_string('{% import "kit.html" as kit with context %}' + call)
    return page.render(world=SHOP).strip()


def test_seeds_draw_among_kits_in_the_order_of_their_names() -> None:
    assert list(KITS) == sorted(KITS)
    assert {draw_look("serif", Random(n), Random(n)).kit for n in range(99)} == set(KITS)


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("[panel]", "[pannel]", "own/kit.toml: panel: Field required"),
        ("title = ", "heading = ", "own/kit.toml: panel.title: Field required"),
        ("switch = ", "swich = ", "own/kit.toml: box.swich: Extra inputs are not permitted"),
        ("quiet = ", "silent = ", "own/kit.toml: buttons.silent: Input should be 'primary', "),
        ("muted = ", "mute = ", "own/kit.toml: roles.mute: Input should be 'input', "),
        ("<h2>", "h2", "own/kit.toml: panel.title: expected start tags, as .*, got 'h2'"),
        ('"<h2>"', '["<h2>", 2]', "own/kit.toml: panel.title: Input should be a valid string"),
        ("[panel]", "[panel", "own/kit.toml: invalid TOML: "),
    ],
)
def test_a_table_with_a_mistake_is_refused_with_its_place(
    right: str, wrong: str, reason: str, tmp_path: Path
) -> None:
    kit = kit_of(tmp_path, table=_PLAIN.replace(right, wrong, 1))

    with pytest.raises(Refusal, match=f"^{reason}"):
        read_kit(kit)


def test_end_tags_are_on_as_many_lines_as_their_start_tags() -> None:
    assert end_tags('<div class="a b"><p>') == "</p></div>"
    assert end_tags('<li>\n<div class="card">') == "</div>\n</li>"


def test_attributes_come_to_the_first_of_start_tags_and_are_no_tags() -> None:
    assert start_tags('<p class="a"><b>', ' id="x">') == '<p class="a" id=&#34;x&#34;&gt;><b>'


def test_a_kit_has_a_part_of_another_structure_by_a_macro_of_its_own(tmp_path: Path) -> None:
    kit = kit_of(tmp_path, macros=_OWN)

    assert shown(kit, '{{ kit.notice("<Nothing>") }}') == "<aside>&lt;Nothing&gt;</aside>"
    assert shown(kit, '{{ kit.button("Go", "plain") }}') == (
        '<button type="submit" class="plain">Go</button>'
    )
