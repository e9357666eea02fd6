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
    """What serves a task's pages."""
    APPLICATIONS = "stepmill.applications"
    """What can be installed for sites, and serves them."""
    POLICIES = "stepmill.policies"
    """What chooses actions."""
    VERIFIERS = "stepmill.verifiers"
    """What examines episodes."""
    DIALECTS = "stepmill.dialects"
    """How a model family is prompted and understood."""
    FORMATS = "stepmill.formats"
    """What episodes are exported as."""
    PROBES = "stepmill.probes"
    """What judges the end of an attempt."""

    @property
    def noun(self) -> str:
        """The word for one part of the group."""
        return "policy" if self is Group.POLICIES else self.value.partition(".")[2].rstrip("s")


@dataclass(frozen=True, slots=True)
class Plugin:
    """One part that a distribution offers; it may be unusable."""

    group: Group
    """What kind of part it is."""
    entry: EntryPoint
    """Its name, and where it is."""

    @property
    def name(self) -> str:
        """The name by which it is asked for."""
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
    del path  # what is installed depends on it
    return tuple(sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)))
