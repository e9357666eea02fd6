"""A policy beside its twin, which gets at each step a document in which everything out of sight is another."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from bench.swap.document import Swap
from generators.browser.protocol import Node, PageReader
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from schemas.episodes.observation import Observation
from schemas.errors import RolloutFailure


@dataclass
class Compared:
    """What came of steps that were decided twice."""

    steps: int = 0
    """Steps that both decided."""
    changed: list[str] = field(default_factory=list)
    """In words, each step that the twin decided otherwise."""


@dataclass
class _Once:
    """A reader of one document."""

    root: Node

    async def read(self) -> Node:
        return self.root


class SwapTested:
    """A `Policy` whose decisions are compared with those of a twin until they part, in a record."""

    def __init__(self, make: Callable[[], Policy], record: Compared, *, name: str) -> None:
        """`make` makes the policy, and its twin; `name` is that of the episode in the record."""
        self._policy, self._twin = make(), make()
        self._record = record
        self._name = name
        self._swap = Swap(name)
        self._is_equal = True

    @property
    def card(self) -> PolicyCard:
        """The policy's."""
        return self._policy.card

    async def act(self, turn: PolicyInput) -> Decision:
        """Return the policy's decision, once its twin has decided too.

        Raises:
            RolloutFailure: the policy fails.
        """
        root = await _read(turn.reader)
        mine = await _decide(self._policy, turn, root)
        if self._is_equal:
            swapped = None if root is None else self._swap.of(root, turn.observation.sights)
            blind = replace(turn, observation=_without_unseen(turn.observation))
            twin = await _decide(self._twin, blind, swapped)
            self._record.steps += 1
            self._is_equal = mine == twin
            if not self._is_equal:
                place = f"{self._name}, step {len(turn.history)}"
                self._record.changed.append(f"{place}: {_said(mine)}; swapped: {_said(twin)}")
        if isinstance(mine, RolloutFailure):
            raise mine
        return mine


def _without_unseen(observation: Observation) -> Observation:
    """Return an observation without elements that are out of sight, and of another document and form."""
    elements = [one for one in observation.elements if one.visible > 0 and not one.covered]
    page = observation.page.model_copy(update={"dom_sha256": "0" * 64, "form_sha256": "0" * 64})
    return observation.model_copy(update={"elements": tuple(elements), "page": page})


async def _read(reader: PageReader | None) -> Node | None:
    return None if reader is None else await reader.read()


async def _decide(policy: Policy, turn: PolicyInput, root: Node | None) -> "Decision | _Failure":
    try:
        return await policy.act(replace(turn, reader=None if root is None else _Once(root)))
    except RolloutFailure as failure:
        return _Failure(failure.kind, failure.message)


class _Failure(RolloutFailure):
    """A failure that equals another of the same words."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Failure) and other.message == self.message

    def __hash__(self) -> int:
        return hash(self.message)


def _said(decided: Decision | RolloutFailure) -> str:
    if isinstance(decided, RolloutFailure):
        return f"fails: {decided.message}"
    return f"{decided.action!r} ({decided.thought})"
