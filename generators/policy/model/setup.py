"""What the episodes of a run share of an engine: dialect, frame, system prompt, sampling, budget.

Made once, because a system prompt with its schema is long and the same for every episode. Here it
is also seen, before any work, whether the engine's context can hold a prompt at all.
"""

from collections.abc import Mapping
from dataclasses import replace

from generators.engine.client.time_share import SharedTime
from generators.engine.protocol import Engine, Sampling
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Dialect
from generators.policy.dialects.registry import DEFAULT, make_dialect
from generators.policy.model import localizer as localizer_module
from generators.policy.model import validator as validator_module
from generators.policy.model.context_window import Budget, text_tokens
from generators.policy.model.model_call import Voice, make_prompt
from generators.policy.model.surfer import Roles
from schemas.base import JsonObject, canonical_json
from schemas.config import RunConfig
from schemas.errors import BadConfig
from schemas.sections import ASKING, PolicyName, PolicySection, RoleSection

ROOM = 1_000
"""Tokens that must be left for the task, its observation's text and a short history."""

Place = tuple[tuple[str, ...], str | None]
"""An engine of a role's own: its endpoints and its model."""


class Engines:
    """The engines of a run: the one that is configured, and those of roles with their own."""

    def __init__(self, main: Engine, others: Mapping[Place, Engine] | None = None) -> None:
        self.main = main
        """Of `[engine]`."""
        self._others = dict(others or {})
        self.time = SharedTime()
        """Divided among the replies of all of them."""

    def of(self, role: RoleSection | None) -> Engine:
        """Return who is asked in a role; None: the run's engine."""
        if role is None or not role.urls:
            return self.main
        return self._others[role.urls, role.model]


def dialect_of(section: PolicySection, role: RoleSection | None = None) -> Dialect:
    """Return the dialect of a policy, or of a role that has one of its own.

    Raises:
        BadConfig: there is none of that name, it is not asked in, or an option is unknown.
    """
    if role is not None and role.dialect not in (None, section.dialect or DEFAULT):
        dialect = make_dialect(role.dialect)
    else:
        dialect = make_dialect(section.dialect, section.dialect_options)
    if not dialect.asks:
        raise BadConfig(
            f"policy.dialect: '{dialect.name}' is read and written only; no engine is asked in it"
        )
    return dialect


class Voices:
    """How the policies of a run speak to their engines."""

    def __init__(self, config: RunConfig, engines: Engines) -> None:
        """Make the voice of every section that asks.

        Raises:
            BadConfig: an engine's context cannot hold a prompt.
        """
        self._config = config
        self._engines = engines
        self._made: dict[str, tuple[Voice, Budget]] = {}
        self._played: dict[str, Roles] = {}
        for section in config.mix:
            if section.name in ASKING:
                self.of(section)
            if section.name is PolicyName.SURFER:
                self.roles_of(section)

    @property
    def made(self) -> tuple[Voice, ...]:
        """Every voice of the run."""
        played = [voice for r in self._played.values() for voice in (r.localizer, r.validator)]
        return (*(voice for voice, _ in self._made.values()), *played)

    def of(self, section: PolicySection) -> tuple[Voice, Budget]:
        """Return how a policy speaks, and how long its prompts may be."""
        key = _key(section)
        if key not in self._made:
            voice = self._policy(section)
            self._made[key] = voice, self._budget(section, voice)
        return self._made[key]

    def roles_of(self, section: PolicySection) -> Roles:
        """Return how the roles of a surfer speak, beside its policy's own."""
        key = _key(section)
        if key not in self._played:
            localizer, validator = self._localizer(section), self._validator(section)
            _pictures(localizer, 1, role=localizer_module.ROLE)
            most = section.keep_images + section.slack_images
            pictures = _pictures(validator, most, role=validator_module.ROLE)
            self._played[key] = Roles(localizer, validator, pictures)
        return self._played[key]

    def _policy(self, section: PolicySection) -> Voice:
        dialect = dialect_of(section)
        frame = self._frame(dialect)
        schema = dialect.schema(frame)
        return self._voice(section, None, text=dialect.system(frame), schema=schema)

    def _localizer(self, section: PolicySection) -> Voice:
        dialect = dialect_of(section, section.localizer)
        frame = self._frame(dialect)
        return self._voice(
            section,
            section.localizer,
            text=localizer_module.localizer_request(dialect, frame),
            schema=localizer_module.localizer_schema(dialect, frame),
        )

    def _validator(self, section: PolicySection) -> Voice:
        voice = self._voice(
            section,
            section.validator,
            text=validator_module.VALIDATOR_SYSTEM,
            schema=validator_module.VALIDATOR_SCHEMA,
        )
        return replace(voice, points=False)

    def _voice(
        self,
        section: PolicySection,
        role: RoleSection | None,
        *,
        text: str,
        schema: JsonObject | None,
    ) -> Voice:
        dialect, pricing = dialect_of(section, role), self._config.engine
        if role is not None and role.urls:
            # The list is of what the run's own engine charges; hours are paid for all of them.
            pricing = pricing.model_copy(update={"usd_per_million": None})
        return Voice(
            engine=self._engines.of(role),
            dialect=dialect,
            sampling=_sampling(section, role, dialect),
            frame=self._frame(dialect),
            prompt=make_prompt(dialect, text, schema),
            schema=schema,
            time=self._engines.time,
            pricing=pricing,
        )

    def _frame(self, dialect: Dialect) -> Frame:
        """Return the sizes of a run's pictures; a screenshot is rounded to whole pixels."""
        width, height = self._config.viewport
        scale = self._config.browser.device_scale_factor
        taken = round(width * scale), round(height * scale)
        sent = dialect.sent_size(*taken)
        return Frame(
            viewport_width=width,
            viewport_height=height,
            picture_width=taken[0],
            picture_height=taken[1],
            sent_width=sent[0],
            sent_height=sent[1],
        )

    def _budget(self, section: PolicySection, voice: Voice) -> Budget:
        context, asked = voice.engine.card.context_tokens, section.context_tokens
        held = None if context is None else context - section.max_tokens
        if asked is not None and held is not None and asked > held:
            raise BadConfig(
                f"policy.context_tokens = {asked}: the engine holds {context} tokens, of which the "
                f"reply may take {section.max_tokens} (policy.max_tokens); at most {held} are left"
            )
        limit = asked or held
        picture = voice.dialect.image_tokens(voice.frame.sent_width, voice.frame.sent_height)
        least = text_tokens(voice.prompt.text) + section.keep_images * picture + ROOM
        if limit is not None and limit < least:
            raise BadConfig(
                f"the prompt may have {limit} tokens, and needs about {least}: the system prompt, "
                f"{section.keep_images} pictures of {picture}, and {ROOM} for the steps; serve a "
                "longer context, or lower policy.keep_images, policy.max_tokens or browser.viewport"
            )
        return Budget(
            keep_images=section.keep_images, slack_images=section.slack_images, tokens=limit
        )


def _key(section: PolicySection) -> str:
    return canonical_json(section.model_dump(mode="json"))


def _sampling(section: PolicySection, role: RoleSection | None, dialect: Dialect) -> Sampling:
    """Return how replies are drawn in a role; None: as the policy's own."""
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


def _pictures(voice: Voice, most: int, *, role: str) -> int:
    """Return how many pictures a prompt of a role may have: `most`, or as many as fit.

    Raises:
        BadConfig: not one fits.
    """
    context, reply = voice.engine.card.context_tokens, voice.sampling.max_tokens
    if context is None:
        return most
    picture = voice.dialect.image_tokens(voice.frame.sent_width, voice.frame.sent_height)
    text = text_tokens(voice.prompt.text) + ROOM
    fit = (context - reply - text) // picture
    if fit < 1:
        raise BadConfig(
            f"policy.{role}: its engine holds {context} tokens, and it needs about "
            f"{reply + text + picture}: {reply} for the reply, {text} for the words, and {picture} "
            f"for a picture; serve a longer context, or lower policy.{role}.max_tokens"
        )
    return min(most, fit)
