"""The registry of sites by their names in tasks: shipped ones and those of plug-ins.

A plug-in offers a class or a function that takes the gateway, mounts its pages there and returns a `Site`
of the entry point's name.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import cast

from generators.sites import miniwob, worlds
from generators.sites.application.site import ApplicationSite
from generators.sites.gateway import Gateway
from generators.sites.protocol import Site
from registries.entry_points import Group
from registries.registry import Registry, callable_part, plugin_errors
from schemas.configuration.application import Application
from schemas.errors import BadConfig

SiteMaker = Callable[[Gateway], Site]
"""Makes a site whose pages are mounted on the gateway."""

SITES = Registry[SiteMaker](
    Group.SITES,
    {miniwob.NAME: miniwob.MiniWob, worlds.NAME: worlds.WorldsSite},
    adapt=lambda found: cast("SiteMaker", callable_part(found)),
)
"""All sites by name."""


class RunSites(Mapping[str, Site]):
    """The sites of a run by their names in tasks; a plug-in's site is made on first access."""

    def __init__(self, gateway: Gateway, applications: Mapping[str, Application]) -> None:
        """Mount the shipped sites and the run's `applications` on the gateway."""
        self._gateway = gateway
        self._made: dict[str, Site] = {name: make(gateway) for name, make in SITES.built_in.items()}
        self._made |= {
            name: ApplicationSite(name, one, gateway) for name, one in applications.items()
        }

    def __getitem__(self, name: str) -> Site:
        """Return a site.

        Raises:
            KeyError: there is no site with that name.
            BadConfig: its plug-in cannot be used, or makes a site with another name.
        """
        if name not in self._made:
            if name not in SITES.names:
                raise KeyError(name)
            make, plugin = SITES.get(name, key="site"), SITES.plugin(name)
            with plugin_errors(f"site: {plugin}", "it is not made"):
                site = make(self._gateway)
            if site.name != name:
                raise BadConfig(f"site: the plug-in's site '{name}' calls itself '{site.name}'")
            self._made[name] = site
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the sites that were made."""
        return iter(self._made)

    def __len__(self) -> int:
        """Return the number of sites made."""
        return len(self._made)
