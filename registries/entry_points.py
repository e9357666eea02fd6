"""The parts that installed distributions offer, by their entry points; nothing of theirs is imported.

Help needs it, so nothing heavy is loaded here.
"""

import sys
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points


class Group(StrEnum):
    """The groups of entry points in which distributions offer parts."""

    SITES = "stepmill.sites"
    """Serve a task's pages."""
    APPLICATIONS = "stepmill.applications"
    """Install an application for sites, and serve it."""
    POLICIES = "stepmill.policies"
    """Choose actions."""
    VERIFIERS = "stepmill.verifiers"
    """Judge episodes."""
    DIALECTS = "stepmill.dialects"
    """Write the prompts of a model family and parse its replies."""
    FORMATS = "stepmill.formats"
    """Export episodes."""
    PROBES = "stepmill.probes"
    """Judge the end of an attempt."""

    @property
    def noun(self) -> str:
        """The word for one part of the group."""
        return "policy" if self is Group.POLICIES else self.value.partition(".")[2].rstrip("s")


@dataclass(frozen=True, slots=True)
class Plugin:
    """One part that a distribution offers; it may be unusable."""

    group: Group
    """The group of the entry point, which gives the kind of part."""
    entry: EntryPoint
    """The entry point: the part's name and where it is defined."""

    @property
    def name(self) -> str:
        """The part's name in configurations and flags."""
        return self.entry.name

    @property
    def origin(self) -> str:
        """The distribution and its version."""
        found = self.entry.dist
        return f"{found.name} {found.version}" if found else "an unnamed distribution"

    def __str__(self) -> str:
        """Return the part, its distribution and its place, as messages name it."""
        return f"the {self.group.noun} '{self.name}' of {self.origin} ({self.entry.value})"


def find_plugins(group: Group) -> tuple[Plugin, ...]:
    """Return every part that installed distributions offer in a group, by name; none is imported."""
    return tuple(Plugin(group, entry) for entry in _entry_points(group, tuple(sys.path)))


@lru_cache(maxsize=32)  # a lookup reads a file of every installed distribution
def _entry_points(group: Group, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    del path  # part of the cache key: the path decides which distributions are found
    return tuple(sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)))
