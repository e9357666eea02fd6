"""Each page of the zoo shows and does here what it does in plain Chromium, at every step, visit and replay."""

from dataclasses import replace
from io import BytesIO

import pytest
from effort import THOROUGH
from PIL import Image, ImageDraw

from zoo.ours import Seen, Visit, differences, unlike, visit
from zoo.zoo import ASPECTS, MAX_LINES, PAGES, Animal, zoo

ANIMALS = zoo()

NOT_YET = {
    "view-change": "the second of two transitions is not drawn while the first still waits for an answer",
}
"""Pages that are not right yet, with what is wrong; one that passes fails the suite."""

BY_CHANCE = {
    "lock-queue": "locks are granted in the order of real time",
    "sound-clip": "what plays is loaded in real time",
}
"""Pages that are right or wrong by chance."""

VISITS = 3 if THOROUGH else 1
SHOWN = ANIMALS if THOROUGH else ANIMALS[1::16]


def _marked(animal: Animal) -> object:
    by_chance = BY_CHANCE.get(animal.name)
    reason = NOT_YET.get(animal.name) or by_chance
    if reason is None:
        return pytest.param(animal, id=animal.name)
    failing = pytest.mark.xfail(reason=reason, raises=AssertionError, strict=by_chance is None)
    return pytest.param(animal, id=animal.name, marks=failing)


@pytest.mark.browser
@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.usefixtures("one_browser")
@pytest.mark.parametrize("animal", [_marked(one) for one in SHOWN])
async def test_a_page_is_as_in_plain_chromium(animal: Animal) -> None:
    first = await visit(animal)

    assert differences(animal, first.seen) == []
    for _ in range(VISITS - 1):
        assert _parting(first, await visit(animal)) is None
    assert _parting(first, await visit(animal, first.actions)) is None


def _parting(one: Visit, other: Visit) -> str | None:
    """Return where two visits part; None: they are equal."""
    for number, (was, now) in enumerate(zip(one.seen, other.seen, strict=True)):
        if was.look != now.look:
            return f"step {number}: {was.look} and {now.look}"
        if was.observation.page != now.observation.page:
            return f"step {number}: {was.observation.page} and {now.observation.page}"
        if was.observation.screenshot.bytes != now.observation.screenshot.bytes:
            return f"step {number}: the pictures"
    return None


@pytest.mark.parametrize("animal", ANIMALS, ids=lambda animal: animal.name)
def test_a_page_is_small_and_recorded_at_each_step(animal: Animal) -> None:
    assert len(animal.page.splitlines()) <= MAX_LINES
    assert len(animal.truth) == len(animal.steps) + 1
    assert all(
        "dialog" in look or animal.picture(n).is_file() for n, look in enumerate(animal.truth)
    )
    assert set(animal.differs) <= set(ASPECTS)
    assert all(reason.endswith(".") for reason in animal.differs.values())


def test_nothing_is_recorded_of_a_page_that_is_not_there() -> None:
    names = {animal.name for animal in ANIMALS}
    shots = set(PAGES.rglob("*.jpg"))
    pictures = {one.picture(step) for one in ANIMALS for step in range(len(one.steps) + 1)}

    assert {path.name for path in PAGES.iterdir()} == names
    assert shots <= pictures
    assert NOT_YET.keys() | BY_CHANCE.keys() <= names
    assert NOT_YET.keys().isdisjoint(BY_CHANCE)


@pytest.fixture(scope="module")
def seen() -> tuple[Animal, list[Seen]]:
    """A page, and a visit that saw what was recorded."""
    animal = next(one for one in ANIMALS if one.name == "transition")
    looks = []
    for number, look in enumerate(animal.truth):
        shot = animal.picture(number).read_bytes()
        looks.append(Seen(look, _Shown(shot)))  # type: ignore[arg-type]
    return animal, looks


class _Shown:
    """As much of an observation as is compared."""

    def __init__(self, shot: bytes) -> None:
        self.screenshot = self
        self.bytes = shot


def test_what_was_recorded_is_right(seen: tuple[Animal, list[Seen]]) -> None:
    assert differences(*seen) == []


@pytest.mark.parametrize(
    ("aspect", "wrong"),
    [
        ("events", ["transitionrun", "transitionend", "transitionstart"]),
        ("text", ["Close", "Dialog 22"]),
        ("values", ["x"]),
        ("url", "/other"),
        ("title", "Stays"),
        ("tabs", 2),
        ("downloads", ["report.txt"]),
    ],
)
def test_each_planted_wrong_aspect_is_found(
    seen: tuple[Animal, list[Seen]], aspect: str, wrong: object
) -> None:
    animal, looks = seen
    last = looks[-1]
    planted = [*looks[:-1], Seen(last.look | {aspect: wrong}, last.observation)]

    [said] = differences(animal, planted)

    assert said.startswith(f"step {len(looks) - 1}: {aspect}: ")
    assert differences(replace(animal, differs={aspect: "Planted."}), planted) == []


def test_a_picture_with_a_missing_line_is_found(seen: tuple[Animal, list[Seen]]) -> None:
    animal, looks = seen
    planted = [*looks[:-1], Seen(looks[-1].look, looks[0].observation)]

    [said] = differences(animal, planted)

    assert "of the picture differs" in said


def test_a_small_thing_in_a_picture_is_found(seen: tuple[Animal, list[Seen]]) -> None:
    _, looks = seen
    shot = looks[0].observation.screenshot.bytes
    image = Image.open(BytesIO(shot))
    ImageDraw.Draw(image).rectangle((300, 200, 380, 240), fill="black")
    changed = BytesIO()
    image.save(changed, "JPEG")

    assert unlike(shot, shot) == 0
    assert unlike(shot, changed.getvalue()) > 0.01
