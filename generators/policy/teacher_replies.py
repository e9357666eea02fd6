"""A model's policy whose engine replies with the teacher's decisions, for tests and benches.

The teacher decides with its privileged reader. Its decision is formatted in the model's dialect and queued
in the simulator through a side channel; then the model's policy asks the engine as usual. So a whole run
takes the usual path from picture to prompt to reply to action over HTTP, with correct replies.

A surfer's other roles get replies too: the localizer gives the teacher's own point, and the validator
agrees with the teacher's answer. Each conversation has one queue, so a reply is queued exactly when its
role will be asked; `RoleReplies` determines that by the same rules as the policy.
"""

from collections.abc import Callable
from dataclasses import replace

from generators.policy.dialects.protocol import InexpressibleAction, Rationale
from generators.policy.model import answer_validator as validator
from generators.policy.model import localizer as localizer_module
from generators.policy.model.answer_validator import Assessment, format_assessment
from generators.policy.model.localizer import (
    element_name,
    element_to_locate,
    format_localizer_reply,
)
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.surfer import Roles, role_session
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from schemas.episodes.action import Action, Answer, target_point
from schemas.errors import FailureKind, RolloutFailure

AGREEMENT = format_assessment(Assessment(success=True, thought="It is done."))
"""The validator's reply."""


class RoleReplies:
    """Queues the replies of the roles beside the policy, for one episode."""

    def __init__(
        self, model: ModelConfig, roles: Roles, *, session: str, queue: Callable[[str, str], None]
    ) -> None:
        """`queue` takes a conversation and a reply; it reaches only the engine of `model`."""
        self._model = model
        self._roles = roles
        self._session = session
        self._queue = queue

    def add(self, reply: str, action: Action) -> None:
        """Queue the replies of the roles that follow the policy's reply.

        `reply` is the policy's and means `action`.

        Raises:
            InexpressibleAction: the localizer's dialect cannot express the point.
        """
        parsed = self._model.dialect.parse(reply, self._model.frame)
        point = target_point(action)
        if point is not None and element_to_locate(parsed) is not None:
            localizer = self._roles.localizer
            located = format_localizer_reply(point, localizer.dialect, localizer.frame)
            self._add(localizer, localizer_module.ROLE, located)
        if isinstance(parsed.action, Answer):
            self._add(self._roles.validator, validator.ROLE, AGREEMENT)

    def _add(self, model: ModelConfig, role: str, text: str) -> None:
        if model.engine is self._model.engine:
            self._queue(role_session(self._session, role), text)


class TeacherDrivenPolicy:
    """A `Policy` of a model whose replies are the teacher's decisions."""

    def __init__(
        self,
        policy: Policy,
        teacher: Policy,
        model: ModelConfig,
        *,
        queue: Callable[[str], None],
        role_replies: RoleReplies | None = None,
    ) -> None:
        """`policy` decides with `model`; `queue` takes the next reply in its conversation."""
        self._policy = policy
        self._teacher = teacher
        self._model = model
        self._queue = queue
        self._role_replies = role_replies

    @property
    def card(self) -> PolicyCard:
        """The model's, with the privilege that the teacher needs."""
        return self._policy.card.model_copy(update={"privileged": self._teacher.card.privileged})

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the action that the model's policy parses from the teacher's reply.

        Raises:
            RolloutFailure: the dialect cannot express the teacher's decision.
        """
        decided = await self._teacher.act(turn)
        try:
            text = self._model.dialect.format_action(
                decided.action,
                self._model.frame,
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
        return await self._policy.act(replace(turn, reader=None))
