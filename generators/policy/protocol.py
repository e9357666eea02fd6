"""The protocol of a policy: from observations to the next action.

A policy is made for one episode, from the run's seed, and keeps its state within it. It acts only
through ordinary actions, pixels and keys, and gets nothing of a page but the observation. A
privileged policy also gets a `PageReader`, which reads the rendered document and nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import Field

from generators.browser.protocol import PageReader
from schemas.base import JsonObject, Record
from schemas.episodes.action import Action
from schemas.episodes.call import Prompt
from schemas.episodes.episode import PolicyKind, Step, ThoughtSource
from schemas.episodes.mistake import InjectedMistake
from schemas.episodes.observation import Observation


@dataclass(frozen=True, slots=True)
class PolicyInput:
    """The input of one decision."""

    instruction: str
    """The goal of the task."""
    history: Sequence[Step]
    """The steps so far."""
    observation: Observation
    """The observation of the page now."""
    reader: PageReader | None = None
    """Reads the rendered document; None unless the policy's card says `privileged`."""


class Decision(Record):
    """The decision of a policy."""

    action: Action
    """The action to carry out."""
    thought: str | None = None
    """The reason for it; None if not stated."""
    thought_source: ThoughtSource | None = None
    """The thought's author; None without a thought."""
    note: str | None = None
    """A note to remember; None without one."""
    raw_reply: str | None = None
    """The model's reply; None without a model."""
    parse_error: str | None = None
    """Why a reply could not be parsed; None if all could."""
    injected_mistake: InjectedMistake | None = None
    """The mistake that the policy makes here on purpose; None if it makes none."""


class PolicyCard(Record):
    """The columns of an episode that describe its policy."""

    name: str
    """The policy's name."""
    kind: PolicyKind
    """The kind of policy."""
    privileged: bool = False
    """Whether it gets a `PageReader`."""
    answers_after_done: bool = False
    """Whether it is asked for its answer once more after the site has reported that the task is done."""
    tries_again: bool = True
    """Whether an attempt whose browser or site fails after the first action may begin anew, with a new policy. A client
    outside has already seen what its actions did."""
    dialect: str | None = None
    """The model family's; None without a model."""
    model: str | None = None
    """The model's name; None without one."""
    engine: str | None = None
    """The software that serves the model; None without one, or if unknown."""
    engine_version: str | None = None
    """Its version; None if unknown."""
    sampling: JsonObject = Field(default_factory=dict)
    """Sampling parameters; empty without a model."""
    prompts: tuple[Prompt, ...] = ()
    """System prompts in use, that of the role that acts first."""


class Policy(Protocol):
    """Chooses the actions of one episode, one after another."""

    @property
    def card(self) -> PolicyCard:
        """The columns of an episode that describe this policy."""
        ...

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the next decision; the action `Answer` ends the episode.

        Raises:
            RolloutFailure: the policy reaches no usable decision.
        """
        ...
