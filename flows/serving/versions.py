"""How old the weights are that wrote an episode.

Whole numbers are subtracted; any other names are counted in the order in which they were first seen.
"""

from collections.abc import Iterable


class VersionLine:
    """The versions of one model's weights that were seen."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def note(self, versions: Iterable[str | None]) -> None:
        """Note versions that exist, the oldest first."""
        for one in versions:
            if one is not None:
                self._seen.setdefault(one, len(self._seen))

    @property
    def newest(self) -> str | None:
        """The newest one; None if none was seen."""
        return max(self._seen, key=self._place, default=None)

    def staleness(self, versions: Iterable[str], newest: str | None = None) -> int | None:
        """Return by how many versions the oldest of `versions` is behind `newest`; None: none of them is known.

        `newest` None: the newest one that was seen.
        """
        places = [self._place(one) for one in versions if one in self._seen]
        last = newest or self.newest
        return None if not places or last is None else self._place(last) - min(places)

    def _place(self, version: str) -> int:
        if all(one.isascii() and one.isdecimal() for one in self._seen):
            return int(version)
        return self._seen[version]
