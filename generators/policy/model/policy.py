"""A policy that asks a model: from picture to prompt to reply to action.

Each step appends the screenshot to a prompt that only grows, and the model's dialect parses the
reply. A reply that cannot be parsed gets one repair turn; a second one ends the episode as a failure
of the policy.
"""

from generators.policy.model.context_window import Budget
from generators.policy.model.conversation import Conversation, make_decision, model_card
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.pictures import EpisodePictures
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, PolicyCard, PolicyInput

NAME = "model"
"""The policy's name in runs."""


class ModelPolicy:
    """A `Policy` for one episode."""

    def __init__(
        self, model: ModelConfig, account: Account, *, budget: Budget, session: str
    ) -> None:
        self._model = model
        self._conversation = Conversation(
            model, account, EpisodePictures(), budget=budget, session=session
        )

    @property
    def card(self) -> PolicyCard:
        """The model, its dialect, engine, sampling and prompt."""
        return model_card(self._model, name=NAME)

    async def act(self, turn: PolicyInput) -> Decision:
        """Ask the model for an action.

        Raises:
            RolloutFailure: the engine gives no reply, or two replies cannot be parsed.
        """
        await self._conversation.add_observation(turn)
        parsed = await self._conversation.ask(step=len(turn.history))
        self._conversation.add_reply(parsed.value.canonical_reply, parsed.value.note)
        problems = () if parsed.problem is None else (parsed.problem,)
        return make_decision(parsed, problems=problems)
