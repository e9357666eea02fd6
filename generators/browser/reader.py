"""The privileged view: the rendered document as a tree, read in one go.

It runs in the isolated world, where none of the page's variables and functions can be reached,
and it only asks: geometry, computed styles, attributes, the state of form controls. Whatever text
it brings is cut (see `schemas/truncation.py`), as a skill may quote it.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from generators.browser.channel import Channel, DocumentGone
from generators.browser.protocol import Node
from schemas.errors import FailureKind, RolloutFailure, boundary
from schemas.truncation import GOAL_BYTES, LABEL_BYTES, truncate


class DocumentReader:
    """A `PageReader` over one page."""

    def __init__(
        self, channel: Channel, *, slot: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        """`slot` holds one of the session's page slots."""
        self._channel = channel
        self._slot = slot

    async def read(self) -> Node:
        """Return the document's root as it stands."""
        async with self._slot():
            try:
                tree = await self._channel.call("stepmill.read()")
            except DocumentGone as error:
                raise RolloutFailure(
                    FailureKind.PAGE, "the page is replaced all the time"
                ) from error
        with boundary(FailureKind.PAGE, "reading the page"):
            return node_of(tree)


def node_of(tree: dict[str, Any]) -> Node:
    """Return what `stepmill.read` said of an element and of all below it."""
    children = [node_of(child) for child in tree.pop("children")]
    box, point, scroll = tree.pop("box"), tree.pop("point"), tree.pop("scroll")
    inner, words = tree.pop("inner"), tree.pop("words")
    return Node(
        **{name: _truncate_texts(value) for name, value in tree.items()},
        box=(box[0], box[1], box[2], box[3]),
        point=(point[0], point[1]) if point else None,
        inner=(inner[0], inner[1]),
        scroll=(scroll[0], scroll[1], scroll[2], scroll[3]) if scroll else None,
        words=tuple(
            (truncate(word, LABEL_BYTES), (at[0], at[1], at[2], at[3])) for word, at in words
        ),
        children=children,
    )


def _truncate_texts(value: Any) -> Any:
    """Return the text, or the texts by name, of an element, cut; anything else as it is."""
    if isinstance(value, str):
        return truncate(value, GOAL_BYTES)
    if isinstance(value, dict):
        return {
            truncate(name, LABEL_BYTES): truncate(each, GOAL_BYTES) for name, each in value.items()
        }
    return value
