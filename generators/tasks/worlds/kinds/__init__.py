"""The kinds of tasks of worlds: each module of this folder registers one or several, by being in it."""

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules

from generators.tasks.worlds.ground.task_kind import TaskKind, registered_kinds

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

KINDS: Mapping[str, TaskKind] = registered_kinds()
"""All kinds by name, sorted."""
