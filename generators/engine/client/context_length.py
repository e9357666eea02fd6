"""Whether a refusal says that the prompt, with room for the reply, is longer than the model's context.

Servers say so in words of their own, and only there: the status is that of every other wrong request.
"""

import re

_TOO_LONG = re.compile(
    r"maximum context length"  # OpenAI, vLLM, SGLang
    r"|context[_ ]length[_ ]exceeded|exceeds? the context window"  # OpenAI
    r"|max_model_len|maximum model length|context length is only"  # vLLM
    r"|longer than the model's context length|exceeds? the maximum allowed length"  # SGLang
    r"|exceeds? the available context size"  # llama.cpp
)

_BAD_REQUEST = 400


def is_too_long(status: int, message: str) -> bool:
    """Return whether a refusal of this HTTP status and message is about the length of the prompt."""
    return status == _BAD_REQUEST and _TOO_LONG.search(message.lower()) is not None
