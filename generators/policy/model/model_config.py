"""The settings by which one role of a policy asks its model, the same for every episode of a run."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from generators.engine.client.pricing import Meter
from generators.engine.protocol import Engine, EnginePrompt, Message, Sampling
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Dialect
from generators.policy.model.seen_prefixes import SeenPrefixes
from schemas.base import JsonObject
from schemas.configuration.sections import EngineSection
from schemas.episodes.call import Prompt, prompt_hash


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """An engine, and all on which a prompt to it and its reply depend."""

    engine: Engine
    """Serves the model."""
    dialect: Dialect
    """Formats prompts and parses replies."""
    sampling: Sampling
    """Sampling parameters, without the seed."""
    frame: Frame
    """The sizes between which points are converted."""
    prompt: Prompt
    """The system prompt."""
    schema: JsonObject | None
    """The JSON schema of a reply; None: free text."""
    meter: Meter
    """What the command spends on its engines, and their time, shared among the replies of all episodes."""
    seen: SeenPrefixes
    """The prompts of all episodes that the engine has seen."""
    pricing: EngineSection
    """The engine's prices, by tokens or by the hour."""
    functions: tuple[JsonObject, ...] = ()
    """The tools that go with a request, in OpenAI's form; empty: none."""
    points: bool = True
    """Whether its replies may have points, in the dialect's convention."""

    def prompt_of(self, messages: Sequence[Message]) -> EnginePrompt:
        """Return messages as the prompt of a request."""
        return EnginePrompt(
            messages=tuple(messages), reply_schema=self.schema, tools=self.functions
        )


def make_prompt(
    dialect: Dialect,
    text: str,
    schema: JsonObject | None,
    functions: tuple[JsonObject, ...] = (),
) -> Prompt:
    """Return the row of `prompts` for a system prompt; its tools are the schema, or the functions."""
    tools: JsonValue = list(functions) if functions else schema
    return Prompt(
        prompt_sha256=prompt_hash(text, tools),
        dialect=dialect.name,
        dialect_version=dialect.version,
        text=text,
        tools=tools,
    )
