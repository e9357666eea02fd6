"""The label of each step of an episode: the rules, in the order in which they are asked.

What a step changed in the server's state decides first, then what it entered, then what it brought into sight. So two
steps of one type differ by what they are for: a click is a part of the way, a look at another page, a wrong choice, its
mending, or of no use.
"""

from collections.abc import Iterator
from itertools import pairwise
from urllib.parse import urlsplit

from generators.verify.changes import (
    LOOKING,
    Edit,
    aimed_at,
    edits,
    is_visible,
    looks_alike,
    loops,
    presses_next,
)
from generators.verify.entries import Entries
from generators.verify.expected_pages import (
    is_about,
    needed_texts,
    opens_only_other,
)
from generators.verify.overlays import Overlays
from generators.verify.page_notes import busy_lines, has_come, shows_same
from generators.verify.sendings import Sendings
from generators.verify.shifts import at_point, is_shift, shows_days, texts_of
from generators.verify.shown import Words
from generators.verify.step_mistakes import Faults
from generators.verify.step_rules import Found, Rule, first
from generators.verify.vain_presses import VainPresses
from generators.verify.views import Views
from generators.verify.writes import Effect, Write, writes
from schemas.episodes.action import (
    Answer,
    Click,
    Key,
    KeyDown,
    KeyUp,
    NoAction,
    Reload,
    Scroll,
    Select,
    TypeText,
    Wait,
)
from schemas.episodes.episode import Episode, Step
from schemas.episodes.state_delta import Delta
from schemas.tasks.expectation import Expectation
from schemas.verdicts.step_label import Label

_TOO_EARLY = "the episode ended before it was of use"


_ROWS = ("link", "row", "cell", "gridcell", "option", "listitem", "treeitem")
"""Roles of things in lists, which stand for something that a goal may name."""

_WRITES = {
    Effect.FORWARD: Found(Label.ON_PATH, "it brought about a part of what the task expects"),
    Effect.WRONG: Found(Label.MISTAKE, "it saved other than what the task expects"),
    Effect.MENDED: Found(Label.RECOVERY, "it mended what had been saved wrongly"),
}


class Course:
    """The steps of an episode and the changes between them."""

    def __init__(self, episode: Episode, *, expect: Expectation | None, succeeded: bool) -> None:
        """`expect` is what the task expects of the server's state; None: the page is the judge."""
        self._steps = episode.steps
        self._goal = episode.instruction
        self._expect = expect
        self._succeeded = succeeded
        self._visible = [is_visible(*pair) for pair in pairwise(self._steps)]
        self._edits: list[tuple[Edit, ...]] = [edits(*pair) for pair in pairwise(self._steps)]
        self._loops = loops(self._steps)
        self._faults = Faults(episode, visible=self._visible, edits=self._edits)
        ruled = expect is not None and expect.probe is None
        self._writes: dict[int, Write] = writes(expect, self._steps) if expect and ruled else {}
        self._views = Views(episode, needed=needed_texts(expect, episode))
        self._overlays = Overlays(episode)
        self._vain = VainPresses(
            self._steps, faults=self._faults, views=self._views, overlays=self._overlays
        )
        self._entries = Entries(
            self._steps,
            self._edits,
            faults=self._faults,
            writes=self._writes,
            idle=self._loops | {one.step for one in self._steps if self._is_typed_twice(one)},
            succeeded=succeeded,
        )
        self._sendings = Sendings(
            self._steps,
            self._edits,
            views=self._views,
            entries=self._entries,
            writes=self._writes,
        )
        self._left: dict[int, int] = {}
        """By the step that left a wrong page: the step that had opened it."""

    def is_visible(self, number: int) -> bool | None:
        """Return whether the effect of a step is visible; None if unknown."""
        return self._visible[number] if number < len(self._visible) else None

    def label(self, step: Step) -> Found:
        """Return the label of a step, asked in the order of the steps; None with the reason where nothing tells."""
        if step.action_error is not None:
            return Found(Label.MISTAKE, "it could not be carried out")
        if step.terminated or isinstance(step.action, Answer):
            if self._succeeded:
                return Found(Label.ON_PATH, "it ended the task with success")
            return Found(Label.MISTAKE, "it ended the task without success")
        if self.is_visible(step.step) is None:
            return Found(None, "only the pictures could tell, and one is missing or cut")
        if self._expect is not None and step.delta is None:
            return Found(None, "what it changed in the server's state is not recorded")
        return self._of_write(step) or self._of_shown(step)

    def _of_shown(self, step: Step) -> Found:
        return self._of_seen(step) if self._visible[step.step] else self._of_unseen(step)

    def _of_write(self, step: Step) -> Found | None:
        """Return the label by what a step changed in the server's state; None if that says nothing."""
        if step.delta is None or not (step.delta.added or step.delta.changed or step.delta.removed):
            return None
        if self._expect is not None and self._expect.probe is not None:
            if self._succeeded:
                return Found(Label.ON_PATH, "what it saved was a part of a success")
            return Found(None, "what it should have saved only a probe knows")
        write = self._writes.get(step.step)
        found = None if write is None else _WRITES.get(write.effect)
        if self._is_stage(step) or any(
            self._is_stage(one) and self._writes[one.step].mended_by == step.step
            for one in self._steps[: step.step]
        ):
            found = Found(Label.ON_PATH, "it brought about a state on the way to what is expected")
        if (
            found is not None
            and found.label is Label.ON_PATH
            and self._sendings.is_sent_again(step)
        ):
            return Found(Label.RECOVERY, "it sent again what had been refused or had failed")
        return found

    def _is_stage(self, step: Step) -> bool:
        """Return whether a step of a workflow led to a state from which alone the expected one could be reached.

        What is pressed later to reach that was not in sight when the step was taken.
        """
        write = self._writes.get(step.step)
        if write is None or write.mended_by is None or self._sendings.has_entered(step):
            return False
        then = at_point(self._steps[write.mended_by])
        return bool(then) and not then & texts_of(step)

    def _of_seen(self, step: Step) -> Found:
        """Return the label of a step with a visible effect that saved nothing."""
        after, number = self._steps[step.step + 1], step.step
        wrong = self._entries.wrong.get(number)
        fault = None
        doubled = not self._succeeded and self._is_typed_twice(step) and bool(self._edits[number])
        if not self._succeeded and not self._edits[number]:
            fault = self._faults.of(step)
        reloaded = isinstance(step.action, Reload) and self._views.brings_new(step)
        early = fault is not None and self._faults.is_early(step)
        again = early or bool(busy_lines(step))
        again = again and isinstance(step.action, Click) and self._is_same_again(step)
        return first(
            (
                number in self._loops - self._entries.ticks,
                Label.REDUNDANT,
                "the same again led back",
            ),
            (doubled, Label.MISTAKE, "it typed the same again behind what was right"),
            (self._is_typed_twice(step), Label.REDUNDANT, "it typed the same again"),
            (wrong is not None, Label.MISTAKE, wrong or ""),
            (number in self._entries.lost, Label.RECOVERY, "it entered again what was lost"),
            (number in self._entries.mending, Label.RECOVERY, "it mended what had been entered"),
            (
                self._sendings.is_refused(step),
                Label.MISTAKE,
                "it sent a form that had to be mended",
            ),
            (self._sendings.sends_wrong(step, after), Label.MISTAKE, "it sent a wrong value"),
            (
                self._sendings.is_sent_again(step),
                Label.RECOVERY,
                "it sent again what had been refused",
            ),
            (
                self._overlays.clears_the_way(step),
                Label.RECOVERY,
                "it closed what stood in the way",
            ),
            (self._overlays.dismisses(step), Label.RECOVERY, "it put a notice away"),
            (reloaded, Label.RECOVERY, "it loaded again a page that had not come as it should"),
            (
                self._sendings.mends_search(step),
                Label.RECOVERY,
                "it searched again without a mistake",
            ),
            (again and not self._edits[number], Label.REDUNDANT, "the same had been done"),
            *self._shift(step, after),
            *self._rules_of_waits(step, after),
            (fault is not None, Label.MISTAKE, fault or ""),
            *self._rules_of_openings(step, after),
            (number in self._left, Label.RECOVERY, "it left a page that was a mistake"),
            *self._focus_only(step),
            (
                shows_same(step, after) and not self._sendings.has_entered(step),
                Label.REDUNDANT,
                "the page shows what it showed before",
            ),
            (True, Label.ON_PATH, "what came next is built on it"),
        )

    def _shift(self, step: Step, after: Step) -> Iterator[Rule]:
        """Yield the labels of a step that only moved what is shown."""
        if not is_shift(step, after):
            return
        known = self._views.led_to_known(step)
        yield (known, Label.ON_PATH, "it led back to what had been seen")
        moves = isinstance(step.action, Scroll) and self._views.moves_next(step)
        yield (moves, Label.ON_PATH, "it moved what is used next, which was in sight")
        new = self._views.shifts_new_in(step) or self._views.loads_more(step)
        yield (new, Label.EXPLORES, "it brought into sight what had not been seen")
        kept = self._views.keeps_next(step)
        yield (kept, Label.ON_PATH, "it put into place what is used next")
        yield (True, Label.REDUNDANT, "nothing came into sight that had not been seen")

    def _rules_of_waits(self, step: Step, after: Step) -> Iterator[Rule]:
        if not isinstance(step.action, LOOKING):
            return
        waits = self._waits_for(step) or self._views.shows_next(step)
        waits = waits or (isinstance(step.action, Wait) and has_come(step, after))
        yield (waits, Label.ON_PATH, "it waited for what is used next")
        new = self._views.brings_new(step)
        yield (new, Label.EXPLORES, "it brought into sight what had not been seen")
        yield (True, Label.REDUNDANT, "nothing came of it")

    def _rules_of_openings(self, step: Step, after: Step) -> Iterator[Rule]:
        """Yield the labels of a step that opened something that was left unused, or that looks like the right thing."""
        if self._edits[step.step] or not isinstance(step.action, Click | Key):
            return
        yield from self._vain.rules(step, succeeded=self._succeeded)
        if self._sendings.has_entered(step):  # it sends, or shows, what was entered before
            return
        moved = urlsplit(step.page.url).path != urlsplit(after.page.url).path
        left = self._views.left_without_use(step)
        if left is not None and isinstance(left.action, Answer) and not self._succeeded:
            left = None
        if not moved and texts_of(after) <= texts_of(step):
            return
        new = self._views.brings_new(step)
        astray = not self._succeeded and moved and not self._views.is_related(step)
        other = self._views.looks_like(step)
        if other is None and (astray or left is not None):
            other = self._views.names_other(step)
        if other is not None and (left is not None or (new and not self._succeeded)):
            if left is not None:
                self._left[left.step] = step.step
            yield (True, Label.MISTAKE, f"the goal names {other!r} instead")
        yield from self._passes_over(step)
        astray = astray and self._views.is_dead_end(step) and not is_about(self._expect, after)
        yield (astray, Label.MISTAKE, "nothing that the goal names is where it led")
        saved = step.delta not in (None, Delta())
        yield (saved and self._succeeded, Label.ON_PATH, "what it saved was a part of a success")
        if left is None or self._views.is_directed(step) or step.step in self._left:
            return
        turned = shows_days(step) and shows_days(after)
        yield (turned, Label.ON_PATH, "it turned a calendar")
        if (
            moved
            and not self._views.is_directed(step)
            and opens_only_other(self._expect, self._steps, step)
        ):
            self._left[left.step] = step.step
            yield (True, Label.MISTAKE, "it opened another row than the expected one")
        named = moved and not self._succeeded and self._views.shows_named(step)
        yield (named, Label.ON_PATH, "what the goal names came into sight")
        new = new or (moved and self._views.shows_saved(step))
        yield (new, Label.EXPLORES, "it looked at what turned out not to be needed")
        yield (moved, Label.REDUNDANT, "it opened what was known and not needed")

    def _passes_over(self, step: Step) -> Iterator[Rule]:
        """Yield the label of a step that opened another thing than the next one, which the goal names."""
        over = self._views.passes_over(step)
        if over is not None:
            self._left[over.step] = step.step
            yield (True, Label.MISTAKE, "it opened another than the goal names, which was in sight")

    def _of_unseen(self, step: Step) -> Found:
        """Return the label of a step without a visible effect."""
        after, action, aim = self._steps[step.step + 1], step.action, aimed_at(step)
        asked = action.text if isinstance(action, TypeText) else None
        asked = action.option if isinstance(action, Select) else asked
        value = "" if aim is None or aim.value is None else aim.value.strip()
        chosen = isinstance(action, Click) and value == "true"
        moved = step.page.focus != after.page.focus
        clicked = isinstance(action, Click)
        early = clicked and not self._succeeded and self._faults.is_early(step)
        button = step.target is not None and step.target.tag == "button"
        out_of_sight = step.page.form_sha256 != after.page.form_sha256
        is_so = chosen or (value != "" and value == (asked or "").strip())
        named = aim is not None and self._faults.is_named(aim)
        return first(
            (isinstance(action, KeyDown | KeyUp), Label.ON_PATH, "it holds a key"),
            (self._waits_for(step), Label.ON_PATH, "it waited for what came"),
            (isinstance(action, LOOKING), Label.REDUNDANT, "nothing new was to be seen"),
            (step.step in self._entries.mending, Label.RECOVERY, "what is mended next it selected"),
            (out_of_sight, Label.ON_PATH, "it changed a field out of sight"),
            (is_so, Label.REDUNDANT, "what it asked for was so already"),
            (self._is_repeated(step), Label.REDUNDANT, "the same had been done, to no effect"),
            (early, Label.MISTAKE, "the goal names another before it"),
            (moved and self._types_next(step), Label.ON_PATH, "what is typed next goes there"),
            (named, Label.ON_PATH, "the goal names what it acted on"),
            (moved and self._ends_after(step), Label.ON_PATH, _TOO_EARLY),
            (bool(asked) and not named, Label.MISTAKE, "nothing took what it typed"),
            (clicked and aim is None, Label.MISTAKE, "it pressed where nothing can be used"),
            (clicked and moved and button, None, "what a button does need not be shown"),
            (True, Label.REDUNDANT, "nothing could be seen to change"),
        )

    def _is_typed_twice(self, step: Step) -> bool:
        return isinstance(step.action, TypeText) and self._is_same_again(step)

    def _is_same_again(self, step: Step) -> bool:
        return step.step > 0 and self._steps[step.step - 1].action == step.action

    def _is_repeated(self, step: Step) -> bool:
        """Return whether a step repeats the one before, or an earlier one since which nothing changed visibly."""
        if isinstance(step.action, Click | TypeText) and self._is_same_again(step):
            return True
        for number in range(step.step - 1, -1, -1):
            if self._visible[number]:
                return False
            if self._steps[number].action == step.action:
                return True
        return False

    def _waits_for(self, step: Step) -> bool:
        """Return whether the goal asks for a wait, or waits alone follow until something changed."""
        if not isinstance(step.action, Wait):
            return False
        goal = Words(None, [(self._goal, None)])
        if self._expect is None and goal.find(["wait"]) is not None:
            return True
        if self._visible[step.step]:
            return False
        for one in self._steps[step.step : len(self._visible)]:
            if not isinstance(one.action, Wait):
                return False
            if self._visible[one.step]:
                return True
        return False

    def _types_next(self, step: Step) -> bool:
        """Return whether the next action types into the focus; looking and repetitions are skipped."""
        later = (one.action for one in self._steps[step.step + 1 :] if one.action != step.action)
        action = next((one for one in later if not isinstance(one, LOOKING)), None)
        return isinstance(action, Key | KeyDown) or (
            isinstance(action, TypeText) and action.x is None
        )

    def _ends_after(self, step: Step) -> bool:
        """Return whether a failed episode ended with the next action; looking and repetitions are skipped."""
        later = (
            one
            for one in self._steps[step.step + 1 :]
            if not isinstance(one.action, LOOKING) and one.action != step.action
        )
        then = next(later, self._steps[-1])
        ended = then.terminated or isinstance(then.action, Answer | NoAction)
        return ended and not self._succeeded

    def _focus_only(self, step: Step) -> Iterator[Rule]:
        """Yield the labels of a step that only moved the focus, without use; nothing if it did more."""
        after, aim = self._steps[step.step + 1], aimed_at(step)
        same = looks_alike(step, after) and not step.result_text
        if not same or step.page.focus == after.page.focus or not isinstance(step.action, Click):
            return
        lost = after.page.focus is None
        yield (lost and aim is None, Label.MISTAKE, "it pressed where nothing can be used")
        yield (lost, Label.REDUNDANT, "it took the focus away, and no more")
        named = aim is not None and aim.value is None and self._faults.is_named(aim)
        row = aim is not None and aim.role in _ROWS and not self._views.is_directed(step)
        yield (row, Label.MISTAKE, "it pressed something that the goal does not name")
        if self._types_next(step) or named:
            return
        is_empty = aim is not None and aim.value == "" and presses_next(self._steps[step.step :])
        is_empty = is_empty and not self._succeeded
        yield (is_empty or self._ends_after(step), Label.ON_PATH, _TOO_EARLY)
        yield (True, Label.REDUNDANT, "it put the focus where nothing was done")
