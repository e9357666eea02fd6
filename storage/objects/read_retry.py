"""Reading again what a broken connection cut short, where Delta's client does not.

That client asks again when a store answers with an error, and gives up when an answer breaks off.
Reading changes nothing, so it is done again here, blocking, as whoever reads is in a thread.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

from deltalake.exceptions import DeltaError

from storage.objects.error_messages import passes

T = TypeVar("T")

_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
"""Seconds before each further try."""


def patiently(read: Callable[[], T]) -> T:
    """Return what `read` returns, asked again if it fails in a way that passes."""
    for pause in _PAUSES:
        try:
            return read()
        except (DeltaError, OSError) as error:
            if not passes(error):
                raise
        threading.Event().wait(pause)
    return read()
