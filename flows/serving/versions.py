"""How old the weights are that wrote an episode.

Whole numbers are subtracted; any other names are counted in the order in which they were first seen.
"""

from collections.abc import Iterable


class VersionLine:
    """The versions of one model's weights that were seen."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._are_numbers = True
        self._highest: str | None = None

    def note(self, versions: Iterable[str | None]) -> None:
        """Note versions that exist, the oldest first."""
        for one in versions:
            if one is not None and one not in self._seen:
                self._seen[one] = len(self._seen)
                self._are_numbers = self._are_numbers and one.isascii() and one.isdecimal()
                if self._are_numbers and (self._highest is None or int(one) > int(self._highest)):
                    self._highest = one

    @property
    def newest(self) -> str | None:
        """The newest one; None if none was seen."""
        return self._highest if self._are_numbers else next(reversed(self._seen))

    def staleness(self, versions: Iterable[str], newest: str | None = None) -> int | None:
        """Return by how many versions the oldest of `versions` is behind `newest`; None: none of them is known.

        `newest` None: the newest one that was seen.
        """
        places = [self._place(one) for one in versions if one in self._seen]
        last = newest or self.newest
        return None if not places or last is None else self._place(last) - min(places)

    def _place(self, version: str) -> int:
        return int(version) if self._are_numbers else self._seen[version]
