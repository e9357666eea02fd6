"""From a run's configuration to its policies' models: dialect, frame, prompt, sampling, budget.

They are made once for the largest pictures, before any work, and once for each size that episodes draw,
because a system prompt with its schema is long and the same for every episode of a size. A run is refused here if its engine's context cannot hold a prompt, or if the engine
does not take the prompt that every episode will send.
"""

import io
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

from PIL import Image

from generators.engine.client.pricing import Meter
from generators.engine.protocol import Engine, Message, Picture, Reply, Role, Sampling
from generators.policy.dialects.coordinates import Frame, frame_of
from generators.policy.dialects.protocol import Dialect
from generators.policy.dialects.registry import DEFAULT, make_dialect
from generators.policy.model import answer_validator as validator_module
from generators.policy.model import localizer as localizer_module
from generators.policy.model.context_window import Budget, text_tokens
from generators.policy.model.model_config import ModelConfig, make_prompt
from generators.policy.model.seen_prefixes import SeenPrefixes
from generators.policy.model.surfer import Roles
from schemas.base import JsonObject, canonical_json
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import PolicyName, PolicySection, RoleSection
from schemas.episodes.viewport import Viewport, large_viewports
from schemas.errors import BadConfig, NoEngine, RolloutFailure

RESERVED_TOKENS = 1_000
"""Tokens that a prompt needs for the task, its observation's text and a short history."""

PREFLIGHT_TOKENS = 16
"""Tokens of a preflight's reply: enough to know that the engine replies at all."""

LOG = logging.getLogger(__name__)

EngineKey = tuple[tuple[str, ...], str | None]
"""The engine of a role with endpoints of its own: its URLs and its model."""


class EngineSet:
    """The engines of a run: the configured one, and those of roles with endpoints of their own."""

    def __init__(
        self,
        main: Engine,
        others: Mapping[EngineKey, Engine] | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.main = main
        """The engine of `[engine]`."""
        self._others = dict(others or {})
        self.seen = SeenPrefixes()
        """The prompts that the engines have seen."""
        self.meter = meter or Meter()
        """What is spent on the engines."""

    def of(self, role: RoleSection | None) -> Engine:
        """Return the engine of a role; None: the run's engine."""
        if role is None or not role.urls:
            return self.main
        return self._others[role.urls, role.model]


def dialect_of(section: PolicySection, role: RoleSection | None = None) -> Dialect:
    """Return the dialect of a policy, or of a role that has one of its own.

    Raises:
        BadConfig: it does not exist, no engine can be asked in it, or an option is unknown.
    """
    if role is not None and role.dialect not in (None, section.dialect or DEFAULT):
        dialect = make_dialect(role.dialect)
    else:
        dialect = make_dialect(section.dialect, section.dialect_options)
    if not dialect.drives_engine:
        raise BadConfig(
            f"policy.dialect: '{dialect.name}' is read and written only; no engine is asked in it"
        )
    return dialect


@dataclass(frozen=True, slots=True)
class PolicyModels:
    """The models of one policy section, one for each role."""

    model: ModelConfig
    """The model of the deciding role."""
    budget: Budget
    """The budget of its prompts."""
    roles: Roles | None
    """The other two roles of a `surfer`; None for any other policy."""


class ModelConfigs:
    """The models of a run's policies, made once; they never change."""

    def __init__(self, config: RunConfig, engines: EngineSet) -> None:
        """Make them for every section that asks an engine.

        Raises:
            BadConfig: an engine's context cannot hold a prompt.
        """
        self._config, self._engines = config, engines
        makers = [_Maker(config, engines, one) for one in large_viewports(config)]
        asking = [section for section in config.mix if config.asks_engine(section)]
        self._models = {
            _key(section): max((one.models(section) for one in makers), key=_picture_tokens)
            for section in asking
        }
        self._drawn: dict[tuple[str, Viewport], PolicyModels] = {}

    def of(self, section: PolicySection, viewport: Viewport | None = None) -> PolicyModels:
        """Return the models of a section of the run's configuration, for episodes of this viewport.

        None: the largest that the run may have. The budget is that of the largest in any case.
        """
        key = _key(section)
        if viewport is None:
            return self._models[key]
        if (key, viewport) not in self._drawn:
            made = _Maker(self._config, self._engines, viewport).models(section)
            budget = self._models[key].budget
            self._drawn[key, viewport] = replace(made, budget=budget)
        return self._drawn[key, viewport]

    @property
    def all(self) -> tuple[ModelConfig, ...]:
        """Those of every role for the largest pictures, the roles that decide first."""
        roles = [models.roles for models in self._models.values() if models.roles is not None]
        others = [model for role in roles for model in (role.localizer, role.validator)]
        return (*(models.model for models in self._models.values()), *others)


@dataclass(frozen=True, slots=True)
class _Maker:
    config: RunConfig
    engines: EngineSet
    viewport: Viewport

    def models(self, section: PolicySection) -> PolicyModels:
        dialect = dialect_of(section)
        frame = self._frame(dialect)
        text, schema = dialect.system_prompt(frame), dialect.reply_schema(frame)
        functions = dialect.functions(frame)
        model = self._model_config(section, None, text=text, schema=schema)
        prompt = make_prompt(dialect, text, schema, functions)
        model = replace(model, functions=functions, prompt=prompt)
        budget = _budget(section, model)
        roles = self._roles(section) if section.name == PolicyName.SURFER else None
        return PolicyModels(model, budget, roles)

    def _roles(self, section: PolicySection) -> Roles:
        dialect = dialect_of(section, section.localizer)
        frame = self._frame(dialect)
        localizer = self._model_config(
            section,
            section.localizer,
            text=localizer_module.localizer_request(dialect, frame),
            schema=localizer_module.localizer_schema(dialect, frame),
        )
        validator = self._model_config(
            section,
            section.validator,
            text=validator_module.VALIDATOR_SYSTEM,
            schema=validator_module.VALIDATOR_SCHEMA,
        )
        _pictures_that_fit(localizer, 1, role=localizer_module.ROLE)
        wanted = section.keep_images + section.slack_images
        pictures = _pictures_that_fit(validator, wanted, role=validator_module.ROLE)
        return Roles(localizer, replace(validator, points=False), pictures)

    def _model_config(
        self,
        section: PolicySection,
        role: RoleSection | None,
        *,
        text: str,
        schema: JsonObject | None,
    ) -> ModelConfig:
        dialect, pricing = dialect_of(section, role), self.config.engine
        if role is not None and role.urls:
            # The price list is the run's own engine's; an hourly price covers all engines.
            pricing = pricing.model_copy(update={"usd_per_million": None})
        return ModelConfig(
            engine=self.engines.of(role),
            dialect=dialect,
            sampling=_sampling(section, role, dialect),
            frame=self._frame(dialect),
            prompt=make_prompt(dialect, text, schema),
            schema=schema,
            meter=self.engines.meter,
            seen=self.engines.seen,
            pricing=pricing,
        )

    def _frame(self, dialect: Dialect) -> Frame:
        """Return the sizes of an episode's pictures."""
        return frame_of(self.viewport, dialect.sent_size(*self.viewport.picture))


def _picture_tokens(models: PolicyModels) -> int:
    """Return an estimate of the tokens of a picture of an episode."""
    return _prompt_tokens(models.model)[1]


def _key(section: PolicySection) -> str:
    return canonical_json(section.model_dump(mode="json"))


def _sampling(section: PolicySection, role: RoleSection | None, dialect: Dialect) -> Sampling:
    """Return the sampling of a role; None: the policy's own."""
    if role is not None:
        return Sampling(
            temperature=role.temperature, max_tokens=role.max_tokens, extra=dialect.request_fields
        )
    return Sampling(
        temperature=section.temperature,
        top_p=section.top_p,
        max_tokens=section.max_tokens,
        logprobs=section.logprobs is not None,
        extra=dialect.request_fields,
    )


def _prompt_tokens(model: ModelConfig) -> tuple[int, int]:
    """Return estimates of the tokens of a prompt's text, with room for a task, and of a picture."""
    picture = model.dialect.image_tokens(*model.frame.sent_size)
    return text_tokens(model.prompt.text) + RESERVED_TOKENS, picture


def _budget(section: PolicySection, model: ModelConfig) -> Budget:
    context, asked = model.engine.card.context_tokens, section.context_tokens
    held = None if context is None else context - section.max_tokens
    if held is not None and held <= 0:
        raise BadConfig(
            f"policy.max_tokens = {section.max_tokens}: the engine holds {context} tokens, prompt and reply"
            " together, and none are left for a prompt; lower it, or serve a longer context"
        )
    if asked is not None and held is not None and asked > held:
        raise BadConfig(
            f"policy.context_tokens = {asked}: the engine holds {context} tokens, of which the "
            f"reply may take {section.max_tokens} (policy.max_tokens); at most {held} are left"
        )
    limit = asked or held
    text, picture = _prompt_tokens(model)
    needed = text + section.keep_images * picture
    if limit is not None and limit < needed:
        raise BadConfig(
            f"the prompt may have {limit} tokens, and needs about {needed}: the system prompt, "
            f"{section.keep_images} pictures of {picture}, and {RESERVED_TOKENS} for the steps; serve a "
            "longer context, or lower policy.keep_images, policy.max_tokens or browser.picture_side"
        )
    return Budget(keep_images=section.keep_images, slack_images=section.slack_images, tokens=limit)


def _pictures_that_fit(model: ModelConfig, wanted: int, *, role: str) -> int:
    """Return how many pictures a role's prompt may have: `wanted`, or as many as fit.

    Raises:
        BadConfig: not even one fits.
    """
    context, reply = model.engine.card.context_tokens, model.sampling.max_tokens
    if context is None:
        return wanted
    text, picture = _prompt_tokens(model)
    fit = (context - reply - text) // picture
    if fit < 1:
        raise BadConfig(
            f"policy.{role}: its engine holds {context} tokens, and it needs about "
            f"{reply + text + picture}: {reply} for the reply, {text} for the words, and {picture} "
            f"for a picture; serve a longer context, or lower policy.{role}.max_tokens"
        )
    return min(wanted, fit)


async def preflight(model: ModelConfig) -> Reply:
    """Ask an engine once what every episode will ask it; return the reply, which may be anything.

    A model without vision, a context that is too short or a request that the server always refuses
    would fail every episode of a run in the same way. One prompt, with the real system prompt, the
    real schema and a blank picture of the real size, finds that out before anything is written.

    Raises:
        NoEngine: the engine refuses the request, or does not reply in time.
    """
    frame, dialect = model.frame, model.dialect
    width, height = frame.sent_size
    jpeg = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(jpeg, "JPEG")
    picture = Picture(jpeg=jpeg.getvalue(), step=-1, width=width, height=height)
    parts = (dialect.task_message("Say anything."), picture)
    messages = (
        Message(role=Role.SYSTEM, parts=(model.prompt.text,)),
        Message(role=Role.USER, parts=parts),
    )
    sampling = model.sampling.model_copy(update={"max_tokens": PREFLIGHT_TOKENS})
    prompt = model.prompt_of(messages)
    try:
        sent = model.seen.begin()
        reply = await model.engine.reply(prompt, sampling, session="preflight")
        model.seen.cacheable_tokens(prompt, reply, sent=sent)
    except RolloutFailure as failure:
        card = model.engine.card
        raise NoEngine(
            f"the engine takes no prompt with a picture of {width}×{height} px "
            f"({card.model} at {', '.join(card.endpoints)}): {failure.message}"
        ) from failure
    if model.schema is not None and not reply.structured:
        LOG.warning(
            "the engine does not follow a reply's schema (%s): expect repairs and failed episodes",
            reply.endpoint,
        )
    return reply
