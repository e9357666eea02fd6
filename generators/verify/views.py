"""What steps brought into sight, and whether it was of use.

A step *shifts* what is shown if it scrolls, or turns the pages of a list: more of the same comes into sight. Another
step that shows something new *opens* it: a page, a menu, a section. What it opened was of use unless the policy left it
without having done anything there, for something that it could have reached from where it was before, and unless
something was in sight there for the first time that the goal, the expected answer or a later entry needs.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from generators.verify.changes import aimed_at
from generators.verify.overlays import is_covered
from generators.verify.shifts import at_point, is_shift, texts_of
from generators.verify.shown import Words, split_words
from generators.verify.thoughts import quotes
from generators.verify.visits import (
    is_near,
    is_same,
    names_under,
    place_of,
    places,
    seen_places,
    visit,
)
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

_LABEL_PX = 60.0
"""How far above a field its label may stand, CSS px."""

_MIN_SHARED = 2
"""Words that a name has in common with one of the goal to be taken for it."""


class Views:
    """What the steps of an episode had in sight."""

    def __init__(self, episode: Episode, *, needed: Sequence[str]) -> None:
        """`needed` has the texts that the expected answer follows from."""
        self._steps = episode.steps
        self._instruction = episode.instruction
        self._goal = Words(None, [(episode.instruction, None)])
        self._unquoted = Words(None, [(_without_quotes(episode.instruction), None)])
        self._quoted = quotes(episode.instruction)
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
            if (
                isinstance(one.action, Hover)
                and not self._texts[after.step] - self._texts[one.step]
            ):
                continue
            if not isinstance(one.action, Wait) and not is_shift(one, after):
                return one
        return None

    def led_to_known(self, step: Step) -> bool:
        """Return whether what is used next had been in sight on this page, and was not just before the step.

        A shift that shows something new leads there only if it is in sight at once.
        """
        use = self.next_use(step)
        if use is None or isinstance(use.action, Answer):
            return False
        if not at_point(use) or place_of(use) != place_of(step) or self._turns_round(step, use):
            return False
        if self.shifts_new_in(step) and not self._has(self._steps[step.step + 1], use):
            return False
        before = visit(self._steps, step)
        return any(self._has(one, use) for one in before) and not self._has(step, use)

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
        after = self._steps[step.step + 1]
        if own.value is not None and self._shows_label(step, use) and self._has(after, use):
            return True
        here, there = (
            [one for one in look.elements if is_same(own, one)]
            for look in (step, self._steps[step.step + 1])
        )
        return len(here) == len(there) == 1 and not is_near(here[0], there[0])

    def _shows_label(self, step: Step, use: Step) -> bool:
        """Return whether a picture shows the label of a field that the goal names, though perhaps not the field."""
        shown = {text for text, _ in places(step)}
        return place_of(step) == place_of(use) and any(
            text in shown and self.names(text) for text in at_point(use)
        )

    def _has(self, step: Step, use: Step) -> bool:
        """Return whether a picture shows what another step pointed at."""
        own = aimed_at(use)
        if own is None:
            return at_point(use) <= self._texts[step.step]
        return any(is_same(own, other) for other in step.elements)

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
        if bool(words & then) and not words & here:
            return True
        own = None if use is None else aimed_at(use)
        looks = (step, self._steps[step.step + 1])
        before, after = (own is not None and _stands(look, own) for look in looks)
        return isinstance(step.action, Hover) and after and not before

    def shifts_new_in(self, step: Step) -> bool:
        """Return whether something is in sight after a shift that this visit of the page had not shown."""
        after = self._steps[step.step + 1]
        seen, now = seen_places(self._steps, step), places(after)
        if now - seen or not (now or seen):
            return True
        names = names_under(step, seen=True).union(
            *(names_under(one, seen=True) for one in visit(self._steps, step))
        )
        return is_covered(after) and bool(names_under(after) - names)

    def loads_more(self, step: Step) -> bool:
        """Return whether a press had more loaded, which shifts of the same run then brought into sight."""
        if not isinstance(step.action, Click):
            return False
        seen = seen_places(self._steps, step)
        for one in self._steps[step.step : -1]:
            after = self._steps[one.step + 1]
            if not is_shift(one, after) or (isinstance(one.action, Click) and one is not step):
                return False
            if places(after) - seen:
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
        if place_of(opened) != place_of(step) and place_of(after).startswith(place_of(opened)):
            return False
        if isinstance(one.action, Key):
            return place_of(after) == place_of(step) != place_of(one)
        aim = aimed_at(one)
        if aim is None or not isinstance(one.action, Click):
            return after.page.url == step.page.url != one.page.url
        was_there = any(is_same(aim, other) and is_near(aim, other) for other in step.elements)
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
        for one in self._in_line(step, aim):
            name = one.name or one.text
            if len("".join(split_words(name))) >= _MIN_STEM and self.names(name):
                return name
        return None

    def _in_line(self, step: Step, aim: Element) -> Iterator[Element]:
        """Yield the things of the same kind in line with one, as the rows of a list or the links of a menu."""
        for one in step.elements:
            alike = (one.role, one.tag) == (aim.role, aim.tag)
            apart = (abs(one.bbox[place] - aim.bbox[place]) for place in (0, 1))
            if alike and one.visible > 0 and not one.covered and min(apart) < _LINE_PX:
                yield one

    def passes_over(self, step: Step) -> Step | None:
        """Return the next step if it opens what the goal names in quotes, which was in sight in line with this one's aim.

        None: it does not, or the goal names what this step opened too.
        """
        aim, use = aimed_at(step), self.next_use(step)
        own = None if use is None else aimed_at(use)
        if aim is None or own is None or use is None or self.is_directed(step):
            return None
        quoted = any(name in (own.name, own.text) for name in quotes(self._instruction))
        if not quoted or not isinstance(use.action, Click) or not isinstance(step.action, Click):
            return None
        return use if any(is_same(own, one) for one in self._in_line(step, aim)) else None

    def names(self, text: str) -> bool:
        """Return whether the goal has a text that is not only a part of a longer name in it."""
        words = split_words(text)
        if not words:
            return False
        named = [split_words(part) for name in self._quoted for part in (name, *name.split(","))]
        return words in named or self._unquoted.find(words) is not None

    def speaks_of_field(self, step: Step, aim: Element) -> bool:
        """Return whether the goal names what stands closely above a thing or beside it, as the label of a field does."""
        top = aim.bbox[1]
        return any(
            self.names(one.text)
            for one in step.sights or ()
            if top - _LABEL_PX <= one.bbox[1] <= top + aim.bbox[3] and one.text not in aim.name
        )

    def is_directed(self, step: Step) -> bool:
        """Return whether the goal names what a step pointed at."""
        return any(
            self.names(text) for text in at_point(step) if len("".join(split_words(text))) > 1
        ) or any(name in text for name in self._quoted for text in at_point(step))

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
        page = place_of(self._steps[step.step + 1])
        for one in reversed(self._steps[: step.step + 1]):
            if place_of(one).split(" ", 1)[1] == page.split(" ", 1)[1]:
                return False
            if self._has_saved(one.step):
                return True
        return False


def _without_quotes(text: str) -> str:
    """Return a text with blanks in place of what it quotes."""
    for quoted in sorted(quotes(text), key=len, reverse=True):
        text = text.replace(quoted, " ") if quoted.strip() else text
    return text


def _stands(step: Step, own: Element) -> bool:
    """Return whether a picture shows an element in its place."""
    return any(is_same(own, one) and is_near(own, one) for one in step.elements)


def _is_akin(word: str, other: str) -> bool:
    """Return whether two words begin alike, as "booking" and "bookings"."""
    letters = max(_MIN_STEM, min(len(word), len(other)) - 2)
    return len(word) >= _MIN_STEM and word[:letters] == other[:letters]
