"""What a chat is answered with: a queued text, a target that was found, or seeded nonsense.

In order: the text that a test queued for the session; JSON under the schema asked for; a call of one
of the tools; JSON under a schema that the system prompt holds; the form of the family that the
prompt speaks of; a sentence. Faults of content alter the outcome afterwards.

A queued text is used up when it was sent whole and as it is. Whatever fails on the way (a cut, a
refusal, a client that went away, a fault that alters the reply) leaves it for the next request.
"""

import asyncio
import hashlib
import json
import re
from array import array
from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from generators.engine.simulator.chat import Chat
from generators.engine.simulator.constraints import Constraints
from generators.engine.simulator.coordinates import ImagePoint, image_point
from generators.engine.simulator.faults import FORBIDDEN, ActiveFaults, FaultKind
from generators.engine.simulator.options import Coordinates, SimulatorOptions
from generators.engine.simulator.pictures import PromptImage, colour_centre
from generators.engine.simulator.reply_templates import find_schema, free_text, tool_arguments_name
from generators.engine.simulator.schema_sampler import SchemaSampler
from generators.engine.simulator.tokenizer import Prompt
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
        """Return the text that a request of the session is answered with; None if there is none."""
        queue = self._texts.get(session) if session is not None else None
        return queue.popleft() if queue else None

    def put_back(self, session: str, text: str) -> None:
        """Put a text that was not sent at the front again."""
        self._texts.setdefault(session, deque()).appendleft(text)

    def clear(self, session: str) -> None:
        """Drop what waits for a session."""
        self._texts.pop(session, None)

    @property
    def waiting(self) -> int:
        """Texts that wait, of all sessions."""
        return sum(map(len, self._texts.values()))


BEYOND = 1.5
"""How far outside a picture the fault `outside` points, in parts of it."""

_COLOUR = re.compile(r"#([0-9a-fA-F]{6})\b")


@dataclass(frozen=True)
class GeneratedReply:
    """The content of a reply."""

    text: str
    """Every character of it, a tool call's too."""
    call: tuple[str, str] | None = None
    """A tool's name and its arguments as JSON, in place of text."""
    whole: bool = True
    """It ends by itself; False: it is broken off."""
    verbatim: bool = False
    """It is a queued text, unaltered."""


async def generate_reply(
    chat: Chat,
    prompt: Prompt,
    options: SimulatorOptions,
    *,
    strikes: ActiveFaults,
    queued: str | None,
) -> GeneratedReply:
    """Return what `chat` is answered with; `told` is the queued text, None: none.

    Raises:
        HttpRefusal: the schema cannot be followed.
    """
    if queued is not None and strikes.get(FaultKind.OUTSIDE, FaultKind.FORBIDDEN) is None:
        said = GeneratedReply(queued)
    else:
        rng = Random(request_seed(chat, prompt, options))
        said = _generate(chat, rng, await _constraints(chat, options, strikes))
    said = _apply_faults(said, chat, strikes)
    unharmed = said.text == queued and FaultKind.INVALID_UTF8 not in strikes
    return replace(said, verbatim=unharmed)


def request_seed(chat: Chat, prompt: Prompt, options: SimulatorOptions) -> int:
    """Return the seed of everything that is made up for a request."""
    asked = canonical_json([chat.schema, chat.tools, chat.seed, options.seed])
    digest = hashlib.blake2b(asked.encode("utf-8", "surrogatepass"), digest_size=8)
    digest.update(array("q", prompt.keys).tobytes())
    return int.from_bytes(digest.digest(), "big")


async def _constraints(chat: Chat, options: SimulatorOptions, strikes: ActiveFaults) -> Constraints:
    address = FORBIDDEN if FaultKind.FORBIDDEN in strikes else None
    if not chat.images:
        return Constraints(address=address)
    sight = chat.images[-1]
    anywhere = partial(_random_point, options.coordinates, sight)
    if FaultKind.OUTSIDE in strikes:
        beyond = image_point(options.coordinates, _size(sight), across=BEYOND, down=BEYOND)
        return Constraints(anywhere, beyond, address, within_bounds=False)
    return Constraints(anywhere, await _find_target(chat, sight, options.coordinates), address)


async def _find_target(
    chat: Chat, sight: PromptImage, coordinates: Coordinates
) -> ImagePoint | None:
    """Return the middle of the last colour that the user's last text names, in the last picture."""
    colours = _COLOUR.findall(chat.last_user_text)
    if not colours:
        return None
    red, green, blue = bytes.fromhex(colours[-1])
    found = await asyncio.to_thread(colour_centre, sight, (red, green, blue))
    return found and image_point(coordinates, _size(sight), across=found[0], down=found[1])


def _random_point(coordinates: Coordinates, sight: PromptImage, rng: Random) -> ImagePoint:
    return image_point(coordinates, _size(sight), across=rng.random(), down=rng.random())


def _size(sight: PromptImage) -> tuple[int, int]:
    return sight.width, sight.height


def _generate(chat: Chat, rng: Random, wishes: Constraints) -> GeneratedReply:
    if chat.schema is not None:
        return GeneratedReply(_sample_json(chat.schema, rng, wishes))
    if chat.tools:
        return _tool_call_reply(chat.tools, rng, wishes)
    if schema := find_schema(chat.system_text):
        return GeneratedReply(_sample_json(schema, rng, wishes))
    return GeneratedReply(free_text(f"{chat.system_text}\n{chat.last_user_text}", rng, wishes))


def _sample_json(schema: JsonObject, rng: Random, wishes: Constraints) -> str:
    value = SchemaSampler(schema, rng, wishes).sample()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _tool_call_reply(
    tools: tuple[JsonObject, ...], rng: Random, wishes: Constraints
) -> GeneratedReply:
    named = [tool_arguments_name(tool) for tool in tools]
    fit = [tool for tool in named if wishes.is_specific and _fits(tool[1], wishes)]
    clicks = [tool for tool in fit if "click" in json.dumps(tool)]
    name, schema = (clicks or fit)[0] if fit else rng.choice(named)
    arguments = _sample_json(schema or {"type": "object"}, rng, wishes)
    text = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return GeneratedReply(text, call=(name, arguments))


def _fits(schema: JsonObject, wishes: Constraints) -> bool:
    properties = schema.get("properties")
    return isinstance(properties, dict) and any(map(wishes.fits_property, properties))


def _apply_faults(said: GeneratedReply, chat: Chat, strikes: ActiveFaults) -> GeneratedReply:
    if FaultKind.UNSTRUCTURED in strikes and chat.schema is None and said.text.startswith("{"):
        said = GeneratedReply("I would rather say it in my own words.")
    if FaultKind.EMPTY in strikes:
        said = GeneratedReply("")
    if huge := strikes.get(FaultKind.HUGE):
        said = GeneratedReply(("far too much " * (huge.size // 13 + 1))[: huge.size])
    if FaultKind.TRUNCATED in strikes:
        return replace(said, text=said.text[: len(said.text) // 2], call=None, whole=False)
    return said
