"""The words of all episodes, to be searched: goals, thoughts, answers and what pages showed.

SQLite's full-text index FTS5 (https://www.sqlite.org/fts5.html), which keeps the index alone and no text. Its rows are
pieces of episodes, as the tables have them: a piece's number says which episode it is of. Of pages it keeps which words
there are and not where, which halves it. Letters of scripts that do not part words are words of their own, so that any
part of such a text is found.
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from pydantic_core import from_json

from schemas.errors import BadConfig
from schemas.tables.tables import Row
from storage.reading.row_files import RowFiles, stretches

FIELDS = ("goal", "thought", "answer", "page")
"""What is searched."""

_PIECES = 1 << 20
"""Pieces that an episode may have."""

_CACHE_KB = 65_536
_HASH_BYTES = 1 << 25
"""What is indexed in memory before it becomes a part of the index on the disk."""

_MAX_TEXT = 65_536
"""Characters of a piece that are searched."""

_UNPARTED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
_WORD = re.compile(r"\w+")

_TEXT = re.compile(r'"(?:name|text|value)":"((?:[^"\\]|\\.)+)"')
"""A text of an element or a sight in the canonical JSON of `observations`."""

_COLUMNS = {
    "steps": ("episode_id", "step", "thought", "note", "title", "result_text"),
    "observations": ("episode_id", "step", "elements", "sights"),
}

_MAKE = """
create virtual table if not exists words using fts5(
  goal, thought, answer, content='', tokenize="unicode61 remove_diacritics 2");
create virtual table if not exists pages using fts5(
  page, content='', detail=none, tokenize="unicode61 remove_diacritics 2");
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
        self._lock = Lock()
        self._db.execute("pragma journal_mode = wal")
        # What a crash of the machine tears is made anew.
        self._db.execute("pragma synchronous = off")
        self._db.execute(f"pragma cache_size = -{_CACHE_KB}")
        self._db.executescript(_MAKE)
        for table in ("words", "pages"):  # few large parts, which are merged seldom
            self._db.execute(
                f"insert into {table}({table}, rank) values ('hashsize', {_HASH_BYTES})"  # noqa: S608 - names of ours
            )
        self._db.commit()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def done(self, stage: str) -> int:
        """Return how many batches of a stage are in."""
        found = self._db.execute("select batch from done where stage = ?", (stage,)).fetchone()
        return 0 if found is None else int(found[0])

    def add(self, stage: str, batches: Sequence[tuple[int, Sequence[Piece]]]) -> None:
        """Add the pieces of some batches, whose numbers count from 0 in their stage; all of it or nothing is in."""
        numbered = [
            (one.episode * _PIECES + _stage(stage) * (_PIECES // 4) + batch % (_PIECES // 4), one)
            for batch, pieces in batches
            for one in pieces
        ]
        rows = [
            (row, *(_part(getattr(one, name)[:_MAX_TEXT]) for name in FIELDS))
            for row, one in numbered
        ]
        with self._db:
            self._db.executemany(
                "insert into words (rowid, goal, thought, answer) values (?, ?, ?, ?)",
                (row[:4] for row in rows if any(row[1:4])),
            )
            self._db.executemany(
                "insert into pages (rowid, page) values (?, ?)",
                ((row[0], row[4]) for row in rows if row[4]),
            )
            self._db.execute(
                "insert into done values (?, ?) on conflict (stage) do update set batch = excluded.batch",
                (stage, batches[-1][0] + 1),
            )

    def find(self, text: str, fields: Sequence[str] = FIELDS) -> list[int]:
        """Return the numbers of the episodes with all words of `text`, in order; the last word may be begun only.

        Raises:
            BadConfig: it has no word.
        """
        terms = [_WORD.findall(_part(given)) for given in text.split()]
        terms = [term for term in terms if term]
        if not terms:
            raise BadConfig(f"'{text[:80]}': expected a word to look for")
        begun = "" if _UNPARTED.fullmatch(terms[-1][-1]) else " *"
        found: set[int] | None = None
        for place, term in enumerate(terms):
            more = self._find(term, fields, begun if place == len(terms) - 1 else "")
            found = more if found is None else found & more
        return sorted(found or ())

    def _find(self, term: Sequence[str], fields: Sequence[str], begun: str) -> set[int]:
        """Return the episodes with a word, or with several that stand together; `begun` says that the last may go on."""
        named = [name for name in fields if name != "page"]
        asked = []
        if named:
            asked.append(("words", f'{{{" ".join(named)}}} : "{" ".join(term)}"{begun}'))
        if "page" in fields:  # without places, all of them are looked for
            asked.append(("pages", " AND ".join(f'"{word}"' for word in term) + begun))
        found = set[int]()
        with self._lock:
            for table, query in asked:
                rows = self._db.execute(
                    f"select distinct rowid / {_PIECES} from {table} where {table} match ?",  # noqa: S608 - names of ours
                    (query,),
                )
                found.update(row[0] for row in rows)
        return found


def _stage(name: str) -> int:
    return ("heads", *_COLUMNS).index(name)


def _part(text: str) -> str:
    return _UNPARTED.sub(r" \1 ", text)


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
            texts |= dict.fromkeys(_TEXT.findall(row.get(name) or ""))
    return Piece(number, page="\n".join(map(_unescaped_text, texts)))


def _unescaped_text(text: str) -> str:
    """Return the text that JSON writes so; one that is torn, which an audit names, as it stands."""
    if "\\" not in text:
        return text
    try:
        found = from_json(f'"{text}"')
    except ValueError:
        return text
    return str(found)
