"""What a policy is: from what it has seen to what it does next.

A policy is made for one episode, from the run's seed, and keeps its state within it. It acts only
through ordinary actions, pixels and keys; all that it learns of a page is the observation. A
privileged policy also gets a `PageReader`, which reads the rendered document and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from generators.browser.protocol import PageReader
from schemas.action import Action
from schemas.base import JsonObject, Record
from schemas.call import Prompt
from schemas.episode import PolicyKind, Step, ThoughtSource
from schemas.observation import Observation


@dataclass(frozen=True, slots=True)
class PolicyInput:
    """What a policy decides from."""

    instruction: str
    """The goal of the task."""
    history: Sequence[Step]
    """The steps so far."""
    observation: Observation
    """The page now."""
    reader: PageReader | None = None
    """Reads the rendered document; None unless the policy's card says `privileged`."""


class Decision(Record):
    """What a policy decided."""

    action: Action
    """What to do."""
    thought: str | None = None
    """Why, in words; None if it does not say."""
    thought_source: ThoughtSource | None = None
    """Where the thought comes from; None without one."""
    note: str | None = None
    """What it wants to remember; None if nothing."""
    raw_reply: str | None = None
    """What the model wrote; None without one."""
    parse_error: str | None = None
    """Why a reply could not be read; None if it could."""


class PolicyCard(Record):
    """What an episode records of the policy that acted."""

    name: str
    """The policy's name."""
    kind: PolicyKind
    """What sort of policy."""
    privileged: bool = False
    """It gets a `PageReader`."""
    dialect: str | None = None
    """The model family's; None without a model."""
    model: str | None = None
    """The model's name; None without one."""
    engine: str | None = None
    """What serves the model; None without one, or if unknown."""
    engine_version: str | None = None
    """Its version; None if unknown."""
    sampling: JsonObject = Field(default_factory=dict)
    """How replies are drawn; empty without a model."""
    prompts: tuple[Prompt, ...] = ()
    """System prompts in use, the one that acts first."""


class Policy(Protocol):
    """Chooses one action after another, for one episode."""

    @property
    def card(self) -> PolicyCard:
        """Who it is."""
        ...

    async def act(self, turn: PolicyInput) -> Decision:
        """Return what to do next; `Answer` ends the episode.

        Raises:
            RolloutFailure: it has no usable decision.
        """
        ...
