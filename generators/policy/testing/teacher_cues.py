"""What a surfer's other roles are made to say when its policy is made to say something.

A puppet's texts wait in a queue for each conversation, so a role is told something exactly when it
is going to be asked: this reads the policy's text as the policy will, and follows the same rules.
The localizer gives the master's own point, the validator agrees with its answer.
"""

from collections.abc import Callable

from generators.policy.model import localizer as localizer_module
from generators.policy.model import validator
from generators.policy.model.localizer import element_to_locate, format_localizer_reply
from generators.policy.model.model_config import Voice
from generators.policy.model.surfer import Roles, role_session
from generators.policy.model.validator import Assessment, format_assessment
from schemas.action import Action, Answer, point_of

AGREED = format_assessment(Assessment(success=True, thought="It is done."))
"""What the validator says."""


class Cues:
    """Whispers to the roles beside the policy, for one episode."""

    def __init__(
        self, voice: Voice, roles: Roles, *, session: str, whisper: Callable[[str, str], None]
    ) -> None:
        """`whisper` takes a conversation and a text; it reaches only the engine of `voice`."""
        self._voice = voice
        self._roles = roles
        self._session = session
        self._whisper = whisper

    def give(self, text: str, value: Action) -> None:
        """Tell the roles that are asked once the policy has said `text`, which means `meant`.

        Raises:
            CannotSay: the localizer's dialect has no words for the point.
        """
        understood = self._voice.dialect.read(text, self._voice.frame)
        point = point_of(value)
        if point is not None and element_to_locate(understood) is not None:
            localizer = self._roles.localizer
            said = format_localizer_reply(point, localizer.dialect, localizer.frame)
            self._tell(localizer, localizer_module.ROLE, said)
        if isinstance(understood.action, Answer):
            self._tell(self._roles.validator, validator.ROLE, AGREED)

    def _tell(self, voice: Voice, role: str, text: str) -> None:
        if voice.engine is self._voice.engine:
            self._whisper(role_session(self._session, role), text)
