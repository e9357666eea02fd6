"""Rollouts without a browser, for tests of the loop and the verifiers."""

import asyncio
from collections.abc import Callable, Sequence

from support.browsers.scripted_session import Page
from support.browsers.scripted_site import ORIGIN, ScriptedSite

from generators.browser.protocol import Sessions
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.scripted import ScriptedPolicy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.protocol import Site
from schemas.episodes.action import Action, Answer, Click
from schemas.episodes.episode import Episode, PolicyKind
from schemas.tasks.task import Task, task_id

LIMITS = Limits(steps=10, seconds=60, stuck_steps=3)
RUNNING = [0, False]
WON = [1, True]


def pages(*values: object) -> list[Page]:
    """Pages of different colours, one for each outcome."""
    return [
        Page(colour=(20 * number, 255 - 20 * number, 90), value=value)  # type: ignore[arg-type]
        for number, value in enumerate(values)
    ]


def clicks(count: int) -> list[Action]:
    return [Click(x=5 + number, y=5) for number in range(count)]


def scripted_task(seed: int = 3, *, max_steps: int = 30) -> Task:
    url = ORIGIN + "/"
    return Task(
        task_id=task_id(
            site="scripted",
            site_version="1",
            template_id="pages",
            seed=seed,
            start_url=url,
            instruction=None,
            parameters={},
        ),
        template_id="pages",
        source="test",
        site="scripted",
        site_version="1",
        start_url=url,
        instruction="",
        seed=seed,
        max_steps=max_steps,
    )


async def attempt_it(
    sessions: Sessions,
    actions: Sequence[Action] = (),
    *,
    limits: Limits = LIMITS,
    task: Task | None = None,
    make_policy: Callable[[Account], Policy] | None = None,
    site: Site | None = None,
) -> Episode:
    """One rollout on scripted pages."""
    return await rollout(
        Attempt(
            run_id="run",
            unit_id="unit",
            task=task or scripted_task(),
            attempt=0,
            viewport_width=100,
            viewport_height=80,
            device_scale_factor=1.0,
            code_version="test",
        ),
        site=site or ScriptedSite(),
        sessions=sessions,
        make_policy=make_policy or (lambda _: ScriptedPolicy(actions)),
        limits=limits,
    )


class Thinker:
    """A policy that thinks until it is stopped, or raises."""

    card = PolicyCard(name="thinker", kind=PolicyKind.SCRIPTED)

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    async def act(self, turn: PolicyInput) -> Decision:
        del turn
        if self._error is not None:
            raise self._error
        await asyncio.Event().wait()
        return Decision(action=Answer())
