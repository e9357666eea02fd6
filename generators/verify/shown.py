"""Everything shown to a policy, with search for a text in it: the goal, the pictures, other texts.

A picture consists of its row's sights, without the boxes in which the stored picture is flat: words there
were covered, face down or never drawn. Words are compared without case and punctuation, and a text must
begin and end at word boundaries. A sentence that wraps over lines is found, and so are spaced-out letters, and a day or
an amount in another notation (`notations.py`); part of a word is not.
"""

import functools
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from PIL import Image, ImageStat
from pydantic import JsonValue

from generators.verify.notations import Day, days_in, is_same_day, without_cents
from schemas.base import JsonObject
from schemas.episodes.episode import Step
from schemas.episodes.observation import UNPARTED, Box, Sight

MIN_CONTRAST = 16
"""Grey levels, of 255, between the lightest and darkest pixel from which a box shows something."""

MIN_PIECE = 3
"""Least number of words of each part, where a text is assembled from several pictures."""

_MAX_DAY_CHARS = 30
_RIM = 2
"""Margin added to a box on each side, CSS px: drawings end at their boxes' edges."""

_NUMBER = re.compile(rf"(?<![^\W{UNPARTED}])(?<!\.)-?\d+(?:\.\d+)?(?!(?:[^\W{UNPARTED}]|\.)*\d)")


@functools.cache
def _word() -> re.Pattern[str]:
    """Match a word with its combining marks; in scripts without word boundaries, a letter.

    It is compiled on first use, because collecting all marks is too slow for an import.
    """
    letters = map(chr, range(0x300, 0x10000))
    marks = "".join(one for one in letters if unicodedata.category(one)[0] == "M")
    return re.compile(rf"(?!\W)[{UNPARTED}][{marks}]*|(?:[^\W{UNPARTED}]+[{marks}]*)+")


def split_words(text: str) -> list[str]:
    """Return the words of a text in the form in which they are compared."""
    return _word().findall(unicodedata.normalize("NFKC", text).casefold())


@dataclass(frozen=True, slots=True)
class Basis:
    """The place where something that a policy used is shown."""

    picture: int | None
    """The step whose picture shows it; None: a text, such as the goal."""
    bbox: Box | None = None
    """Its box in the picture, CSS px; None for a text."""


@dataclass(frozen=True, slots=True)
class Need:
    """Something that an action relies on, and its basis."""

    step: int
    """The step of the action."""
    what: str
    """The need in words."""
    basis: Basis | None
    """Where it is shown; None: nowhere."""

    def as_json(self) -> JsonObject:
        """Return the need as evidence."""
        if self.basis is None:
            return {"step": self.step, "what": self.what}
        bbox: JsonValue = None if self.basis.bbox is None else [*self.basis.bbox]
        return {"step": self.step, "what": self.what, "picture": self.basis.picture, "bbox": bbox}


class Words:
    """Words in order, each with its box if it has one."""

    def __init__(self, picture: int | None, lines: Sequence[tuple[str, Box | None]]) -> None:
        self.picture = picture
        """As in `Basis`."""
        self._boxes = [box for text, box in lines for _ in split_words(text)]
        words = [word for text, _ in lines for word in split_words(text)]
        self._text = "".join(words)
        ends = list(accumulate(len(word) for word in words))
        self._starts = {
            end - len(word): n for n, (word, end) in enumerate(zip(words, ends, strict=True))
        }
        self._ends = {*ends}
        self.raw = " ".join(text for text, _ in lines)
        """The lines as they are, joined by blanks."""

    @functools.cached_property
    def numbers(self) -> set[float]:
        """The numbers in the lines."""
        return {float(number) for number in _NUMBER.findall(self.raw)}

    @functools.cached_property
    def days(self) -> set[Day]:
        """The days in the lines."""
        return days_in(self.raw)

    def find(self, words: Sequence[str]) -> Basis | None:
        """Return the basis of these words in sequence, with the box of the first."""
        wanted = "".join(words)
        at = self._text.find(wanted) if wanted else -1
        while at >= 0:
            if at in self._starts and at + len(wanted) in self._ends:
                return Basis(self.picture, self._boxes[self._starts[at]])
            at = self._text.find(wanted, at + 1)
        return None


class Picture:
    """A step's picture and the sights visible in it; decoded on first use."""

    def __init__(self, step: Step, *, scale: float) -> None:
        self.step = step.step
        """The step's number."""
        self._recorded = step
        self._scale = scale

    @functools.cached_property
    def _image(self) -> Image.Image | None:
        """The picture in RGB; None: it does not decode."""
        try:
            with Image.open(io.BytesIO(self._recorded.screenshot.bytes)) as image:
                image.load()
                is_rgb = image.mode == "RGB"  # converting would copy it
                return image if is_rgb else image.convert("RGB")
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
            return None

    @functools.cached_property
    def sights(self) -> tuple[Sight, ...]:
        """The sights that the picture really shows."""
        return tuple(one for one in self._recorded.sights or () if self.shows(one.bbox))

    @functools.cached_property
    def words(self) -> Words:
        """The words of the visible texts."""
        return Words(self.step, [(one.text, one.bbox) for one in self.sights if one.text])

    @functools.cached_property
    def counts(self) -> set[int]:
        """The numbers of equal texts, and of drawings of equal size."""
        return {*Counter((one.text, one.text or one.bbox[2:]) for one in self.sights).values()}

    def shows(self, box: Box) -> bool:
        """Return whether the picture has more than one shade in a box and its rim."""
        if self._image is None:
            return False
        left, top, width, height = box
        edges = (left - _RIM, top - _RIM, left + width + _RIM, top + height + _RIM)
        x1, y1, x2, y2 = (round(edge * self._scale) for edge in edges)
        limits = self._image.size
        area = (max(0, x1), max(0, y1), min(limits[0], x2), min(limits[1], y2))
        if area[0] >= area[2] or area[1] >= area[3]:
            return False
        bands = self._image.crop(area).getextrema()
        return any(isinstance(one, tuple) and one[0] + MIN_CONTRAST <= one[1] for one in bands)

    def colour_in(self, box: Box) -> list[float] | None:
        """Return the median RGB colour of a box without its rim; None if the box is too small."""
        if self._image is None:
            return None
        left, top, width, height = box
        edges = (left + 3, top + 3, left + width - 3, top + height - 3)
        x1, y1, x2, y2 = (round(edge * self._scale) for edge in edges)
        area = (max(0, x1), max(0, y1), min(self._image.width, x2), min(self._image.height, y2))
        if area[0] >= area[2] or area[1] >= area[3]:
            return None
        return [float(level) for level in ImageStat.Stat(self._image.crop(area)).median]

    def words_before(self, field: Box, reach: float) -> Basis | None:
        """Return the basis in the words just before a field that has no frame, at most `reach` CSS px to its left."""
        left, top, _, height = field
        before = self.within((left - reach, top, reach, height))
        return Basis(self.step, before[-1].bbox) if before else None

    def within(self, box: Box) -> list[Sight]:
        """Return the texts whose middle is in a box and its rim."""
        left, top, width, height = box
        return [
            one
            for one in self.sights
            if one.text
            and left - _RIM <= one.bbox[0] + one.bbox[2] / 2 <= left + width + _RIM
            and top - _RIM <= one.bbox[1] + one.bbox[3] / 2 <= top + height + _RIM
        ]


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything shown to a policy before an action."""

    texts: tuple[Words, ...]
    """The goal and other texts."""
    pictures: tuple[Picture, ...]
    """The pictures in order."""

    def sources(self) -> Iterator[Words]:
        """Yield the texts, then the words of each picture, the latest first."""
        yield from self.texts
        for picture in reversed(self.pictures):
            yield picture.words

    def find(self, text: str) -> Basis | None:
        """Return the basis of a text, whole or in parts of several pictures; None if nowhere."""
        words = split_words(text)
        if not words:
            bare = text.strip()
            is_there = any(bare and bare in one.raw for one in self.sources())
            return Basis(None) if is_there else None
        found = self._find_whole(words) or self._find_notation(text)
        if found is not None or len(words) <= MIN_PIECE:
            return found
        return self._find_parts(words)

    def _find_notation(self, text: str) -> Basis | None:
        """Return the basis of a day or an amount in another notation."""
        bare = without_cents(text)
        if bare is not None and (found := self._find_whole(split_words(bare))) is not None:
            return found
        wanted = days_in(text) if len(text) <= _MAX_DAY_CHARS else set()
        for source in self.sources() if wanted else ():
            if any(is_same_day(one, day) for one in source.days for day in wanted):
                return Basis(source.picture)
        return None

    def has_number(self, number: float) -> bool:
        """Return whether a text has a number, or a picture has that many equal things."""
        return any(number in one.numbers for one in self.sources()) or any(
            number in picture.counts for picture in self.pictures
        )

    def _find_whole(self, words: Sequence[str]) -> Basis | None:
        for one in self.sources():
            basis = one.find(words)
            if basis is not None:
                return basis
        return None

    def _find_parts(self, words: Sequence[str]) -> Basis | None:
        first, at = None, 0
        while at < len(words):
            end, basis = len(words), None
            while basis is None and end >= at + min(MIN_PIECE, len(words) - at):
                basis = self._find_whole(words[at:end])
                end -= 1
            if basis is None:
                return None
            first, at = first or basis, end + 1
        return first
