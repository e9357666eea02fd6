"""Episodes as conversations in a model's dialect, written by the policy that would ask the model.

An episode is played through `ModelPolicy` once more. The policy is shown the recorded observations,
and an engine that replays the recorded actions, in the dialect's words, stands in for the model. So
prompts, evictions and echoes cannot differ from those of a rollout. A reply that the model made
under the same prompt is repeated word for word.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

from typing_extensions import override

from generators.engine.client.pricing import Meter
from generators.engine.protocol import (
    EngineCard,
    EnginePrompt,
    Message,
    Picture,
    Reply,
    Role,
    Sampling,
)
from generators.engine.stopwatch import Stopwatch
from generators.policy.dialects.coordinates import Frame, frame_of
from generators.policy.dialects.protocol import (
    Dialect,
    InexpressibleAction,
    Rationale,
    UnreadableReply,
)
from generators.policy.dialects.registry import DEFAULT, make_dialect
from generators.policy.model.context_window import Budget
from generators.policy.model.localizer import element_name
from generators.policy.model.model_config import ModelConfig, make_prompt
from generators.policy.model.policy import ModelPolicy
from generators.policy.model.seen_prefixes import SeenPrefixes
from generators.policy.model.try_account import Account
from generators.policy.protocol import PolicyInput
from generators.training.grounding import ALIKE, NEAR, PHRASINGS, grounding_rows
from generators.verify.seen import missing_basis
from generators.verify.shown import Picture as SeenPicture
from generators.verify.shown import Shown, Words
from generators.verify.unsupported_claims import untrue_statement
from schemas.base import JsonObject
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineSection, PolicySection
from schemas.episodes.action import NoAction
from schemas.episodes.conversation import ChatMessage, MaskReason, MessagePicture, Rendered, Segment
from schemas.episodes.episode import Actor, Episode, Step
from schemas.episodes.observation import Observation
from schemas.episodes.viewport import Viewport
from schemas.errors import RolloutFailure
from schemas.tables.tables import Row
from schemas.tables.training_renderer import Renderer
from schemas.tasks.expectation import Expectation
from schemas.verdicts.full_episode import FullEpisode


def make_renderer(config: RunConfig, dialect: str | None) -> "DialectRenderer":
    """Return the renderer of a run's episodes in a dialect, by default the first policy's.

    The context window and the dialect's options are those of the run's policy that uses the dialect.
    Where none does, the window is that of the first policy and the options are the defaults.

    Raises:
        BadConfig: there is no such dialect, or an option is not one of its own.
    """
    sections = [section for section in config.mix if config.asks_engine(section)] or config.mix
    wanted = dialect or sections[0].dialect or DEFAULT
    using = [section for section in sections if (section.dialect or DEFAULT) == wanted]
    plain = sections[0].model_copy(update={"dialect_options": {}})
    window = using[0] if using else plain
    return DialectRenderer(make_dialect(wanted, window.dialect_options), window)


class DialectRenderer(Renderer):
    """Renders episodes in one dialect, in a thread in which no event loop runs."""

    def __init__(self, dialect: Dialect, window: PolicySection) -> None:
        self._dialect = dialect
        self._window = window
        self._configs: dict[Frame, ModelConfig] = {}
        self._masks: dict[str, Future[_Masks]] = {}
        self._masks_lock = threading.Lock()

    @property
    @override
    def about(self) -> JsonObject:
        """The dialect with its options, and the window of the conversation."""
        return {
            "dialect": self._dialect.name,
            "dialect_version": self._dialect.version,
            "coordinates": self._dialect.convention.value,
            "dialect_options": self._window.dialect_options,
            "keep_images": self._window.keep_images,
            "slack_images": self._window.slack_images,
            "context_tokens": self._window.context_tokens,
        }

    @property
    @override
    def about_grounding(self) -> JsonObject:
        return {"alike": ALIKE, "near": NEAR, "phrasings": PHRASINGS}

    @override
    def grounding_rows(self, source: FullEpisode, counts: Counter[str]) -> Iterator[Row]:
        return grounding_rows(source, counts)

    @override
    def render(self, episode: Episode, expectation: Expectation | None = None) -> Rendered:
        """Return the episode as a conversation in the dialect."""
        return asyncio.run(self._render(episode, expectation))

    async def _render(self, episode: Episode, expectation: Expectation | None) -> Rendered:
        model, engine = self._model_config(episode), _ReplayEngine()
        budget = Budget(
            keep_images=self._window.keep_images,
            slack_images=self._window.slack_images,
            tokens=self._window.context_tokens,
        )
        account, asked = Account(), list[_RenderedStep]()
        policy = ModelPolicy(
            replace(model, engine=engine), account, budget=budget, session=episode.episode_id
        )
        ended: str | None = None
        for number, step in enumerate(episode.steps):
            if isinstance(step.action, NoAction):
                break
            try:
                engine.text = _reply_text(episode, step, model)
                engine.prompt_tokens = _prompt_tokens(episode, step, model)
                await policy.act(
                    PolicyInput(episode.instruction, episode.steps[:number], _observation(step))
                )
            except (InexpressibleAction, UnreadableReply):
                ended = f"unsaid_{step.action.type}"
                break
            except RolloutFailure:
                ended = "too_long"
                break
            asked.append(_RenderedStep(step, account.calls[-1].segment, engine.sent, engine.text))
        masks = self._masks_of(episode, asked, expectation)
        return Rendered(tuple(_segments(asked, masks)), ended=ended)

    def _masks_of(
        self,
        episode: Episode,
        asked: "Sequence[_RenderedStep]",
        expectation: Expectation | None,
    ) -> "_Masks":
        """Return why replies of an episode are not learnt, found once for all threads: it decodes pictures."""
        with self._masks_lock:
            known = self._masks.get(episode.episode_id)
            found = self._masks.setdefault(episode.episode_id, Future())
        if known is not None:
            return known.result()
        try:
            sight = _Sight(episode)
            found.set_result([_why_masked(one, sight, expectation) for one in asked])
        except BaseException as error:
            found.set_exception(error)
            raise
        return found.result()

    def _model_config(self, episode: Episode) -> ModelConfig:
        """Return the model settings for episodes of this size; the engine is a placeholder."""
        frame = _frame(episode, self._dialect)
        if frame not in self._configs:
            schema, functions = self._dialect.reply_schema(frame), self._dialect.functions(frame)
            words = self._dialect.system_prompt(frame)
            self._configs[frame] = ModelConfig(
                engine=_ReplayEngine(),
                dialect=self._dialect,
                sampling=Sampling(),
                frame=frame,
                prompt=make_prompt(self._dialect, words, schema, functions),
                schema=schema,
                functions=functions,
                meter=Meter(),
                seen=SeenPrefixes(),
                pricing=EngineSection(),
            )
        return self._configs[frame]


class _ReplayEngine:
    """An `Engine` that replies with the text it was given, and keeps the last prompt."""

    def __init__(self) -> None:
        self.card = EngineCard(model="recited")
        self.text = ""
        """The next reply."""
        self.prompt_tokens: int | None = None
        """The prompt tokens it reports; None: it reports none."""
        self.sent: tuple[Message, ...] = ()
        """The last prompt."""

    async def reply(
        self,
        prompt: EnginePrompt,
        sampling: Sampling,
        *,
        session: str,
        stopwatch: Stopwatch | None = None,
    ) -> Reply:
        del sampling, session, stopwatch
        self.sent = prompt.messages
        return Reply(
            text=self.text,
            finish_reason="stop",
            endpoint="recited",
            prompt_tokens=self.prompt_tokens,
            total_ms=0.0,
        )

    def hear(self, reply: Reply, *, session: str, cacheable_tokens: int | None) -> None:
        """Take no notice: nobody waits for this engine."""


@dataclass(frozen=True, slots=True)
class _RenderedStep:
    """One prompt and its reply."""

    step: Step
    segment: int
    messages: tuple[Message, ...]
    reply: str


_Masks = list[tuple[MaskReason, str] | None]
"""For each reply of an episode the reason why it is not learnt, and a sentence on it; None if it is
learnt."""


class _Sight:
    """The visible content of an episode's prompts; each picture is decoded once."""

    def __init__(self, episode: Episode) -> None:
        self._steps = episode.steps
        self._scale = episode.device_scale_factor
        self._texts: dict[str, Words] = {}
        self._goal = self._words(episode.instruction)
        self._pictures: dict[int, SeenPicture] = {}
        self._lies = set[str]()

    def distrust(self, reply: str) -> None:
        """Note a reply that states what nothing has shown: it is no basis for later ones."""
        self._lies.add(reply)

    def show(self, prompt: Sequence[Message]) -> Shown | None:
        """Return the visible content of a prompt: its pictures, the goal and the earlier replies.

        None if a picture was recorded without its sights.
        """
        parts = [(message.role, part) for message in prompt for part in message.parts]
        steps = [self._steps[part.step] for _, part in parts if isinstance(part, Picture)]
        if any(step.sights is None for step in steps):
            return None
        for step in steps:
            if step.step not in self._pictures:
                self._pictures[step.step] = SeenPicture(step, scale=self._scale)
        said = [part for role, part in parts if isinstance(part, str) and role is not Role.SYSTEM]
        texts = [text for text in said if text not in self._lies]
        return Shown(
            (self._goal, *map(self._words, texts)),
            tuple(self._pictures[step.step] for step in steps),
        )

    def _words(self, text: str) -> Words:
        if text not in self._texts:
            self._texts[text] = Words(None, [(text, None)])
        return self._texts[text]


def _why_masked(
    rendered: _RenderedStep, sight: _Sight, expectation: Expectation | None
) -> tuple[MaskReason, str] | None:
    """Return why a reply is not learnt; None if it is."""
    step, shown = rendered.step, sight.show(rendered.messages)
    is_known = shown is not None and step.sights is not None
    untrue = untrue_statement(step, shown) if shown is not None and is_known else None
    if untrue is not None:
        sight.distrust(rendered.reply)
    if step.actor is not Actor.AGENT:
        return MaskReason.PERSON, "a person acted"
    if step.action_error is not None:
        return MaskReason.FAILED, "the action could not be carried out"
    if step.injected_mistake is not None:
        return MaskReason.MISTAKE, f"it is the mistake '{step.injected_mistake}' on purpose"
    if untrue is not None:
        return MaskReason.UNTRUE_NOTE, f"its prompt does not show {untrue}"
    missing = missing_basis(step, shown, expectation) if shown is not None and is_known else None
    if missing is None:
        return None
    return MaskReason.UNSEEN, f"its prompt no longer shows {missing}"


def _reply_text(episode: Episode, step: Step, model: ModelConfig) -> str:
    """Return a step's reply as it goes into a prompt: the model's own, if the prompt is the same.

    Raises:
        InexpressibleAction: the dialect has no words for the action.
        UnreadableReply: the dialect cannot parse the reply.
    """
    dialect, frame = model.dialect, model.frame
    if step.raw_reply is not None and episode.prompt_sha256 == model.prompt.prompt_sha256:
        own = dialect.parse(step.raw_reply, frame)
        if own.action == step.action:
            return own.canonical_reply
    hit = step.target  # which an overlay may lie over others: their boxes hold the point too
    element = None if hit is None else hit.name or hit.text
    element = element or element_name(step.action, step.elements)
    rationale = Rationale(thought=step.thought, note=step.note, element=element)
    text = dialect.format_action(step.action, frame, rationale)
    return dialect.parse(text, frame).canonical_reply


def _prompt_tokens(episode: Episode, step: Step, model: ModelConfig) -> int | None:
    """Return the prompt tokens of a step; None unless an engine counted this very prompt."""
    own = model.prompt.prompt_sha256
    counts = (
        call.prompt_tokens
        for call in episode.calls
        if call.step == step.step and call.role == "policy" and call.prompt_sha256 == own
    )
    return next(counts, None)


def _observation(step: Step) -> Observation:
    return Observation(
        screenshot=step.screenshot,
        width=step.width,
        height=step.height,
        page=step.page,
        elements=step.elements,
        sights=step.sights,
        observe_ms=step.observe_ms,
    )


def _frame(episode: Episode, dialect: Dialect) -> Frame:
    viewport = Viewport(
        width=episode.viewport_width,
        height=episode.viewport_height,
        scale=episode.device_scale_factor,
    )
    return frame_of(viewport, dialect.sent_size(*viewport.picture))


def _segments(asked: Sequence[_RenderedStep], masks: _Masks) -> Iterator[Segment]:
    """Yield the last prompt of each segment with its reply; earlier ones are its beginnings."""
    both = list(zip(asked, masks, strict=True))
    for number in sorted({item.segment for item in asked}):
        own = [item for item in asked if item.segment == number]
        why = [mask for item, mask in both if item.segment == number]
        turns = [_turn(message) for message in own[-1].messages]
        turns.append(ChatMessage(role="assistant", parts=(own[-1].reply,)))
        replies = [place for place, turn in enumerate(turns) if turn.role == "assistant"]
        for place, item, mask in zip(replies[-len(own) :], own, why, strict=True):
            reason, masked = mask or (None, None)
            turns[place] = replace(
                turns[place],
                learnt=mask is None,
                masked=masked,
                mask_reason=reason,
                step=item.step.step,
            )
        yield Segment(number, tuple(item.step.step for item in own), tuple(turns))


def _turn(message: Message) -> ChatMessage:
    parts = tuple(
        MessagePicture(part.step, part.jpeg) if isinstance(part, Picture) else part
        for part in message.parts
    )
    return ChatMessage(role=message.role.value, parts=parts)
