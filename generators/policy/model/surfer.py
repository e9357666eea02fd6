"""A policy of three roles, as in Surfer-H: one decides, one locates, one checks the answer.

The policy role decides as the `model` policy does, with the same kind of prompt. If its action has a
point and describes the element there, the localizer gives the point, which is used and stays in the
history; the end of a drag stays the policy's own, because the description is of the start. If the
policy answers, the validator may object: the objection becomes the result of the answer, and the
policy goes on from the same picture.

If a role's replies cannot be parsed, even after a repair turn, the policy's own point is used, or its
answer stands. The step's `parse_error` records that, beside the policy's own parse errors; the
replies are in `calls`.
"""

from dataclasses import dataclass

from generators.policy.dialects.protocol import InexpressibleAction, ParsedAction, UnreadableReply
from generators.policy.model import answer_validator as validator_module
from generators.policy.model import localizer as localizer_module
from generators.policy.model.answer_validator import DEFAULT_OBJECTION, Validator
from generators.policy.model.context_window import Budget
from generators.policy.model.conversation import Conversation, make_decision, model_card
from generators.policy.model.localizer import Localizer, element_to_locate, move_action
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.pictures import EpisodePictures
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.episodes.action import Action, Answer
from schemas.episodes.observation import Observation

NAME = "surfer"
"""The policy's name in runs."""

REJECTION = "the answer was looked at and is not accepted: {why}\nGo on with the task."
"""The result of an answer to which the validator objects, for the policy."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The models of the two roles beside the policy."""

    localizer: ModelConfig
    """Locates the element that the policy describes."""
    validator: ModelConfig
    """Checks the answer."""
    max_pictures: int
    """Number of the last pictures that the validator gets."""


class SurferPolicy:
    """A `Policy` for one episode."""

    def __init__(
        self, model: ModelConfig, roles: Roles, account: Account, *, budget: Budget, session: str
    ) -> None:
        """`session` names the policy's conversation, and with a role added each of the others'."""
        self._model = model
        self._roles = roles
        self._pictures = EpisodePictures()
        self._conversation = Conversation(
            model, account, self._pictures, budget=budget, session=session
        )
        self._localizer = Localizer(
            roles.localizer, account, session=role_session(session, localizer_module.ROLE)
        )
        self._validator = Validator(
            roles.validator,
            account,
            self._pictures,
            max_pictures=roles.max_pictures,
            session=role_session(session, validator_module.ROLE),
        )

    @property
    def card(self) -> PolicyCard:
        """The policy's; engine, dialect and sampling are those of the role that decides."""
        prompts = (self._model.prompt, self._roles.localizer.prompt, self._roles.validator.prompt)
        return model_card(self._model, name=NAME).model_copy(update={"prompts": prompts})

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the decision of the three roles.

        Raises:
            RolloutFailure: an engine gives no reply, or two of the policy's cannot be parsed.
        """
        await self._conversation.add_observation(turn)
        step = len(turn.history)
        problems: list[str] = []
        while True:
            parsed = await self._conversation.ask(step=step)
            _add_problem(problems, parsed.problem)
            answer = parsed.value.action
            if not isinstance(answer, Answer) or not self._validator.has_checks_left:
                break
            objection = await self._find_objection(turn, answer, problems)
            if objection is None:
                break
            self._conversation.add_reply(parsed.value.canonical_reply, parsed.value.note)
            self._conversation.add_rejection(answer, REJECTION.format(why=objection))
        action = await self._locate_action(parsed.value, turn.observation, step, problems)
        self._conversation.add_reply(self._canonical_reply(parsed.value, action), parsed.value.note)
        self._pictures.drop_urls(but=self._conversation.pictures)
        return make_decision(parsed, action=action, problems=problems)

    async def _find_objection(
        self, turn: PolicyInput, answer: Answer, problems: list[str]
    ) -> str | None:
        try:
            parsed = await self._validator.assess(turn, answer)
        except UnreadableReply as error:
            _add_problem(problems, str(error), role=validator_module.ROLE)
            return None
        _add_problem(problems, parsed.problem, role=validator_module.ROLE)
        return None if parsed.value.success else parsed.value.thought or DEFAULT_OBJECTION

    async def _locate_action(
        self, proposed: ParsedAction, observation: Observation, step: int, problems: list[str]
    ) -> Action:
        """Return the proposed action at the point that the localizer gives, if it needs one."""
        element = element_to_locate(proposed)
        if element is None:
            return proposed.action
        frame = self._roles.localizer.frame
        picture = await self._pictures.get(observation, step=step, size=frame.sent_size)
        try:
            parsed = await self._localizer.locate(picture, element, step=step)
        except UnreadableReply as error:
            _add_problem(problems, str(error), role=localizer_module.ROLE)
            return proposed.action
        _add_problem(problems, parsed.problem, role=localizer_module.ROLE)
        return move_action(proposed.action, parsed.value)

    def _canonical_reply(self, proposed: ParsedAction, action: Action) -> str:
        """Return the reply for the history, with the point that was used."""
        if action == proposed.action:
            return proposed.canonical_reply
        try:
            return self._model.dialect.format_action(action, self._model.frame, proposed.rationale)
        except InexpressibleAction:
            return proposed.canonical_reply


def role_session(session: str, role: str) -> str:
    """Return the name of a role's conversation in the episode of `session`."""
    return f"{session}/{role}"


def _add_problem(problems: list[str], problem: str | None, *, role: str | None = None) -> None:
    """Append a parse error with its role; None: no error."""
    if problem is not None:
        problems.append(problem if role is None else f"{role}: {problem}")
