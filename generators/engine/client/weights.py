"""Which weights write a reply, and for how long a server was paused meanwhile.

A trainer changes the weights of its engine while episodes go on. vLLM 0.32 says their version in `GET /weight_info`, and
whether it is paused in `GET /is_paused`, both in its development mode (`VLLM_SERVER_DEV_MODE=1`), which the trainer needs
as well. Its chat answers name no version, so one is asked before a request and after its reply; versions change only
while generation is paused. SGLang's chat answers name the versions themselves, with the tokens that each wrote.

Source: vLLM 0.32.0, `entrypoints/rl/online/api_router.py`, `v1/engine/core.py`; SGLang 0.5.23, `utils/weight_versions.py`.
"""

import asyncio
import json

from pydantic import JsonValue

from generators.engine.client.transport import IncompleteResponse, ResponseTooLarge, Transport
from schemas.episodes.call import WeightsSpan

WEIGHT_INFO = "/weight_info"
"""Where vLLM says the version, beside the API's base."""

IS_PAUSED = "/is_paused"
"""Where it says whether it is paused."""

UNNAMED = "default"
"""vLLM's version until a trainer names another."""

FRESH_SECONDS = 1.0
"""How long an answer counts as the version before a request; one that is older is asked for again."""

LOOK_SECONDS = 1.0
"""Between two looks whether a server is paused."""

_SECONDS = 5.0
_MAX_CHARS = 200


class WeightsWatch:
    """Asks one endpoint about its weights."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._told = True
        self._last: tuple[float, str | None] | None = None
        self.paused_seconds = 0.0
        """How long it has been paused while requests to it were under way, as far as it was looked at."""

    async def version(self) -> str | None:
        """Return the version of its weights now; None: it does not say, or nobody has named one."""
        found = await self._ask(WEIGHT_INFO)
        version = found.get("weight_version")
        named = isinstance(version, str) and version not in ("", UNNAMED)
        now = asyncio.get_running_loop().time()
        self._last = (now, str(version)[:_MAX_CHARS] if named else None)
        return self._last[1]

    async def version_before(self) -> str | None:
        """Return the version of its weights now, or that of a moment ago; None: it does not say."""
        now = asyncio.get_running_loop().time()
        if self._last is not None and now - self._last[0] < FRESH_SECONDS:
            return self._last[1]
        return await self.version()

    def forget(self) -> None:
        """Ask for the version again before the next request, because it may have changed."""
        self._last = None

    async def count_pauses(self, busy: asyncio.Event) -> None:
        """Count the time for which it is paused while `busy` is set; it never ends."""
        now = asyncio.get_running_loop().time
        while True:
            await busy.wait()
            since = now()
            await asyncio.sleep(LOOK_SECONDS)
            if self._told and busy.is_set():
                found = await self._ask(IS_PAUSED)
                if found.get("is_paused") is True:
                    self.paused_seconds += now() - since

    async def _ask(self, path: str) -> dict[str, JsonValue]:
        """Return the object at `path`; empty: there is none, or it did not come in time."""
        if not self._told:
            return {}
        try:
            answer = await self._transport.get(path, seconds=_SECONDS)
        except (IncompleteResponse, ResponseTooLarge):
            return {}
        if 400 <= answer.status < 500:  # noqa: PLR2004 - HTTP's own class
            self._told = False
        try:
            found: JsonValue = json.loads(answer.body) if answer.ok else None
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def spans_between(before: str | None, after: str | None) -> tuple[WeightsSpan, ...]:
    """Return which versions may have written a reply; empty: it is not known.

    Where the version changed meanwhile, the new one may have written all of a reply that waited for its turn, and nobody
    says from which token on.
    """
    if before is None or after is None:
        return ()
    versions = dict.fromkeys((before, after))
    return tuple(WeightsSpan(version=version) for version in versions)


def read_spans(body: dict[str, JsonValue], choice: dict[str, JsonValue]) -> tuple[WeightsSpan, ...]:
    """Return the versions that a chat answer names, with their tokens; empty: it names none."""
    metadata = body.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    spans = choice.get("weight_versions", named.get("weight_versions"))
    if isinstance(spans, list) and spans:
        read = [_read_span(one) for one in spans]
        return tuple(one for one in read if one is not None) if all(read) else ()
    version = named.get("weight_version")
    return (
        (WeightsSpan(version=version[:_MAX_CHARS]),) if isinstance(version, str) and version else ()
    )


def _read_span(value: JsonValue) -> WeightsSpan | None:
    if not isinstance(value, dict):
        return None
    version, start, end = (value.get(name) for name in ("version", "start", "end"))
    if not isinstance(version, str) or type(start) is not int or type(end) is not int:
        return None
    if not 0 <= start <= end < 2**31:
        return None
    return WeightsSpan(version=version[:_MAX_CHARS], start=start, end=end)
