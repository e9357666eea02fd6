"""How Delta's own client, and Arrow after it, get at the files of a table.

A table in a folder needs nothing. One in a bucket needs credentials that change while a run goes
on, so nobody keeps them: whoever opens a table asks for the options, and opens it anew when they
have become others.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyarrow import fs


class Access(Protocol):
    """The way to the tables of one place."""

    def options(self) -> Mapping[str, str] | None:
        """Return what Delta's client is told; None where it needs to be told nothing.

        Raises:
            Unwritable: there are no credentials.
        """
        ...

    def filesystem(self, url: str, sizes: Mapping[str, int]) -> "fs.FileSystem":
        """Return the folder `url`, for reading; `sizes` are those of its files, by path."""
        ...


class FolderAccess:
    """The way to tables in a folder."""

    def options(self) -> None:
        """See `Access.options`."""
        return

    def filesystem(self, url: str, sizes: Mapping[str, int]) -> "fs.FileSystem":
        """See `Access.filesystem`."""
        from pyarrow import fs  # noqa: PLC0415 - heavy, and a place is named without it

        del sizes
        return fs.SubTreeFileSystem(url, fs.LocalFileSystem())


FOLDER = FolderAccess()
"""The same for every folder."""
