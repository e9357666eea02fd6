"""The privileged view: the rendered document as a tree, read in one go.

It runs in the isolated world, where none of the page's variables and functions can be reached,
and it only asks: geometry, computed styles, attributes, the state of form controls.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from generators.browser.channel import Channel, DocumentGone
from generators.browser.protocol import Node
from schemas.errors import FailureKind, RolloutFailure


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
            return _node(tree)


def _node(tree: dict[str, Any]) -> Node:
    children = [_node(child) for child in tree.pop("children")]
    box, point, scroll = tree.pop("box"), tree.pop("point"), tree.pop("scroll")
    inner, words = tree.pop("inner"), tree.pop("words")
    return Node(
        **tree,
        box=(box[0], box[1], box[2], box[3]),
        point=(point[0], point[1]) if point else None,
        inner=(inner[0], inner[1]),
        scroll=(scroll[0], scroll[1], scroll[2], scroll[3]) if scroll else None,
        words=tuple((word, (at[0], at[1], at[2], at[3])) for word, at in words),
        children=children,
    )
