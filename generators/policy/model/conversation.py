"""The conversation in which a model decides, over one episode: what it is shown and what it says.

Every policy that asks an engine what to do holds one. It appends what is seen to the prompt, asks
for an action in the model's dialect, and appends what the policy made of the reply. Which action
is carried out in the end is the policy's matter.
"""

from collections.abc import Sequence
from functools import partial

from generators.policy.dialects.protocol import Understood, Unreadable
from generators.policy.model.context_window import Budget, Window
from generators.policy.model.model_call import Speaker, model_name, sampling_row
from generators.policy.model.model_config import Voice
from generators.policy.model.pictures import EpisodePictures
from generators.policy.model.repair import Heard, Listener
from generators.policy.model.usage import Account
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.action import Action
from schemas.episode import PolicyKind, ThoughtSource
from schemas.errors import FailureKind, RolloutFailure


class Talk:
    """What a model is shown and asked, from the first picture of an episode to its last."""

    def __init__(
        self,
        voice: Voice,
        account: Account,
        pictures: EpisodePictures,
        *,
        budget: Budget,
        session: str,
    ) -> None:
        self._voice = voice
        self._pictures = pictures
        self._budget = budget
        self._window: Window | None = None
        self._listener: Listener[Understood] = Listener(
            Speaker(voice, account, session=session),
            "policy",
            read=partial(voice.dialect.read, frame=voice.frame),
            repair=voice.dialect.repair,
        )

    async def look(self, turn: PolicyInput) -> None:
        """Append what is seen now, and what came of the last action, to the prompt.

        Raises:
            RolloutFailure: it does not fit, however much is left out.
        """
        dialect, frame = self._voice.dialect, self._voice.frame
        if self._window is None:
            self._window = Window(
                self._voice.prompt.text,
                dialect.opening(turn.instruction),
                gone=dialect.gone,
                budget=self._budget,
            )
        observation, step = turn.observation, len(turn.history)
        size = frame.sent_width, frame.sent_height
        picture = await self._pictures.get(observation, step=step, size=size)
        before, after = dialect.around(step, observation.page)
        result = dialect.result(turn.history[-1]) if turn.history else ""
        tokens = dialect.image_tokens(*size)
        self._window.saw(result + before, picture, after, picture_tokens=tokens)

    async def decide(self, *, step: int) -> Heard[Understood]:
        """Return what the model says to do.

        Raises:
            RolloutFailure: the engine gives no reply, or two replies cannot be read.
        """
        window = self._shown
        try:
            heard = await self._listener.hear(window.messages, step=step, segment=window.segment)
        except Unreadable as error:
            raise RolloutFailure(FailureKind.POLICY, str(error)) from error
        window.counted(heard.prompt_tokens)
        return heard

    def settle(self, echo: str) -> None:
        """Append the reply as it was understood."""
        self._shown.answered(echo)

    def refuse(self, action: Action, why: str) -> None:
        """Append that `action` was not taken; the newest picture still stands.

        Raises:
            RolloutFailure: it does not fit, however much is left out.
        """
        self._shown.told(self._voice.dialect.refused(action, why))

    @property
    def _shown(self) -> Window:
        if self._window is None:
            raise RuntimeError("nothing was looked at yet")
        return self._window


def decision_of(
    heard: Heard[Understood], *, action: Action | None = None, problems: Sequence[str] = ()
) -> Decision:
    """Return the decision that was heard; `action` replaces its own.

    `problems` are what could not be read on the way to it, whoever said it.
    """
    understood = heard.meant
    return Decision(
        action=action or understood.action,
        thought=understood.thought,
        thought_source=ThoughtSource.POLICY if understood.thought is not None else None,
        note=understood.note,
        raw_reply=heard.reply.text,
        parse_error="; ".join(problems) or None,
    )


def model_card(voice: Voice, *, name: str) -> PolicyCard:
    """Return the card of a policy that speaks with `voice` first of all."""
    card = voice.engine.card
    return PolicyCard(
        name=name,
        kind=PolicyKind.MODEL,
        dialect=voice.dialect.name,
        model=model_name(card.model),
        engine=card.product,
        engine_version=card.version,
        sampling=sampling_row(voice.sampling),
        prompts=(voice.prompt,),
    )
