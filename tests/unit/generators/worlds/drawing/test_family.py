"""A bad file of a family is refused in one line with the file, the place and the reason."""

from pathlib import Path

import pytest

from generators.worlds.drawing.draw import FAMILIES, FOLDER, read_family
from generators.worlds.drawing.rows import draw_rows
from generators.worlds.drawing.specification import make_world
from schemas.errors import BadTasks
from schemas.worlds.field import Kind

GOOD = """
title = "{North|South} Tools"

[words]
add = "New {one} | Add {one}"
save = "Save | Keep"

[entities.person]
one = "Person | Member"
many = "People | Members"
rows = [3, 6]
[entities.person.fields]
name = { label = "Name", content = "{first_name} {last_name}" }
joined = { label = "Joined", kind = "date", least = -90, most = -10, chance = 0.5 }

[entities.tool]
one = "Tool"
many = "Tools"
rows = [2, 8]
[entities.tool.fields]
name = { label = "Name | Title", content = "{Red|Blue} {saw|axe|file|drill}" }
owner = { label = "Owner | Belongs to", kind = "link", target = "person", chance = 0.5 }
bought = { label = "Bought", kind = "date", least = -20, most = 0, content = "after owner.joined" }
state = { label = "State", kind = "choice", choices = ["Free | In the shed", "Lent | Out"] }
size = { label = "Size", kind = "choice", few = 1, choices = ["Small", "Large"], chance = 0.5 }

[workflows.tool]
field = "state"
[workflows.tool.transitions]
lend = { label = "Lend | Hand out", before = ["Free"], after = "Lent" }

[views.tools]
label = "{many} | All {many}"
entity = "tool"
[views.people]
label = "{many}"
entity = "person"
chance = 0.5
"""


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tools.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_good_file_gives_worlds_that_have_what_is_certain_and_may_have_the_rest(
    tmp_path: Path,
) -> None:
    family = read_family(_write(tmp_path, GOOD))
    worlds = [make_world(family, "tools", seed) for seed in range(60)]

    for world in worlds:
        tool = world.entity("tool")
        columns = {field.name for field in tool.fields}
        assert columns >= {"name", "bought", "state"}
        assert 2 <= tool.rows <= 8
        (step,) = world.workflows[0].transitions
        assert (step.before, step.after) == (tool.field("state").choices[:1], step.after)
        assert step.after == tool.field("state").choices[1]
        is_tied = "owner" in columns and len(world.entity("person").fields) == 2
        assert bool(tool.field("bought").content) is is_tied
        draw_rows(world)
    assert {len(world.entity("tool").fields) for world in worlds} == {3, 4, 5}
    own = [[one for one in world.views if one.entity in {"tool", "person"}] for world in worlds]
    assert {len(views) for views in own} == {1, 2}
    assert {world.title for world in worlds} == {"North Tools", "South Tools"}
    assert {world.words.save for world in worlds} == {"Save", "Keep"}
    assert {world.words.edit for world in worlds} == {"Edit"}
    sizes = [
        field.choices
        for world in worlds
        for field in world.entity("tool").fields
        if field.name == "size"
    ]
    assert set(sizes) == {("Small",), ("Large",), ("Small", "Large")}


def test_what_several_are_called_goes_with_what_one_is_called(tmp_path: Path) -> None:
    family = read_family(_write(tmp_path, GOOD))
    people = [make_world(family, "tools", seed).entity("person") for seed in range(20)]

    assert {(one.one, one.many) for one in people} == {("Person", "People"), ("Member", "Members")}


@pytest.mark.parametrize("name", FAMILIES)
def test_the_files_that_ship_are_good_and_short(name: str) -> None:
    path = FOLDER / f"{name}.toml"
    family = read_family(path)

    assert len(path.read_text(encoding="utf-8").splitlines()) <= 150
    assert 3 <= len(family.entities) <= 8
    assert {
        Kind(field.kind) for one in family.entities.values() for field in one.fields.values()
    } == (set(Kind))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "\ntitle",
            "\nsplit = 'spare'\ntitle",
            "split: Extra inputs are not permitted",
        ),
        ("[words]", "[words", "invalid TOML: "),
        ("[words]", "[colours]\na = 1\n[words]", "colours: Extra inputs are not permitted"),
        (
            'kind = "link"',
            'kind = "url"',
            "entities.tool.fields.owner.kind: Input should be 'text'",
        ),
        (
            "few = 1",
            "fewest = 1",
            "entities.tool.fields.size.fewest: Extra inputs are not permitted",
        ),
        ("few = 1", "few = 3", "entities.tool.fields.size.few: 3 of 2 choices"),
        ("few = 1", "few = 0", "entities.tool.fields.size.few: Input should be greater than"),
        (
            "[entities.tool.fields]",
            "[entities.tool.fields]\nNo = 1",
            "entities.tool.fields.No: String",
        ),
        (
            'target = "person"',
            'target = "pearson"',
            "field 'tool.owner': there is no entity 'pearson'",
        ),
        (
            ', target = "person"',
            "",
            "entities.tool.fields.owner: field 'owner': a link has a target",
        ),
        ('entity = "person"', 'entity = "folk"', "views.people.entity: there is no entity 'folk'"),
        ("workflows.tool", "workflows.axe", "workflows.axe: there is no entity 'axe'"),
        ('field = "state"', 'field = "name"', "workflows.tool.field: 'tool' has no choice 'name'"),
        (
            'before = ["Free"]',
            'before = ["In the shed"]',
            "workflows.tool.transitions.lend: 'state' has no choice 'In the shed'",
        ),
        (
            'after = "Lent"',
            'after = "Sold"',
            "workflows.tool.transitions.lend: 'state' has no choice",
        ),
        ('field = "state"', 'field = "size"', "workflows.tool.field: 'size' is in every world"),
        ("[3, 6]", "[6, 3]", "entities.person.rows: expected the fewest, at least 1, and the most"),
        ("[3, 6]", "[0, 3]", "entities.person.rows: expected the fewest, at least 1, and the most"),
        ("[2, 8]", "[2, 9]", "field 'tool.name': its recipe makes 8 titles for 9 rows"),
        (
            "least = -20, most = 0",
            "least = 20, most = 0",
            "entities.tool.fields.bought: field 'bought': min",
        ),
        (
            "least = -20, most = 0",
            "least = -99, most = -11",
            "person.joined is at most -10 days off",
        ),
        (
            "after owner.joined",
            "after owner.left",
            "field 'tool.bought': 'person' has no date 'left'",
        ),
        ("after owner.joined", "after bought", "dates after each other in a loop: tool.bought"),
        ("{first_name}", "{firstname}", "field 'person.name': no source 'firstname'"),
        ("{North|South}", "{North|South", "title: a brace lacks its other"),
        (
            "joined = {",
            'best = { label = "Best", kind = "link", target = "tool" }\njoined = {',
            "required links in a loop: ",
        ),
        ('"People | Members"', '"People"', "entities.person.many: 1 words for several, 2 for one"),
        ('"New {one} | Add {one}"', '"New {one} | Add"', "words.add: 'Add' lacks {one}"),
        ("save =", "store =", "words.store: no such word; there are home, add, "),
        ("save =", 'save = "Save | "\nstore =', "words.save.1: String should have at least 1"),
        (
            '"Name | Title", content',
            '"Name", chance = 0.5, content',
            "entities.tool.fields.name: every",
        ),
        (
            '"Name | Title", content',
            '"Name", required = false, content',
            "entities.tool.fields.name: ",
        ),
        ("[views.people]\n", "", "invalid TOML: Cannot"),
        (
            'label = "{many} | All {many}"',
            'chance = 0.5\nlabel = "{many}"',
            "views: none has the chance 1, so a world may have none",
        ),
        (
            '"Owner | ',
            '"NAME | ',
            "entities.tool.fields.owner: entities.tool.fields.name may be called",
        ),
        (
            'label = "State"',
            'label = "Search"',
            "entities.tool.fields.state: words.search may be called",
        ),
        (
            "Lent | Out",
            "Lent | Free",
            "entities.tool.fields.state: 'Lent': entities.tool.fields.state",
        ),
        (
            "In the shed",
            "All",
            "entities.tool.fields.state: 'Free': words.all may be called 'All' too",
        ),
        (
            "Lend | Hand",
            "Delete | Hand",
            "workflows.tool.lend: words.delete may be called 'Delete' too",
        ),
        ('"Save | Keep"', '"Save | Edit"', "words.save: words.edit may be called 'Edit' too"),
        ('one = "Tool"', 'one = "Member"', "entities.tool.one: entities.person.one may be called"),
        (
            'many = "Tools"',
            'many = "Members"',
            "entities.tool.many: entities.person.many may be called",
        ),
        (
            'label = "{many}"',
            'label = "Tools"',
            "views.people: views.tools may be called 'Tools' too",
        ),
        ('label = "{many}"', 'label = "Home"', "views.people: words.home may be called 'Home' too"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, old: str, new: str, reason: str) -> None:
    assert old in GOOD
    path = _write(tmp_path, GOOD.replace(old, new))

    with pytest.raises(BadTasks) as refused:
        read_family(path)

    assert str(refused.value).startswith("tools.toml: ")
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadTasks, match=r"^none\.toml: cannot be read: No such file or directory$"):
        read_family(tmp_path / "none.toml")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe")

    with pytest.raises(BadTasks, match=r"^bytes\.toml: invalid TOML: "):
        read_family(path)
