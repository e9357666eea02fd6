"""A policy that clicks the middle of the page, and gives up after some clicks."""

from pydantic import BaseModel, Field

from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.policy.registry import PolicyParts
from schemas.episodes.action import Answer, Click
from schemas.episodes.episode import PolicyKind


class Centre:
    stepmill_api = 1
    card = PolicyCard(name="centre", kind=PolicyKind.PLUGIN)

    class Options(BaseModel):
        """The keys of `policy.options`."""

        clicks: int = Field(default=3, ge=1)

    def __init__(self, parts: PolicyParts) -> None:
        self._clicks = self.Options.model_validate(parts.options).clicks

    async def act(self, turn: PolicyInput) -> Decision:
        if len(turn.history) >= self._clicks:
            return Decision(action=Answer())
        seen = turn.observation
        return Decision(action=Click(x=seen.width // 2, y=seen.height // 2))
