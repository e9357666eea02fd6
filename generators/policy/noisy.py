"""A policy with injected mistakes: it wraps another one and draws errors from a seed.

Runs need failures: verifiers must see some, and training on a dataset takes good and bad episodes.
This policy passes most decisions on unchanged and perturbs the others as people and models err. Its
random draws depend on its seed alone.
"""

from enum import StrEnum
from random import Random

from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from schemas.action import Action, Answer, Click, Drag, Hover, TypeText, Wait, target_point
from schemas.episode import PolicyKind, ThoughtSource
from schemas.observation import Box, Observation

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


class Slip(StrEnum):
    """A kind of mistake."""

    GAVE_UP = "gave_up"
    """It ended the episode with an empty answer."""
    IDLED = "idled"
    """It waited for nothing."""
    WRONG_ELEMENT = "wrong_element"
    """It acted on another element."""
    MISSED = "missed"
    """It missed what it aimed at."""
    TYPO = "typo"
    """It typed a wrong letter."""


class NoisyPolicy:
    """A `Policy` that perturbs some of another's decisions."""

    def __init__(self, policy: Policy, *, seed: str) -> None:
        self._policy = policy
        self._random = Random(f"clumsy {seed}")
        self._noisy = self._random.random() < NOISY_SHARE
        self.slips: dict[int, Slip] = {}
        """What it did wrong, by step; none is a point that was moved within its element, or a letter's
        case."""

    @property
    def card(self) -> PolicyCard:
        """The wrapped policy's, under the name of this one."""
        card = self._policy.card
        return PolicyCard(name="clumsy", kind=PolicyKind.CLUMSY, privileged=card.privileged)

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the wrapped policy's decision, or one with a mistake."""
        step = len(turn.history)
        if self._noisy and self._random.random() < GIVE_UP_RATE:
            self.slips[step] = Slip.GAVE_UP
            return _decision(Answer(), "This takes too long, so I stop here.")
        if self._noisy and self._random.random() < WAIT_RATE:
            self.slips[step] = Slip.IDLED
            return _decision(Wait(ms=500), "I wait a moment to see whether something changes.")
        decision = await self._policy.act(turn)
        if not self._noisy:
            return decision
        action, slip = self._perturb(decision.action, turn.observation)
        if slip is not None and _goes_wrong(decision.action, action, turn.observation):
            self.slips[step] = slip
        return decision.model_copy(update={"action": action})

    def _perturb(self, action: Action, seen: Observation) -> tuple[Action, Slip | None]:
        """Return an action, perhaps another one than was decided, and the kind of mistake it is."""
        match action:
            case Click() if self._random.random() < WRONG_ELEMENT_RATE:
                return self._misplace(action, seen), Slip.WRONG_ELEMENT
            case Click() | Hover() | Drag() if self._random.random() < MISS_RATE:
                moved = {"x": self._shift(action.x), "y": self._shift(action.y)}
                return action.model_copy(update=moved), Slip.MISSED
            case TypeText(text=text) if text and self._random.random() < TYPO_RATE:
                at = self._random.randrange(len(text))
                typo = text[:at] + self._random.choice(_LETTERS) + text[at + 1 :]
                return action.model_copy(update={"text": typo}), Slip.TYPO
            case _:
                return action, None

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


def _goes_wrong(meant: Action, taken: Action, seen: Observation) -> bool:
    """Return whether an action is another one than was meant, and not only at another point."""
    aim, point = target_point(meant), target_point(taken)
    if isinstance(meant, TypeText) and isinstance(taken, TypeText):
        return meant.text.casefold() != taken.text.casefold()
    if aim is None or point is None or aim == point:
        return meant != taken
    boxes = [one.bbox for one in seen.elements if one.interactive and _holds(one.bbox, aim)]
    smallest = min(boxes, key=lambda box: box[2] * box[3], default=None)
    return smallest is None or not _holds(smallest, point)


def _holds(box: Box, point: tuple[float, float]) -> bool:
    left, top, width, height = box
    return left <= point[0] <= left + width and top <= point[1] <= top + height


def _decision(action: Action, why: str) -> Decision:
    return Decision(action=action, thought=why, thought_source=ThoughtSource.TEMPLATE)
