"""A policy of three roles, as Surfer-H has them: one decides, one finds, one looks at the answer.

The policy role decides as the `model` policy does, over the same kind of prompt. Where its action
has a point and says what is there, the localizer is asked for the point, and its point is the one
that is acted on and remembered; a drag's end stays the policy's own, because its words name only
what is dragged. Where the policy answers, the validator may object: the objection is told as the
outcome of the answer, and the policy goes on from the same picture.

A role that cannot be understood, not even after its repair turn, has no say: the policy's own
point is used, or its answer stands. That is on record in the step's `parse_error`, beside what was
wrong with the policy's own reply, and every word of it in `calls`.
"""

from dataclasses import dataclass

from generators.policy.dialects.protocol import CannotSay, Understood, Unreadable
from generators.policy.model import localizer as localizer_module
from generators.policy.model import validator as validator_module
from generators.policy.model.context_window import Budget
from generators.policy.model.conversation import Conversation, make_decision, model_card
from generators.policy.model.localizer import Localizer, element_to_locate, move_action
from generators.policy.model.model_config import Voice
from generators.policy.model.pictures import EpisodePictures
from generators.policy.model.usage import Account
from generators.policy.model.validator import DEFAULT_OBJECTION, Validator
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.action import Action, Answer
from schemas.observation import Observation

NAME = "surfer"
"""What runs call it."""

REJECTION = "the answer was looked at and is not accepted: {why}\nGo on with the task."
"""What the policy is told of an answer that the validator objects to."""


@dataclass(frozen=True, slots=True)
class Roles:
    """How the two roles beside the policy are spoken to."""

    localizer: Voice
    """Finds what is described."""
    validator: Voice
    """Looks at the answer."""
    max_pictures: int
    """The last pictures that the validator is shown, at most."""


class Surfer:
    """A `Policy` for one episode."""

    def __init__(
        self, voice: Voice, roles: Roles, account: Account, *, budget: Budget, session: str
    ) -> None:
        """`session` names the policy's conversation, and with its role each of the others'."""
        self._voice = voice
        self._roles = roles
        self._pictures = EpisodePictures()
        self._conversation = Conversation(
            voice, account, self._pictures, budget=budget, session=session
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
        """Who it is: engine, dialect and sampling are those of the role that decides."""
        prompts = (self._voice.prompt, self._roles.localizer.prompt, self._roles.validator.prompt)
        return model_card(self._voice, name=NAME).model_copy(update={"prompts": prompts})

    async def act(self, turn: PolicyInput) -> Decision:
        """Return what the three of them say to do.

        Raises:
            RolloutFailure: an engine gives no reply, or two of the policy's cannot be read.
        """
        await self._conversation.add_observation(turn)
        step = len(turn.history)
        problems: list[str] = []
        while True:
            parsed = await self._conversation.ask(step=step)
            _add_problem(problems, parsed.problem)
            decided = parsed.value.action
            if not isinstance(decided, Answer) or not self._validator.looks:
                break
            objection = await self._find_objection(turn, decided, problems)
            if objection is None:
                break
            self._conversation.add_reply(parsed.value.echo)
            self._conversation.add_rejection(decided, REJECTION.format(why=objection))
        action = await self._locate_action(parsed.value, turn.observation, step, problems)
        self._conversation.add_reply(self._canonical_reply(parsed.value, action))
        return make_decision(parsed, action=action, problems=problems)

    async def _find_objection(
        self, turn: PolicyInput, answer: Answer, problems: list[str]
    ) -> str | None:
        try:
            parsed = await self._validator.assess(turn, answer)
        except Unreadable as error:
            _add_problem(problems, str(error), role=validator_module.ROLE)
            return None
        _add_problem(problems, parsed.problem, role=validator_module.ROLE)
        return None if parsed.value.success else parsed.value.thought or DEFAULT_OBJECTION

    async def _locate_action(
        self, understood: Understood, seen: Observation, step: int, problems: list[str]
    ) -> Action:
        """Return the action at the point that the localizer gives, if it has to and can."""
        element = element_to_locate(understood)
        if element is None:
            return understood.action
        frame = self._roles.localizer.frame
        size = frame.sent_width, frame.sent_height
        picture = await self._pictures.get(seen, step=step, size=size)
        try:
            parsed = await self._localizer.place(picture, element, step=step)
        except Unreadable as error:
            _add_problem(problems, str(error), role=localizer_module.ROLE)
            return understood.action
        _add_problem(problems, parsed.problem, role=localizer_module.ROLE)
        return move_action(understood.action, parsed.value)

    def _canonical_reply(self, understood: Understood, action: Action) -> str:
        """Return the reply as the policy will remember it: with the point that was acted on."""
        if action == understood.action:
            return understood.echo
        try:
            return self._voice.dialect.say(action, self._voice.frame, understood.rationale)
        except CannotSay:
            return understood.echo


def role_session(session: str, role: str) -> str:
    """Return what a role's conversation is called in the episode of `session`."""
    return f"{session}/{role}"


def _add_problem(problems: list[str], problem: str | None, *, role: str | None = None) -> None:
    """Take down what could not be read, and whose it was; None: nothing."""
    if problem is not None:
        problems.append(problem if role is None else f"{role}: {problem}")
