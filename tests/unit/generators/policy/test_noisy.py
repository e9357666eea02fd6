"""The policy with injected mistakes: each kind happens, is recorded, and is what it is called."""

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import pytest
from effort import THOROUGH
from support.episodes.factories import make_screenshot, make_step

from generators.policy.mistakes import NEAR_PX
from generators.policy.noisy import NoisyPolicy
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.scripted import ScriptedPolicy
from generators.policy.teacher.policy import TeacherPolicy
from generators.verify.thoughts import quotes
from schemas.episodes.action import Action, Answer, Click, Key, TypeText, Wait, target_point
from schemas.episodes.episode import PolicyKind, ThoughtSource
from schemas.episodes.mistake import SLIPS, InjectedMistake
from schemas.episodes.observation import Box, Element, Observation, PageState, Sight, element_at

STEP = make_step(0, picture=1, action=Wait())
LIMIT = 12


def _element(tag: str, role: str, text: str, bbox: Box, value: str | None = None) -> Element:
    return Element(
        role=role,
        name=text,
        tag=tag,
        text=text,
        bbox=bbox,
        value=value,
        interactive=True,
        visible=1,
        covered=False,
    )


RED = _element("input", "checkbox", "", (40, 40, 20, 20), "false")
BLUE = _element("input", "checkbox", "", (40, 80, 20, 20), "false")
FIELD = _element("input", "textbox", "", (100, 40, 80, 20), "")
SUBMIT = _element("button", "button", "Submit", (40, 120, 60, 20))

CHECK, PRESS = Click(x=50, y=50), Click(x=70, y=130)
WRITE = TypeText(text="word", x=140, y=50)
GOOD: tuple[Action, ...] = (CHECK, WRITE, PRESS)
SPLIT: tuple[Action, ...] = (CHECK, Click(x=140, y=50), TypeText(text="word"), PRESS)
"""The same, where a field is clicked first."""


def _seen(*elements: Element) -> Observation:
    return Observation(
        screenshot=make_screenshot(1),
        width=640,
        height=480,
        page=PageState(url="http://a.localhost/", title="", scroll_x=0, scroll_y=0),
        elements=elements,
        sights=tuple(Sight(text=one.text, bbox=one.bbox) for one in elements if one.text),
        observe_ms=0,
    )


SEEN = _seen(RED, BLUE, FIELD, SUBMIT)

Played = tuple[list[Decision], dict[int, InjectedMistake]]


async def _play(
    policy: Policy, seed: str, *, look: Callable[[Sequence[Action]], Observation] | None = None
) -> Played:
    """Return what is decided until the answer, and what of it was wrong."""
    clumsy = NoisyPolicy(policy, seed=seed)
    taken: list[Decision] = []
    while len(taken) < LIMIT and not (taken and isinstance(taken[-1].action, Answer)):
        seen = look([one.action for one in taken]) if look else SEEN
        taken.append(await clumsy.act(PolicyInput("", [STEP] * len(taken), seen)))
    wrong = [one.injected_mistake for one in taken]
    return taken, {step: mistake for step, mistake in enumerate(wrong) if mistake is not None}


async def _plays(
    number: int, meant: tuple[Action, ...] = GOOD, seen: Observation = SEEN
) -> list[Played]:
    return [await _play(ScriptedPolicy(meant), str(n), look=lambda _: seen) for n in range(number)]


@cache
def _many_plays() -> tuple[Played, ...]:
    """Return what 500 seeds make of the same plan."""
    return tuple(asyncio.run(_plays(500)))


def _actions(decisions: list[Decision]) -> list[Action]:
    return [one.action for one in decisions]


async def test_the_same_seed_makes_the_same_mistakes() -> None:
    assert await _plays(40) == await _plays(40)


def test_most_of_its_episodes_are_spoilt_and_some_are_not() -> None:
    spoilt = [bool(slips) for _, slips in _many_plays()]

    assert 0.6 < sum(spoilt) / len(spoilt) < 0.9


def test_an_episode_without_a_mistake_is_the_wrapped_policys() -> None:
    for decisions, slips in _many_plays():
        assert (_actions(decisions) == [*GOOD, Answer()]) is not bool(slips)


def _beside(action: Action) -> bool:
    """Return whether a click is a few pixels beside something, and on nothing."""
    point = target_point(action)
    gaps = [_gap(one.bbox, point) for one in SEEN.elements if point is not None]
    return isinstance(action, Click) and NEAR_PX[0] <= min(gaps) <= NEAR_PX[1]


def _gap(box: Box, point: tuple[float, float]) -> float:
    left, top, width, height = box
    across = max(left - point[0], 0, point[0] - left - width)
    return across + max(top - point[1], 0, point[1] - top - height)


def _mistyped(action: Action) -> bool:
    typed = action.text if isinstance(action, TypeText) else ""
    return sum(a != b for a, b in zip(typed, "word", strict=True)) == 1


MEANT: dict[InjectedMistake, Callable[[Action, list[Action]], bool]] = {
    InjectedMistake.GAVE_UP: lambda action, _: action == Answer(),
    InjectedMistake.ANSWERED_EARLY: lambda action, before: (
        isinstance(action, Answer) and action.text != "" and len(before) > 0
    ),
    InjectedMistake.IDLED: lambda action, _: isinstance(action, Wait),
    InjectedMistake.LOOPED: lambda action, before: action in before[-2:],
    InjectedMistake.MISSED: lambda action, _: _beside(action),
    InjectedMistake.CONFUSED: lambda action, _: action == Click(x=50, y=90),
    InjectedMistake.TYPO: lambda action, _: _mistyped(action),
    InjectedMistake.FORGOT: lambda action, before: (
        {*GOOD[: [*GOOD, Answer()].index(action)]} - {*before} != set()
    ),
    InjectedMistake.HURRIED: lambda action, before: action == PRESS and WRITE not in before,
}
"""What an action is that is recorded as a mistake of a kind, after those before it."""


@pytest.mark.parametrize("kind", sorted({*InjectedMistake} - SLIPS))
def test_each_kind_of_mistake_happens_and_is_what_it_is_called(kind: InjectedMistake) -> None:
    made = [
        (_actions(decisions)[step], _actions(decisions)[:step])
        for decisions, slips in _many_plays()
        for step, slip in slips.items()
        if slip is kind
    ]

    assert made
    assert all(MEANT[kind](*one) for one in made)


def test_what_is_pressed_before_its_turn_is_followed_by_what_was_due() -> None:
    hurried = [
        _actions(decisions)[step : step + 2]
        for decisions, slips in _many_plays()
        for step, slip in slips.items()
        if slip is InjectedMistake.HURRIED
    ]

    assert [PRESS, WRITE] in hurried


async def test_nothing_follows_where_what_was_due_is_gone() -> None:
    hurried = 0
    gone = _seen(RED, BLUE, SUBMIT)

    def look(taken: Sequence[Action]) -> Observation:
        return gone if PRESS in taken else SEEN

    for seed in range(500 if THOROUGH else 200):
        decisions, slips = await _play(ScriptedPolicy(GOOD), str(seed), look=look)
        pressed = [n for n, slip in slips.items() if slip is InjectedMistake.HURRIED]
        hurried += bool(pressed)
        assert not pressed or WRITE not in _actions(decisions)[pressed[0] :]
    assert hurried


async def test_a_field_that_is_left_out_is_not_typed_into_either() -> None:
    left_out = 0
    for decisions, slips in await _plays(500, SPLIT):
        actions = _actions(decisions)
        if slips and set(slips.values()) <= {InjectedMistake.FORGOT} and SPLIT[1] not in actions:
            left_out += 1
            assert SPLIT[2] not in actions

    assert left_out


async def test_nothing_is_missed_where_something_else_is_all_around_or_the_thing_is_large() -> None:
    around = _element("div", "", "", (0, 0, 640, 480))
    large = RED.model_copy(update={"bbox": (40, 40, 200, 20)})

    for elements in ([RED, around], [large], []):
        for _, slips in await _plays(300, (CHECK,), _seen(*elements)):
            assert InjectedMistake.MISSED not in slips.values()


@pytest.mark.parametrize(
    "other",
    [
        BLUE.model_copy(update={"role": "radio"}),
        BLUE.model_copy(update={"tag": "button"}),
        BLUE.model_copy(update={"covered": True}),
        BLUE.model_copy(update={"visible": 0.5}),
        BLUE.model_copy(update={"interactive": False}),
        BLUE.model_copy(update={"frame": "http://a.localhost/frame"}),
        BLUE.model_copy(update={"bbox": (42, 42, 40, 40)}),
    ],
)
async def test_what_is_taken_for_another_is_of_the_same_kind_and_in_sight(other: Element) -> None:
    for _, slips in await _plays(300, (CHECK,), _seen(RED, other)):
        assert InjectedMistake.CONFUSED not in slips.values()


class Speaking:
    """A policy whose thoughts quote what it types and points at."""

    card = PolicyCard(name="speaking", kind=PolicyKind.SCRIPTED)

    def __init__(self) -> None:
        said = ("I press 'Submit'.", "The goal says 'word', so I type 'word'.", "I type it.")
        actions: tuple[Action, ...] = (PRESS, WRITE, WRITE)
        self._left = [
            Decision(action=action, thought=why, thought_source=ThoughtSource.TEMPLATE)
            for action, why in zip(actions, said, strict=True)
        ]

    async def act(self, turn: PolicyInput) -> Decision:
        del turn
        return self._left.pop(0) if self._left else Decision(action=Answer())


async def test_a_thought_quotes_only_what_is_typed_or_pointed_at() -> None:
    more = _element("button", "button", "Cancel", (140, 120, 60, 20))
    quoted = set[str]()
    for seed in range(300):
        decisions, _ = await _play(
            Speaking(), str(seed), look=lambda _: _seen(*SEEN.elements, more)
        )
        for one in decisions:
            action, aim = one.action, element_at([*SEEN.elements, more], target_point(one.action))
            known = {action.text} if isinstance(action, TypeText) else {aim.text if aim else ""}
            assert {*quotes(one.thought or "")} <= known, one
            quoted |= known

    assert {"Cancel", "Submit", "word", "wors"} <= quoted


@pytest.mark.parametrize("written", [WRITE, TypeText(text="word")])
async def test_some_typing_errors_are_corrected_once_they_are_to_be_seen(written: TypeText) -> None:

    def look(taken: Sequence[Action]) -> Observation:
        texts = [one.text for one in taken if isinstance(one, TypeText)]
        value = texts[-1] if texts else ""
        return _seen(RED, FIELD.model_copy(update={"value": value}), SUBMIT)

    kinds = set[tuple[str, ...]]()
    for seed in range(300):
        decisions, slips = await _play(ScriptedPolicy((written, PRESS)), str(seed), look=look)
        for typo, after in pairwise(range(len(decisions))):
            if slips.get(typo) is InjectedMistake.TYPO and decisions[after].action == Key(
                key="Control+a"
            ):
                rest = _actions(decisions)[after:]
                end = rest.index(TypeText(text="word")) + 1
                kinds.add(tuple(one.type for one in rest[:end]))
                assert not {*range(after, after + end)} & slips.keys()
            elif slips.get(typo) is InjectedMistake.TYPO:
                kinds.add(())

    assert kinds == {(), ("key", "type"), ("key", "key", "type")}


async def test_a_typing_error_that_is_not_to_be_seen_is_not_corrected() -> None:
    for decisions, _ in await _plays(300, (WRITE, PRESS)):
        assert Key(key="Control+a") not in _actions(decisions)


class Easily:
    """A policy that finds no way on where the page is as it was."""

    card = PolicyCard(name="easily lost", kind=PolicyKind.SCRIPTED)

    def __init__(self) -> None:
        self._steps: list[int] = []

    async def act(self, turn: PolicyInput) -> Decision:
        self._steps.append(len(turn.history))
        lost = len({*self._steps}) < len(self._steps)
        return Decision(action=Answer() if lost or len(self._steps) > len(GOOD) else CHECK)


async def test_who_lost_the_plan_says_too_early_that_it_is_done() -> None:
    plays = [await _play(Easily(), str(seed)) for seed in range(300)]
    ends = {
        slips[len(decisions) - 1]
        for decisions, slips in plays
        if decisions[-1].action == Answer() and len(decisions) - 1 in slips
    }

    assert {InjectedMistake.ANSWERED_EARLY, InjectedMistake.FORGOT} <= ends


def test_it_is_a_kind_of_its_own_and_as_privileged_as_what_it_wraps() -> None:
    for wrapped in (TeacherPolicy(), ScriptedPolicy(GOOD)):
        card = NoisyPolicy(wrapped, seed="").card

        assert (card.name, card.kind) == ("clumsy", PolicyKind.CLUMSY)
        assert card.privileged is wrapped.card.privileged
