"""How unlike pages are by the shape of their DOM."""

from collections.abc import Sequence
from html.parser import HTMLParser

_JACCARD, _SHINGLE = 0.5, 3


class _Paths(HTMLParser):
    """Reads the tag path of each element of a page, in their order."""

    _VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.paths: list[str] = []
        self._open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.paths.append("/".join((*self._open, tag)))
        if tag not in self._VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass


def shingles(page: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of a page's tag paths."""
    paths = _Paths(page).paths
    return frozenset(tuple(paths[at : at + _SHINGLE]) for at in range(len(paths)))


def clusters(pages: Sequence[frozenset[tuple[str, ...]]]) -> int:
    """Return the number of clusters of pages, each of those that are like its first."""
    firsts = list[frozenset[tuple[str, ...]]]()
    for page in pages:
        alike = (len(page & first) / len(page | first) for first in firsts)
        if not any(share >= _JACCARD for share in alike):
            firsts.append(page)
    return len(firsts)
