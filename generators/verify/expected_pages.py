"""What a task expects, held against pages: their addresses and their texts."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from schemas.episodes.episode import Episode, Step
from schemas.tasks.expectation import Expectation, RowRule


def needed_texts(expect: Expectation | None, episode: Episode) -> list[str]:
    """Return the texts that the expected answer follows from, or that it consists of."""
    if expect is None:
        return []
    answers = [episode.answer] if expect.answer is not None and episode.answer else []
    return [*expect.facts, *expect.looked, *answers]


def is_about(expect: Expectation | None, step: Step) -> bool:
    """Return whether the address of a page names a table that the task expects to change."""
    if expect is None:
        return False
    rules = (*expect.added, *expect.changed, *expect.removed)
    return any(part.startswith(_table(rule)) for rule in rules for part in _parts(step))


def is_other_row(expect: Expectation | None, step: Step) -> bool:
    """Return whether a page is that of a row beside the one of its table that the task expects to change."""
    *_, table, row = ("", *_parts(step))
    if expect is None or not row.isdigit():
        return False
    rules = [one for one in (*expect.changed, *expect.removed) if _table(one) == table]
    keys = {key for rule in rules for key in _keys(rule)}
    return len(rules) == 1 and bool(keys) and row not in keys


def opens_only_other(expect: Expectation | None, steps: Sequence[Step], step: Step) -> bool:
    """Return whether a step opened the only row beside the expected one that was opened; more are a look through."""
    opened = {one.page.url for one in steps[1:] if is_other_row(expect, one)}
    return opened == {steps[step.step + 1].page.url}


def _keys(rule: RowRule) -> Iterator[str]:
    for key in (rule.key, rule.where.get("id")):
        if isinstance(key, int | str):
            yield str(key)


def _table(rule: RowRule) -> str:
    return rule.table.rsplit("/", 1)[-1]


def _parts(step: Step) -> list[str]:
    return urlsplit(step.page.url).path.split("/")
