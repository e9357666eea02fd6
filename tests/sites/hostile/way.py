"""What a way out of a page is: the page that goes it, and what it takes for anybody to hear it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


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
    """Only the page of a window can go it, and no frame."""
    abroad: bool = False
    """It leads to no address of this machine: a packet on its way is all that there is to hear."""
    datagrams: bool = False
    """It goes past every server for requests, or nowhere on a machine that has the loopback alone."""
    direct: bool = False
    """The browser goes it only where it has no proxy."""

    def page(self, named: Mapping[str, str]) -> str:
        """Return the page, which leads to the places in `named`."""
        run = f"<script>{{{self.script}}}</script>" if self.script else ""
        return _fill(f"<!DOCTYPE html><title>way</title><body>{self.markup}{run}", named)

    def answer_headers(self, named: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of its answer."""
        return {name: _fill(value, named) for name, value in self.headers.items()}


def _fill(text: str, named: Mapping[str, str]) -> str:
    for name, value in named.items():
        text = text.replace(f"@{name}@", value)
    return text
