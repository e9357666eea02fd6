"""What a policy says in an episode: a plan at first, a new one after what went wrong, and the same words for the same seed."""

import pytest
from support.browsers.reference_pages import SEEN, Reader, node, scrolled, step
from support.episodes.said import says

from generators.browser.protocol import Node
from generators.policy.protocol import Decision, PolicyInput
from generators.policy.reference import ReferencePolicy
from generators.policy.sentences.vary import sentence
from generators.policy.slips.rows import LookAlike
from generators.policy.slips.slip import Slip
from generators.policy.slips.slips import Slips
from schemas.episodes.action import Back

PLANNED = (
    step(do="click", on="Lamps", why="I go there.", purpose="view"),
    step(do="find", on="Lamp small", why="I look for it.", purpose="look"),
    step(do="click", on="Lamp small", why="I open it.", purpose="row"),
    step(do="click", on="Edit", why="I change it.", purpose="edit"),
    step(do="click", on="Save", why="I save it.", purpose="save"),
    step(do="answer", text="", why="That was it."),
)


def page(title: str, *links: str) -> Node:
    shown = [node("a", one, at=(9.0, 10.0 + 20 * at)) for at, one in enumerate(links)]
    return node("body", "", node("h1", title), *shown)


async def act(policy: ReferencePolicy, root: Node, url: str = "/") -> Decision:
    seen = SEEN.model_copy(
        update={"page": SEEN.page.model_copy(update={"url": f"http://shop.localhost{url}"})}
    )
    reader = Reader(scrolled(root, height=400.0))
    return await policy.act(PolicyInput('Change "Lamp small".', (), seen, reader))


class Only(Slips):
    """The slips of an episode that makes one of a kind."""

    def __init__(self, kind: Slip) -> None:
        super().__init__((), seed="", share=0.0)
        self._possible = [kind]


async def test_an_episode_begins_with_a_plan_and_says_it_once() -> None:
    policy = ReferencePolicy(PLANNED)
    first = await act(policy, page("Shop", "Lamps"))
    assert says(first.thought, "plan.plan")
    assert says(first.thought, "policy.no_menu", on="Lamps")
    assert '"Lamp small"' in (first.thought or "")
    then = await act(policy, page("Lamps", "Lamp small"), "/lamps")
    assert not says(then.thought, "plan.plan")


async def test_a_plan_is_renewed_when_a_mistake_is_seen_and_not_when_it_is_made() -> None:
    listed = page("Lamps", "Lamp large", "Lamp small")
    policy = ReferencePolicy(PLANNED, Only(LookAlike()))
    await act(policy, page("Shop", "Lamps"))
    wrong = await act(policy, listed, "/lamps")
    assert says(wrong.thought, "slips.believes", other="Lamp large")
    assert not says(wrong.thought, "plan.again")
    back = await act(policy, page("Lamp large"), "/lamp/1")
    assert back.action == Back()
    assert says(back.thought, "plan.again")


@pytest.mark.parametrize("holder", ["main", "aside"])
async def test_a_value_that_has_changed_is_told_at_the_end_but_of_no_page_beside_a_list(
    holder: str,
) -> None:
    def shown(state: str, *links: str) -> Node:
        pair = (node("dt", "State", at=(9.0, 200.0)), node("dd", state, at=(9.0, 220.0)))
        root = page("Lamp small", *links)
        root.children.append(node(holder, "", node("dl", "", *pair)))
        return root

    policy = ReferencePolicy((*PLANNED[2:4], PLANNED[-1]))
    await act(policy, page("Lamps", "Lamp small"), "/lamps")
    await act(policy, shown("Free", "Edit"), "/lamp/1")
    end = await act(policy, shown("Sold"), "/lamp/1")
    told = says(end.thought, "remarks.changed", name="State", other="Sold", more="Free")
    assert told is (holder == "main")


@pytest.mark.parametrize("seed", ["a", "b"])
async def test_the_seed_decides_the_words(seed: str) -> None:
    async def told(seed: str) -> list[str | None]:
        policy = ReferencePolicy(PLANNED, seed=seed)
        roots = (page("Shop", "Lamps"), page("Lamps", "Chair", "Lamp small"), page("Lamp", "Edit"))
        return [(await act(policy, one, f"/{at}")).thought for at, one in enumerate(roots)]

    assert await told(seed) == await told(seed)
    assert await told(seed) != await told(f"{seed} other")


async def test_a_plan_names_nothing_beside_a_thought_that_does_not_name_its_target() -> None:
    told = (PLANNED[0].model_copy(update={"purpose": None}), *PLANNED[1:])
    first = await act(ReferencePolicy(told), page("Shop", "Lamps", "Lamp small"))
    assert says(first.thought, "plan.plan")
    assert '"' not in (first.thought or "")


async def test_a_plan_names_what_the_goal_says_with_a_letter_that_is_two_in_small_ones() -> None:
    steps = tuple(
        one.model_copy(update={"on": "Lampe weiß"}) if one.on == "Lamp small" else one
        for one in PLANNED
    )
    reader = Reader(scrolled(page("Shop", "Lamps"), height=400.0))
    first = await ReferencePolicy(steps).act(PolicyInput("Ändere Lampe weiß.", (), SEEN, reader))
    assert '"Lampe weiß"' in (first.thought or "")


async def test_a_step_without_a_thought_gets_none() -> None:
    policy = ReferencePolicy((step(do="click", on="Lamps"),))
    assert (await act(policy, page("Shop", "Lamps"))).thought is None


async def test_what_is_passed_on_as_a_key_is_said_in_words() -> None:
    told = step(do="click", on="Lamps", why=sentence("policy.no_menu", on="Lamps"))
    found = await act(ReferencePolicy((told,)), page("Shop", "Lamps"))
    assert says(found.thought, "policy.no_menu", on="Lamps")
    assert "⟪" not in (found.thought or "")


async def test_what_a_page_says_is_told_after_something_was_done_and_not_where_it_always_stands() -> (
    None
):
    def told(root: Node, said: str) -> Node:
        root.children.append(node("p", said, role="status", at=(300.0, 300.0)))
        return root

    standing, new = "Ask before you delete.", "Your lamp was saved."
    thoughts = list[str]()
    for seed in map(str, range(20)):
        policy = ReferencePolicy(PLANNED, seed=seed)
        await act(policy, page("Shop", "Lamps"))
        await act(policy, told(page("Lamps", "Lamp small"), standing), "/lamps")
        thoughts.append(
            (await act(policy, told(page("Lamp", "Edit"), standing), "/1")).thought or ""
        )
        await act(policy, told(page("Change", "Save"), standing), "/1/edit")
        end = await act(policy, told(told(page("Lamp"), standing), new), "/1")
        thoughts.append(end.thought or "")
    assert not any("Ask before" in one for one in thoughts)
    assert any("Your lamp was saved" in one for one in thoughts)
