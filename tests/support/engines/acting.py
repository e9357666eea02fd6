"""One episode of a policy that asks an engine, step by step."""

from collections.abc import Sequence

from support.servers.stub_engine import SESSION, WrittenEngine, configured, history, seen

from generators.policy.model.policy import ModelPolicy
from generators.policy.model.setup import EngineSet, ModelConfigs
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, PolicyInput
from schemas.configuration.sections import PolicyName, PolicySection
from schemas.episodes.action import Action

SECTION = PolicySection(name=PolicyName.MODEL)
GARBLED = "I would click the button."


class Acting:
    """One episode of the policy, step by step."""

    def __init__(
        self, engine: WrittenEngine, section: PolicySection = SECTION, *, session: str = SESSION
    ) -> None:
        models = ModelConfigs(configured(section), EngineSet(engine)).of(section)
        model, budget = models.model, models.budget
        self.account = Account()
        self.policy = ModelPolicy(model, self.account, budget=budget, session=session)
        self.model = model
        self._done: list[Action] = []

    async def act(self) -> Decision:
        steps = history(self._done)
        decision = await self.policy.act(PolicyInput("Click it.", steps, seen(len(steps))))
        self._done.append(decision.action)
        return decision

    @property
    def roles(self) -> Sequence[tuple[int, str]]:
        """Step and role of every call that was booked."""
        return [(call.step, call.role) for call in self.account.calls]
