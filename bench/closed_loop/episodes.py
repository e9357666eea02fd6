"""Episodes as sizes: the prompts of one agent, step by step, as the measured sessions sent them.

1,800 tokens of instructions and task, 300 a step (150 of them the reply), 8 to 40 steps. `window` is our prompt: it only
grows, shows one picture to three and falls back to one. `loop` is the published Surfer-H call: its history is written
anew each time and the newest three pictures follow.
"""

from dataclasses import dataclass, field
from random import Random

from generators.engine.simulator.batching.requests import BatchedRequest, Sight, names_of

SYSTEM, TASK, STEP, REPLY = 1_600, 200, 300, 150
"""Tokens of the instructions, which all share, of the task, of a step with its reply, and of a reply."""

TEMPLATE, PLACEHOLDER = 26, 8
"""Tokens of a turn's marks, and of what stands where a picture was."""

STEPS = (8, 41)
"""The range of an episode's length."""

MOST_PICTURES = 3


@dataclass(slots=True)
class LoopEpisode:
    """One episode; `key` tells it from all others."""

    key: tuple[int, int]
    shape: str
    """`window` or `loop`."""
    picture_tokens: int
    random: Random
    step: int = 0
    """Steps that are done."""
    length: int = field(init=False)
    """Steps in all."""
    _shown: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.length = self.random.randrange(*STEPS)

    def go_to_middle(self) -> None:
        """Begin at a step drawn evenly, as one of many that have long been at work."""
        self.step = self.random.randrange(self.length)
        for step in range(self.step):
            self._show(step)

    def _show(self, step: int) -> None:
        if len(self._shown) >= MOST_PICTURES:
            self._shown.clear()
        self._shown.append(step)

    def ask(self, now: float, block: int) -> BatchedRequest:
        """Return the request of the next step, for a server with blocks of so many tokens."""
        parts = self._window() if self.shape == "window" else self._loop()
        segments, sights, at = [], [], 0
        for said, tokens in parts:
            if said[0] == "picture":
                sights.append(Sight(at, tokens, hash(said)))
            segments.append((hash(said), tokens))
            at += tokens
        names = names_of([*segments, (hash(("reply", self.key, self.step)), REPLY)], block)
        return BatchedRequest(at, REPLY, names, sights, now)

    def _window(self) -> list[tuple[tuple[object, ...], int]]:
        self._show(self.step)
        parts: list[tuple[tuple[object, ...], int]] = [(("system",), SYSTEM)]
        for step in range(self.step + 1):
            text = STEP - REPLY - TEMPLATE + (TASK if step == 0 else 0)
            parts.append((("text", self.key, step), text))
            shown = step in self._shown
            parts.append(
                (("picture", self.key, step), self.picture_tokens)
                if shown
                else (("gone",), PLACEHOLDER)
            )
            parts.append((("marks",), TEMPLATE))
            if step < self.step:
                parts.append((("reply", self.key, step), REPLY))
        return parts

    def _loop(self) -> list[tuple[tuple[object, ...], int]]:
        first = max(0, self.step - MOST_PICTURES + 1)
        return [
            (("system",), SYSTEM),
            (("history", self.key, self.step), TASK + STEP * self.step),
            *(
                (("picture", self.key, step, self.step), self.picture_tokens)
                for step in range(first, self.step + 1)
            ),
        ]
