"""What the batching clock is asked: prompts as sizes and names, without their words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from generators.engine.simulator.batching.blocks import Piece


@dataclass(frozen=True, slots=True)
class Sight:
    """A picture in a prompt."""

    start: int
    """Its first token's place in the prompt."""
    tokens: int
    """Its tokens."""
    content: int
    """What equal pictures have in common."""


@dataclass(eq=False, slots=True)
class BatchedRequest:
    """One request from its arrival to its last token."""

    prompt: int
    """Tokens of the prompt."""
    reply: int
    """Tokens that the reply will have, at least 1."""
    names: Sequence[int]
    """Names of the whole blocks of prompt and reply, in order; each covers everything up to its end."""
    sights: Sequence[Sight]
    """Its pictures in order."""
    arrived: float
    """When it arrived, seconds of the clock."""
    priority: int = 0
    """Where the server schedules by it, requests of a lower one go first."""
    computed: int = 0
    """Tokens that have been read or written."""
    cached: int = 0
    """Tokens of the prompt that the cache served, of its first admission."""
    admitted: float | None = None
    """When it was first worked on; None: it waits."""
    first_token: float | None = None
    """When its first token was there; None: it was not."""
    done: float | None = None
    """When its last token was there."""
    preemptions: int = 0
    """How often it had to make room."""
    junction: int = 0
    """Up to where other prompts share its beginning whose state was not kept, tokens; 0: nowhere."""
    attention: list[Piece] = field(default_factory=list)
    """Its blocks of attention, in order."""
    states: list[Piece] = field(default_factory=list)
    """The states that it uses: the last ones, at most three."""
    encoded: set[int] = field(default_factory=set)
    """Indices of its pictures that are kept for it by the encoder."""
    turn: int = 0
    """The number of its last admission among all; the youngest has the highest."""
    read_at: int = -1
    """The last iteration that read of it."""
    written: int = 0
    """Tokens of the reply that were there when it last had to make room, and are read again."""
    ends_at: int = 0
    """The iteration that brings its last token, while it is written."""

    @property
    def urgency(self) -> tuple[int, float]:
        """What a server that schedules by priority sorts requests by, the most urgent first."""
        return self.priority, self.arrived

    @property
    def length(self) -> int:
        """Tokens to read: the prompt, and what was written before it had to make room."""
        return self.prompt + self.written

    def computed_at(self, iteration: int) -> int:
        """Return how many tokens are read or written after an iteration, while it is written; its last token never is."""
        return self.prompt + self.reply - 1 - (self.ends_at - iteration)


def names_of_tokens(tokens: Sequence[int], block: int, *, before: int = 0) -> list[int]:
    """Return the names of the whole blocks of `tokens`; `before` is the name of the block that they follow, 0: none."""
    names: list[int] = []
    name = before
    for start in range(0, len(tokens) // block * block, block):
        name = hash((name, tuple(tokens[start : start + block])))
        names.append(name)
    return names


def names_of(segments: Sequence[tuple[int, int]], block: int) -> list[int]:
    """Return the names of the whole blocks of a sequence of segments, each (what it says, tokens).

    It walks segments in place of tokens, which in virtual time would be thousands for each request.
    """
    names: list[int] = []
    before, at = 0, 0
    for said, tokens in segments:
        boundary = (at // block + 1) * block
        while boundary <= at + tokens:
            names.append(hash((before, said, boundary - at)))
            boundary += block
        before, at = hash((before, said, tokens)), at + tokens
    return names
