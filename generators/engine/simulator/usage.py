"""What a reply says of itself beside its text: usage and times, in vLLM's words.

As with vLLM, how a prompt's tokens divide is said only to who was told to say it, and so are the
times; without that their places are null.
"""

from dataclasses import dataclass, field
from time import perf_counter

from generators.engine.simulator.options import ScriptedOptions
from generators.engine.simulator.tokenizer import Prompt
from schemas.base import JsonObject


@dataclass
class Account:
    """One reply's usage and times."""

    options: ScriptedOptions
    """What is to be said."""
    prompt: Prompt
    cached: int
    """Tokens of the prompt that came from the cache."""
    queued: float
    """Waiting for its turn, s."""
    begun: float = field(default_factory=perf_counter)
    """When its turn came, by the clock."""
    first: float | None = None
    """When the first token was there, by the clock; None: not yet."""

    def usage(self, said: int) -> JsonObject:
        """Return the usage of a reply of so many tokens."""
        read = len(self.prompt.ids)
        return {
            "prompt_tokens": read,
            "completion_tokens": said,
            "total_tokens": read + said,
            "prompt_tokens_details": self._details(),
        }

    def metrics(self, said: int) -> JsonObject | None:
        """Return the times of a reply of so many tokens that ends now; None: not to be said."""
        if not self.options.request_metrics or self.first is None:
            return None
        now = perf_counter()
        decoding = now - self.first
        return {
            "time_to_first_token_ms": (self.first - self.begun) * 1_000,
            "generation_time_ms": decoding * 1_000,
            "queue_time_ms": self.queued * 1_000,
            "mean_itl_ms": decoding / (said - 1) * 1_000 if said > 1 else None,
            "tokens_per_second": said / (now - self.begun),
            "speculative_decoding": None,
        }

    def _details(self) -> JsonObject | None:
        if not self.options.prompt_tokens_details:
            return None
        pictures = self.prompt.image_tokens
        return {
            "cached_tokens": self.cached,
            "created_cache_tokens": None,
            "multimodal_tokens": {"image": pictures} if pictures else None,
        }
