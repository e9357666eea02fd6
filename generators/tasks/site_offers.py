"""The sites that a task may name, with their templates and tasks.

An offer describes a site that is not started. On a site with templates, a task is a template and a seed, and the page
states the goal; on other sites a task is an instruction and a start URL.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from generators.sites import miniwob, worlds
from generators.sites.installable.registry import what_is_missing
from generators.sites.miniwob_catalogue import catalogue
from generators.sites.registry import SITES
from generators.tasks.worlds.draw import draw_task, kinds_of
from generators.worlds.drawing.draw import FAMILIES
from generators.worlds.packages.lock import not_here
from registries.splits.registry import entry_of
from schemas.base import JsonObject
from schemas.configuration.application import Application
from schemas.errors import BadConfig
from schemas.tasks.selector import Difficulty
from schemas.tasks.task import Task, task_id

MAX_STEPS = 100
"""Maximum number of actions of a template's task: more than any needs, so that the run's limit decides."""


@dataclass(frozen=True, slots=True)
class Template:
    """One template of a site."""

    start_url: str
    """The URL where tasks start, on the site's stable origin."""
    tags: tuple[str, ...] = ()
    """The abilities that it requires of a policy."""
    feasible: bool | None = None
    """False for a template that is impossible on purpose; None if unknown."""


@dataclass(frozen=True, slots=True)
class SiteOffer:
    """One site."""

    name: str
    """The name, as in tasks."""
    version: str | None = None
    """The version of its pages; None if unknown."""
    templates: Mapping[str, Template] = field(default_factory=dict)
    """The templates by name; empty: a task is an instruction and a start URL."""
    origin: str | None = None
    """The origin on which all tasks start, as `http://shop.test`; None: templates decide, or any origin."""
    further_origins: tuple[str, ...] = ()
    """Origins beside that one on which tasks may start as well."""
    users: tuple[str, ...] = ()
    """The users that a task may name; empty: a task names none."""
    draw: Callable[[str, int, float, Difficulty | None], Task] | None = None
    """Makes the task of a template and a seed, with a fault of the site by a chance, as difficult as is asked for, where
    it includes more than a start; None: the page states the goal."""
    faults: float = 0.0
    """The share of drawn tasks with a fault of the site."""
    judges_state: bool = False
    """Whether tasks are judged by the server's state."""
    refusal: str | None = None
    """Why none of its tasks can be attempted on any machine; None: they can."""
    missing: str | None = None
    """The missing installation and its command; None: nothing is missing."""

    @property
    def obstacle(self) -> str | None:
        """Why none of its tasks can be attempted here; None: they can."""
        return self.refusal or self.missing


LIVE = SiteOffer(
    "live",
    refusal="live origins are not supported yet, because no page there can be put back to a known state",
)
"""The web itself: its tasks are planned and refused."""


def site_offers(
    applications: Mapping[str, Application] | None = None, *, faults: float = 0.0
) -> dict[str, SiteOffer]:
    """Return every site by name: shipped sites, plug-ins' sites and the run's applications.

    `faults` is the share of worlds' tasks with a fault of the site.

    Raises:
        BadConfig: an application has the name of another site.
    """
    shipped, own = _shipped_sites(faults), applications or {}
    offered = {name: SiteOffer(name) for name in SITES.names if name not in shipped}
    for name in own:
        if name in shipped:
            raise BadConfig(f"sites.{name}: a site that ships has this name; choose another")
        if name in offered:
            raise BadConfig(f"sites.{name}: a plug-in's site has this name; choose another")
    return (
        shipped
        | offered
        | {
            name: SiteOffer(
                name,
                one.version,
                origin=one.origin,
                further_origins=tuple(one.origins),
                users=tuple(one.users),
                judges_state=True,
                missing=what_is_missing(one.start),
            )
            for name, one in own.items()
        }
    )


def _shipped_sites(faults: float) -> dict[str, SiteOffer]:
    known = catalogue()
    templates = {
        name: Template(
            start_url=miniwob.start_url(name),
            tags=tuple(need.value for need in known[name].needs) if name in known else (),
            feasible=known[name].feasible if name in known else None,
        )
        for name in miniwob.template_paths()
    }
    offer = SiteOffer(miniwob.NAME, miniwob.site_version(), templates)
    return {miniwob.NAME: offer, worlds.NAME: _worlds(faults), LIVE.name: LIVE}


def _worlds(faults: float) -> SiteOffer:
    """Return the offer of worlds: a template for each kind of task in each family; the seed draws the world."""
    templates = {
        f"{family}/{kind}": Template(start_url="", tags=(kind,), feasible=True)
        for family in FAMILIES
        for kind in kinds_of(family)
    }
    return SiteOffer(
        worlds.NAME,
        templates=templates,
        draw=draw_task,
        faults=faults,
        judges_state=True,
        missing=not_here(),
    )


def make_template_task(
    offer: SiteOffer,
    template_id: str,
    *,
    seed: int,
    source: str,
    parameters: JsonObject | None = None,
    faults: float | None = None,
    difficulty: Difficulty | None = None,
) -> Task:
    """Return the task of a template and a seed; `faults` is the chance of a fault of the site, None: the offer's.

    `difficulty` is that of a drawn task; None: as the seed draws it.

    Raises:
        KeyError: the site has no such template.
        BadTasks: no website that was tried has such a task.
    """
    template = offer.templates[template_id]
    entry = entry_of(offer.name, template_id)
    split, version = ("", None) if entry is None else (entry.split, entry.version)
    if offer.draw is not None:
        chance = offer.faults if faults is None else faults
        drawn = offer.draw(template_id, seed, chance, difficulty)
        return drawn.model_copy(update={"source": source, "split": split, "split_version": version})
    return Task(
        task_id=task_id(
            site=offer.name,
            site_version=offer.version,
            template_id=template_id,
            seed=seed,
            start_url=template.start_url,
            instruction=None,
            parameters=parameters or {},
        ),
        template_id=template_id,
        source=source,
        site=offer.name,
        site_version=offer.version,
        start_url=template.start_url,
        instruction="",
        parameters=parameters or {},
        seed=seed,
        max_steps=MAX_STEPS,
        tags=template.tags,
        feasible=template.feasible,
        answer_kind="none",
        split=split,
        split_version=version,
    )
