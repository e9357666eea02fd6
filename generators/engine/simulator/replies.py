"""What a chat is answered with: a queued text, a target found on a picture, or seeded nonsense.

The first of these that applies: the text that a test queued for the session; a goal or thought in
other words where the prompt asks to rewrite one; JSON under the schema of the request; a call of one
of its tools; JSON under a schema that the system prompt holds; the form of the model family that the
prompt speaks of; a sentence. Faults of content alter it afterwards.

A queued text is used up once it was sent whole and unaltered. After a cut, a refusal, a client that
went away or a fault that alters the reply, the next request gets it.
"""

import asyncio
import hashlib
import json
import re
from array import array
from collections import deque
from dataclasses import dataclass, replace
from random import Random

from generators.engine.simulator.chat import ChatRequest
from generators.engine.simulator.coordinates import ImagePoint, image_point
from generators.engine.simulator.faults import FORBIDDEN, ActiveFaults, FaultKind
from generators.engine.simulator.options import Coordinates, SimulatorOptions
from generators.engine.simulator.pictures import PromptImage, colour_centre
from generators.engine.simulator.reply_targets import ReplyTargets
from generators.engine.simulator.reply_templates import find_schema, free_text, tool_arguments_name
from generators.engine.simulator.rewriter import rewrite, text_to_rewrite
from generators.engine.simulator.schema_sampler import SchemaSampler
from generators.engine.simulator.tokenizer import TokenizedPrompt
from schemas.base import JsonObject, canonical_json


class QueuedReplies:
    """Texts for the next requests of their sessions."""

    def __init__(self) -> None:
        self._texts: dict[str, deque[str]] = {}

    def put(self, session: str, text: str) -> int:
        """Put a text at the end of a session's queue; return how many wait."""
        queue = self._texts.setdefault(session, deque())
        queue.append(text)
        return len(queue)

    def take(self, session: str | None) -> str | None:
        """Return and remove the next queued text for the session; None if the queue is empty."""
        queue = self._texts.get(session) if session is not None else None
        return queue.popleft() if queue else None

    def put_back(self, session: str, text: str) -> None:
        """Put a text that was not sent at the front again."""
        self._texts.setdefault(session, deque()).appendleft(text)

    def clear(self, session: str) -> None:
        """Drop the texts that wait for a session."""
        self._texts.pop(session, None)

    @property
    def waiting(self) -> int:
        """Texts that wait, of all sessions."""
        return sum(map(len, self._texts.values()))


BEYOND = 1.5
"""How far outside a picture the fault `outside` points, in parts of it."""

_CUT = {FaultKind.TRUNCATED: "length", FaultKind.ABORTED: "abort"}
"""The finish reason of a reply that a fault breaks off."""

_COLOUR = re.compile(r"#([0-9a-fA-F]{6})\b")


@dataclass(frozen=True)
class GeneratedReply:
    """The content of a reply."""

    text: str
    """Every character of it, a tool call's too."""
    call: tuple[str, str] | None = None
    """A tool's name and its arguments as JSON, in place of text."""
    cut: str | None = None
    """The finish reason of a reply that is broken off; None: it ends by itself."""
    verbatim: bool = False
    """It is a queued text, unaltered."""


async def generate_reply(
    chat: ChatRequest,
    prompt: TokenizedPrompt,
    options: SimulatorOptions,
    *,
    faults: ActiveFaults,
    queued: str | None,
) -> GeneratedReply:
    """Return the reply to `chat`; `queued` is the text for its session, None if the queue was empty.

    Raises:
        HttpRefusal: the schema cannot be followed.
    """
    if queued is not None and faults.get(FaultKind.OUTSIDE, FaultKind.FORBIDDEN) is None:
        reply = GeneratedReply(queued)
    else:
        rng = Random(request_seed(chat, prompt, options))
        reply = _generate(chat, rng, await _targets(chat, options, faults))
    reply = _apply_faults(reply, chat, faults)
    verbatim = reply.text == queued and FaultKind.INVALID_UTF8 not in faults
    return replace(reply, verbatim=verbatim)


def request_seed(chat: ChatRequest, prompt: TokenizedPrompt, options: SimulatorOptions) -> int:
    """Return the seed of everything that is made up for a request."""
    fields = canonical_json([chat.schema, chat.tools, chat.seed, options.seed])
    digest = hashlib.blake2b(fields.encode("utf-8", "surrogatepass"), digest_size=8)
    digest.update(array("q", prompt.keys).tobytes())
    return int.from_bytes(digest.digest(), "big")


def is_blunder(chat: ChatRequest, prompt: TokenizedPrompt, options: SimulatorOptions) -> bool:
    """Return whether a request is answered with something made up although a reply was queued for it."""
    return Random(f"blunder {request_seed(chat, prompt, options)}").random() < options.blunders


async def _targets(
    chat: ChatRequest, options: SimulatorOptions, faults: ActiveFaults
) -> ReplyTargets:
    address = FORBIDDEN if FaultKind.FORBIDDEN in faults else None
    if not chat.images:
        return ReplyTargets(address=address)
    image, coordinates = chat.images[-1], options.coordinates

    def anywhere(rng: Random) -> ImagePoint:
        return image_point(coordinates, image.size, across=rng.random(), down=rng.random())

    if FaultKind.OUTSIDE in faults:
        beyond = image_point(coordinates, image.size, across=BEYOND, down=BEYOND)
        return ReplyTargets(anywhere, beyond, address, within_bounds=False)
    return ReplyTargets(anywhere, await _find_target(chat, image, coordinates), address)


async def _find_target(
    chat: ChatRequest, image: PromptImage, coordinates: Coordinates
) -> ImagePoint | None:
    """Return the middle of the last colour that the user's last text names, in the last picture."""
    colours = _COLOUR.findall(chat.last_user_text)
    if not colours:
        return None
    red, green, blue = bytes.fromhex(colours[-1])
    centre = await asyncio.to_thread(colour_centre, image, (red, green, blue))
    return centre and image_point(coordinates, image.size, across=centre[0], down=centre[1])


def _generate(chat: ChatRequest, rng: Random, targets: ReplyTargets) -> GeneratedReply:
    if (text := text_to_rewrite(chat.system_text, chat.last_user_text)) is not None:
        return GeneratedReply(rewrite(text, rng))
    if chat.schema is not None:
        return GeneratedReply(_sample_json(chat.schema, rng, targets))
    if chat.tools:
        return _tool_call_reply(chat.tools, rng, targets)
    if schema := find_schema(chat.system_text):
        return GeneratedReply(_sample_json(schema, rng, targets))
    return GeneratedReply(free_text(f"{chat.system_text}\n{chat.last_user_text}", rng, targets))


def _sample_json(schema: JsonObject, rng: Random, targets: ReplyTargets) -> str:
    value = SchemaSampler(schema, rng, targets).sample()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _tool_call_reply(
    tools: tuple[JsonObject, ...], rng: Random, targets: ReplyTargets
) -> GeneratedReply:
    named = [tool_arguments_name(tool) for tool in tools]
    fit = [
        (name, schema)
        for name, schema in named
        if isinstance(properties := schema.get("properties"), dict)
        and any(map(targets.fits_property, properties))
    ]
    clicks = [tool for tool in fit if "click" in json.dumps(tool)]
    name, schema = (clicks or fit)[0] if fit else rng.choice(named)
    arguments = _sample_json(schema or {"type": "object"}, rng, targets)
    text = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return GeneratedReply(text, call=(name, arguments))


def _apply_faults(reply: GeneratedReply, chat: ChatRequest, faults: ActiveFaults) -> GeneratedReply:
    if FaultKind.UNSTRUCTURED in faults and chat.schema is None and reply.text.startswith("{"):
        reply = GeneratedReply("I would rather say it in my own words.")
    if FaultKind.EMPTY in faults:
        reply = GeneratedReply("")
    if huge := faults.get(FaultKind.HUGE):
        reply = GeneratedReply(("far too much " * (huge.size // 13 + 1))[: huge.size])
    if (cut := faults.get(FaultKind.TRUNCATED, FaultKind.ABORTED)) is not None:
        half = reply.text[: len(reply.text) // 2]
        return replace(reply, text=half, call=None, cut=_CUT[cut.kind])
    return reply
