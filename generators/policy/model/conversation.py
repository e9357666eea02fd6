"""The conversation of one episode with the model that decides.

It appends each observation to the prompt, asks for an action in the model's dialect, and appends the
reply that the policy accepts. The policy decides which action is carried out.
"""

from collections.abc import Sequence
from functools import partial

from generators.engine.protocol import Picture
from generators.policy.dialects.protocol import ParsedAction, UnreadableReply
from generators.policy.model.context_window import Budget, ContextWindow
from generators.policy.model.model_call import RecordedEngine, model_name, sampling_row
from generators.policy.model.model_config import ModelConfig
from generators.policy.model.pictures import EpisodePictures
from generators.policy.model.repair import ParsedReply, ReplyParser
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.episodes.action import Action
from schemas.episodes.episode import PolicyKind, ThoughtSource
from schemas.errors import FailureKind, RolloutFailure

ROLE = "policy"
"""The role's name in rows of `calls`."""


class Conversation:
    """The prompt of an episode and the replies to it, from the first picture to the last."""

    def __init__(
        self,
        model: ModelConfig,
        account: Account,
        pictures: EpisodePictures,
        *,
        budget: Budget,
        session: str,
    ) -> None:
        self._model = model
        self._pictures = pictures
        self._budget = budget
        self._window: ContextWindow | None = None
        self._parser: ReplyParser[ParsedAction] = ReplyParser(
            RecordedEngine(model, account, session=session),
            ROLE,
            read=partial(model.dialect.parse, frame=model.frame),
            repair=model.dialect.repair_message,
            switch_words=model.dialect.switch_words,
        )

    async def add_observation(self, turn: PolicyInput) -> None:
        """Append the result of the last action and the new observation to the prompt.

        Raises:
            RolloutFailure: it does not fit even after all evictions.
        """
        dialect, frame = self._model.dialect, self._model.frame
        if self._window is None:
            self._window = ContextWindow(
                self._model.prompt.text,
                dialect.task_message(turn.instruction),
                image_placeholder=dialect.image_placeholder,
                budget=self._budget,
            )
        observation, step = turn.observation, len(turn.history)
        picture = await self._pictures.get(observation, step=step, size=frame.sent_size)
        before, after = dialect.observation_text(step, observation.page)
        result = dialect.result_text(turn.history[-1]) if turn.history else ""
        tokens = dialect.image_tokens(*frame.sent_size)
        self._window.append_observation(result + before, picture, after, picture_tokens=tokens)

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """The pictures of the prompt as it is now, oldest first."""
        return () if self._window is None else self._window.pictures

    async def ask(self, *, step: int) -> ParsedReply[ParsedAction]:
        """Ask the model for an action.

        A prompt that the engine refuses as too long is sent once more, a block shorter; so is one with a repair turn.

        Raises:
            RolloutFailure: the engine gives no reply, or two replies cannot be parsed.
        """
        try:
            return await self._parser.ask_and_parse(self._started_window, step=step)
        except UnreadableReply as error:
            raise RolloutFailure(FailureKind.POLICY, str(error)) from error

    def add_reply(self, canonical_reply: str, note: str | None = None) -> None:
        """Append the reply that the policy accepts, in canonical form, with what it notes; None: nothing."""
        self._started_window.append_reply(canonical_reply, note)

    def add_rejection(self, action: Action, why: str) -> None:
        """Append why `action` was not carried out; the newest picture stays the last.

        Raises:
            RolloutFailure: it does not fit even after all evictions.
        """
        self._started_window.append_user_text(self._model.dialect.rejection_text(action, why))

    @property
    def _started_window(self) -> ContextWindow:
        if self._window is None:
            raise RuntimeError("add an observation first")
        return self._window


def make_decision(
    parsed: ParsedReply[ParsedAction], *, action: Action | None = None, problems: Sequence[str] = ()
) -> Decision:
    """Return the decision of a parsed reply; `action` replaces its own action.

    `problems` are the parse errors of earlier replies, of all roles.
    """
    value = parsed.value
    return Decision(
        action=action or value.action,
        thought=value.thought,
        thought_source=ThoughtSource.POLICY if value.thought is not None else None,
        note=value.note,
        raw_reply=parsed.reply.text,
        parse_error="; ".join(problems) or None,
    )


def model_card(model: ModelConfig, *, name: str) -> PolicyCard:
    """Return the card of a policy that decides with `model`."""
    card = model.engine.card
    return PolicyCard(
        name=name,
        kind=PolicyKind.MODEL,
        dialect=model.dialect.name,
        model=model_name(card.model),
        engine=card.product,
        engine_version=card.version,
        sampling=sampling_row(model.sampling),
        prompts=(model.prompt,),
    )
