"""A policy that makes mistakes: another one, with errors drawn from a seed.

Runs need failures: verifiers must see some, and training on a dataset takes good and bad episodes.
So this policy passes most decisions on unchanged and spoils the rest in the ways people and models
do. Its random draws depend on its seed alone.
"""

from random import Random

from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from schemas.action import Action, Answer, Click, Drag, Hover, TypeText, Wait
from schemas.episode import ThoughtSource
from schemas.observation import Observation

NOISY_SHARE = 0.45
"""Episodes in which it makes mistakes at all; in the others it does as well as the policy it wraps."""

GIVES_UP = 0.06
"""Chance for each step of a clumsy episode to end it with an empty answer."""

WASTES = 0.12
"""Chance for each step of a clumsy episode to be spent on waiting; the wrapped policy then goes on."""

WRONG_ELEMENT = 0.12
"""Chance for each click of a clumsy episode to land on some other interactive element."""

MISSES = 0.35
"""Chance for each pointer action of a clumsy episode to be off the mark."""

MISS_PX = (6, 40)
"""How far off, CSS px, in each direction."""

TYPOS = 0.5
"""Chance for each text of a clumsy episode to have one letter wrong."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class NoisyPolicy:
    """A `Policy` that spoils some of another's decisions."""

    def __init__(self, policy: Policy, *, seed: str) -> None:
        self._policy = policy
        self._random = Random(f"clumsy {seed}")
        self._clumsy = self._random.random() < NOISY_SHARE

    @property
    def card(self) -> PolicyCard:
        """Who it is."""
        card = self._policy.card
        return PolicyCard(name="clumsy", kind=card.kind, privileged=card.privileged)

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the wrapped policy's decision, or one with a mistake."""
        if self._clumsy and self._random.random() < GIVES_UP:
            return _decision(Answer(), "This takes too long, so I stop here.")
        if self._clumsy and self._random.random() < WASTES:
            return _decision(Wait(ms=500), "I wait a moment to see whether something changes.")
        decision = await self._policy.act(turn)
        if not self._clumsy:
            return decision
        return decision.model_copy(
            update={"action": self._spoil(decision.action, turn.observation)}
        )

    def _spoil(self, action: Action, seen: Observation) -> Action:
        match action:
            case Click() if self._random.random() < WRONG_ELEMENT:
                return self._misplace(action, seen)
            case Click() | Hover() | Drag() if self._random.random() < MISSES:
                return action.model_copy(
                    update={"x": self._shift(action.x), "y": self._shift(action.y)}
                )
            case TypeText(text=text) if text and self._random.random() < TYPOS:
                at = self._random.randrange(len(text))
                typo = text[:at] + self._random.choice(_LETTERS) + text[at + 1 :]
                return action.model_copy(update={"text": typo})
            case _:
                return action

    def _misplace(self, action: Click, seen: Observation) -> Click:
        boxes = [
            element.bbox
            for element in seen.elements
            if element.interactive and element.visible == 1
        ]
        if not boxes:
            return action
        left, top, width, height = self._random.choice(boxes)
        return action.model_copy(update={"x": left + width / 2, "y": top + height / 2})

    def _shift(self, coordinate: float) -> float:
        by = self._random.randint(*MISS_PX) * self._random.choice((-1, 1))
        return max(0.0, coordinate + by)


def _decision(action: Action, why: str) -> Decision:
    return Decision(action=action, thought=why, thought_source=ThoughtSource.TEMPLATE)
