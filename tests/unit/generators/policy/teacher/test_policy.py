import pytest
from support.browsers.page_trees import node
from support.episodes.factories import make_screenshot

from generators.browser.protocol import Node
from generators.policy.protocol import PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.teacher.policy import TeacherPolicy, template_of
from generators.sites.miniwob import start_url
from schemas.episodes.action import Answer, Click
from schemas.episodes.observation import Observation, PageState
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.reference import Do, ReferenceStep


class Document:
    """A reader of whatever is put into it."""

    def __init__(self, *children: Node) -> None:
        self.children = list(children)

    async def read(self) -> Node:
        root = node("html", node("body", *self.children))
        root.inner = (160.0, 210.0)
        return root


def _seen(template: str = "click-test") -> Observation:
    return Observation(
        screenshot=make_screenshot(1),
        width=64,
        height=48,
        page=PageState(url=start_url(template), title="", scroll_x=0, scroll_y=0),
        observe_ms=0,
    )


async def test_it_acts_and_says_why_and_stops_when_it_is_through() -> None:
    teacher, document = TeacherPolicy(), Document(node("button", text="Click Me!"))
    first = await teacher.act(PolicyInput("Click the button.", [], _seen(), document))
    second = await teacher.act(PolicyInput("Click the button.", [], _seen(), document))
    third = await teacher.act(PolicyInput("Click the button.", [], _seen(), document))

    assert first.action == Click(x=20, y=15)
    assert "'Click Me!'" in (first.thought or "")
    assert second.action == third.action == Answer()
    assert "goal" in (second.thought or "")
    assert second.thought == third.thought


async def test_what_it_does_not_find_is_its_last_thought() -> None:
    decision = await TeacherPolicy().act(PolicyInput("Click the button.", [], _seen(), Document()))

    assert decision.action == Answer()
    assert decision.thought == "I stop here: I see no button of the kind that I look for."


async def test_a_task_that_says_how_it_is_done_needs_no_skill() -> None:
    steps = [ReferenceStep(do=Do.CLICK, on="Go on"), ReferenceStep(do=Do.CLICK, on="Finish")]
    teacher = TeacherPolicy(ReferencePolicy(steps))
    document = Document(node("button", text="Go on"))
    seen = _seen("hover-shape")
    first = await teacher.act(PolicyInput("Finish it.", [], seen, document))
    lost = await teacher.act(PolicyInput("Finish it.", [], seen, document))

    assert first.action == Click(x=20, y=15)
    assert lost.action == Answer()
    assert (lost.thought or "").startswith("I stop here: step 2 of the reference")
    assert "'Finish'" in (lost.thought or "")


async def test_a_template_it_cannot_solve_is_reported_as_impossible() -> None:
    decision = await TeacherPolicy().act(
        PolicyInput("Hover.", [], _seen("hover-shape"), Document())
    )

    assert decision.action == Answer()
    assert "never ends" in (decision.thought or "")


async def test_without_a_reader_it_cannot_act() -> None:
    with pytest.raises(RolloutFailure) as caught:
        await TeacherPolicy().act(PolicyInput("Click the button.", [], _seen(), None))

    assert caught.value.kind is FailureKind.POLICY


def test_it_declares_that_it_reads_the_page() -> None:
    assert TeacherPolicy().card.privileged


def test_a_family_is_known_by_its_address() -> None:
    assert template_of(start_url("email-inbox")) == "email-inbox"
    assert template_of(start_url("flight.AA")) == "flight.AA"
    assert template_of("http://miniwob.localhost/miniwob/no-such-page.html") is None
