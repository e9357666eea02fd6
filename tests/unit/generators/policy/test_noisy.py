from collections.abc import Callable

import pytest
from factories import make_screenshot, make_step

from generators.policy.noisy import MISS_PX, NoisyPolicy, Slip
from generators.policy.protocol import PolicyInput
from generators.policy.scripted import ScriptedPolicy
from schemas.action import Action, Answer, Click, TypeText, Wait
from schemas.observation import Element, Observation, PageState

GOOD: tuple[Action, ...] = (Click(x=50, y=50), TypeText(text="word", x=60, y=60), Click(x=90, y=9))
OTHER = (200.0, 100.0)
STEP = make_step(0, picture=1, action=Wait())

SEEN = Observation(
    screenshot=make_screenshot(1),
    width=640,
    height=480,
    page=PageState(url="http://a.localhost/", title="", scroll_x=0, scroll_y=0),
    elements=(
        Element(
            role="button",
            name="other",
            tag="button",
            text="other",
            bbox=(190, 90, 20, 20),
            interactive=True,
            visible=1,
            covered=False,
        ),
    ),
    observe_ms=0,
)


async def _episode(seed: str) -> tuple[Action, ...]:
    policy = NoisyPolicy(ScriptedPolicy(GOOD), seed=seed)
    taken: list[Action] = []
    while not taken or not isinstance(taken[-1], Answer):
        taken.append((await policy.act(PolicyInput("", [], SEEN))).action)
    return tuple(taken)


async def test_the_same_seed_makes_the_same_mistakes() -> None:
    episodes = [[await _episode(str(seed)) for seed in range(30)] for _ in range(2)]

    assert episodes[0] == episodes[1]


async def test_a_good_part_of_its_episodes_is_spoilt_and_most_are_not() -> None:
    spoilt = [await _episode(str(seed)) != (*GOOD, Answer()) for seed in range(400)]

    assert 0.25 < sum(spoilt) / len(spoilt) < 0.5


def _missed(action: Action) -> bool:
    if not isinstance(action, Click) or (action.x, action.y) in {(50, 50), (90, 9), OTHER}:
        return False
    by = min(abs(action.x - 50), abs(action.x - 90))
    return action.x == 0 or MISS_PX[0] <= by <= MISS_PX[1]


def _wrong(action: Action) -> bool:
    return isinstance(action, Click) and (action.x, action.y) == OTHER


def _mistyped(action: Action) -> bool:
    return isinstance(action, TypeText) and action.text != "word" and len(action.text) == 4


def _wasted(action: Action) -> bool:
    return isinstance(action, Wait)


@pytest.mark.parametrize("mistake", [_missed, _wrong, _mistyped, _wasted])
async def test_each_kind_of_mistake_happens(mistake: Callable[[Action], bool]) -> None:
    actions = [action for seed in range(100) for action in await _episode(str(seed))]

    assert any(mistake(action) for action in actions)


async def test_it_sometimes_gives_up_early() -> None:
    lengths = [len([a for a in await _episode(str(n)) if a != Wait(ms=500)]) for n in range(100)]

    assert min(lengths) < len(GOOD)


async def test_a_wasted_step_costs_nothing_of_the_masters_plan() -> None:
    episodes = [await _episode(str(seed)) for seed in range(100)]
    full = [episode for episode in episodes if len(episode) > len(GOOD) + 1]

    assert full
    assert all(
        [action.type for action in episode if action != Wait(ms=500)]
        == ["click", "type", "click", "answer"]
        for episode in full
    )


async def test_it_records_what_it_did_wrong_and_where() -> None:
    known: set[Slip] = set()
    for seed in range(300):
        policy = NoisyPolicy(ScriptedPolicy(GOOD), seed=str(seed))
        meant = [*GOOD, Answer()]
        while meant:
            number = 4 - len(meant)
            action = (await policy.act(PolicyInput("", [STEP] * number, SEEN))).action
            slip = policy.slips.pop(number, None)
            known |= {slip} if slip else set()
            ends = slip is Slip.GAVE_UP and isinstance(meant[0], Answer)
            assert (action == meant[0]) is (slip is None or ends)
            if isinstance(action, Answer):
                break
            if not isinstance(action, Wait):
                meant.pop(0)

    assert known == set(Slip)


async def test_a_miss_within_its_element_is_no_mistake() -> None:
    whole = SEEN.elements[0].model_copy(update={"bbox": (0.0, 0.0, 640.0, 480.0)})
    seen = SEEN.model_copy(update={"elements": (whole,)})
    slips: set[Slip] = set()
    for seed in range(200):
        policy = NoisyPolicy(ScriptedPolicy(GOOD[:1]), seed=str(seed))
        await policy.act(PolicyInput("", [], seen))
        slips |= set(policy.slips.values())

    assert slips <= {Slip.GAVE_UP, Slip.IDLED}
