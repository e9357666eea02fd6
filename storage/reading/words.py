"""The words of all episodes, to be searched: goals, thoughts, answers and what pages showed.

SQLite's full-text index FTS5 (https://www.sqlite.org/fts5.html), which keeps the index alone and no text. Its rows are
pieces of episodes, as the tables have them: a piece's number says which episode it is of. Letters of scripts that do not
part words are words of their own, so that any part of such a text is found.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic_core import from_json

from schemas.errors import BadConfig
from schemas.tables.tables import Row
from storage.reading.row_files import RowFiles, stretches

FIELDS = ("goal", "thought", "answer", "page")
"""What is searched."""

_PIECES = 1 << 20
"""Pieces that an episode may have."""

_MAX_TEXT = 65_536
"""Characters of a piece that are searched."""

_UNPARTED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
_WORD = re.compile(r"\w+")

_COLUMNS = {
    "steps": ("episode_id", "step", "thought", "note", "title", "result_text"),
    "observations": ("episode_id", "step", "elements", "sights"),
}

_MAKE = """
create virtual table if not exists words using fts5(
  goal, thought, answer, page, content='', tokenize="unicode61 remove_diacritics 2");
create table if not exists done (stage text primary key, batch integer not null);
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """The words of a part of an episode."""

    episode: int
    """Its number among the heads."""
    goal: str = ""
    thought: str = ""
    answer: str = ""
    page: str = ""


class Words:
    """The index in a file, which one process writes and others read meanwhile."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute(
            "pragma synchronous = off"
        )  # what a crash of the machine tears is made anew
        self._db.executescript(_MAKE)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def done(self, stage: str) -> int:
        """Return how many batches of a stage are in."""
        found = self._db.execute("select batch from done where stage = ?", (stage,)).fetchone()
        return 0 if found is None else int(found[0])

    def add(self, stage: str, batch: int, pieces: Iterable[Piece]) -> None:
        """Add the pieces of a batch, whose number counts from 0 in its stage; all of it or nothing is in."""
        numbered = [
            (one.episode * _PIECES + _stage(stage) * (_PIECES // 4) + batch % (_PIECES // 4), one)
            for one in pieces
        ]
        with self._db:
            self._db.executemany(
                "insert into words (rowid, goal, thought, answer, page) values (?, ?, ?, ?, ?)",
                (
                    (row, *(_part(getattr(one, name)[:_MAX_TEXT]) for name in FIELDS))
                    for row, one in numbered
                ),
            )
            self._db.execute(
                "insert into done values (?, ?) on conflict (stage) do update set batch = excluded.batch",
                (stage, batch + 1),
            )

    def find(self, text: str, fields: Sequence[str] = FIELDS) -> list[int]:
        """Return the numbers of the episodes with all words of `text`, in order; the last word may be begun only.

        Raises:
            BadConfig: it has no word.
        """
        query = _query(text)
        if query is None:
            raise BadConfig(f"'{text[:80]}': expected a word to look for")
        if set(fields) != set(FIELDS):
            query = f"{{{' '.join(fields)}}} : ({query})"
        rows = self._db.execute(
            f"select distinct rowid / {_PIECES} from words where words match ? order by 1",  # noqa: S608
            (query,),
        )
        return [int(row[0]) for row in rows]


def _stage(name: str) -> int:
    return ("heads", *_COLUMNS).index(name)


def _part(text: str) -> str:
    return _UNPARTED.sub(r" \1 ", text)


def _query(text: str) -> str | None:
    """Return FTS5's query for all words of a text; None without a word."""
    parts = []
    for given in text.split():
        tokens = _WORD.findall(_part(given))
        if tokens:
            parts.append('"' + " ".join(tokens) + '"')
    if not parts:
        return None
    last = _WORD.findall(_part(text))[-1]
    begun = "" if _UNPARTED.fullmatch(last) else " *"
    return " AND ".join([*parts[:-1], parts[-1] + begun])


def text_batches(files: RowFiles, table: str, numbers: dict[str, int]) -> Iterator[list[Piece]]:
    """Yield the pieces of a table's rows, batch by batch, in an order that never changes; this blocks.

    `numbers` are those of the episodes by id; rows of others are left out.

    Raises:
        Damaged: a file cannot be read.
    """
    make = _of_steps if table == "steps" else _of_pages
    for stretch in stretches(files):
        columns = [name for name in _COLUMNS[table] if name in stretch.columns]
        for batch in stretch.read(columns):
            found: dict[int, list[Row]] = {}
            for row in batch.to_pylist():
                number = numbers.get(row["episode_id"])
                if number is not None:
                    found.setdefault(number, []).append(row)
            yield [make(number, rows) for number, rows in found.items()]


def _of_steps(number: int, rows: Sequence[Row]) -> Piece:
    thoughts = dict.fromkeys(
        text for row in rows for text in (row.get("thought"), row.get("note")) if text
    )
    shown = dict.fromkeys(
        text for row in rows for text in (row.get("title"), row.get("result_text")) if text
    )
    return Piece(number, thought="\n".join(thoughts), page="\n".join(shown))


def _of_pages(number: int, rows: Sequence[Row]) -> Piece:
    texts: dict[str, None] = {}
    for row in rows:
        for name in ("elements", "sights"):
            texts |= dict.fromkeys(_texts(row.get(name) or "[]"))
    return Piece(number, page="\n".join(texts))


def _texts(told: str) -> Iterator[str]:
    """Yield the texts of the elements or sights in a column; none of one that is torn, which an audit names."""
    try:
        listed = from_json(told)
    except ValueError:
        return
    for one in listed if isinstance(listed, list) else ():
        for key in ("name", "text", "value"):
            text = one.get(key) if isinstance(one, dict) else None
            if isinstance(text, str) and text:
                yield text
