"""A surfer whose engines say what a test wrote down, and the replies of its roles."""

import json
from collections.abc import Sequence

from support.servers.stub_engine import SESSION, called, configured, history, seen

from generators.policy.model.setup import EngineSet, ModelConfigs
from generators.policy.model.surfer import SurferPolicy
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, PolicyInput
from schemas.configuration.sections import PolicyName, PolicySection
from schemas.episodes.action import Action

SURFER = PolicySection(name=PolicyName.SURFER)
LOCALIZER, VALIDATOR = f"{SESSION}/localizer", f"{SESSION}/validator"
ELSEWHERE = ("http://127.0.0.1:2/v1",)


def at(x: float, y: float) -> str:
    """Return a localizer's reply."""
    return json.dumps({"x": x, "y": y})


def opinion(*, success: bool, thought: str = "It shows.") -> str:
    """Return a validator's reply."""
    return json.dumps({"thought": thought, "success": success})


def answered(text: str) -> str:
    """Return the policy's answer."""
    return called("answer", content=text)


class Surfing:
    """One episode of the policy, step by step."""

    def __init__(self, engines: EngineSet, section: PolicySection = SURFER) -> None:
        models = ModelConfigs(configured(section), engines).of(section)
        assert models.roles is not None
        self.model, self.roles = models.model, models.roles
        self.account = Account()
        self.policy = SurferPolicy(
            self.model, self.roles, self.account, budget=models.budget, session=SESSION
        )
        self._done: list[Action] = []

    async def act(self) -> Decision:
        steps = history(self._done)
        decision = await self.policy.act(PolicyInput("Click it.", steps, seen(len(steps))))
        self._done.append(decision.action)
        return decision

    @property
    def booked(self) -> Sequence[tuple[int, str]]:
        """Step and role of every call."""
        return [(call.step, call.role) for call in self.account.calls]
