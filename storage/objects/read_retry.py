"""Retries of reads that a broken connection cut short, where Delta's client does not retry.

That client retries when a store answers with an error, but gives up when a response breaks off.
Reading changes nothing, so the read is simply repeated here. The call blocks: every reader runs in
a thread.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

from deltalake.exceptions import DeltaError

from schemas.backoff import Backoff
from storage.objects.error_messages import passes

T = TypeVar("T")

_BACKOFF = Backoff(first_seconds=0.05, max_seconds=3.2, tries=8)


def retry_read(read: Callable[[], T]) -> T:
    """Return what `read` returns, repeating it while it fails in a way that may pass."""
    for pause in _BACKOFF.pauses():
        try:
            return read()
        except (DeltaError, OSError) as error:
            if pause is None or not passes(error):
                raise
        threading.Event().wait(pause)
    raise AssertionError("the last try returns or raises")
