"""What a way out of a page is: the page that goes it, and what it takes for anybody to hear it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schemas.episodes.action import Action

NO_CORS = "{mode:'no-cors'}"
"""With it, a page may send a request to anybody without being asked first."""


@dataclass(frozen=True)
class Way:
    """One way out."""

    script: str = ""
    """What the page runs."""
    markup: str = ""
    """What is on it beside that."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What the page's answer has."""
    top: bool = False
    """The page of a window goes it, and no frame."""
    abroad: bool = False
    """It leads to no address of this machine: a packet on its way is all that there is to hear."""
    datagrams: bool = False
    """It goes past every server for requests, or nowhere on a machine that has the loopback alone."""
    direct: bool = False
    """The browser goes it only where it has no proxy."""
    withheld: bool = False
    """The browser of runs has nothing to go it with, so that it does not even ask."""
    long: bool = False
    """It takes a session long, or needs a page of its own: it is gone only where each way has one."""
    acts: Sequence[Action] = ()
    """What the policy does on the page, which goes it only then."""

    @property
    def is_counted(self) -> bool:
        """Whether the browser of runs asks for it, and is refused by name."""
        return not (self.datagrams or self.direct or self.withheld)

    @property
    def is_framed(self) -> bool:
        """Whether a frame can go it, beside others."""
        return not (self.top or self.acts)

    def page(self, named: Mapping[str, str]) -> str:
        """Return the page, which leads to the places in `named`."""
        run = f"<script>{{{self.script}}}</script>" if self.script else ""
        return _fill(f"<!DOCTYPE html><title>way</title><body>{self.markup}{run}", named)

    def answer_headers(self, named: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of its answer."""
        return {name: _fill(value, named) for name, value in self.headers.items()}


def worker_way(script: str, *, kind: str = "Worker", options: str = "{}") -> Way:
    """Return the way of a worker that runs `script`."""
    blob = f'new Blob([`{script}`],{{type:"text/javascript"}})'
    return Way(f"new {kind}(URL.createObjectURL({blob}),{options})")


def head_way(markup: str) -> Way:
    """Return the way of a page that has `markup` put into its head."""
    return Way(f"document.head.insertAdjacentHTML('beforeend',`{markup}`)")


def _fill(text: str, named: Mapping[str, str]) -> str:
    for name, value in named.items():
        text = text.replace(f"@{name}@", value)
    return text
