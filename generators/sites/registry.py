"""Every site by the name that tasks give it: those that ship, and those of plug-ins.

A plug-in offers a class or a function that takes the gateway, mounts its pages there and returns a `Site` of
the entry point's name.
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
"""Every site there is."""


class RunSites(Mapping[str, Site]):
    """The sites of a run by the names that tasks give them; a plug-in's is made when it is first asked for."""

    def __init__(self, gateway: Gateway, applications: Mapping[str, Application]) -> None:
        """Mount the sites that ship and the run's `applications` on the gateway."""
        self._gateway = gateway
        self._made: dict[str, Site] = {name: make(gateway) for name, make in SITES.built_in.items()}
        self._made |= {
            name: ApplicationSite(name, one, gateway) for name, one in applications.items()
        }

    def __getitem__(self, name: str) -> Site:
        """Return a site.

        Raises:
            KeyError: there is none of that name.
            BadConfig: its plug-in cannot be used, or makes a site of another name.
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
        """Return how many were made."""
        return len(self._made)
