"""The applications that packages offer to install, by name, and what a run's sites need of them.

None ships. A site names the one that it needs in the command that starts it, whatever package has it.
"""

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast

from generators.data_folder import data_folder
from generators.sites.installable.protocol import Installable, Installation, Machine
from registries.entry_points import Group
from registries.registry import Registry, callable_part, plugin_errors
from schemas.configuration.application_parts import Start
from schemas.errors import NotFound

InstallableMaker = Callable[[Machine], Installable]
"""Makes what installs and serves an application on a machine."""

APPLICATIONS = Registry[InstallableMaker](
    Group.APPLICATIONS, {}, adapt=lambda found: cast("InstallableMaker", callable_part(found))
)
"""Every application that can be installed."""

_OWN = (
    *("fossil", "mediawiki", "dokuwiki", "tiptap", "leaflet", "tensorboard", "django", "wagtail"),
    *("datasette", "gradio"),
)

PACKAGE_OF: Mapping[str, str] = MappingProxyType(dict.fromkeys(_OWN, "stepmill-applications"))
"""The package that has an application of Stepmill's own repository, told where no package offers that."""

HOW = "pip install ./plugins/applications, in Stepmill's repository"
"""What installs that package."""

SERVE = ("{python}", "-m", "generators.sites.installable", "serve")
"""How the command that starts a site begins where it serves one of them; the name follows."""


def find_application(name: str, environ: Mapping[str, str]) -> Installable:
    """Return what installs and serves the application of this name.

    Raises:
        NotFound: no package offers it, with the package that would.
        BadConfig: the package that offers it cannot be used.
    """
    plugin = APPLICATIONS.plugin(name)
    if plugin is None and name in PACKAGE_OF:
        raise NotFound(
            f"{name} comes with the package {PACKAGE_OF[name]}, which is not installed: {HOW}"
        )
    make = APPLICATIONS.get(name)
    with plugin_errors(str(plugin), "it is not made"):
        return make(Machine(data=data_folder(environ), environ=environ))


def find_installation(name: str, environ: Mapping[str, str]) -> Installation | None:
    """Return the application of this name as it is here; None if it is not installed.

    Raises:
        NotFound: no package offers it, with the package that would.
        BadConfig: the package that offers it cannot be used.
    """
    application = find_application(name, environ)
    with plugin_errors(str(APPLICATIONS.plugin(name)), "it is not looked for"):
        return application.find()


def needed_application(start: Start) -> str | None:
    """Return the name of the application that a site needs; None if it needs none that is known of.

    The command that starts the site says which, and nothing else does: a key of the site's file beside it
    could name another one. A site whose command begins otherwise is its user's own, of which nothing is
    known before it starts.
    """
    program, rest = start.command[: len(SERVE)], start.command[len(SERVE) :]
    return rest[0] if program == SERVE and rest else None


def what_is_missing(start: Start, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return what a site needs that is not installed here, with what installs it; None if nothing is.

    Raises:
        BadConfig: the package of its application cannot be used.
    """
    name = needed_application(start)
    if name is None:
        return None
    try:
        found = find_installation(name, environ)
    except NotFound as error:
        return str(error)
    return None if found is not None else not_installed(name)


def not_installed(name: str) -> str:
    """Return that an application is not installed, and what installs it."""
    return f"{name} is not installed: stepmill sites install {name}"
