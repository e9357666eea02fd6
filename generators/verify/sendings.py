"""What steps sent: forms and searches, with what had been entered on their page.

A press sends what was entered before it on its page. It is a mistake where something wrong is among that, and where the
page refused it: it stayed with a message, something was entered anew, and the same was pressed again. That second press
mends the first.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from generators.verify.changes import Edit, aimed_at
from generators.verify.entries import Entries
from generators.verify.page_notes import busy_lines
from generators.verify.shifts import texts_of
from generators.verify.views import Views
from generators.verify.writes import Write
from schemas.episodes.action import Answer, Click, Key, NoAction, Select, TypeText
from schemas.episodes.episode import Step


class Sendings:
    """What the steps of an episode sent."""

    def __init__(
        self,
        steps: Sequence[Step],
        edits: Sequence[Sequence[Edit]],
        *,
        views: Views,
        entries: Entries,
        writes: Mapping[int, Write],
    ) -> None:
        """All by the steps of one episode."""
        self._steps = steps
        self._edits = edits
        self._views = views
        self._entries = entries
        self._writes = writes

    def has_entered(self, step: Step) -> bool:
        """Return whether something was entered on this page since it was opened or last sent."""
        for one in reversed(self._steps[: step.step]):
            if one.page.url != step.page.url or one.step in self._writes:
                return False
            if self._edits[one.step] or isinstance(one.action, TypeText | Select):
                return True
        return False

    def sends_wrong(self, step: Step, after: Step) -> bool:
        """Return whether a press sent what was entered on its page, and something wrong is still among it."""
        if not isinstance(step.action, Click | Key) or self._edits[step.step]:
            return False
        if step.page.url == after.page.url or not self.has_entered(step):
            return False
        wrong, mended = set[object](), set[object]()
        for one in reversed(self._steps[: step.step]):
            if one.page.url != step.page.url:
                break
            fields = {edit.field for edit in self._edits[one.step]}
            if one.step in self._entries.wrong:
                wrong |= fields - mended
            mended |= fields
        return bool(wrong)

    def _sent_by(self, step: Step, *, back: bool) -> Step | None:
        """Return the nearest press of the same button, with only entries and looks between; None if there is none.

        Neither press saved anything nor led to another address, but for the later one.
        """
        aim = aimed_at(step)
        if (
            not isinstance(step.action, Click)
            or aim is None
            or aim.value is not None
            or not aim.name
        ):
            return None
        others = reversed(self._steps[: step.step]) if back else self._steps[step.step + 1 : -1]
        for one in others:
            other = aimed_at(one)
            if isinstance(one.action, Click) and other is not None and not self._edits[one.step]:
                same = (other.name, other.role, other.tag) == (aim.name, aim.role, aim.tag)
                return one if same and one.page.url == step.page.url else None
            if isinstance(one.action, Answer | NoAction):
                return None
        return None

    def is_refused(self, step: Step) -> bool:
        """Return whether a form that a step sent was not taken: entries follow, then it was sent again."""
        again = self._sent_by(step, back=False)
        return again is not None and self._is_first_of(step, again)

    def is_sent_again(self, step: Step) -> bool:
        """Return whether a step sent again what had been refused before."""
        first = self._sent_by(step, back=True)
        if self._sends_lost(step):
            return True
        if first is None:
            return False
        return self._is_first_of(first, step) or self._is_hindered(first, step)

    def _sends_lost(self, step: Step) -> bool:
        """Return whether a press sends what a fault of the site had lost and was entered again, as it was sent before."""
        aim, entered = aimed_at(step), False
        if aim is None or not aim.name or self._edits[step.step]:
            return False
        for one in reversed(self._steps[: step.step]):
            if _path(one) != _path(step) or (one.step in self._writes and not entered):
                return False
            other = aimed_at(one)
            if entered and other is not None and (other.name, other.tag) == (aim.name, aim.tag):
                return isinstance(one.action, Click)
            entered |= one.step in self._entries.lost
        return False

    def _is_hindered(self, first: Step, again: Step) -> bool:
        """Return whether a press only brought a message, and the same values were sent again, with more effect."""
        after = self._steps[first.step + 1]
        if first.page.url != after.page.url or first.step in self._writes or busy_lines(after):
            return False
        new = texts_of(after) - texts_of(first)
        gone = new - texts_of(self._steps[again.step + 1])
        said = any(letter.isalpha() for text in gone for letter in text)  # a message
        return said and not _usable(after) - _usable(first) and _has_same(first, again)

    def mends_search(self, step: Step) -> bool:
        """Return whether a press searched again on its page after a mistake in what it had searched for was mended."""
        if not self._searches(step):
            return False
        mended = False
        for one in reversed(self._steps[: step.step]):
            if _path(one) != _path(step):
                return False
            if self._searches(one):
                then = self._steps[one.step + 1]
                return (mended and self.sends_wrong(one, then)) or self._misses(one, step)
            mended |= one.step in self._entries.mending
        return False

    def _searches(self, step: Step) -> bool:
        after = self._steps[step.step + 1]
        aim = aimed_at(step)
        pressed = isinstance(step.action, Key) or (
            isinstance(step.action, Click) and aim is not None and "button" in (aim.tag, aim.role)
        )
        return pressed and step.page.url != after.page.url and _path(step) == _path(after)

    def _misses(self, first: Step, again: Step) -> bool:
        """Return whether an option was clicked in vain before a press where the goal names one that was chosen later."""
        chosen = any(
            edit.element.tag == "select" and edit.before == "" and edit.after
            for own in self._edits[first.step + 1 : again.step]
            for edit in own
        )
        before = self._steps[first.step - 1] if first.step else first
        aim = aimed_at(before)
        vain = isinstance(before.action, Click) and not self._edits[before.step]
        option = aim is not None and "option" in (aim.tag, aim.role)
        return chosen and vain and option and self._views.names_other(before) is not None

    def _is_first_of(self, first: Step, again: Step) -> bool:
        """Return whether a press stayed on its page with a message, and entries were changed before the next one."""
        after = self._steps[first.step + 1]
        between = self._edits[first.step + 1 : again.step]
        return (
            first.page.url == after.page.url
            and first.page.form_sha256 == after.page.form_sha256
            and self._views.brings_new(first)
            and any(between)
            and not _has_same(first, again)
        )


def _has_same(step: Step, other: Step) -> bool:
    """Return whether the fields of a page hold the same."""
    one, two = (
        [(field.tag, field.name, field.value) for field in look.elements if field.value is not None]
        for look in (step, other)
    )
    return one == two


def _usable(step: Step) -> set[tuple[str, str]]:
    return {(one.role, one.name) for one in step.elements if one.interactive}


def _path(step: Step) -> str:
    return f"{step.page.tab or 0} {urlsplit(step.page.url).path}"
