"""The parts of one kind by name: those that ship, and those that other distributions offer.

A distribution offers a part by an entry point (`registries.entry_points`), and the part declares the
version of the plug-in interface that it was written for (`stepmill_api`). A plug-in is imported only
when its name is requested, so a broken plug-in stops only the runs that name it. A name belongs to one
part: if a plug-in uses the name of another part, the registry refuses the name and chooses neither.
"""

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Generic, TypeVar

from registries.entry_points import Group, Plugin, find_plugins
from schemas.configuration.sections import PART_NAME
from schemas.errors import BadConfig, FailureKind, NotFound, Refusal, RolloutFailure, boundary
from schemas.nearest import did_you_mean

STEPMILL_API = 1
"""The version of the plug-in interface; raised by a change that breaks existing plug-ins."""

Part = TypeVar("Part")
"""The type of the parts in a registry."""


class Registry(Generic[Part]):
    """The parts of one kind: built-in ones, and those of plug-ins."""

    def __init__(
        self, group: Group, built_in: Mapping[str, Part], *, adapt: Callable[[object], Part]
    ) -> None:
        """`adapt` turns a plug-in's object into a part, or raises TypeError with the reason."""
        self.group = group
        """The kind of its parts."""
        self.built_in = built_in
        """The parts that ship."""
        self._adapt = adapt

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts, the built-in ones first; a plug-in's may be unusable."""
        return _names(self.group, self.built_in)

    def get(self, name: str, *, key: str = "") -> Part:
        """Return the part of that name, built in or from a plug-in; errors name the `key` that asks.

        Raises:
            NotFound: no part has this name; the error suggests the nearest one.
            BadConfig: two parts have this name, or the plug-in cannot be imported, has another API
                version or is not a part of this kind.
        """
        where = f"{key}: " if key else ""
        check_known(self.group, name, self.built_in, key=key)
        plugin = self.plugin(name)
        if plugin is None:
            self._check_name(name, where)
            return self.built_in[name]
        return self._load(plugin, where)

    def plugin(self, name: str) -> Plugin | None:
        """Return the first plug-in of that name; None if no plug-in has it or the part is built in."""
        return None if name in self.built_in else next(iter(self._find(name)), None)

    def problem(self, plugin: Plugin) -> str:
        """Import a plug-in of the group; return why it cannot be used, empty if it can."""
        try:
            self._load(plugin, "")
        except BadConfig as error:
            return str(error)
        return ""

    def _find(self, name: str) -> list[Plugin]:
        return [plugin for plugin in find_plugins(self.group) if plugin.name == name]

    def _check_name(self, name: str, where: str) -> None:
        """Refuse an invalid name, or one that several parts have.

        Raises:
            BadConfig: the error names those parts and the remedy.
        """
        called = self._find(name)
        if called and not re.fullmatch(PART_NAME, name):
            raise BadConfig(
                f"{where}{called[0]} has no name that a configuration can give: rename its entry point "
                "to letters, digits, '_', '.' and '-'"
            )
        if called and name in self.built_in:
            raise BadConfig(
                f"{where}{called[0]} takes the name of a built-in {self.group.noun}: rename its entry "
                "point, or uninstall the distribution"
            )
        if len(called) > 1:
            raise BadConfig(
                f"{where}{called[0]} has the same name as {called[1]}: uninstall one of them"
            )

    def _load(self, plugin: Plugin, where: str) -> Part:
        self._check_name(plugin.name, where)
        with plugin_errors(f"{where}{plugin}", "its import fails"):
            found: object = plugin.entry.load()
        _check_api(plugin, found, where)
        try:
            return self._adapt(found)
        except TypeError as error:
            raise BadConfig(f"{where}{plugin} is no {self.group.noun}: {error}") from error


@contextmanager
def plugin_errors(what: str, doing: str) -> Iterator[None]:
    """Turn any error of importing or creating a plug-in into a `BadConfig` that names the plug-in.

    Raises:
        BadConfig: its message holds `what`, the plug-in, and `doing`, the failed step.
    """
    try:
        with boundary(FailureKind.INTERNAL, doing):
            yield
    except (RolloutFailure, Refusal) as error:
        raise BadConfig(f"{what} cannot be used: {error}") from error
    except SystemExit as error:
        raise BadConfig(f"{what} cannot be used: {doing}: it ends the program") from error


def _check_api(plugin: Plugin, found: object, where: str) -> None:
    module = importlib.import_module(plugin.entry.module)
    api = getattr(found, "stepmill_api", getattr(module, "stepmill_api", None))
    if api is None:
        raise BadConfig(
            f"{where}{plugin} does not say for which API it is written: set `stepmill_api = "
            f"{STEPMILL_API}` in it or in its module"
        )
    if type(api) is not int or api != STEPMILL_API:
        newer = type(api) is int and api > STEPMILL_API
        raise BadConfig(
            f"{where}{plugin} is written for API {api!r:.40}, and this Stepmill has API {STEPMILL_API}: "
            + ("install a newer Stepmill, or " if newer else "install ")
            + "the version of it that was written for this one"
        )


def check_known(group: Group, name: str, built_in: Iterable[str], *, key: str = "") -> None:
    """Refuse a name that no `built_in` part of the group and no plug-in has, without importing any.

    Raises:
        NotFound: the error names the `key`, the nearest name and all names.
    """
    known = _names(group, built_in)
    if name not in known:
        where = f"{key}: " if key else ""
        hint = did_you_mean(name, known, count=1)
        having = f"there are {', '.join(known)}" if known else "no package with one is installed"
        raise NotFound(f"{where}there is no {group.noun} '{name}'{hint}; {having}")


def _names(group: Group, built_in: Iterable[str]) -> tuple[str, ...]:
    plugins = (plugin.name for plugin in find_plugins(group))
    return tuple(dict.fromkeys([*built_in, *plugins]))


def callable_part(found: object) -> Callable[..., object]:
    """Return the object at a plug-in's entry point if it is callable.

    Raises:
        TypeError: it is not callable.
    """
    if not callable(found):
        raise TypeError(f"a class or a function is expected, and it is a {type(found).__name__}")
    return found
