"""Asks an engine once what every episode will ask it, before the first episode begins.

A model without vision, a context that is too short or a request that the server always refuses would
fail every episode of a run in the same way. One prompt, with the real system prompt, the real schema
and a blank picture of the real size, finds that out before anything is written.
"""

import io
import logging

from PIL import Image

from generators.engine.protocol import EnginePrompt, Message, Picture, Reply, Role
from generators.policy.model.model_config import ModelConfig
from schemas.errors import NoEngine, RolloutFailure

LOG = logging.getLogger(__name__)

REPLY_TOKENS = 16
"""Enough to know that it replies at all."""

WHITE = (255, 255, 255)


async def preflight(model: ModelConfig) -> Reply:
    """Ask once, and return the reply, which may be anything.

    Raises:
        NoEngine: the engine refuses the request, or does not reply in time.
    """
    frame, dialect = model.frame, model.dialect
    picture = _blank(frame.sent_width, frame.sent_height)
    parts = (dialect.task_message("Say anything."), picture)
    messages = (
        Message(role=Role.SYSTEM, parts=(model.prompt.text,)),
        Message(role=Role.USER, parts=parts),
    )
    sampling = model.sampling.model_copy(update={"max_tokens": REPLY_TOKENS})
    prompt = EnginePrompt(messages=messages, reply_schema=model.schema)
    try:
        reply = await model.engine.reply(prompt, sampling, session="rehearsal")
    except RolloutFailure as failure:
        card = model.engine.card
        raise NoEngine(
            f"the engine takes no prompt with a picture of {picture.width}×{picture.height} px "
            f"({card.model} at {', '.join(card.endpoints)}): {failure.message}"
        ) from failure
    if model.schema is not None and not reply.structured:
        LOG.warning(
            "the engine does not follow a reply's schema (%s): expect repairs and failed episodes",
            reply.endpoint,
        )
    return reply


def _blank(width: int, height: int) -> Picture:
    out = io.BytesIO()
    Image.new("RGB", (width, height), WHITE).save(out, "JPEG")
    return Picture(jpeg=out.getvalue(), step=-1, width=width, height=height)
