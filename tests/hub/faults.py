"""What can go wrong between a client and the Hub, decided in advance.

A fault waits for requests of a method to paths that hold a word, lets some of them by, and then
strikes so often: it answers with a status, cuts the connection, or tells somebody. It strikes
before the request was carried out, or after: then it was, and its answer is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Fault:
    word: str
    """Of the path, as `/commit/`."""
    method: str = "*"
    """Of the request."""
    body: str = ""
    """Stands in the request's body."""
    status: int | None = None
    """The answer's; None: the connection is cut."""
    headers: tuple[tuple[str, str], ...] = ()
    """Of the answer."""
    spare: int = 0
    """How many requests it lets by first."""
    times: int = 1
    """How often it strikes."""
    after: bool = False
    """The request is carried out."""
    call: Callable[[], None] | None = None
    """Called when it strikes."""
    harmless: bool = False
    """Nothing goes wrong: it only calls, and the request is answered as ever."""

    def strikes(self, method: str, path: str, body: bytes) -> bool:
        """Tell whether it strikes this request."""
        fits = self.method in ("*", method) and self.word in path and self.body.encode() in body
        if not fits or not self.times:
            return False
        if self.spare:
            self.spare -= 1
            return False
        self.times -= 1
        return True
