"""Whether a list was read before something was said that follows from all of it.

Of a list that an expectation names, each row must have been in a picture, or have been left out: by a search or a filter
that stands in the list's address. That counts only where the words of the search were in a picture of what it found, and
every row that the search and the filters leave. So a look at half of a list, at its first page or at another half is none.
"""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

from generators.verify.shown import Basis, Need, Shown
from generators.verify.thoughts import quote
from schemas.tasks.expectation import ReadList, ReadRow


def needs_of_list(
    step: int, read: ReadList, shown: Shown, addresses: Sequence[str]
) -> Iterator[Need]:
    """Yield a need for each row of a list that has to be read; `addresses` are those of the pages so far, by step."""
    pictures = Shown((), shown.pictures)
    found = {row.name: pictures.find(row.name) for row in read.rows}
    unseen = [row for row in read.rows if found[row.name] is None]
    whole = [
        narrowed
        for address in dict.fromkeys(addresses if unseen else ())
        if (narrowed := _parameters(address, read)) is not None
        and _is_seen(narrowed, read, unseen, _of_address(address, shown, addresses))
    ]
    for row in read.rows:
        is_left_out = any(not _shows(one, read, row) for one in whole)
        basis = found[row.name] or (Basis(None) if is_left_out else None)
        yield Need(step, f"{quote(row.name)} of the list that its end follows from", basis)


def _parameters(address: str, read: ReadList) -> dict[str, str] | None:
    """Return the parameters of a list's address; None: it is another page's."""
    parts = urlsplit(address)
    if read.path is not None and parts.path != read.path:
        return None
    return dict(parse_qsl(parts.query))


def _of_address(address: str, shown: Shown, addresses: Sequence[str]) -> Shown:
    """Return what was shown at an address."""
    return Shown((), tuple(one for one in shown.pictures if addresses[one.step] == address))


def _is_seen(
    narrowed: Mapping[str, str], read: ReadList, unseen: Sequence[ReadRow], pictures: Shown
) -> bool:
    """Return whether the words of a search were in its pictures, and all rows that it and the filters leave in any."""
    words = narrowed.get(read.search or "", "").strip()
    if words and pictures.find(words) is None:
        return False
    return not any(_shows(narrowed, read, row) for row in unseen)


def _shows(narrowed: Mapping[str, str], read: ReadList, row: ReadRow) -> bool:
    """Return whether a list, narrowed by the parameters of its address, has a row."""
    words = narrowed.get(read.search or "", "").strip().casefold()
    if words not in row.name.casefold():
        return False
    return all(narrowed[name] == value for name, value in row.values.items() if narrowed.get(name))
