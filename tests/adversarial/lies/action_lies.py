"""Lies about what was done, where and to what."""

from collections.abc import Callable

from adversarial.lies.retelling import (
    Kinds,
    Truth,
    acting,
    adder,
    clicking,
    hit,
    outside,
    restep,
)

from schemas.episodes.action import (
    Action,
    Button,
    Click,
    Direction,
    Drag,
    Hover,
    Key,
    Scroll,
    Select,
    TypeText,
    Wait,
    target_point,
)
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Element

KINDS: Kinds = {}
lie = adder(KINDS)

FAR = 40
"""How far off its target a point is told to be at least, px."""


def _moved(truth: Truth, move: Callable[[float, float], tuple[float, float]]) -> Episode | None:
    """Tell of a point off its target's box by many px."""
    episode = truth.episode

    def end(step: Step) -> tuple[float, float] | None:
        point = target_point(step.action)
        if point is None or step.target is None or step.target.bbox is None:
            return None
        x, y = move(*point)
        inside = 0 <= x < episode.viewport_width and 0 <= y < episode.viewport_height
        return (x, y) if inside and (outside((x, y), step.target.bbox) >= FAR) else None

    at = truth.choose(end)
    if at is None:
        return None
    point = end(episode.steps[at])
    assert point is not None
    action = episode.steps[at].action
    return acting(episode, at, action.model_copy(update={"x": point[0], "y": point[1]}))


@lie("replay")
def point_scaled(truth: Truth) -> Episode | None:
    return _moved(truth, lambda x, y: (x * 2.56, y * 1.92))


@lie("replay")
def point_off_target(truth: Truth) -> Episode | None:
    return _moved(truth, lambda x, y: ((x + 250) % 500, (y + 130) % 400))


@lie("replay")
def point_swapped(truth: Truth) -> Episode | None:
    return _moved(truth, lambda x, y: (y, x))


@lie("replay", true_at_times=True)
def point_elsewhere_on_its_target(truth: Truth) -> Episode | None:
    def far(step: Step) -> bool:
        box = step.target.bbox if step.target else None
        return box is not None and min(box[2:]) > FAR and isinstance(step.action, Click)

    at = truth.choose(far)
    if at is None:
        return None
    step = truth.episode.steps[at]
    assert isinstance(step.action, Click)
    assert step.target is not None
    assert step.target.bbox is not None
    left, top, width, height = step.target.bbox
    x = left + (step.action.x - left + width / 2) % width
    y = top + (step.action.y - top + height / 2) % height
    return acting(truth.episode, at, step.action.model_copy(update={"x": x, "y": y}))


@lie("replay", true_at_times=True)
def click_on_another_element(truth: Truth) -> Episode | None:
    def others(step: Step) -> list[Element]:
        if not isinstance(step.action, Click):
            return []
        point = target_point(step.action)
        assert point is not None
        return hit(step, lambda one: outside(point, one.bbox) > 0)

    at = truth.choose(others)
    if at is None:
        return None
    step = truth.episode.steps[at]
    told = clicking(step, truth.random.choice(others(step)))
    return restep(truth.episode, at, action=told.action, target=told.target)


def _done_otherwise(truth: Truth, other: Callable[[Action], Action | None]) -> Episode | None:
    """Tell of another action than was done in some step."""
    at = truth.choose(lambda step: other(step.action))
    if at is None:
        return None
    told = other(truth.episode.steps[at].action)
    assert told is not None
    return acting(truth.episode, at, told)


@lie("replay", true_at_times=True)
def click_told_as_hover(truth: Truth) -> Episode | None:
    return _done_otherwise(
        truth, lambda one: Hover(x=one.x, y=one.y) if isinstance(one, Click) else None
    )


@lie("replay", true_at_times=True)
def action_told_as_wait(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: not isinstance(step.action, Wait))
    return None if at is None else restep(truth.episode, at, action=Wait(), target=None)


@lie("replay", true_at_times=True)
def other_button(truth: Truth) -> Episode | None:
    return _done_otherwise(
        truth,
        lambda one: (
            one.model_copy(update={"button": Button.RIGHT})
            if isinstance(one, Click | Drag)
            else None
        ),
    )


@lie("replay", true_at_times=True)
def other_count(truth: Truth) -> Episode | None:
    return _done_otherwise(
        truth,
        lambda one: (
            one.model_copy(update={"count": one.count % 3 + 1}) if isinstance(one, Click) else None
        ),
    )


@lie("replay")
def typed_text_altered(truth: Truth) -> Episode | None:
    def other(one: Action) -> Action | None:
        if not isinstance(one, TypeText) or not one.text:
            return None
        last = "a" if one.text[-1] != "a" else "b"
        return one.model_copy(update={"text": one.text[:-1] + last})

    return _done_otherwise(truth, other)


@lie("replay")
def typed_text_dropped(truth: Truth) -> Episode | None:
    return _done_otherwise(
        truth,
        lambda one: (
            one.model_copy(update={"text": ""}) if isinstance(one, TypeText) and one.text else None
        ),
    )


@lie("replay", true_at_times=True)
def key_altered(truth: Truth) -> Episode | None:
    return _done_otherwise(
        truth,
        lambda one: Key(key="b" if one.key != "b" else "c") if isinstance(one, Key) else None,
    )


@lie("replay", true_at_times=True)
def scroll_flipped(truth: Truth) -> Episode | None:
    flipped = {
        Direction.UP: Direction.DOWN,
        Direction.DOWN: Direction.UP,
        Direction.LEFT: Direction.RIGHT,
        Direction.RIGHT: Direction.LEFT,
    }
    return _done_otherwise(
        truth,
        lambda one: (
            one.model_copy(update={"direction": flipped[one.direction]})
            if isinstance(one, Scroll)
            else None
        ),
    )


@lie("replay", true_at_times=True)
def scroll_halved(truth: Truth) -> Episode | None:
    return _done_otherwise(
        truth,
        lambda one: (
            one.model_copy(update={"amount": max(1, one.amount // 2)})
            if isinstance(one, Scroll)
            else None
        ),
    )


@lie("replay")
def option_altered(truth: Truth) -> Episode | None:
    return _done_otherwise(
        truth,
        lambda one: (
            one.model_copy(update={"option": one.option + "s"}) if isinstance(one, Select) else None
        ),
    )


@lie("replay", true_at_times=True)
def drag_s_end_moved(truth: Truth) -> Episode | None:
    return _done_otherwise(
        truth,
        lambda one: (
            one.model_copy(update={"to_x": (one.to_x + FAR) % 160, "to_y": (one.to_y + FAR) % 200})
            if isinstance(one, Drag)
            else None
        ),
    )
