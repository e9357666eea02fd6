"""A policy with injected mistakes: it wraps another one and draws errors from a seed.

Runs need failures: verifiers are tested on them, and training uses good and bad episodes. This policy errs
as models do: it points a few pixels beside a thing or at another one of the same kind, mistypes, reports
success too early, repeats finished actions, omits some, and presses a button too early. A thought states
the mistaken belief, and quotes only typed text or the target. The random draws depend on the seed alone.

To omit or postpone an action, the policy asks the wrapped policy for its next decisions on the unchanged
page. A wrapped policy that cannot continue there has lost its plan, and reports success too early.
"""

from random import Random

from generators.policy.mistakes import aim_of, confuse, decide, miss, mistype
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from schemas.episodes.action import (
    Action,
    Answer,
    Click,
    Drag,
    Key,
    Select,
    TypeText,
    Wait,
)
from schemas.episodes.episode import PolicyKind
from schemas.episodes.mistake import InjectedMistake
from schemas.episodes.observation import Element, Observation

SLIP_RATE = 0.5
"""Probability of a mistake at each decision."""

CORRECTED_SHARE = 0.5
"""Share of the typing errors that are noticed at the next step and corrected."""

FORGETFUL_SHARE = 0.3
"""Share of the omissions that include every action before the next button press."""

BACK_SHARE = 0.3
"""Share of the loops that alternate between two clicks, where there are two."""

ERASED_SHARE = 0.5
"""Share of the corrections that delete the text before it is typed again."""

_MAX_AHEAD = 6
"""Largest number of decisions omitted at once."""


WEIGHTS = {
    InjectedMistake.GAVE_UP: 1,
    InjectedMistake.ANSWERED_EARLY: 2,
    InjectedMistake.IDLED: 2,
    InjectedMistake.LOOPED: 4,
    InjectedMistake.MISSED: 6,
    InjectedMistake.CONFUSED: 6,
    InjectedMistake.TYPO: 10,
    InjectedMistake.FORGOT: 4,
    InjectedMistake.HURRIED: 4,
}
"""Relative frequency of each kind among the possible mistakes."""

_Next = tuple[Decision, InjectedMistake | None, Element | None]
"""A queued decision, its mistake, and its target: the decision is dropped if the target is gone."""


class NoisyPolicy:
    """A `Policy` that perturbs some of another's decisions."""

    def __init__(self, policy: Policy, *, seed: str) -> None:
        self._policy = policy
        self._random = Random(f"clumsy {seed}")
        self._ahead: list[_Next] = []
        self._taken: list[_Next] = []
        self._meant: Decision | None = None
        self._lost = False

    @property
    def card(self) -> PolicyCard:
        """A kind of its own, as privileged as the wrapped policy."""
        privileged = self._policy.card.privileged
        return PolicyCard(name="clumsy", kind=PolicyKind.CLUMSY, privileged=privileged)

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the wrapped policy's decision, or one with a mistake."""
        decision, slip = await self._decide(turn)
        self._taken.append((decision, slip, aim_of(decision.action, turn.observation)))
        return decision.model_copy(update={"injected_mistake": slip})

    async def _decide(self, turn: PolicyInput) -> tuple[Decision, InjectedMistake | None]:
        """Return the next decision and its mistake."""
        self._correct(turn.observation)
        if self._ahead and not _is_there(self._ahead[0], turn.observation):
            self._ahead.clear()
        if self._ahead:
            decision, slip, _ = self._ahead.pop(0)
            return decision, slip
        decision = await self._policy.act(turn)
        if isinstance(decision.action, Answer):
            return decision, InjectedMistake.ANSWERED_EARLY if self._lost else None
        if self._random.random() < SLIP_RATE:
            return await self._spoil(decision, turn)
        return decision, None

    def _repeat(self, next_one: Decision, seen: Observation) -> list[_Next]:
        """Return the last action two or four more times, or the last two alternately.

        Empty if `next_one` has the same action: then a repetition would not be a mistake.
        """
        match self._taken[-2:]:
            case [one, other] if _clicks(one, other) and self._random.random() < BACK_SHARE:
                last = [one, other] * 2
            case [*_, one] if isinstance(one[0].action, Click | Drag | TypeText):
                last = [one] * self._random.choice((2, 4))
            case _:
                return []
        if not all(_is_there(one, seen) and one[0].action != next_one.action for one in last):
            return []
        why = "I am not sure that it worked, so I do it again."
        return [(decide(one.action, why), InjectedMistake.LOOPED, aim) for one, _, aim in last]

    async def _spoil(
        self, decision: Decision, turn: PolicyInput
    ) -> tuple[Decision, InjectedMistake | None]:
        """Return a decision with one of the mistakes that are possible in it, and the mistake."""
        action, seen = decision.action, turn.observation
        again = self._repeat(decision, seen)
        made = {
            InjectedMistake.GAVE_UP: decide(Answer(), "This takes too long, so I stop here."),
            InjectedMistake.ANSWERED_EARLY: self._answer(turn),
            InjectedMistake.IDLED: _idle(decision),
            InjectedMistake.LOOPED: again[0][0] if again else None,
            InjectedMistake.MISSED: miss(decision, seen, self._random),
            InjectedMistake.CONFUSED: confuse(decision, seen, self._random),
            InjectedMistake.TYPO: mistype(decision, self._random),
        }
        possible = {slip: one for slip, one in made.items() if one is not None}
        acts = isinstance(action, Click | Drag | Select | TypeText)
        kinds = [*possible, *((InjectedMistake.FORGOT, InjectedMistake.HURRIED) if acts else ())]
        slip = self._random.choices(kinds, [WEIGHTS[kind] for kind in kinds])[0]
        if slip is InjectedMistake.FORGOT:
            return await self._forget(decision, turn)
        if slip is InjectedMistake.HURRIED:
            return await self._hurry(decision, turn)
        if slip in (InjectedMistake.LOOPED, InjectedMistake.IDLED):
            more = again[1:] if slip is InjectedMistake.LOOPED else []
            self._ahead = [*more, (decision, None, aim_of(action, seen))]
        if slip is InjectedMistake.TYPO and self._random.random() < CORRECTED_SHARE:
            self._meant = decision
        return possible[slip], slip

    def _answer(self, turn: PolicyInput) -> Decision | None:
        """Return an answer that reports success; None before the first action."""
        if not turn.history:
            return None
        return decide(Answer(text="Done."), "All that was asked for is done, so I say so.")

    def _correct(self, seen: Observation) -> None:
        """Queue the correction of a mistyped text, if a field shows it."""
        meant, self._meant = self._meant, None
        match meant and meant.action, self._taken[-1:]:
            case TypeText(text=text, enter=False), [(Decision(action=TypeText(text=typed)), _, _)]:
                if meant is None or not any(one.value == typed for one in seen.elements):
                    return
                why = "There is a wrong letter in what I typed, so I select it all."
                steps = [decide(Key(key="Control+a"), why)]
                if self._random.random() < ERASED_SHARE:
                    steps.append(decide(Key(key="Backspace"), "It is selected, so I delete it."))
                steps.append(meant.model_copy(update={"action": TypeText(text=text)}))
                self._ahead = [*((one, None, None) for one in steps), *self._ahead]

    async def _look_ahead(self, turn: PolicyInput) -> tuple[list[_Next], Decision]:
        """Return the keys that belong to the last decision, and the decision after them."""
        keys: list[_Next] = []
        later = await self._policy.act(turn)
        while _goes_on(later.action) and (later, None, None) not in keys:
            keys.append((later, None, None))
            later = await self._policy.act(turn)
        return keys, later

    async def _forget(
        self, left_out: Decision, turn: PolicyInput
    ) -> tuple[Decision, InjectedMistake | None]:
        """Return the decision after this one, or the next button press with everything before it omitted."""
        all_of_it = self._random.random() < FORGETFUL_SHARE
        keys, later = await self._look_ahead(turn)
        ends = isinstance(later.action, Answer)
        again = later.action == left_out.action or _goes_on(later.action)
        if again or (ends and not turn.history):
            self._ahead = keys
            self._lost = ends and not _presses(left_out.action, turn.observation)
            return left_out, None
        for _ in range(_MAX_AHEAD if all_of_it else 0):
            if isinstance(later.action, Answer) or _presses(later.action, turn.observation):
                break
            _, later = await self._look_ahead(turn)
        return later, InjectedMistake.FORGOT

    async def _hurry(
        self, meant: Decision, turn: PolicyInput
    ) -> tuple[Decision, InjectedMistake | None]:
        """Return the next decision if it presses a button, and queue this one after it."""
        seen = turn.observation
        keys, later = await self._look_ahead(turn)
        aim, ends = aim_of(meant.action, seen), isinstance(later.action, Answer)
        if later.action == meant.action or _goes_on(later.action) or ends:
            self._ahead = keys
            self._lost = ends and not _presses(meant.action, seen)
        elif _presses(later.action, seen) and aim_of(later.action, seen) != aim:
            self._ahead = [(meant, None, aim), *keys] if aim is not None else []
            return later, InjectedMistake.HURRIED
        else:
            self._ahead = [*keys, (later, None, aim_of(later.action, seen))]
        return meant, None


def _idle(decision: Decision) -> Decision | None:
    """Return a wait instead of a decision; None if the decision is a wait."""
    if isinstance(decision.action, Wait):
        return None
    return decide(Wait(ms=500), "I wait a moment to see whether something changes.")


def _goes_on(action: Action) -> bool:
    """Return whether an action goes to the focused element."""
    return isinstance(action, Key) or (isinstance(action, TypeText) and action.x is None)


def _clicks(*taken: _Next) -> bool:
    return all(isinstance(decision.action, Click) for decision, _, _ in taken)


def _presses(action: Action, seen: Observation) -> bool:
    aim = aim_of(action, seen)
    return isinstance(action, Click) and aim is not None and "button" in (aim.role, aim.tag)


def _is_there(later: _Next, seen: Observation) -> bool:
    """Return whether a decision's target is still at its place."""
    decision, _, aim = later
    now = aim_of(decision.action, seen)
    kept = None if now is None or aim is None else now.model_copy(update={"value": aim.value})
    return aim is None or kept == aim
