"""A policy with injected mistakes: it wraps another one and draws errors from a seed.

Runs need failures: verifiers must see some, and training on a dataset takes good and bad episodes.
This policy passes most decisions on unchanged and perturbs the others as people and models err. Its
random draws depend on its seed alone.
"""

from random import Random

from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from schemas.action import Action, Answer, Click, Drag, Hover, TypeText, Wait
from schemas.episode import ThoughtSource
from schemas.observation import Observation

NOISY_SHARE = 0.45
"""Share of episodes with mistakes; the others are those of the wrapped policy."""

GIVE_UP_RATE = 0.06
"""Probability, at each step of a noisy episode, of ending it with an empty answer."""

WAIT_RATE = 0.12
"""Probability, at each step of a noisy episode, of a useless wait before the wrapped policy goes on."""

WRONG_ELEMENT_RATE = 0.12
"""Probability, at each click of a noisy episode, of hitting some other interactive element."""

MISS_RATE = 0.35
"""Probability, at each pointer action of a noisy episode, of missing the point."""

MISS_PX = (6, 40)
"""Minimum and maximum distance of a miss in each direction, CSS px."""

TYPO_RATE = 0.5
"""Probability, at each text of a noisy episode, of one wrong letter."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class NoisyPolicy:
    """A `Policy` that perturbs some of another's decisions."""

    def __init__(self, policy: Policy, *, seed: str) -> None:
        self._policy = policy
        self._random = Random(f"clumsy {seed}")
        self._noisy = self._random.random() < NOISY_SHARE

    @property
    def card(self) -> PolicyCard:
        """The wrapped policy's, under the name of this one."""
        card = self._policy.card
        return PolicyCard(name="clumsy", kind=card.kind, privileged=card.privileged)

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the wrapped policy's decision, or one with a mistake."""
        if self._noisy and self._random.random() < GIVE_UP_RATE:
            return _decision(Answer(), "This takes too long, so I stop here.")
        if self._noisy and self._random.random() < WAIT_RATE:
            return _decision(Wait(ms=500), "I wait a moment to see whether something changes.")
        decision = await self._policy.act(turn)
        if not self._noisy:
            return decision
        return decision.model_copy(
            update={"action": self._perturb(decision.action, turn.observation)}
        )

    def _perturb(self, action: Action, seen: Observation) -> Action:
        match action:
            case Click() if self._random.random() < WRONG_ELEMENT_RATE:
                return self._misplace(action, seen)
            case Click() | Hover() | Drag() if self._random.random() < MISS_RATE:
                return action.model_copy(
                    update={"x": self._shift(action.x), "y": self._shift(action.y)}
                )
            case TypeText(text=text) if text and self._random.random() < TYPO_RATE:
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
