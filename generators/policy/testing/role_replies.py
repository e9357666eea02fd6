"""Replies for a surfer's other roles when the teacher gives the replies of its policy.

Replies wait in a queue for each conversation, so one is queued exactly when its role is going to be
asked: this parses the policy's reply as the policy will, and follows the same rules. The localizer
gives the teacher's own point, the validator agrees with its answer.
"""

from collections.abc import Callable

from generators.policy.model import localizer as localizer_module
from generators.policy.model import validator
from generators.policy.model.localizer import element_to_locate, format_localizer_reply
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.surfer import Roles, role_session
from generators.policy.model.validator import Assessment, format_assessment
from schemas.action import Action, Answer, target_point

AGREEMENT = format_assessment(Assessment(success=True, thought="It is done."))
"""The validator's reply."""


class RoleReplies:
    """Queues the replies of the roles beside the policy, for one episode."""

    def __init__(
        self, voice: ModelConfig, roles: Roles, *, session: str, queue: Callable[[str, str], None]
    ) -> None:
        """`queue` takes a conversation and a reply; it reaches only the engine of `voice`."""
        self._voice = voice
        self._roles = roles
        self._session = session
        self._queue = queue

    def add(self, reply: str, action: Action) -> None:
        """Queue the replies of the roles that are asked once the policy has replied.

        `reply` is the policy's and means `action`.

        Raises:
            InexpressibleAction: the localizer's dialect cannot express the point.
        """
        understood = self._voice.dialect.parse(reply, self._voice.frame)
        point = target_point(action)
        if point is not None and element_to_locate(understood) is not None:
            localizer = self._roles.localizer
            located = format_localizer_reply(point, localizer.dialect, localizer.frame)
            self._add(localizer, localizer_module.ROLE, located)
        if isinstance(understood.action, Answer):
            self._add(self._roles.validator, validator.ROLE, AGREEMENT)

    def _add(self, voice: ModelConfig, role: str, text: str) -> None:
        if voice.engine is self._voice.engine:
            self._queue(role_session(self._session, role), text)
