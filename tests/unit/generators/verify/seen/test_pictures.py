"""A picture is that of its step or it is not, whatever a rasteriser and an encoder do to it."""

import io
from collections.abc import Sequence

import pytest
from PIL import Image, ImageDraw

from generators.verify.pictures import (
    CELL,
    MAX_CELLS,
    TOLERANCE,
    PictureDifference,
    compare_pictures,
    differ,
)
from schemas.episodes.observation import Observation, PageState, Screenshot

WIDTH, HEIGHT = 500, 400
CELLS = (WIDTH // CELL) * (HEIGHT // CELL)
ALLOWED = int(MAX_CELLS * CELLS)
"""The cells that may differ in a picture of the size used here."""

WHITE = (255, 255, 255)
Dot = tuple[int, int]


def raster(*dots: Dot, colour: tuple[int, int, int] = (0, 0, 0)) -> bytes:
    """Return a white picture with single dots, as PNG: exactly these pixels."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), WHITE)
    for dot in dots:
        picture.putpixel(dot, colour)
    return encoded(picture, "PNG")


def cells(count: int, colour: tuple[int, int, int] = (0, 0, 0)) -> bytes:
    """Return a white picture whose first cells are in a colour."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), WHITE)
    if count:
        ImageDraw.Draw(picture).rectangle((0, 0, count * CELL - 1, CELL - 1), fill=colour)
    return encoded(picture, "PNG")


def encoded(picture: Image.Image, kind: str = "JPEG", **options: int) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **(options or ({"quality": 80} if kind == "JPEG" else {})))
    return out.getvalue()


def drawn(x: int, words: str = "Click the button") -> Image.Image:
    """Return a page with words and a circle at `x`."""
    picture = Image.new("RGB", (WIDTH, HEIGHT), WHITE)
    draw = ImageDraw.Draw(picture)
    draw.text((5, 5), words, fill=(0, 0, 0))
    draw.ellipse((x, 40, x + 30, 70), outline=(0, 0, 255))
    return picture


def seen(picture: bytes, title: str = "") -> Observation:
    """Return an observation of a page with this title."""
    return Observation(
        screenshot=Screenshot(bytes=picture, path="x.jpg"),
        width=WIDTH,
        height=HEIGHT,
        page=PageState(url="http://x/", title=title, scroll_x=0, scroll_y=0),
        observe_ms=0,
    )


def compare(stored: Sequence[bytes], replayed: Sequence[bytes]) -> list[PictureDifference]:
    """Compare pictures of pages that are not the same."""
    shown = [seen(picture, title=str(number)) for number, picture in enumerate(replayed)]
    return list(compare_pictures(stored, shown))


def test_equal_bytes_are_not_decoded() -> None:
    assert compare([b"torn"], [b"torn"]) == [PictureDifference(equal=True, cells=0, levels=0)]


def test_only_the_steps_that_were_replayed_are_compared() -> None:
    assert len(compare([b"1", b"2", b"3"], [b"1", b"2"])) == 2


@pytest.mark.parametrize("channel", range(3))
@pytest.mark.parametrize(("levels", "differs"), [(TOLERANCE, 0), (TOLERANCE + 1, 1)])
def test_a_cell_differs_where_the_mean_of_a_channel_does(
    channel: int, levels: int, differs: int
) -> None:
    colour = [255, 255, 255]
    colour[channel] -= levels
    dimmed = cells(1, (colour[0], colour[1], colour[2]))

    for stored, replayed in ((dimmed, cells(0)), (cells(0), dimmed)):
        (said,) = compare([stored], [replayed])
        assert (said.equal, said.cells, said.because) == (False, differs / CELLS, None)


def test_as_many_cells_as_allowed_may_differ_and_no_more() -> None:
    (within,) = compare([cells(ALLOWED)], [cells(0)])
    (beyond,) = compare([cells(ALLOWED + 1)], [cells(0)])

    assert ALLOWED > 0
    assert (within.cells, within.because) == (ALLOWED / CELLS, None)
    assert beyond.cells == (ALLOWED + 1) / CELLS
    assert beyond.because == f"{beyond.cells:.2%} of its cells differ, at most {MAX_CELLS:.2%} may"


def test_a_share_just_above_the_limit_does_not_read_like_the_limit() -> None:
    size = (CELL * 200, CELL * 250)
    white = Image.new("RGB", size, WHITE)
    marked = white.copy()
    ImageDraw.Draw(marked).rectangle((0, 0, 6 * CELL - 1, CELL - 1), fill=(0, 0, 0))

    (said,) = compare([encoded(marked, "PNG")], [encoded(white, "PNG")])

    assert said.because == "0.012% of its cells differ, at most 0.010% may"


def shade(levels: int) -> bytes:
    """Return a picture of one grey, that much darker than white."""
    return encoded(Image.new("RGB", (WIDTH, HEIGHT), (255 - levels,) * 3), "PNG")


@pytest.mark.parametrize(("levels", "may"), [(1, True), (2, True), (3, False)])
def test_a_picture_may_be_darker_by_so_many_levels(levels: int, may: object) -> None:
    (said,) = compare([shade(levels)], [shade(0)])

    assert (said.cells, said.levels) == (0, levels)
    assert (said.because is None) == may


def test_the_levels_are_a_mean_of_all_pixels_and_channels() -> None:
    (said,) = compare([raster((1, 1), colour=(155, 205, 255))], [raster()])

    assert said.levels == pytest.approx(150 / (3 * WIDTH * HEIGHT))


def test_a_picture_that_is_nearer_to_that_of_another_page_is_not_its_steps() -> None:
    plain, dotted = raster(), raster((1, 1))

    first, second = compare([dotted, dotted], [plain, dotted])

    assert first.because == "it is nearer to that of step 1 than to its own"
    assert (first.cells, first.equal) == (0, False)
    assert second == PictureDifference(equal=True, cells=0, levels=0)


@pytest.mark.parametrize("gone", ["title", "elements"])
def test_of_the_same_page_another_picture_may_be_nearer(gone: str) -> None:
    plain, dotted = seen(raster()), seen(raster((1, 1)))
    stored = [dotted.screenshot.bytes] * 2

    first, _ = compare_pictures(stored, [plain, dotted])
    assert first.because is None

    if gone == "title":
        other = plain.page.model_copy(update={"title": "another"})
        first, _ = compare_pictures(stored, [plain.model_copy(update={"page": other}), dotted])
    else:
        first, _ = compare_pictures(
            stored, [plain.model_copy(update={"elements": ("one",)}), dotted]
        )
    assert first.because is not None


def test_of_a_page_that_draws_by_pixels_alone_a_nearer_picture_counts() -> None:
    plain, filled = seen(cells(0)), seen(cells(1))

    first, _ = compare_pictures([filled.screenshot.bytes] * 2, [plain, filled])

    assert first.because == "it is nearer to that of step 1 than to its own"


def test_a_picture_as_near_to_another_step_is_that_of_its_own() -> None:
    dotted, plain = raster((1, 1)), raster()

    assert [one.because for one in compare([dotted, dotted], [plain, plain])] == [None, None]


@pytest.mark.parametrize("quality", [75, 79, 85, 90])
def test_the_noise_of_an_encoder_is_none(quality: int) -> None:
    pages = [drawn(20), drawn(200), drawn(20, "Click the button.")]
    shown = [encoded(page) for page in pages]
    stored = [encoded(Image.open(io.BytesIO(one)), quality=quality) for one in shown]

    for said in compare(stored, shown):
        assert (said.equal, said.cells, said.because) == (False, 0, None)


def test_a_few_pixels_of_a_smoothed_edge_are_none() -> None:
    replayed = drawn(20)
    stored = replayed.copy()
    for x, y in ((6, 9), (40, 8), (35, 40), (20, 55)):
        stored.putpixel((x, y), (120, 120, 120))

    (said, _) = compare([encoded(stored), b""], [encoded(replayed), encoded(drawn(200))])

    assert (said.cells, said.because) == (0, None)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(Image.new("RGB", (WIDTH, HEIGHT), WHITE), id="blank"),
        pytest.param(Image.new("RGB", (WIDTH, HEIGHT)), id="black"),
        pytest.param(drawn(25), id="a drawing elsewhere"),
        pytest.param(drawn(20, "Click the buttom"), id="another letter"),
        pytest.param(drawn(20).resize((WIDTH // 2, HEIGHT // 2)), id="another size"),
    ],
)
def test_another_picture_is_found(other: Image.Image) -> None:
    (said,) = compare([encoded(other)], [encoded(drawn(20))])

    assert said.because is not None
    assert not said.equal


@pytest.mark.parametrize("size", [(WIDTH, 2 * HEIGHT), (2 * WIDTH, HEIGHT), (HEIGHT, WIDTH)])
def test_a_picture_of_another_size_differs_in_all(size: tuple[int, int]) -> None:
    (said,) = compare([encoded(Image.new("RGB", size, WHITE))], [raster()])

    assert said.cells == 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(encoded(Image.new("RGB", (9, 9), WHITE)), id="small"),
        pytest.param(encoded(Image.new("RGB", (9, 9), WHITE), "PNG"), id="a part of it"),
        pytest.param(b"torn", id="torn"),
    ],
)
def test_a_replay_of_another_size_is_not_nearer(other: bytes) -> None:
    stored = raster((20, 20))

    said, _ = compare([stored, b""], [raster(), other])

    assert said.because is None


@pytest.mark.parametrize(
    ("one", "other", "differing"),
    [
        (b"torn", b"torn", False),
        (raster(), b"torn", None),
        (b"torn", raster(), None),
        (raster(), raster((1, 1)), False),
        (cells(ALLOWED), cells(0), False),
        (cells(0), cells(ALLOWED + 1), True),
        (raster(), encoded(Image.new("RGB", (WIDTH, HEIGHT), (253, 253, 253)), "PNG"), False),
        (raster(), encoded(Image.new("RGB", (WIDTH, HEIGHT), (252, 252, 252)), "PNG"), True),
    ],
)
def test_two_pictures_differ_by_the_same_bounds(
    one: bytes, other: bytes, differing: object
) -> None:
    assert differ(one, other) is differing


def test_a_picture_at_the_largest_share_of_cells_is_the_steps() -> None:
    white = Image.new("RGB", (100 * CELL, 100 * CELL), WHITE)
    marked = white.copy()
    ImageDraw.Draw(marked).rectangle((0, 0, CELL - 1, CELL - 1), fill=(0, 0, 0))

    (said,) = compare([encoded(marked, "PNG")], [encoded(white, "PNG")])

    assert (said.cells, said.because) == (MAX_CELLS, None)
    assert not differ(encoded(marked, "PNG"), encoded(white, "PNG"))


def test_a_grey_picture_is_compared_by_what_it_shows() -> None:
    (said,) = compare([encoded(Image.new("L", (WIDTH, HEIGHT), 255), "PNG")], [raster()])

    assert said == PictureDifference(equal=False, cells=0, levels=0)


@pytest.mark.parametrize("damaged", [b"", b"torn", raster((3, 3))[:60], drawn(3).tobytes()])
def test_what_does_not_decode_differs_in_all(damaged: bytes) -> None:
    (said,) = compare([damaged], [raster()])

    assert (said.equal, said.cells, said.levels) == (False, 1, 255)
    assert said.because is not None


def test_a_picture_too_large_to_decode_differs_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    large, small = encoded(Image.new("1", (WIDTH * 2, HEIGHT * 2)), "PNG"), raster()
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", WIDTH * HEIGHT)

    (said,) = compare([large], [small])

    assert said.cells == 1
