"""What a governor hears of a server: from each reply, and from its page of metrics."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallFigures:
    """One call that was answered; a figure is None where the server does not report it."""

    episode: str
    """The conversation that it belongs to."""
    seconds: float
    """From its sending to its reply."""
    prompt_tokens: int | None = None
    """Tokens of its prompt."""
    cached_tokens: int | None = None
    """The number of these that the server's cache served."""
    cacheable_tokens: int = 0
    """The number of these that were in whole blocks of a prompt that this server had answered before."""


@dataclass(frozen=True, slots=True)
class Gauges:
    """A server's metrics at one time; a figure is None where its page does not name it."""

    running: float | None = None
    """Requests that it works on."""
    waiting: float | None = None
    """Requests that wait in it."""
    preemptions: float | None = None
    """Requests that had to make room, since its start."""
    served: float | None = None
    """Requests that it has begun to answer, since its start."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory that a server keeps prompts in, as it says itself."""

    blocks: int
    """Blocks in all."""
    block_tokens: int
    """Tokens of a block."""
    state_blocks: int = 0
    """Blocks of what a sequence keeps beside its tokens; 0: nothing, or it is not known."""
    caches: bool = True
    """Whether a prompt is found again."""

    def episodes(self, prompt_tokens: float) -> float:
        """Return how many prompts of this length fit, each with two states: one in use and one to begin from again.

        It is any number where the server says sizes that cannot be.
        """
        if self.blocks < 1 or self.block_tokens < 1 or self.state_blocks < 0:
            return float("inf")
        blocks = max(1, -(-prompt_tokens // self.block_tokens))
        return self.blocks / (blocks + 2 * self.state_blocks)
