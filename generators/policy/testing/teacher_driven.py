"""A model's policy whose engine replies what the teacher decides, for tests and benches.

The teacher decides with its privileged reader. Its decision is formatted in the model's dialect and
queued in the scripted engine through a side channel; then the model's policy asks the engine as it
always does. So a whole run goes from picture to prompt to reply to action over HTTP, with correct
replies, and nothing of the usual path is left out.
"""

from collections.abc import Callable
from dataclasses import replace

from generators.policy.dialects.protocol import InexpressibleAction, Rationale
from generators.policy.model.element_names import element_name
from generators.policy.model.model_config import ModelConfig
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.testing.role_replies import RoleReplies
from schemas.errors import FailureKind, RolloutFailure


class TeacherDrivenPolicy:
    """A `Policy` of a model whose replies are the teacher's decisions."""

    def __init__(
        self,
        model: Policy,
        teacher: Policy,
        voice: ModelConfig,
        *,
        queue: Callable[[str], None],
        role_replies: RoleReplies | None = None,
    ) -> None:
        """`model` decides with `voice`; `queue` takes the next reply in its conversation."""
        self._model = model
        self._teacher = teacher
        self._voice = voice
        self._queue = queue
        self._role_replies = role_replies

    @property
    def card(self) -> PolicyCard:
        """The model's, but for the reader that the teacher needs."""
        return self._model.card.model_copy(update={"privileged": self._teacher.card.privileged})

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the action that the model's policy parses from the teacher's reply.

        Raises:
            RolloutFailure: the dialect cannot express what the teacher decided.
        """
        decided = await self._teacher.act(turn)
        try:
            text = self._voice.dialect.format_action(
                decided.action,
                self._voice.frame,
                Rationale(
                    thought=decided.thought,
                    note=decided.note,
                    element=element_name(decided.action, turn.observation.elements),
                ),
            )
            if self._role_replies is not None:
                self._role_replies.add(text, decided.action)
        except InexpressibleAction as error:
            raise RolloutFailure(
                FailureKind.POLICY, f"the dialect cannot express the action: {error}"
            ) from error
        self._queue(text)
        return await self._model.act(replace(turn, reader=None))
