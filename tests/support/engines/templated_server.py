"""A server of the tiny model without the model: it renders prompts by a chat template, and says one thing.

It speaks as much of vLLM's API as the check of a template asks for, and can keep back each part of it.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from aiohttp import web
from pydantic import JsonValue
from support.checkpoints.rendering import prompt_ids, tiny_tokenizer

from schemas.base import JsonObject, Record


class Manners(Record):
    """What the server shows, and how it replies."""

    template: str
    """Its chat template."""
    shows_text: bool = True
    """It has `/tokenize`."""
    shows_ids: bool = True
    """It returns the ids of a prompt's tokens."""
    thinks: bool = False
    """It writes a thought into an opened thinking block, and no JSON."""
    parses_reasoning: bool = False
    """It keeps that thought apart from the reply."""
    sees: bool = True
    """It renders pictures at `/tokenize`."""


@contextlib.asynccontextmanager
async def templated_server(manners: Manners) -> AsyncIterator[str]:
    """Serve on a free port; yield the URL."""
    app = web.Application(client_max_size=2**24)
    server = _Server(manners)
    app.router.add_get("/v1/models", server.models)
    app.router.add_get("/version", server.version)
    app.router.add_get("/health", server.health)
    app.router.add_post("/v1/chat/completions", server.chat)
    if manners.shows_text:
        app.router.add_post("/tokenize", server.tokenize)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


class _Server:
    def __init__(self, manners: Manners) -> None:
        self._manners = manners

    async def models(self, _: web.Request) -> web.Response:
        model: JsonObject = {"id": "tiny", "owned_by": "vllm", "max_model_len": 16_384}
        return web.json_response({"data": [model]})

    async def version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": "0.32.0"})

    async def health(self, _: web.Request) -> web.Response:
        return web.Response()

    async def tokenize(self, request: web.Request) -> web.Response:
        body = await request.json()
        if "image_url" in str(body) and not self._manners.sees:
            return web.json_response({"error": {"message": "no pictures here"}}, status=400)
        ids = self._ids(body, suffix=body["add_generation_prompt"])
        strings: list[JsonValue] = [tiny_tokenizer().id_to_token(one) for one in ids]
        return web.json_response({"count": len(ids), "tokens": ids, "token_strs": strings})

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        ids = self._ids(body, suffix=True)
        message: JsonObject = {"role": "assistant", "content": '{"note": null'}
        if self._manners.thinks:
            message["content"] = "I see a page"
        if self._manners.parses_reasoning:
            message = {"role": "assistant", "content": None, "reasoning": message["content"]}
        answer: JsonObject = {
            "model": "tiny",
            "choices": [{"message": message, "finish_reason": "length", "token_ids": [70]}],
            "usage": {"prompt_tokens": len(ids), "completion_tokens": 1},
        }
        if self._manners.shows_ids and body.get("return_token_ids"):
            answer["prompt_token_ids"] = [*ids]
        return web.json_response(answer)

    def _ids(self, body: dict[str, Any], *, suffix: bool) -> list[int]:
        messages = [
            {"role": message["role"], "content": _content(message["content"])}
            for message in body["messages"]
        ]
        return prompt_ids(messages, self._manners.template, suffix=suffix)


def _content(content: str | list[dict[str, Any]]) -> JsonValue:
    if isinstance(content, str):
        return content
    return [{"type": "image"} if one["type"] == "image_url" else one for one in content]
