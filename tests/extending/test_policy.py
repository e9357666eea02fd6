"""A policy from outside: a class whose instance a rollout is given.

A policy that configurations can name takes a member of `PolicyName` and a case of
`PolicyFactory.make` besides; both sets are closed, so that every command can refuse an unknown name.
"""

from scripted_rollouts import RUNNING, WON, attempt_it, pages
from scripted_session import ScriptedSessions

from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.action import Click
from schemas.episode import PolicyKind, StopReason


class Centre:
    """Clicks the middle of every page."""

    card = PolicyCard(name="centre", kind=PolicyKind.SCRIPTED)

    async def act(self, turn: PolicyInput) -> Decision:
        """Click the middle."""
        seen = turn.observation
        return Decision(action=Click(x=seen.width // 2, y=seen.height // 2), thought="The middle.")


async def test_a_policy_wins_an_episode() -> None:
    sessions = ScriptedSessions(pages(RUNNING, RUNNING, WON))

    episode = await attempt_it(sessions, make_policy=lambda _: Centre())

    assert episode.policy == "centre"
    assert episode.stop_reason is StopReason.FINISHED
    assert episode.reward == 1.0
