"""A reference answers what a page asks, by steps of their own."""

import pytest
from support.browsers.reference_pages import PAGE, SEEN, Reader, step

from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from schemas.episodes.action import Action, AnswerDialog
from schemas.episodes.observation import DialogKind, OpenDialog
from schemas.errors import RolloutFailure

ASKING = SEEN.model_copy(
    update={
        "page": SEEN.page.model_copy(
            update={
                "dialog": OpenDialog(kind=DialogKind.CONFIRM, title="shop says", message="Sure?")
            }
        )
    }
)


@pytest.mark.parametrize(
    ("stated", "action"),
    [
        ({"do": "accept"}, AnswerDialog(accept=True)),
        ({"do": "accept", "text": "a.txt"}, AnswerDialog(accept=True, text="a.txt")),
        ({"do": "dismiss"}, AnswerDialog(accept=False)),
    ],
)
async def test_what_a_page_asks_is_answered_by_its_own_steps(
    stated: dict[str, str], action: Action
) -> None:
    asked = PolicyInput("Do it.", (), ASKING, Reader(PAGE))
    assert (await ReferencePolicy([step(**stated)]).act(asked)).action == action

    with pytest.raises(RolloutFailure, match=r"step 1 of the reference: .* asks nothing"):
        await ReferencePolicy([step(**stated)]).act(PolicyInput("Do it.", (), SEEN, Reader(PAGE)))


async def test_a_step_on_a_page_that_asks_fails_the_policy_with_what_it_asks() -> None:
    asked = PolicyInput("Do it.", (), ASKING, Reader(PAGE))
    with pytest.raises(RolloutFailure, match="'click' while the page asks \"Sure\\?\""):
        await ReferencePolicy([step(do="click", on="Add")]).act(asked)
