"""What steps brought into sight, and whether it was of use.

A step *shifts* what is shown if it scrolls, or turns the pages of a list: more of the same comes into sight. Another
step that shows something new *opens* it: a page, a menu, a section. What it opened was of use unless the policy left it
without having done anything there, for something that it could have reached from where it was before, and unless
something was in sight there for the first time that the goal, the expected answer or a later entry needs.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from urllib.parse import urlsplit

from generators.verify.changes import aimed_at
from generators.verify.shifts import at_point, is_shift, texts_of
from generators.verify.shown import Words, split_words
from generators.verify.thoughts import quotes
from schemas.episodes.action import (
    Answer,
    Click,
    Hover,
    Key,
    NoAction,
    Scroll,
    Select,
    TypeText,
    Wait,
)
from schemas.episodes.episode import Episode, Step
from schemas.episodes.observation import Element
from schemas.episodes.state_delta import Delta

_MIN_STEM = 4
"""Letters of the beginning by which words are the same, as "vehicle" and "vehicles"."""

_LINE_PX = 4.0
"""How far things may be from a line to stand in it, CSS px."""

_MIN_SHARED = 2
"""Words that a name has in common with one of the goal to be taken for it."""

_NEAR_PX = 40.0
"""How far a thing may have moved to count as in its place, CSS px."""


class Views:
    """What the steps of an episode had in sight."""

    def __init__(self, episode: Episode, *, needed: Sequence[str]) -> None:
        """`needed` has the texts that the expected answer follows from."""
        self._steps = episode.steps
        self._instruction = episode.instruction
        self._goal = Words(None, [(episode.instruction, None)])
        self._texts = [texts_of(step) for step in self._steps]
        self._needed = [" ".join(text.split()).casefold() for text in needed]

    @cached_property
    def _seen(self) -> list[frozenset[str]]:
        """By step: the texts of all pictures up to it."""
        out, seen = list[frozenset[str]](), set[str]()
        for texts in self._texts:
            seen |= texts
            out.append(frozenset(seen))
        return out

    def brings_new(self, step: Step) -> bool:
        """Return whether a text, or where pages have none a drawing, is in sight after a step for the first time.

        Where pictures show no text, or none is recorded, what can be seen to change is new.
        """
        number = step.step
        if not self._texts[number] and not self._texts[number + 1]:
            return True
        if self._texts[number + 1] - self._seen[number]:
            return True
        drawn = [one for one in self._steps[number + 1].sights or () if not one.text.strip()]
        before = [one for one in step.sights or () if not one.text.strip()]
        return self._texts[number + 1] == self._texts[number] and len(drawn) != len(before)

    def next_use(self, step: Step) -> Step | None:
        """Return the next step that does more than look or shift; None: there is none."""
        for one in self._steps[step.step + 1 :]:
            if isinstance(one.action, NoAction):
                return None
            after = self._steps[one.step + 1] if one.step + 1 < len(self._steps) else one
            if not isinstance(one.action, Wait | Hover) and not is_shift(one, after):
                return one
        return None

    def led_to_known(self, step: Step) -> bool:
        """Return whether what is used next had been in sight on this page, and was not just before the step."""
        use = self.next_use(step)
        if use is None or isinstance(use.action, Answer):
            return False
        if not at_point(use) or _path(use) != _path(step) or self._turns_round(step, use):
            return False
        before = self._steps[self._begin(step) : step.step]
        return any(self._has(one, use) for one in before) and not self._has(step, use)

    def _begin(self, step: Step) -> int:
        """Return the step from which on the page of a step has been open."""
        begun = step.step
        while begun and _path(self._steps[begun - 1]) == _path(step):
            begun -= 1
        return begun

    def _turns_round(self, step: Step, use: Step) -> bool:
        """Return whether the page is scrolled back later, before what is used next: the step led away from it."""
        action = step.action
        return isinstance(action, Scroll) and any(
            isinstance(one.action, Scroll) and one.action.direction is not action.direction
            for one in self._steps[step.step + 1 : use.step]
        )

    def moves_next(self, step: Step) -> bool:
        """Return whether what is used next, which the goal names, was in sight, and has only moved with its page."""
        use = self.next_use(step)
        own = None if use is None else aimed_at(use)
        if use is None or own is None or not self.is_directed(use):
            return False
        here, there = (
            [one for one in look.elements if _is_same(own, one)]
            for look in (step, self._steps[step.step + 1])
        )
        return len(here) == len(there) == 1 and not _is_near(here[0], there[0])

    def _has(self, step: Step, use: Step) -> bool:
        """Return whether a picture shows what another step pointed at."""
        own = aimed_at(use)
        if own is None:
            return at_point(use) <= self._texts[step.step]
        return any(_is_same(own, other) for other in step.elements)

    def keeps_next(self, step: Step) -> bool:
        """Return whether what is used next is in sight after a step."""
        use = self.next_use(step)
        return (
            use is not None and bool(at_point(use)) and self._has(self._steps[step.step + 1], use)
        )

    def shows_next(self, step: Step) -> bool:
        """Return whether what is used next came into sight by this step."""
        use = self.next_use(step)
        words = frozenset[str]() if use is None else at_point(use)
        here, then = self._texts[step.step], self._texts[step.step + 1]
        return bool(words & then) and not words & here

    def run_brings_new(self, step: Step) -> bool:
        """Return whether this step or a later one of the same run of shifts showed what this visit of the page had not."""
        begun = step.step
        while (
            begun
            and self._steps[begun - 1].page.url == step.page.url
            and not self._has_saved(begun - 1)
        ):
            begun -= 1
        seen = frozenset[str]().union(*self._texts[begun : step.step + 1])
        for one in self._steps[step.step : -1]:
            if not is_shift(one, self._steps[one.step + 1]):
                return False
            if self._texts[one.step + 1] - seen or not (self._texts[one.step + 1] or seen):
                return True
        return False

    def _has_saved(self, number: int) -> bool:
        """Return whether a step changed the server's state, so that its page may be another one since."""
        return self._steps[number].delta not in (None, Delta())

    def left_without_use(self, step: Step) -> Step | None:
        """Return the step by which the policy left what a step had opened without having used it; None: it was used."""
        if not isinstance(step.action, Click | Key):
            return None
        for one in self._steps[step.step + 1 :]:
            if isinstance(one.action, Answer) and one.action.text.strip():
                return None if self._is_of_use(step, one) else one
            if isinstance(one.action, NoAction | Answer | TypeText | Select) or one.terminated:
                return None
            after = self._steps[one.step + 1]
            if isinstance(one.action, Wait | Hover | Scroll) or is_shift(one, after):
                continue
            if not self._leaves(step, one, after) or self._is_of_use(step, one):
                return None
            return one
        return None

    def _leaves(self, step: Step, one: Step, after: Step) -> bool:
        """Return whether a step goes back to where another began, or on to what was in sight there."""
        opened = self._steps[step.step + 1]
        if _path(opened) != _path(step) and _path(after).startswith(_path(opened)):
            return False
        if isinstance(one.action, Key):
            return _path(after) == _path(step) != _path(one)
        aim = aimed_at(one)
        if aim is None or not isinstance(one.action, Click):
            return after.page.url == step.page.url != one.page.url
        was_there = any(_is_same(aim, other) and _is_near(aim, other) for other in step.elements)
        return was_there and aim != aimed_at(step)

    def _is_of_use(self, step: Step, left: Step) -> bool:
        """Return whether something that was needed came into sight between two steps for the first time."""
        seen = self._seen[step.step]
        new = {
            text for texts in self._texts[step.step + 1 : left.step + 1] for text in texts
        } - seen
        shown = " ".join(new).casefold()
        if any(need and need in shown for need in self._needed):
            return True
        return any(text and text in shown for text in self._entered_after(left.step))

    def _entered_after(self, number: int) -> Iterator[str]:
        for one in self._steps[number:]:
            action = one.action
            if isinstance(action, TypeText | Answer) and len(action.text.strip()) > 1:
                yield " ".join(action.text.split()).casefold()

    def is_dead_end(self, step: Step) -> bool:
        """Return whether the episode ended where a step had led, without anything done there but looking."""
        return self.next_use(step) is None or isinstance(self._next_action(step), Answer)

    def _next_action(self, step: Step) -> object:
        use = self.next_use(step)
        return None if use is None else use.action

    def is_related(self, step: Step) -> bool:
        """Return whether words of the goal are on what a step pointed at, or came into sight by it."""
        words = {word.casefold() for text in at_point(step) for word in split_words(text)}
        goal = {word.casefold() for word in split_words(self._instruction)}
        if any(_is_akin(word, other) for word in words for other in goal):
            return True
        new = " ".join(self._texts[step.step + 1] - self._seen[step.step]).casefold()
        return any(
            len(name) >= _MIN_STEM and name.casefold() in new for name in quotes(self._instruction)
        )

    def names_other(self, step: Step) -> str | None:
        """Return the name of a thing in line with what a step pointed at that the goal names instead; None: none."""
        aim = aimed_at(step)
        if aim is None or self.is_directed(step):
            return None
        for one in step.elements:
            alike = (
                (one.role, one.tag) == (aim.role, aim.tag) and one.visible > 0 and not one.covered
            )
            line = (
                abs(one.bbox[0] - aim.bbox[0]) < _LINE_PX
                or abs(one.bbox[1] - aim.bbox[1]) < _LINE_PX
            )
            words = split_words(one.name or one.text)
            if (
                alike
                and line
                and len("".join(words)) >= _MIN_STEM
                and self._goal.find(words) is not None
            ):
                return one.name or one.text
        return None

    def is_directed(self, step: Step) -> bool:
        """Return whether the goal names what a step pointed at."""
        return any(
            self._goal.find(words) is not None
            for words in map(split_words, at_point(step))
            if len("".join(words)) > 1
        ) or any(name in text for name in quotes(self._instruction) for text in at_point(step))

    def looks_like(self, step: Step) -> str | None:
        """Return the name in the goal that what a step pointed at only looks like; None if there is none."""
        texts = [split_words(text) for text in at_point(step)]
        if any(self._goal.find(words) is not None for words in texts if words):
            return None
        names = [set(split_words(name)) for name in quotes(self._instruction)]
        if any(wanted <= set(words) for wanted in names for words in texts if wanted):
            return None
        for name in quotes(self._instruction):
            wanted = set(split_words(name))
            for words in texts:
                shared = len(wanted & set(words))
                if shared >= _MIN_SHARED and 2 * shared >= max(len(wanted), len(words)):
                    return name
        return None

    def shows_named(self, step: Step) -> bool:
        """Return whether a step brought a whole line into sight for the first time that stands in the goal."""
        new = self._texts[step.step + 1] - self._seen[step.step]
        return any(
            len(text) >= _MIN_STEM
            and text[:1].isupper()
            and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", self._instruction) is not None
            for text in new
        )

    def shows_saved(self, step: Step) -> bool:
        """Return whether a step led to a page that had not been looked at since the server's state changed."""
        page = _path(self._steps[step.step + 1])
        for one in reversed(self._steps[: step.step + 1]):
            if _path(one).split(" ", 1)[1] == page.split(" ", 1)[1]:
                return False
            if self._has_saved(one.step):
                return True
        return False

    def clears_the_way(self, step: Step) -> bool:
        """Return whether a step closed something that had come over the page by itself, or filled in what it asked."""
        if isinstance(step.action, Click) and aimed_at(step) is None:
            return False
        for one in self._steps[step.step : -1]:
            if not _is_covered(one):
                return False
            if self._closes_overlay(one):
                return True
        return False

    def _closes_overlay(self, step: Step) -> bool:
        """Return whether a click closed something that had come over the page by itself."""
        if not isinstance(step.action, Click):
            return False
        after = self._steps[step.step + 1]
        if not _is_covered(step) or _is_covered(after) or step.page.url != after.page.url:
            return False
        aim = aimed_at(step)
        if aim is None or any(_is_same(aim, one) and _is_near(aim, one) for one in after.elements):
            return False
        for one in reversed(self._steps[: step.step]):
            if not _is_covered(one):  # it came with what this step did
                then = self._steps[one.step + 1]
                return one.page.url != then.page.url or not isinstance(one.action, Click | Key)
        return True


def _is_akin(word: str, other: str) -> bool:
    """Return whether two words begin alike, as "booking" and "bookings"."""
    letters = max(_MIN_STEM, min(len(word), len(other)) - 2)
    return len(word) >= _MIN_STEM and word[:letters] == other[:letters]


def _is_covered(step: Step) -> bool:
    """Return whether something stands over most of what can be used in the window."""
    usable = [one for one in step.elements if one.interactive and one.visible > 0]
    covered = sum(one.covered for one in usable)
    return covered > 0 and 2 * covered >= len(usable)


def _path(step: Step) -> str:
    return f"{step.page.tab or 0} {urlsplit(step.page.url).path}"


def _is_same(one: Element, other: Element) -> bool:
    if other.visible <= 0 or other.covered:
        return False
    return (one.role, one.tag, one.name, one.text) == (
        other.role,
        other.tag,
        other.name,
        other.text,
    )


def _is_near(one: Element, other: Element) -> bool:
    moved = max(abs(a - b) for a, b in zip(one.bbox[:2], other.bbox[:2], strict=True))
    return moved <= _NEAR_PX
