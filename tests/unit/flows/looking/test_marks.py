"""Marks on the picture of a step: where, at what, what was typed; drawn by Pillow and as SVG."""

import io
from typing import Any

import pytest
from PIL import Image
from support.episodes.factories import HEIGHT, WIDTH, make_step

from flows.looking.marks import (
    MAX_LABEL_CHARS,
    Mark,
    MarkKind,
    draw,
    label,
    marks,
)
from flows.looking.overlay import overlay
from schemas.episodes.action import (
    Action,
    Answer,
    Back,
    Button,
    Click,
    Direction,
    Drag,
    Key,
    NoAction,
    Scroll,
    TypeText,
)
from schemas.episodes.episode import Step
from schemas.episodes.observation import Target
from schemas.errors import Damaged

BOX = (10.0, 20.0, 30.0, 12.0)


def _step(action: Action, *, box: tuple[float, float, float, float] | None = None) -> Step:
    step = make_step(0, picture=1, action=action)
    return step.model_copy(update={"target": Target(tag="input", bbox=box) if box else None})


def _kinds(*found: Mark) -> list[tuple[str, float, float]]:
    return [(one.kind.value, one.x, one.y) for one in found]


def test_a_click_marks_its_point_and_the_box_of_its_target_in_pixels_of_the_picture() -> None:
    found = marks(_step(Click(x=20, y=25), box=BOX), None, scale=2.0)

    assert _kinds(*found) == [("target", 20.0, 40.0), ("pointer", 40.0, 50.0)]
    assert (found[0].width, found[0].height, found[1].text) == (60.0, 24.0, "")


def test_the_scale_is_that_of_the_point_where_none_is_given() -> None:
    step = _step(Click(x=20, y=25)).model_copy(
        update={
            "width": WIDTH * 3,
            "height": HEIGHT * 3,
            "x_norm": 20 / WIDTH,
            "y_norm": 25 / HEIGHT,
        }
    )

    [found] = marks(step, None)

    assert (round(found.x), round(found.y)) == (60, 75)


def test_a_button_and_a_count_are_told_beside_the_point() -> None:
    [found] = marks(_step(Click(x=1, y=2, button=Button.RIGHT, count=2)), None)

    assert found.text == "double right"


def test_a_typed_text_stands_below_its_field() -> None:
    step = _step(TypeText(text="rope", x=20, y=8, enter=True), box=(10.0, 2.0, 30.0, 12.0))
    found = marks(step, None, scale=1.0)

    assert [one.kind for one in found] == [MarkKind.TARGET, MarkKind.POINTER, MarkKind.TYPED]
    assert found[-1].text == "“rope” ⏎"
    assert (found[-1].x, found[-1].y) == (10.0, 27.0)


def test_a_text_typed_without_a_point_marks_the_only_field_that_took_it() -> None:
    step = _step(TypeText(text="rope"))
    [element] = step.elements
    before = step.model_copy(update={"elements": (element.model_copy(update={"value": ""}),)})
    after = step.model_copy(update={"elements": (element.model_copy(update={"value": "rope"}),)})

    found, unknown = marks(before, after), marks(before, None)

    assert [one.kind for one in found] == [MarkKind.TARGET, MarkKind.TYPED]
    assert (found[0].x, found[0].y, found[0].width) == element.bbox[:3]
    assert [one.kind for one in unknown] == [MarkKind.TYPED]


def test_a_drag_is_an_arrow() -> None:
    [found] = marks(_step(Drag(x=1, y=2, to_x=30, to_y=40)), None, scale=2.0)

    assert (found.kind, found.x, found.y, found.to_x, found.to_y) == (MarkKind.DRAG, 2, 4, 60, 80)


@pytest.mark.parametrize(
    ("page", "picture", "said"),
    [
        ({"scroll_y": 120.0}, 2, "scroll down 300 px, the page moved 120 px"),
        ({}, 1, "scroll down 300 px, nothing moved"),
        ({}, 2, "scroll down 300 px"),
    ],
)
def test_a_scroll_is_an_arrow_and_says_how_far_the_page_moved(
    page: dict[str, Any], picture: int, said: str
) -> None:
    step = _step(Scroll(direction=Direction.DOWN, amount=300))
    other = make_step(1, picture=picture, action=NoAction())
    after = other.model_copy(update={"page": other.page.model_copy(update=page)})

    [found] = marks(step, after, scale=1.0)

    assert found.text == said
    assert (found.x, found.y) == (WIDTH / 2, HEIGHT / 2)
    assert found.to_y is not None
    assert found.to_y > found.y


@pytest.mark.parametrize(
    ("action", "kind", "text"),
    [
        (Key(key="Control+a"), MarkKind.KEY, "Control+a"),
        (Answer(text="42"), MarkKind.NOTE, "answer “42”"),
        (Answer(), MarkKind.NOTE, "answer, empty"),
        (Back(), MarkKind.NOTE, "back"),
    ],
)
def test_an_action_without_a_place_is_told_at_the_foot(
    action: Action, kind: MarkKind, text: str
) -> None:
    [found] = marks(_step(action), None)

    assert (found.kind, found.text) == (kind, text)
    assert 0 < found.y < HEIGHT


def test_the_last_row_has_no_marks() -> None:
    assert marks(_step(NoAction()), None) == ()


def test_drawing_changes_the_picture_where_the_marks_are_and_keeps_its_size() -> None:
    step = _step(Click(x=20, y=25), box=BOX)
    plain = draw(step.screenshot.bytes, ())

    drawn = draw(step.screenshot.bytes, marks(step, None, scale=1.0))

    assert drawn.size == plain.size == (WIDTH, HEIGHT)
    assert drawn.getpixel((10, 20)) == (217, 48, 37)
    assert plain.getpixel((10, 20)) != (217, 48, 37)


def test_marks_outside_of_the_picture_do_no_harm() -> None:
    step = _step(TypeText(text="x" * 20_000, x=9_000, y=9_000), box=(-500.0, -5.0, 9e4, 9e4))

    assert draw(step.screenshot.bytes, marks(step, None)).size == (WIDTH, HEIGHT)


def test_what_is_no_picture_is_named() -> None:
    for data in (b"", b"no picture", make_step(0, picture=1, action=Back()).screenshot.bytes[:200]):
        with pytest.raises(Damaged, match="cannot be decoded"):
            draw(data, ())


def test_a_picture_that_is_too_large_is_refused() -> None:
    out = io.BytesIO()
    Image.new("1", (8_192, 8_192)).save(out, "PNG")

    with pytest.raises(Damaged, match="too many"):
        draw(out.getvalue(), ())


HOSTILE = "</svg><script>alert(1)</script>\x1b[31m\u202eabc" + "y" * 200


def test_hostile_text_is_one_short_line_of_visible_text() -> None:
    mark = Mark(kind=MarkKind.TYPED, x=1, y=2, text=HOSTILE)

    assert len(label(mark)) == MAX_LABEL_CHARS
    assert not {"\x1b", "\u202e"} & {*label(mark)}
    drawn = overlay([mark], width=100, height=50)
    assert "<script" not in drawn
    assert drawn.count("<svg") == 1
    assert "&lt;script&gt;" in drawn


def test_the_overlay_has_the_pictures_own_pixels() -> None:
    step = _step(Drag(x=1, y=2, to_x=30, to_y=40), box=BOX)

    drawn = overlay(marks(step, None, scale=1.0), width=WIDTH, height=HEIGHT)

    assert f'viewBox="0 0 {WIDTH} {HEIGHT}"' in drawn
    assert all(f"<{tag} " in drawn for tag in ("rect", "line", "polygon"))
    assert "style=" not in drawn
