"""A client that streams, to time the first token; it asks once and counts failures."""

import asyncio
import json
from typing import Self

import aiohttp
from pydantic import JsonValue

from bench.loading.figures import Answer
from generators.engine.client.request_body import RequestBody, ServerQuirks
from generators.engine.client.response import error_message
from generators.engine.client.urls import base_url
from generators.engine.protocol import EnginePrompt, Sampling
from schemas.base import JsonObject

STREAMED: JsonObject = {"stream": True, "stream_options": {"include_usage": True}}
"""Fields of a request that is to be streamed with its usage."""

_OK = 200
_DATA = b"data:"
_DONE = b"[DONE]"
_MAX_ERROR_CHARS = 120


class StreamingClient:
    """Asks one endpoint; an async context manager."""

    def __init__(self, url: str, *, model: str, sampling: Sampling, api_key: str | None) -> None:
        self._url = base_url(url) + "/chat/completions"
        self._model = model
        self._sampling = sampling
        self._headers = {"Content-Type": "application/json"}
        if api_key is not None:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._http: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._http is not None:
            await self._http.close()

    async def ask(self, prompt: EnginePrompt, *, session: str) -> Answer:
        """Return the result of a request; an error is a result too."""
        body = RequestBody(prompt, self._sampling, model=self._model).encode(ServerQuirks())
        reply = _StreamedReply()
        try:
            await self._stream(body, session, reply)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            reply.error = type(error).__name__
        return reply.answer()

    async def _stream(self, body: bytes, session: str, reply: "_StreamedReply") -> None:
        if self._http is None:
            raise RuntimeError("the client is not open")
        headers = {**self._headers, "X-Session-Id": session}
        async with self._http.post(self._url, data=body, headers=headers) as response:
            if response.status != _OK:
                message = error_message(await response.read())
                reply.error = f"HTTP {response.status}: {message}"[:_MAX_ERROR_CHARS]
                return
            async for line in response.content:
                if line.startswith(_DATA):
                    reply.event(line[len(_DATA) :].strip())
        if not reply.done:
            reply.error = "the stream ended early"


class _StreamedReply:
    """What has arrived of one reply."""

    def __init__(self) -> None:
        self._begun = asyncio.get_running_loop().time()
        self._first: float | None = None
        self._pieces: list[str] = []
        self._usage: JsonObject = {}
        self.done = False
        self.error: str | None = None

    def event(self, data: bytes) -> None:
        if data == _DONE:
            self.done = True
            return
        event = json.loads(data)
        if event.get("error"):
            self.error = "an error in the stream"
        if isinstance(event.get("usage"), dict):
            self._usage = event["usage"]
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            piece = delta.get("content") or delta.get("reasoning_content") or ""
            if piece and self._first is None:
                self._first = asyncio.get_running_loop().time()
            self._pieces.append(piece)

    def answer(self) -> Answer:
        now = asyncio.get_running_loop().time()
        details = self._usage.get("prompt_tokens_details")
        return Answer(
            ended=now,
            total=now - self._begun,
            first=None if self._first is None else self._first - self._begun,
            prompt_tokens=_count(self._usage.get("prompt_tokens")),
            completion_tokens=_count(self._usage.get("completion_tokens")),
            cached_tokens=_count(
                details.get("cached_tokens") if isinstance(details, dict) else None
            ),
            text="".join(self._pieces),
            error=self.error,
        )


def _count(value: JsonValue) -> int | None:
    return value if isinstance(value, int) else None
