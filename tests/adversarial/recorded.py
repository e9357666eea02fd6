"""Episodes recorded on the real pages, the default panel, and an oracle that carries episodes out."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random

from adversarial.lies.retelling import Told, Truth
from support.browsers.one_browser import browser_and_gateway
from support.browsers.remembered_sessions import RememberedSessions, RememberedSite
from support.browsers.visits import visit_to
from support.servers.stub_engine import WrittenEngine

from generators.browser.chromium import Chromium
from generators.policy.factory import PolicyFactory
from generators.policy.model.setup import EngineSet
from generators.policy.model.try_account import Account
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from generators.policy.teacher.policy import TeacherPolicy
from generators.rollout.episode_recorder import Attempt
from generators.rollout.limits import Limits
from generators.rollout.rollout import rollout
from generators.sites.miniwob import NAME, MiniWob
from generators.sites.protocol import Site
from generators.tasks.site_offers import make_template_task, site_offers
from generators.verify.panel import Panel
from generators.verify.registry import make_verifiers
from schemas.configuration.browser_section import BrowserSection
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import (
    AcceptSection,
    EngineKind,
    EngineSection,
    PolicyName,
    PolicySection,
)
from schemas.episodes.action import Action, Answer, Click, Key, NoAction, Select
from schemas.episodes.episode import PolicyKind
from schemas.episodes.observation import Observation
from schemas.ids import unit_id
from schemas.verdicts.acceptance import acceptance
from schemas.verdicts.verdict import Status

AT_ONCE = 6
"""Sessions at a time."""

RULE = AcceptSection()
RUN_ID = "0123456789abcdef0123456789abcdef"
WIDTH, HEIGHT = 500, 400


@dataclass
class Stumbling:
    """The teacher, after two actions that cannot be carried out, and a choice from any list."""

    _teacher: TeacherPolicy = field(default_factory=TeacherPolicy)
    _first: list[Action] = field(default_factory=lambda: [Click(x=900, y=9), Key(key="Nothing")])

    @property
    def card(self) -> PolicyCard:
        return self._teacher.card

    async def act(self, given: PolicyInput) -> Decision:
        choice = _choice(given.observation) if len(self._first) == 1 else None
        if self._first:
            refused = self._first.pop()
            return Decision(action=choice or refused)
        return await self._teacher.act(given)


def _choice(seen: Observation) -> Select | None:
    """Return the choice of the first option that a list shows; None if there is no list."""
    for one in seen.elements:
        x, y = one.bbox[0] + one.bbox[2] / 2, one.bbox[1] + one.bbox[3] / 2
        for sight in seen.sights or () if one.tag == "select" else ():
            left, top, width, _ = sight.bbox
            if sight.text and left <= x <= left + width and one.bbox[1] <= top:
                return Select(x=x, y=y, option=sight.text)
    return None


@dataclass
class Losing:
    """Clicks what the goal does not name, and gives up."""

    _clicks: int = 2

    @property
    def card(self) -> PolicyCard:
        return PolicyCard(name="losing", kind=PolicyKind.SCRIPTED)

    async def act(self, given: PolicyInput) -> Decision:
        wrong = [
            one.bbox
            for one in given.observation.elements
            if one.interactive and one.visible == 1 and one.name not in given.instruction
        ]
        if not self._clicks or not wrong:
            return Decision(action=Answer())
        self._clicks -= 1
        left, top, width, height = wrong[-1]
        return Decision(action=Click(x=left + width / 2, y=top + height / 2))


def asked(seed: str) -> Callable[[Account], Policy]:
    """Return what makes a model's policy whose engine says what the teacher decides."""
    engine = WrittenEngine(bound=True)
    section = PolicySection(name=PolicyName.MODEL, dialect="holotron")
    config = RunConfig(
        policies=(section,),
        engine=EngineSection(kind=EngineKind.OPENAI, urls=("http://127.0.0.1:1/v1",)),
        browser=BrowserSection(viewport=(WIDTH, HEIGHT)),
    )
    factory = PolicyFactory(
        config,
        EngineSet(engine),
        queue_reply=lambda session, text: engine.says(text, session=session),
    )
    offer = site_offers()[NAME]
    task = make_template_task(offer, "click-test", seed=0, source=NAME)
    return lambda account: factory.make(section, seed=seed, task=task, account=account)


@dataclass(frozen=True)
class Judged:
    """What the default panel and the default rule make of an episode."""

    what: str
    """Which episode, and what was said of it."""
    accepted: bool
    by: str
    """The verifier that rejected it; with the status where it did not decide; empty: none."""
    of_model: bool = False
    """A model acted."""
    true: bool = False
    """Carrying it out showed all that it tells."""


@dataclass(frozen=True)
class Recorder:
    """A browser in which episodes are recorded and judged."""

    site: MiniWob
    browser: Chromium
    panel: Panel
    """It carries every replay out."""
    lie_panel: Panel
    """It does not carry out what either has carried out before."""
    slots: asyncio.Semaphore

    async def record(
        self, template: str, seed: int, make_policy: Callable[[Account], Policy]
    ) -> Told:
        """Return what a policy made of a task."""
        offer = site_offers()[self.site.name]
        task = make_template_task(offer, template, seed=seed, source=offer.name)
        attempt = Attempt(
            run_id=RUN_ID,
            unit_id=unit_id(RUN_ID, [task.task_id], 1),
            task=task,
            attempt=0,
            viewport_width=WIDTH,
            viewport_height=HEIGHT,
            device_scale_factor=1.0,
            code_version="test",
        )
        async with self.slots:
            episode = await rollout(
                attempt,
                site=self.site,
                sessions=self.browser,
                make_policy=make_policy,
                limits=Limits(steps=30, seconds=120, stuck_steps=10),
            )
        return Told(task, episode)

    async def judge(self, told: Told, name: str = "", *, unless_true: bool = False) -> Judged:
        """Return what is made of an episode, or of a lie of a name.

        With `unless_true` it is carried out if accepted.
        """
        async with self.slots:
            panel = self.lie_panel if name else self.panel
            verdicts = await panel.judge(told.task, told.episode)
            verdict = acceptance(RULE, verdicts)
            last = verdicts[-1]
            decided = last.status in (Status.PASSED, Status.FAILED)  # the rule may reject a pass
            how = "" if decided else f": {last.status.value}"
            return Judged(
                what=f"{name} {told.task.template_id} {told.task.seed}: {'; '.join(verdict.rejected_because) or last.reason}",
                accepted=verdict.accepted,
                of_model=bool(told.episode.calls),
                by="" if verdict.accepted else last.verifier + how,
                true=verdict.accepted and unless_true and await self._is_true(told),
            )

    async def _is_true(self, told: Told) -> bool:
        """Return whether carrying out the actions shows everything as it is told."""
        episode = told.episode
        visit = await visit_to(self.site, told.task)
        spec = visit.session_spec(viewport_width=WIDTH, viewport_height=HEIGHT)
        async with self.browser.session(spec) as session:
            await session.open(visit.start_url)
            problem = await self.site.begin(visit, session)
            for step in episode.steps:
                seen = await session.observe()
                shown = (seen.screenshot, seen.page, seen.elements, seen.sights)
                if shown != (step.screenshot, step.page, step.elements, step.sights):
                    return False
                if isinstance(step.action, NoAction):
                    continue
                effect = await session.act(step.action)
                after = await self.site.outcome(problem, session)
                happened = (effect.error, effect.target, effect.result_text, after.reward)
                if happened != (step.action_error, step.target, step.result_text, step.reward):
                    return False
        return True


@asynccontextmanager
async def recording() -> AsyncIterator[Recorder]:
    """Start a browser, and the site in front of it."""
    async with browser_and_gateway() as (browser, gateway):
        site, remembered = MiniWob(gateway), RememberedSessions(browser)
        sites: dict[str, Site] = {site.name: RememberedSite(site)}  # type: ignore[dict-item]  # the rest is the site's
        panel, lie_panel = (
            Panel(make_verifiers(RULE.passed, sites=sites, sessions=sessions), RULE)
            for sessions in (remembered.carried_out(), remembered)
        )
        yield Recorder(site, browser, panel, lie_panel, asyncio.Semaphore(AT_ONCE))


def truths(told: list[Told], name: str) -> list[Truth]:
    """Return the episodes as what lies of a kind are told of, each beside two others."""
    out: list[Truth] = []
    for number, one in enumerate(told):
        after = [*told[number + 1 :], *told[:number]]
        template, seed = one.task.template_id, one.task.seed
        siblings = [two for two in after if two.task.template_id == template]
        siblings = [two for two in siblings if two.task.seed != seed]
        strangers = [two for two in after if two.task.template_id != template]
        if siblings and strangers:
            draw = Random(f"{name} {template} {seed} {number}")
            out.append(Truth(one.task, one.episode, siblings[0], strangers[0], draw))
    return out
