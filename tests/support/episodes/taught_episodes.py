"""Episodes of a teacher, and sections of the models that they are said for."""

from collections.abc import Sequence

from support.episodes.factories import make_episode, make_step
from support.servers.stub_engine import SIDE, seen

from generators.policy.model.try_account import Account
from schemas.configuration.sections import (
    PolicyName,
    PolicySection,
)
from schemas.episodes.action import (
    Action,
    NoAction,
)
from schemas.episodes.conversation import (
    Segment,
)
from schemas.episodes.episode import Episode, PolicyKind, Step


def section_of(**more: object) -> PolicySection:
    """Return a model's section."""
    return PolicySection.model_validate({"name": PolicyName.MODEL, **more})


def sight(number: int) -> dict[str, object]:
    """Return what a step recorded of what was seen."""
    look = seen(number)
    return {name: getattr(look, name) for name in ("screenshot", "width", "height", "page")}


def episode_of(
    steps: Sequence[Step], account: Account | None = None, prompt: str | None = None
) -> Episode:
    """Return an episode of these steps, in the viewport of `asked`."""
    return make_episode(n_steps=0).model_copy(
        update={
            "steps": tuple(steps),
            "n_steps": len(steps) - 1,
            "calls": tuple(account.calls) if account else (),
            "policy_kind": PolicyKind.MODEL if account else PolicyKind.TEACHER,
            "prompt_sha256": prompt,
            "instruction": "Click it.",
            "viewport_width": SIDE,
            "viewport_height": SIDE,
        }
    )


def taught(*actions: Action, **more: object) -> Episode:
    """Return an episode of a teacher that took these actions."""
    steps = [
        make_step(number, picture=number, action=action).model_copy(update=sight(number) | more)
        for number, action in enumerate([*actions, NoAction()])
    ]
    return episode_of(steps)


def learnt(segment: Segment) -> int:
    return sum(turn.learnt for turn in segment.turns)
