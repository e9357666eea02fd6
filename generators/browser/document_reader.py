"""The privileged view of a page: its rendered document as a tree, read in one call."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from generators.browser import untrusted_text
from generators.browser.page_calls import Channel, DocumentGone
from generators.browser.protocol import Node
from schemas.errors import FailureKind, RolloutFailure, boundary


class DocumentReader:
    """A `PageReader`: reads the rendered document of a tab as a tree, in one call.

    Our script runs in the isolated world, where it cannot reach the page's variables and functions, and
    it changes nothing: it reads geometry, computed styles, attributes and the state of form controls.
    """

    def __init__(
        self, channel: Channel, *, slot: Callable[[], AbstractAsyncContextManager[None]]
    ) -> None:
        """`slot` holds one of the session's page slots."""
        self._channel = channel
        self._slot = slot

    async def read(self) -> Node:
        """Return the root of the document.

        Raises:
            RolloutFailure: the browser does not answer.
        """
        async with self._slot():
            try:
                tree = await self._channel.call("stepmill.read()")
            except DocumentGone as error:
                raise RolloutFailure(
                    FailureKind.PAGE, "the page was replaced twice during the call"
                ) from error
        with boundary(FailureKind.PAGE, "reading the page"):
            return untrusted_text.document(tree)
