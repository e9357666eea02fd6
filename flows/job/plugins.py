"""The installed plug-ins, and those that a run's episodes depend on."""

from collections.abc import Iterable, Iterator

from generators.policy.dialects.registry import PARTS
from generators.policy.registry import POLICIES
from generators.sites.installable.registry import APPLICATIONS, needed_application
from generators.sites.judging.probes import PROBES, probe_names
from generators.sites.registry import SITES
from generators.verify.registry import VERIFIERS
from registries.entry_points import Plugin, find_plugins
from schemas.configuration.config import RunConfig
from schemas.tasks.task import Task
from storage.export.format_factory import FORMATS

REGISTRIES = (SITES, APPLICATIONS, POLICIES, VERIFIERS, PARTS, FORMATS, PROBES)
"""The registries of all kinds of part."""


def plugin_problems() -> Iterator[tuple[Plugin, str]]:
    """Yield every plug-in that is installed, and why it cannot be used; empty if it can. All are imported."""
    for registry in REGISTRIES:
        for plugin in find_plugins(registry.group):
            yield plugin, registry.problem(plugin)


def acting_plugins(config: RunConfig, tasks: Iterable[Task]) -> Iterator[Plugin]:
    """Yield the plug-ins that an episode of the run may depend on: they act in it, serve it or judge its end."""
    tasks = tuple(tasks)
    yield from filter(None, map(PROBES.plugin, probe_names(tasks)))
    for site in sorted({task.site for task in tasks} & config.sites.keys()):
        if name := needed_application(config.sites[site].start):
            yield from filter(None, [APPLICATIONS.plugin(name)])
    for section in config.mix:
        roles = (section, section.localizer, section.validator)
        dialects = (PARTS.plugin(role.dialect) for role in roles if role and role.dialect)
        yield from filter(None, (POLICIES.plugin(section.name), *dialects))


def used_plugins(config: RunConfig, tasks: Iterable[Task]) -> dict[str, str]:
    """Return the distribution and version behind every part of a plug-in that the run or a task of it names.

    The keys are the group and the name, as `stepmill.policies:centre`.
    """
    found = [VERIFIERS.plugin(name) for name in config.verify.verifiers]
    found += [PARTS.plugin(config.publish.dialect)] if config.publish.dialect else []
    plugins = [*acting_plugins(config, tasks), *filter(None, found)]
    return {f"{one.group}:{one.name}": one.origin for one in plugins}
