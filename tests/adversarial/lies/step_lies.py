"""Lies about the order of an episode's steps and about its pictures."""

from collections.abc import Callable

from adversarial.lies.retelling import (
    Kinds,
    Truth,
    adder,
    clicking,
    encapsulate,
    hit,
    image_of,
    looking,
    neighbours,
    painted,
    restep,
    retell,
)
from PIL import Image, ImageDraw, ImageOps

from schemas.episodes.action import Wait
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Screenshot

KINDS: Kinds = {}
lie = adder(KINDS)


def _changed(step: Step) -> bool:
    return step.state_changed is True and not step.terminated


@lie("replay")
def step_dropped(truth: Truth) -> Episode | None:
    at = truth.choose(_changed)
    steps = truth.episode.steps
    return None if at is None else retell(truth.episode, (*steps[:at], *steps[at + 1 :]))


@lie("replay")
def last_step_dropped_and_the_one_before_paid(truth: Truth) -> Episode | None:
    *before, last = truth.acted
    final = truth.episode.steps[-1]
    if not before:
        return None
    before[-1] = before[-1].model_copy(update={"reward": last.reward, "terminated": True})
    return retell(truth.episode, (*before, final))


@lie("replay")
def stopped_early_and_paid(truth: Truth) -> Episode | None:
    *before, last = truth.acted
    if not before:
        return None
    final = looking(last)
    before[-1] = before[-1].model_copy(update={"reward": last.reward, "terminated": True})
    return retell(truth.episode, (*before, final))


@lie("replay", true_at_times=True)
def step_doubled(truth: Truth) -> Episode | None:
    at = truth.choose(_changed)
    steps = truth.episode.steps
    return None if at is None else retell(truth.episode, (*steps[: at + 1], *steps[at:]))


@lie("replay", true_at_times=True)
def steps_swapped(truth: Truth) -> Episode | None:
    pairs = [p for p in neighbours(truth.acted[:-1]) if p[0].action != p[1].action]
    if not pairs:
        return None
    first, second = truth.random.choice(pairs)
    steps = list(truth.episode.steps)
    steps[first.step : second.step + 1] = [second, first]
    return retell(truth.episode, steps)


@lie("replay", true_at_times=True)
def actions_swapped(truth: Truth) -> Episode | None:
    pairs = [p for p in neighbours(truth.acted[:-1]) if p[0].action != p[1].action]
    if not pairs:
        return None
    first, second = truth.random.choice(pairs)
    steps = list(truth.episode.steps)
    for one, other in ((first, second), (second, first)):
        steps[one.step] = one.model_copy(update={"action": other.action, "target": other.target})
    return retell(truth.episode, steps)


@lie("replay")
def step_of_another_episode_inserted(truth: Truth) -> Episode | None:
    other = truth.stranger.episode.steps[0]
    inserted = other.model_copy(update={"reward": 0.0, "terminated": False})
    at = truth.random.randrange(len(truth.acted))
    steps = truth.episode.steps
    return retell(truth.episode, (*steps[:at], inserted, *steps[at:]))


@lie("replay", true_at_times=True)
def click_on_an_element_inserted(truth: Truth) -> Episode | None:
    at = truth.random.randrange(len(truth.acted))
    steps = truth.episode.steps
    found = hit(steps[at], lambda one: one.interactive)
    if not found:
        return None
    extra = clicking(looking(steps[at]), truth.random.choice(found))
    return retell(truth.episode, (*steps[:at], extra, *steps[at:]))


@lie("replay", true_at_times=True)
def wait_inserted(truth: Truth) -> Episode:
    first = truth.episode.steps[0]
    before = truth.episode.reward_before
    waited = looking(first).model_copy(update={"action": Wait(), "reward": before})
    return retell(truth.episode, (waited, *truth.episode.steps))


# Pictures.


def _pictured(truth: Truth, at: int | None, picture: Screenshot | None) -> Episode | None:
    if at is None or picture is None or picture == truth.episode.steps[at].screenshot:
        return None
    return restep(truth.episode, at, screenshot=picture)


def _any(truth: Truth) -> int:
    return truth.random.randrange(len(truth.episode.steps))


def _repainted(truth: Truth, paint: Callable[[Image.Image], Image.Image]) -> Episode | None:
    at = _any(truth)
    return _pictured(truth, at, painted(paint(image_of(truth.episode.steps[at]))))


@lie("replay")
def picture_of_another_step(truth: Truth) -> Episode | None:
    at = _any(truth)
    own = truth.episode.steps[at].screenshot_sha256
    others = [s.screenshot for s in truth.episode.steps if s.screenshot_sha256 != own]
    return _pictured(truth, at, truth.random.choice(others)) if others else None


@lie("replay")
def pictures_one_step_late(truth: Truth) -> Episode | None:
    steps = truth.episode.steps
    pictures = [steps[0].screenshot, *(step.screenshot for step in steps[:-1])]
    if pictures == [step.screenshot for step in steps]:
        return None
    told = zip(steps, pictures, strict=True)
    return retell(
        truth.episode, [step.model_copy(update={"screenshot": shown}) for step, shown in told]
    )


@lie("replay")
def pictures_swapped(truth: Truth) -> Episode | None:
    pairs = [
        pair
        for pair in neighbours(truth.episode.steps)
        if pair[0].screenshot_sha256 != pair[1].screenshot_sha256
    ]
    if not pairs:
        return None
    first, second = truth.random.choice(pairs)
    steps = list(truth.episode.steps)
    for one, other in ((first, second), (second, first)):
        steps[one.step] = one.model_copy(update={"screenshot": other.screenshot})
    return retell(truth.episode, steps)


@lie("replay")
def picture_of_another_seed(truth: Truth) -> Episode | None:
    return _pictured(truth, 0, truth.sibling.episode.steps[0].screenshot)


@lie("replay")
def pictures_of_another_seed(truth: Truth) -> Episode | None:
    shown = [step.screenshot for step in truth.sibling.episode.steps]
    steps = truth.episode.steps
    if shown[0] == steps[0].screenshot:
        return None
    numbers = range(len(steps))
    return retell(
        truth.episode,
        [
            steps[n].model_copy(update={"screenshot": shown[min(n, len(shown) - 1)]})
            for n in numbers
        ],
    )


@lie("replay")
def picture_of_another_template(truth: Truth) -> Episode | None:
    return _pictured(truth, _any(truth), truth.stranger.episode.steps[0].screenshot)


@lie("replay")
def picture_blank(truth: Truth) -> Episode | None:
    return _repainted(truth, lambda image: Image.new("RGB", image.size, "white"))


@lie("replay")
def every_picture_of_one_colour(truth: Truth) -> Episode | None:
    size = image_of(truth.episode.steps[0]).size
    flat = painted(Image.new("RGB", size, (1, 2, 3)))
    return retell(
        truth.episode,
        [step.model_copy(update={"screenshot": flat}) for step in truth.episode.steps],
    )


@lie("replay")
def picture_of_noise(truth: Truth) -> Episode | None:
    def noise(image: Image.Image) -> Image.Image:
        data = truth.random.randbytes(3 * image.width * image.height)
        return Image.frombytes("RGB", image.size, data)

    return _repainted(truth, noise)


@lie("replay")
def picture_mirrored(truth: Truth) -> Episode | None:
    return _repainted(truth, ImageOps.mirror)


@lie("replay")
def picture_in_other_colours(truth: Truth) -> Episode | None:
    return _repainted(truth, ImageOps.invert)


@lie("replay")
def picture_shifted(truth: Truth) -> Episode | None:
    return _repainted(
        truth,
        lambda image: image.transform(
            image.size, Image.Transform.AFFINE, (1, 0, -12, 0, 1, -12), fillcolor="white"
        ),
    )


@lie("replay")
def target_painted_over(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.target and step.target.bbox)
    if at is None:
        return None
    step = truth.episode.steps[at]
    assert step.target is not None
    assert step.target.bbox is not None
    left, top, width, height = step.target.bbox
    image = image_of(step)
    box = (left, top, min(left + width, image.width), min(top + height, image.height))
    before = image.copy()
    ImageDraw.Draw(image).rectangle(box, fill="white")
    shown = [abs(a - b) for a, b in zip(before.tobytes(), image.tobytes(), strict=True)]
    return _pictured(truth, at, painted(image)) if sum(d > 64 for d in shown) > 100 else None


@lie("replay")
def letter_painted_over(truth: Truth) -> Episode | None:
    """Some 8 × 8 pixels that show something become as their most frequent colour."""
    at = _any(truth)
    image = image_of(truth.episode.steps[at])
    corners = [(x, y) for x in range(0, 160, 8) for y in range(0, 208, 8)]
    truth.random.shuffle(corners)
    for x, y in corners:
        box = (x, y, x + 8, y + 8)
        counts = image.crop(box).convert("L").histogram()
        ground = counts.index(max(counts))
        dark = sum(count for level, count in enumerate(counts) if abs(level - ground) > 100)
        if dark >= 12:
            image.paste((ground, ground, ground), box)
            return _pictured(truth, at, painted(image, quality=95))
    return None


@lie("replay")
def goal_painted_over(truth: Truth) -> Episode | None:
    def paint(image: Image.Image) -> Image.Image:
        ImageDraw.Draw(image).rectangle((0, 0, 160, 50), fill=(255, 255, 0))
        return image

    return _repainted(truth, paint)


@lie("replay")
def pictures_of_another_scale(truth: Truth) -> Episode:
    """In every column that has to do with it."""

    def twice(step: Step) -> Step:
        image = image_of(step)
        large = image.resize((image.width * 2, image.height * 2))
        told = {"screenshot": painted(large), "width": large.width, "height": large.height}
        return step.model_copy(update=told)

    steps = [twice(step) for step in truth.episode.steps]
    told = retell(truth.episode, steps, device_scale_factor=2.0)
    return encapsulate(told, "session", device_scale_factor=2.0)


@lie("structure")
def picture_of_half_the_size(truth: Truth) -> Episode | None:
    at = _any(truth)
    image = image_of(truth.episode.steps[at])
    small = image.resize((image.width // 2, image.height // 2))
    return restep(
        truth.episode, at, screenshot=painted(small), width=small.width, height=small.height
    )
