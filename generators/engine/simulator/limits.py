"""What the engine refuses: other models, too many pictures, prompts that do not fit, odd fields."""

from collections.abc import Collection

from generators.engine.simulator.chat import Chat
from generators.engine.simulator.http_errors import HttpRefusal
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.tokenizer import Prompt
from schemas.base import JsonObject

OPENAI_FIELDS = frozenset(
    {
        *(
            "messages",
            "model",
            "stream",
            "stream_options",
            "n",
            "stop",
            "user",
            "store",
            "metadata",
        ),
        *("max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "logit_bias"),
        *("frequency_penalty", "presence_penalty", "logprobs", "top_logprobs", "response_format"),
        *("tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "service_tier"),
        *("modalities", "prediction", "audio", "verbosity", "safety_identifier"),
    }
)
"""What a server that knows OpenAI's API and nothing else accepts."""


def check_chat(chat: Chat, prompt: Prompt, options: SimulatorOptions, *, text_only: bool) -> None:
    """Refuse a chat that the engine cannot serve.

    Raises:
        HttpRefusal: it cannot.
    """
    if chat.model != options.model:
        raise HttpRefusal(404, f"The model `{chat.model}` does not exist.")
    most = 0 if text_only else options.max_pictures
    if most is not None and len(chat.images) > most:
        raise HttpRefusal(
            400,
            f"At most {most} image(s) may be provided in one prompt."
            if most
            else f"The model `{chat.model}` does not support image input.",
        )
    read, context = len(prompt.ids), options.context_tokens
    if read >= context:
        raise HttpRefusal(
            400,
            f"This model's maximum context length is {context} tokens. However, your request has"
            f" {read} input tokens. Please reduce the length of the input messages.",
        )
    if chat.max_tokens is not None and read + chat.max_tokens > context:
        raise HttpRefusal(
            400,
            f"'max_tokens' or 'max_completion_tokens' is too large: {chat.max_tokens}. This model's"
            f" maximum context length is {context} tokens and your request has {read} input tokens"
            f" ({chat.max_tokens} > {context} - {read}).",
        )


def max_reply_tokens(chat: Chat, prompt: Prompt, options: SimulatorOptions) -> int:
    """Return how many tokens the reply to a chat may have."""
    return chat.max_tokens or options.context_tokens - len(prompt.ids)


def check_fields(body: JsonObject, refused: Collection[str]) -> None:
    """Refuse a body with a field of `refused`, or where that is empty one that is not OpenAI's.

    Raises:
        HttpRefusal: it has one; the message names it.
    """
    for field in body:
        if field in refused if refused else field not in OPENAI_FIELDS:
            raise HttpRefusal(400, f"Unrecognized request argument supplied: {field}")
