"""Finds ways in which pages and instructions of worlds give an answer away, and shortcuts that answer a task.

The names come from an audit of other generated websites. The checks read pages that need no work: pages of the
navigation, and the results of searches for the instruction's own words.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from generators.sites.gates import plain_part
from generators.sites.judging.answers import answer_matches, normalise, read_number
from generators.sites.judging.whole_words import has_words
from generators.tasks.worlds.ground.task import IMPOSSIBLE, WorldTask
from generators.tasks.worlds.ground.world_rows import NUMBERS, Setting, rank
from generators.worlds.checking.html_reader import Chunk, PageReader
from generators.worlds.state.database import Row
from schemas.tasks.reference import Do
from schemas.worlds.field import DataField, Kind
from schemas.worlds.world import Entity

_MAX_ROW_LINKS = 60
"""Maximum number of links to rows on one page."""

_ECHOED_WORDS = 7
"""The length of a word sequence shared by a page and an instruction that is no coincidence."""

_PARAGRAPH_WORDS = 12
"""The minimum number of words on a page that holds more than an answer."""

_KEY_SHARE, _KEY_WORDS = 0.6, 5
"""The share of an instruction's longer words in the key of a table that counts as a match, and their minimum
number."""

_SORTED_ROWS = 5
_LONGER = 4
_AROUND = {"nav", "header", "footer", "aside", "head", "title"}
_CHOSEN = {"label", "legend", "option", "button", "select", "summary", "a", "th"}
_JOINED = " · "
"""The separator between facts of a row, or names of fields, on one line."""

_SORTED = re.compile(r"\b(sorted|ordered|ranked)\s+by\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(results?|rows?|items?|total|found|entries|matches|of|all)\b", re.IGNORECASE
)
_COMPARED = re.compile(
    r"\b(difference|differs?|more|less|fewer|cheaper|dearer|larger|smaller|later|earlier|gap)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r'"([^"]+)"')
_NUMBER = re.compile(r"\d[\d,.]*")
_TIME = re.compile(r"\b\d{1,2}:\d{2}\b")


class Leak(StrEnum):
    """A way of giving an answer away."""

    PRECOMPUTED_DIFFERENCE = "precomputed_difference"
    """A page states the difference between two values that are to be compared."""
    COUNT_SHOWN = "count_shown"
    """A page states the number that is to be counted."""
    WORDING_ECHOED = "wording_echoed"
    """A page repeats the words of the task."""
    BUNDLED_SENTENCE = "bundled_sentence"
    """One sentence contains the subject of the question and the answer."""
    PINNED_ANSWER = "pinned_answer"
    """The answer stands before rows that would otherwise come first in a list."""
    LIST_ENDS_WITH_COUNT = "list_ends_with_count"
    """A list ends with the number of its rows."""
    ONE_PARAGRAPH_PAGE = "one_paragraph_page"
    """A page contains little beside the answer."""
    OPERAND_SEARCH = "operand_search"
    """A search for the words of the task finds the answer."""
    ANCHOR_FLOOD = "anchor_flood"
    """A page links to an unreasonable number of rows."""
    SORTED_BY_TEXT = "sorted_by_text"
    """A text names the order of rows."""
    SORT_PUTS_ANSWER_FIRST = "sort_puts_answer_first"
    """A list is sorted by the field in question before the user sorts it."""
    LOOKUP_TABLE = "lookup_table"
    """A table has words like the task's in one column and the answer in the other."""
    CONSTRAINT_IN_NAMES = "constraint_in_names"
    """The name that is the answer contains values that the task states."""


class Looked(NamedTuple):
    """Pages that need no work."""

    pages: Mapping[str, str]
    """HTML by address."""
    searches: Mapping[str, tuple[str, str]] = {}
    """By URL: the results of a search for the instruction's own words, and those of a search without matches."""


def operand_searches(setting: Setting, task: WorldTask) -> list[tuple[str, str]]:
    """Return the searchable views with queries: the task's own words, and all its quotations.

    A single quoted title is a legitimate search and no leak.
    """
    operands = _page_texts(task)
    queries = (task.instruction, *((" ".join(operands),) if len(operands) > 1 else ()))
    return [
        (view.name, query) for view in setting.world.views if view.searched for query in queries
    ]


def find_leaks(setting: Setting, task: WorldTask, looked: Looked) -> Iterator[tuple[Leak, str]]:
    """Yield each leak of a task's answer, with its place."""
    for address, html in looked.pages.items():
        page = _read(html)
        chunks = [one for one in page.chunks if "title" not in one.tags]
        is_form = any(form.method == "post" for form in page.forms)
        for leak, said in (
            *_of_world(setting, page, chunks),
            *_of_task(setting, task, chunks, is_form=is_form),
            *(_orders(setting, task, page) if _begins(address) else ()),
        ):
            yield leak, f"{address}: {said}"
    answer = _answer(task)
    if answer is None:
        return
    for address, (html, empty) in looked.searches.items():
        shown, known = (
            {normalise(one.text) for one in _read(each).chunks} for each in (html, empty)
        )
        if normalise(answer) in shown - known:
            yield Leak.OPERAND_SEARCH, f"{address}: finds {answer!r}"
    if value := constraint_in_answer(setting, task):
        yield Leak.CONSTRAINT_IN_NAMES, f"{answer!r} has {value!r}"


def constraint_in_answer(setting: Setting, task: WorldTask) -> str:
    """Return a value that a task states and its answer contains, apart from names of rows and fields; empty: none."""
    answer = _answer(task) or ""
    labels = {field.label for entity in setting.world.entities for field in entity.fields}
    stated = (one for one in _page_texts(task) if one not in {answer, *labels})
    told = (one for one in stated if has_words(answer, one) and not _rows_named(setting, one))
    return next(told, "")


@lru_cache(maxsize=256)  # a world's pages are checked for each of its tasks
def _read(html: str) -> PageReader:
    return PageReader(html)


def _of_world(
    setting: Setting, page: PageReader, chunks: Sequence[Chunk]
) -> Iterator[tuple[Leak, str]]:
    """Yield leaks that concern no particular task."""
    names = "|".join(re.escape(entity.name) for entity in setting.world.entities)
    labels = "\n".join(field.label for entity in setting.world.entities for field in entity.fields)
    rows = [link for link in page.links if re.fullmatch(rf"/({names})/\d+", link)]
    if len(rows) > _MAX_ROW_LINKS:
        yield Leak.ANCHOR_FLOOD, f"{len(rows)} links to rows"
    for one in chunks:
        is_control = bool(_CHOSEN & set(one.tags)) or one.text == setting.world.words.sort
        found = _SORTED.search(one.text)
        if found and not is_control and not has_words(labels, found[0]):
            yield Leak.SORTED_BY_TEXT, repr(one.text[:80])


def _of_task(
    setting: Setting, task: WorldTask, chunks: Sequence[Chunk], *, is_form: bool
) -> Iterator[tuple[Leak, str]]:
    instruction = _plain_words(_QUOTED.sub("", task.instruction))
    runs = {
        tuple(instruction[at : at + _ECHOED_WORDS])
        for at in range(len(instruction) - _ECHOED_WORDS + 1)
    }
    for one in chunks:
        words = _plain_words(one.text)
        if _JOINED not in one.text and runs & {
            tuple(words[at : at + _ECHOED_WORDS]) for at in range(len(words))
        }:
            yield Leak.WORDING_ECHOED, repr(one.text[:80])
    yield from _differences(setting, task, chunks)
    answer = _answer(task)
    if answer is None:
        return
    yield from _counts(setting, task, answer, chunks)
    quoted = _page_texts(task)
    for one in chunks:
        is_listed = _JOINED in one.text or "option" in one.tags
        has_answer = answer not in quoted and has_words(one.text, answer) and not is_listed
        if has_answer and any(has_words(one.text.replace(answer, ""), value) for value in quoted):
            yield Leak.BUNDLED_SENTENCE, repr(one.text[:80])
    own = [one.text for one in chunks if not _AROUND & set(one.tags)]
    if not is_form and answer not in quoted and any(has_words(text, answer) for text in own):
        count = sum(len(text.split()) for text in own)
        if count < _PARAGRAPH_WORDS:
            yield Leak.ONE_PARAGRAPH_PAGE, f"{count} words with {answer!r}"
    yield from _keys(task, answer, chunks)


def _differences(
    setting: Setting, task: WorldTask, chunks: Sequence[Chunk]
) -> Iterator[tuple[Leak, str]]:
    named = [each for value in _page_texts(task) for each in _rows_named(setting, value)]
    apart = {
        abs(rank(one[field.name]) - rank(other[field.name]))
        for (entity, one), (of, other) in itertools.combinations(named, 2)
        if entity is of
        for field in _asked_fields(task, entity)
        if field.kind in NUMBERS and None not in {one[field.name], other[field.name]}
    }
    wanted = {Decimal(each) for each in apart if each} | {
        Decimal(each) / 100 for each in apart if each
    }
    for one in chunks:
        if _COMPARED.search(one.text) and wanted & _numbers(one.text):
            yield Leak.PRECOMPUTED_DIFFERENCE, repr(one.text[:80])


def _counts(
    setting: Setting, task: WorldTask, answer: str, chunks: Sequence[Chunk]
) -> Iterator[tuple[Leak, str]]:
    number = read_number(answer)
    if number is None or task.answer_kind != "computed":
        return
    counted = [word for entity in setting.world.entities for word in (entity.one, entity.many)]
    titles = {title for entity in setting.world.entities for title in setting.titles(entity)}
    held = {str(value) for rows in setting.rows.values() for row in rows for value in row.values()}
    last = max((at for at, one in enumerate(chunks) if one.text in titles), default=len(chunks))
    for at, one in enumerate(chunks):
        is_count = _COUNTED.search(one.text) or any(has_words(one.text, word) for word in counted)
        if (
            one.text not in held
            and is_count
            and number in _numbers(one.text)
            and ": " not in one.text
        ):
            leak = Leak.LIST_ENDS_WITH_COUNT if at > last else Leak.COUNT_SHOWN
            yield leak, repr(one.text[:80])


def _keys(task: WorldTask, answer: str, chunks: Sequence[Chunk]) -> Iterator[tuple[Leak, str]]:
    wanted = {word for word in _plain_words(task.instruction) if len(word) >= _LONGER}
    for key, value in itertools.pairwise(chunks):
        shared = wanted & set(_plain_words(key.text))
        if len(shared) >= max(_KEY_WORDS, _KEY_SHARE * len(wanted)) and has_words(
            value.text, answer
        ):
            yield Leak.LOOKUP_TABLE, repr(key.text[:80])


def _begins(address: str) -> bool:
    """Return whether a URL shows a list from its start, or a calendar as it opens, unsorted."""
    return not {"page", "sort", "month"} & parse_qs(urlsplit(address).query).keys()


def _orders(setting: Setting, task: WorldTask, page: PageReader) -> Iterator[tuple[Leak, str]]:
    """Yield leaks by the order of a list."""
    answer = _answer(task)
    if answer is None or task.answer_kind != "computed":
        return
    for entity in setting.world.entities:
        found = (re.fullmatch(rf"/{entity.name}/(\d+)", link) for link in page.links)
        ids = [int(one[1]) for one in found if one is not None]
        rows = {each["id"]: each for each in setting.rows_of(entity)}
        listed = [rows[each] for each in ids if each in rows]
        if len(listed) < _SORTED_ROWS or normalise(setting.title(entity, listed[0])) != normalise(
            answer
        ):
            continue
        rest = ids[1:]
        if rest == sorted(rest) and ids[0] > rest[0]:
            yield Leak.PINNED_ANSWER, f"{answer!r} stands before the others"
        for field in _asked_fields(task, entity):
            values = [row[field.name] for row in listed]
            if field.kind in NUMBERS and None not in values:
                ranks = [rank(value) for value in values]
                if len(set(ranks)) > _SORTED_ROWS // 2 and ranks in (
                    sorted(ranks),
                    sorted(ranks, reverse=True),
                ):
                    yield Leak.SORT_PUTS_ANSWER_FIRST, f"goes by {field.label}"


def shortcut_answers(
    setting: Setting, instruction: str, told: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield answers that need no look at the row in question, each with its origin.

    `told` is what the instruction says of pages, in quotation marks or not.
    """
    stated = plain_part(instruction)
    quoted = (*_QUOTED.findall(stated), *(value for value in told if has_words(stated, value)))
    for value in dict.fromkeys((instruction, *quoted)):
        if value != IMPOSSIBLE:
            yield "the instruction's own words", value
    for entity in setting.world.entities:
        rows = setting.rows_of(entity)
        said = any(has_words(instruction, word) for word in (entity.one, entity.many))
        if not rows or not said:
            continue
        yield "the first row", setting.title(entity, rows[0])
        for field in entity.fields[1:]:
            if _has_field(instruction, field) and field.kind in {
                *NUMBERS,
                Kind.CHOICE,
                Kind.TAGS,
                Kind.TEXT,
                Kind.LINK,
            }:
                yield "the first row", setting.fact(entity, field, rows[0])
                shown = Counter(setting.fact(entity, field, row) for row in rows)
                yield "the most frequent value", shown.most_common(1)[0][0]


def shortcut_that_pays(setting: Setting, task: WorldTask) -> str:
    """Return the first shortcut that a task's expectation accepts; empty: none."""
    expected = task.expect.answer
    changes = (*task.expect.added, *task.expect.changed, *task.expect.removed, *task.expect.values)
    if expected is None or changes or answer_matches(expected, IMPOSSIBLE):
        return (
            ""  # that a task cannot be done is claimed in one word: what counts is to have looked
        )
    paid = (
        f"{how}: {said!r}"
        for how, said in shortcut_answers(setting, task.instruction, _page_texts(task))
        if answer_matches(expected, said)
    )
    return next(paid, "")


def _page_texts(task: WorldTask) -> list[str]:
    """Return what a task's goal says of pages, word for word as they show it."""
    return list(dict.fromkeys(_QUOTED.findall(task.told or task.instruction)))


def _answer(task: WorldTask) -> str | None:
    last = task.reference[-1]
    said = last.text if last.do is Do.ANSWER else None
    return said if said and task.expect.answer is not None else None


def _rows_named(setting: Setting, title: str) -> list[tuple[Entity, Row]]:
    return [
        (entity, row)
        for entity in setting.world.entities
        for row in setting.rows_of(entity)
        if setting.title(entity, row) == title
    ]


def _asked_fields(task: WorldTask, entity: Entity) -> list[DataField]:
    """Return the fields that an instruction names."""
    return [field for field in entity.fields if _has_field(task.instruction, field)]


def _has_field(instruction: str, field: DataField) -> bool:
    """Return whether an instruction names a field, as pages or people do."""
    return any(has_words(instruction, name) for name in (field.label, *field.said))


def _numbers(text: str) -> set[Decimal]:
    found = (read_number(one.rstrip(".,")) for one in _NUMBER.findall(_TIME.sub(" ", text)))
    return {one for one in found if one is not None}


def _plain_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
