"""What is announced and not written by anything is marked as reserved, with the reason."""

import re

from schemas.base import Record
from schemas.episodes.call import StructuredMode
from schemas.episodes.episode import Actor, PolicyKind, StopReason, ThoughtSource
from schemas.tables.tables import TABLES
from schemas.verdicts.verdict import Acceptance, Status
from storage.publish.card.columns import column_docs, member_docs

RESERVED_COLUMNS = {
    ("Call", "role"),
    ("Episode", "model_revision"),
    ("Acceptance", "assurance"),
    ("Acceptance", "judge_score"),
}
RESERVED_MEMBERS = {
    ("StopReason", "blocked"),
    ("StopReason", "cancelled"),
    ("Actor", "user"),
    ("ThoughtSource", "rewritten"),
}
REASON = re.compile(r"Reserved: \S.+\.", re.DOTALL)


def test_the_columns_that_nothing_writes_are_marked_and_no_others() -> None:
    records: list[type[Record]] = [*TABLES.values(), Acceptance]
    marked = {
        (record.__name__, name)
        for record in records
        for name, text in column_docs(record).items()
        if REASON.search(text)
    }

    assert marked == RESERVED_COLUMNS


def test_the_values_that_nothing_writes_are_marked_and_no_others() -> None:
    kinds: list[type] = [StopReason, Actor, PolicyKind, StructuredMode, ThoughtSource, Status]
    marked = {
        (kind.__name__, name)
        for kind in kinds
        for name, text in member_docs(kind).items()
        if REASON.search(text)
    }

    assert {(kind, name.lower()) for kind, name in marked} == RESERVED_MEMBERS
