"""The process that makes the look-up of a place: `python -m flows.viewing.build ADDRESS`.

It is a process of its own, so that the window answers meanwhile and a large one leaves no memory behind. Each line that
it prints is the share that is done; when nobody reads them any more, it ends, and the next one goes on.
"""

import asyncio
import os
import sys

from flows.terminal import print_lines, print_note
from flows.viewing.opening import open_for_view
from schemas.errors import StepmillError
from storage.reading.lookup import cache_folder, lookup_folder, make_lookup


def main(address: str) -> int:
    """Make the look-up; return 0, or 1 after a line that says why it could not be made."""
    try:
        opened = asyncio.run(open_for_view(address, os.environ))
        folder = lookup_folder(cache_folder(os.environ), opened)
        make_lookup(opened, folder, _tell)
    except StepmillError as error:
        print_note(str(error))
        return 1
    return 0


def _tell(share: float) -> None:
    print_lines([f"{share:.4f}"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
