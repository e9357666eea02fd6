"""What steps entered into fields: which of it was wrong, and which of it mended what was wrong.

A value is wrong if it was taken back or replaced later, if the server got it against the expectation, or, in an attempt
that failed, if the goal and the pictures say another (`step_mistakes.py`). The next step that gives such a field
another value mends it.
"""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from generators.verify.changes import Edit, acts_on, aimed_at, taken_back
from generators.verify.step_mistakes import Faults
from generators.verify.writes import Effect, Write
from schemas.episodes.action import Click, Key, TypeText
from schemas.episodes.episode import Step

_TICKS = ("true", "false", "")
_UNDOING_KEYS = ("Control+z", "Meta+z")
_CHANGING_KEYS = ("Control+a", "Meta+a", "Backspace", "Delete")


class Entries:
    """What the steps of an episode entered."""

    def __init__(
        self,
        steps: Sequence[Step],
        edits: Sequence[Sequence[Edit]],
        *,
        faults: Faults,
        writes: Mapping[int, Write],
        idle: frozenset[int],
        succeeded: bool,
    ) -> None:
        """`idle` has the steps that only repeat others; they neither err nor mend."""
        self._steps = steps
        self._edits = edits
        self._faults = faults
        self._idle = idle
        self._succeeded = succeeded
        self._sent = self._blame(writes)
        self._forward = {number for number, one in writes.items() if one.effect is Effect.FORWARD}
        self.ticks = frozenset(self._ticks())
        """The steps that only put or took a tick which the goal names and which stayed in the end."""
        self.wrong: dict[int, str] = {}
        """The steps that entered something wrong, with what."""
        self.mending: set[int] = set()
        """The steps that replaced something wrong, or began to."""
        self._judge(writes)
        self._judge_sent()
        self.lost = frozenset(self._find_lost(writes)) - self.wrong.keys()
        """The steps that entered again what a fault of the site had lost."""

    def _judge(self, writes: Mapping[int, Write]) -> None:
        bad = set[object]()
        stored = set[str]()
        for step in self._steps[: len(self._edits)]:
            number, own = step.step, self._edits[step.step]
            stored |= {_plain(value) for value in writes.get(number, _NOTHING).wrong} - {""}
            because = self._why_wrong(step)
            if number in self.ticks:
                because = self._why_unticked(step)
                bad |= {one.field for one in own if one.after == "false"}
            mends = [one for one in own if one.field in bad or _plain(one.before) in stored]
            if because is not None:
                self.wrong[number] = because
                bad |= {one.field for one in own}
            elif mends and number not in self._idle - self.ticks:
                self.mending.add(number)
                for one in mends:
                    if one.after != "" or _undoes(step):
                        bad.discard(one.field)
        for step in reversed(self._steps[: len(self._edits)]):
            if step.step + 1 in self.mending and self._prepares(step):
                self.mending.add(step.step)

    def _judge_sent(self) -> None:
        """Judge texts that were sent as they were typed: no field tells then what it holds."""
        last = ""
        for step in self._steps[: len(self._edits)]:
            if not isinstance(step.action, TypeText) or step.step in self._idle:
                continue
            aim = aimed_at(step)
            if self._faults.is_misspelt(step):
                self.wrong.setdefault(step.step, "it misspelt what the goal names")
                last = step.action.text
            elif last and aim is not None and (aim.value or "").strip() == last.strip():
                self.mending.add(step.step)
                last = ""

    def _ticks(self) -> Iterator[int]:
        """Yield the steps that changed a tick alone, which the goal names and which is set after its last change."""
        last: dict[object, str] = {
            (one.field, self._visit(step)): one.after
            for step, own in zip(self._steps, self._edits, strict=False)
            for one in own
        }
        for step, own in zip(self._steps, self._edits, strict=False):
            if len(own) != 1 or not isinstance(step.action, Click):
                continue
            named = self._faults.is_named(own[0].element) and own[0].after in ("true", "false")
            if named and last[own[0].field, self._visit(step)] == "true":
                yield step.step

    def _visit(self, step: Step) -> tuple[str, int]:
        """Return the page of a step, and how much had been saved as expected: what is edited then is another thing."""
        return step.page.url, sum(number < step.step for number in self._forward)

    def _find_lost(self, writes: Mapping[int, Write]) -> Iterator[int]:
        """Yield the steps that entered again what a page had lost when it was sent, before it was saved."""
        for step, own in zip(self._steps, self._edits, strict=False):
            if any(self._is_lost(step, one) for one in own) and self._is_saved_here(step, writes):
                yield step.step

    def _is_lost(self, step: Step, edit: Edit) -> bool:
        """Return whether a step gives a field the value that an earlier one gave it, and that a press then lost."""
        pressed = False
        for one in reversed(self._steps[: step.step]):
            if _path(one) != _path(step) or one.page.tab != step.page.tab:
                return False
            if _is_button(one):  # what changed then, the page changed
                pressed = True
                continue
            for other in self._edits[one.step]:
                if (other.field[1], other.element.name) == (edit.field[1], edit.element.name):
                    return pressed and other.after == edit.after
            pressed |= isinstance(one.action, Click | Key) and not self._edits[one.step]
        return False

    def _is_saved_here(self, step: Step, writes: Mapping[int, Write]) -> bool:
        """Return whether a later step saved something before the page of a step was left."""
        for one in self._steps[step.step + 1 :]:
            if _path(one) != _path(step):
                return False
            if one.step in writes:
                return True
        return False

    def _why_unticked(self, step: Step) -> str | None:
        later = any(one.after == "true" for one in self._edits[step.step])
        return None if later else "it took away a tick that the goal names"

    def _prepares(self, step: Step) -> bool:
        """Return whether a step only selects or enters the field that the next one mends."""
        if self._edits[step.step] or step.step in self.wrong or step.step in self._idle:
            return False
        if isinstance(step.action, Key):
            return step.action.key in _CHANGING_KEYS
        aim = aimed_at(step)
        then = self._edits[step.step + 1]
        return (
            isinstance(step.action, Click)
            and aim is not None
            and any(one.element.name == aim.name and one.element.tag == aim.tag for one in then)
        )

    def _why_wrong(self, step: Step) -> str | None:
        own = self._edits[step.step]
        if step.step in self._idle or not any(acts_on(step, one) for one in own):
            return None
        if self._is_taken_back(step) or self._is_chosen_again(step):
            return "a later step took it back"
        if self._is_put_right(step):
            return "what the goal names was chosen in its place"
        if self._faults.is_typed_again(step):
            return "its invented text was replaced"
        if step.step in self._sent:
            return "the task wants another value"
        return None if self._succeeded else self._faults.of(step)

    def _is_put_right(self, step: Step) -> bool:
        """Return whether another option was chosen later on the same page, which the goal names other than this one."""
        own = [one for one in self._edits[step.step] if one.element.tag == "select" and one.after]
        own = [one for one in own if not self._faults.names(one.after)]
        for one in self._steps[step.step + 1 : len(self._edits)] if own else ():
            if one.page.tab != step.page.tab or _path(one) != _path(step):
                return False
            for edit in self._edits[one.step]:
                if edit.field == own[0].field and edit.element.name == own[0].element.name:
                    return self._faults.names(edit.after)
        return False

    def _is_taken_back(self, step: Step) -> bool:
        """Return whether a later step, not itself wrong, undid this step's edits."""
        spoilt = set[int]() if self._succeeded else self._faults.spoilt
        later = [
            (one, () if _is_button(one) else self._edits[one.step])
            for one in self._steps[step.step + 1 : len(self._edits)]
            if one.step not in self._idle and one.step not in spoilt
        ]
        saved = (number for number in sorted(self._forward) if number > step.step)
        until = next(saved, len(self._edits))  # what has been saved as expected nothing takes back
        later = [pair for pair in later if pair[0].step <= until]
        own = self._edits[step.step]
        if isinstance(step.action, Click) and all(_is_number(one.after) for one in own):
            fields = {one.field for one in own}
            again = (one for one, changes in later if fields & {change.field for change in changes})
            if isinstance(getattr(next(again, None), "action", None), Key | Click):
                return False  # a slider or a counter on its way
        return taken_back(step, own, later)

    def _is_chosen_again(self, step: Step) -> bool:
        """Return whether a click chose what a click on something else replaced on the same page."""
        if not isinstance(step.action, Click):
            return False
        own = [one for one in self._edits[step.step] if one.after not in _TICKS]
        for one in self._steps[step.step + 1 : len(self._edits)]:
            if one.page.url != step.page.url:
                break
            for edit in self._edits[one.step]:
                same = [mine for mine in own if mine.field == edit.field]
                other = isinstance(one.action, Click) and aimed_at(one) != aimed_at(step)
                other = other and not _is_reset(one, edit)
                if same and other and one.step not in self._idle:
                    return not edit.after.startswith(same[0].after) and not _is_number(edit.after)
        return False

    def _blame(self, writes: Mapping[int, Write]) -> set[int]:
        """Return the steps that entered a value which the server got against the expectation."""
        out = set[int]()
        for number, write in writes.items():
            wrong = {_plain(value) for value in write.wrong} - {""}
            if write.effect is not Effect.WRONG or not wrong:
                continue
            for step in reversed(self._steps[:number]):
                if step.delta is not None and step.step in writes:
                    break
                values = {_plain(one.after) for one in self._edits[step.step]}
                if isinstance(step.action, TypeText):
                    values.add(_plain(step.action.text))
                if values & wrong:
                    out.add(step.step)
        return out


_NOTHING = Write(Effect.OTHER)


def _plain(value: str) -> str:
    """Return the letters and digits of a value, as values are compared that pages show in their own ways."""
    return "".join(letter for letter in value.casefold() if letter.isalnum())


def _undoes(step: Step) -> bool:
    """Return whether a key took back the last change of a field, which is then as it was."""
    return isinstance(step.action, Key) and step.action.key in _UNDOING_KEYS


def _is_button(step: Step) -> bool:
    """Return whether a step pressed a button, after which the page may have changed its fields itself."""
    aim = aimed_at(step)
    return aim is not None and "button" in (aim.tag, aim.role) and isinstance(step.action, Click)


def _is_reset(step: Step, edit: Edit) -> bool:
    """Return whether the page itself emptied a field that a button elsewhere has nothing to do with."""
    aim = aimed_at(step)
    return edit.after == "" and (aim is None or _is_button(step) or aim.tag == "a")


def _path(step: Step) -> str:
    return urlsplit(step.page.url).path


def _is_number(value: str) -> bool:
    return _plain(value).isdigit()
