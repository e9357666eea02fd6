"""Policies that act at random: they are paid as often as chance allows, and no oftener."""

from dataclasses import dataclass, field
from random import Random

from support.browsers.random_actions import ON_THE_PAGE, View, draw_action

from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from schemas.episodes.action import Answer, Click
from schemas.episodes.episode import PolicyKind

ACTIONS = 10
"""Actions of a guesser before it gives up."""


@dataclass
class Guesser:
    """A `Policy` that does anything at all to the page."""

    draw: Random
    _done: int = 0

    @property
    def card(self) -> PolicyCard:
        """A script, which reads the page to hit what is on it."""
        return PolicyCard(name="guesser", kind=PolicyKind.SCRIPTED, privileged=True)

    async def act(self, given: PolicyInput) -> Decision:
        """Return a random action."""
        assert given.reader is not None
        if self._done == ACTIONS:
            return Decision(action=Answer(text=""))
        self._done += 1
        view = View(await given.reader.read(), given.observation.page.url, ())
        return Decision(action=draw_action(self.draw, view, ON_THE_PAGE))


@dataclass
class ButtonGuesser:
    """A `Policy` that presses one of the page's buttons, each as likely as any other."""

    draw: Random
    chances: list[float] = field(default_factory=list)
    """The chance of each press."""

    @property
    def card(self) -> PolicyCard:
        """A script, which reads the page to hit what is on it."""
        return PolicyCard(name="button guesser", kind=PolicyKind.SCRIPTED, privileged=True)

    async def act(self, given: PolicyInput) -> Decision:
        """Press a button, once."""
        assert given.reader is not None
        buttons = [n.point for n in (await given.reader.read()).walk() if n.tag == "button"]
        points = [point for point in buttons if point is not None]
        if self.chances or not points:
            return Decision(action=Answer(text=""))
        self.chances.append(1 / len(points))
        x, y = self.draw.choice(points)
        return Decision(action=Click(x=x, y=y))
