"""Episodes whose policy asked an engine, for what becomes of their messages and tokens."""

from collections.abc import Sequence

from pydantic import JsonValue
from support.episodes.factories import make_episode, make_prompt

from schemas.episodes.call import Call
from schemas.episodes.episode import Episode

SYSTEM: JsonValue = {"role": "system", "prompt_sha256": make_prompt().prompt_sha256}
"""The first message of every prompt, as a row of `calls` holds it."""


def user(step: int) -> JsonValue:
    """Return an observation as a row of `calls` holds it."""
    return {
        "role": "user",
        "content": [{"type": "text", "text": f"Step {step}:"}, {"type": "image", "step": step}],
    }


def said(text: str) -> JsonValue:
    """Return a reply as a row of `calls` holds it."""
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def asked(
    messages: Sequence[JsonValue],
    reply: str,
    prompt: Sequence[int] | None = None,
    completion: Sequence[int] | None = None,
    **more: object,
) -> Call:
    """Return a call."""
    [call, *_] = make_episode(prompt=make_prompt()).calls
    told: dict[str, object] = {
        "messages": [SYSTEM, *messages],
        "reply": reply,
        "prompt_token_ids": None if prompt is None else tuple(prompt),
        "completion_token_ids": None if completion is None else tuple(completion),
        "completion_logprobs": None if completion is None else (-0.5,) * len(completion),
        "prompt_tokens": 10,
        "cached_tokens": 4,
        "completion_tokens": 2,
        "total_ms": 1_500.0,
    }
    return call.model_copy(update=told | more)


def episode_of(*calls: Call, **more: object) -> Episode:
    """Return an episode that made these calls."""
    episode = make_episode(prompt=make_prompt())
    return episode.model_copy(update={"calls": calls, **more})


FIRST = asked([user(0)], "a", [1, 2, 3], [4, 5])
"""The first call of an episode."""

SECOND = asked([user(0), said("a"), user(1)], "b", [1, 2, 3, 4, 5, 6, 7], [8])
"""The call after it, whose prompt goes on from the first one's reply."""
