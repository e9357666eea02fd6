"""Discovers a server's model, product and limits before the first request.

The list of models is OpenAI's own. Each product reports its name, version and context length in its own
way; they are None if none of these ways works. A server that cannot be used is refused with the finding and
the remedy.
"""

import json
from collections.abc import Sequence

from pydantic import JsonValue

from generators.engine.client.endpoint_keys import API_KEY_VARIABLE, key_variable
from generators.engine.client.response import error_message, one_line
from generators.engine.client.retry_policy import StatusMeaning, status_meaning
from generators.engine.client.transport import (
    URLS_KEY,
    IncompleteResponse,
    ResponseTooLarge,
    Transport,
)
from generators.engine.protocol import EngineCard
from schemas.errors import NoEngine

_PRODUCTS = {
    "vllm": "vllm",
    "sglang": "sglang",
    "tensorrt_llm": "trtllm",
    "llamacpp": "llama.cpp",
    "stepmill": "scripted",
}
"""Products by the owner in the list of models."""

HEALTH = "/health"
"""The path of a server's health check, where it has one."""

_MODELS = "models"
_OK = 200

_UNKNOWN_KEY = frozenset({401, 403})


async def discover(transport: Transport, *, model: str | None, seconds: float) -> EngineCard:
    """Return the card of the server at the other end; with `model` None, of its only model.

    Raises:
        IncompleteResponse: it does not answer, or is not ready to.
        NoEngine: it answers, and does not serve the model.
    """
    listed = await _list_models(transport, seconds=seconds)
    entry = _model_entry(listed, model, transport.name)
    owner = str(entry.get("owned_by") or "").lower()
    product = _PRODUCTS.get(owner)
    version, context = await _version_and_context(transport, product, seconds=seconds)
    return EngineCard(
        model=one_line(str(entry["id"])),
        product=product,
        version=version,
        context_tokens=_count(entry.get("max_model_len")) or context,
        endpoints=(transport.name,),
    )


def merge_cards(cards: Sequence[EngineCard]) -> EngineCard:
    """Return the card of an engine whose endpoints gave these.

    Raises:
        NoEngine: they differ, so that an episode would depend on which one answers.
    """
    first = cards[0]
    for card in cards[1:]:
        if found := card_difference(first, card):
            raise NoEngine(
                f"endpoints disagree: {first.endpoints[0]} and {card.endpoints[0]} differ in "
                f"{found}; serve the same everywhere, or name only those that agree"
            )
    return first.model_copy(
        update={"endpoints": tuple(name for card in cards for name in card.endpoints)}
    )


def card_difference(one: EngineCard, other: EngineCard) -> str | None:
    """Return the first known property in which two cards differ, in words; None: they agree.

    Only properties on which a reply depends are compared.
    """
    pairs = (
        ("model", one.model, other.model),
        ("product", one.product, other.product),
        ("version", one.version, other.version),
        ("context length", one.context_tokens, other.context_tokens),
    )
    return next((f"{what} ({a} and {b})" for what, a, b in pairs if a and b and a != b), None)


async def _list_models(transport: Transport, *, seconds: float) -> list[dict[str, JsonValue]]:
    """Return the entries of the list of models."""
    try:
        answer = await transport.get("models", seconds=seconds)
    except ResponseTooLarge as error:
        raise NoEngine(f"{transport.name}/models: {error}") from error
    if not answer.ok:
        message = f"HTTP {answer.status}: {error_message(answer.body)}"
        if status_meaning(answer.status) is not StatusMeaning.REFUSED:
            raise IncompleteResponse(message, reached=True)
        if answer.status in _UNKNOWN_KEY:
            is_ours = transport.named_by == URLS_KEY
            message += (
                f"; the API key is missing or wrong: it is taken from {key_variable(transport.name)}"
                + (f", or from {API_KEY_VARIABLE} for an endpoint in {URLS_KEY}" if is_ours else "")
                + " in the environment of this program"
            )
        raise NoEngine(f"{transport.name}/models: {message}")
    data = _json_object(answer.body).get("data")
    entries = data if isinstance(data, list) else []
    models = [entry for entry in entries if isinstance(entry, dict) and entry.get("id")]
    if not models:
        raise NoEngine(
            f"{transport.name}/models lists no model; is it an OpenAI-compatible server?"
        )
    return models


def _model_entry(
    listed: Sequence[dict[str, JsonValue]], model: str | None, name: str
) -> dict[str, JsonValue]:
    served = [str(entry["id"]) for entry in listed]
    if model is None:
        if len(listed) > 1:
            raise NoEngine(f"{name} serves several models; name one: {', '.join(served)}")
        return listed[0]
    for entry in listed:
        if entry["id"] == model:
            return entry
    raise NoEngine(f"{name} does not serve the model '{model}' but {', '.join(served)}")


async def _version_and_context(
    transport: Transport, product: str | None, *, seconds: float
) -> tuple[str | None, int | None]:
    """Return the version and the context length, as far as the product reports them."""
    if product == "sglang":
        info = await _server_info(transport, "/get_server_info", seconds=seconds)
        return _text(info.get("version")), _count(info.get("context_length"))
    if product == "llama.cpp":
        info = await _server_info(transport, "/props", seconds=seconds)
        settings = info.get("default_generation_settings")
        context = settings.get("n_ctx") if isinstance(settings, dict) else None
        return _text(info.get("build_info")), _count(context)
    info = await _server_info(transport, "/version", seconds=seconds)
    return _text(info.get("version")), None


async def _server_info(transport: Transport, path: str, *, seconds: float) -> dict[str, JsonValue]:
    """Return the JSON object at `path`; empty if it is missing."""
    try:
        answer = await transport.get(path, seconds=seconds)
    except (IncompleteResponse, ResponseTooLarge):
        return {}
    return _json_object(answer.body) if answer.ok else {}


def _json_object(body: bytes) -> dict[str, JsonValue]:
    try:
        found: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: JsonValue) -> str | None:
    return one_line(value, 100) if isinstance(value, str) and value else None


def _count(value: JsonValue) -> int | None:
    return value if type(value) is int and 0 < value < 2**31 else None


async def find_probe_path(transport: Transport, *, seconds: float) -> str:
    """Return the path of a server's health check."""
    try:
        answer = await transport.get(HEALTH, seconds=seconds)
    except (IncompleteResponse, ResponseTooLarge):
        return _MODELS
    return HEALTH if answer.status == _OK else _MODELS
