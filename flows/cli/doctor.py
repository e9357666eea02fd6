"""`stepmill doctor`: the program's requirements on this machine, each line with its remedy.

It starts a browser with `--version` and nothing else.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from importlib import metadata
from pathlib import Path

from flows.cli.parser import Arguments
from flows.job.config_loader import Sources, load
from flows.orchestration.settings import HOME, has_profiles, private_home
from flows.resources.machine import hold_against, look_at_machine
from flows.resources.resources import session_limit
from flows.terminal import ExitCode, print_lines, print_result
from generators.browser.chromium import find_chromium, is_headless_shell
from generators.browser.process.enclosure import Containment, probe
from generators.child_environment import BROWSER, inherit
from generators.engine.vllm.command import find_vllm, trusted_code
from generators.sites.installable.registry import (
    APPLICATIONS,
    HOW,
    PACKAGE_OF,
    find_installation,
)
from generators.sites.miniwob import pages_root, template_paths
from generators.worlds.packages.lock import INSTALL, not_here, read_lock
from registries.entry_points import Group, find_plugins
from schemas.base import Record
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineSection
from schemas.errors import BadConfig, NoBrowser, NoEngine

MIN_PYTHON = (3, 11)
"""The oldest Python that the program runs on."""

_OF_ITS_OWN = "run it as a user, or in a container, that may read nothing else; see SECURITY.md"
_ALONE = "where others use this machine, run it in a container of its own; see SECURITY.md"

_VERSION_SECONDS = 30
_GIB = 1 << 30


class Health(StrEnum):
    """The state of one requirement."""

    GOOD = "good"
    """The requirement is met."""
    POOR = "poor"
    """The requirement is met, but not as recommended; everything works."""
    LACKING = "lacking"
    """The requirement is not met."""


class Diagnosis(Record):
    """The result for one requirement."""

    name: str
    """The requirement's name."""
    health: Health
    """Its state."""
    found: str
    """The version or value found."""
    remedy: str = ""
    """The remedy; empty if none is needed."""


def run(args: Arguments) -> int:
    """Run the command and return its exit code.

    Raises:
        BadConfig: the configuration is refused.
    """
    config = RunConfig()
    if args.config or args.settings:
        config = load(Sources(config=args.config, settings=tuple(args.settings)), os.environ)
    lines = list(diagnose(config))
    if args.json:
        print_result(
            {"fit": is_fit(lines), "lines": [line.model_dump(mode="json") for line in lines]}
        )
    else:
        for line in lines:
            print_lines([f"{line.name:<9} {line.health.value:<8} {line.found}"])
            if line.remedy:
                print_lines([f"{'':<9} {'':<8} → {line.remedy}"])
    return ExitCode.DONE if is_fit(lines) else ExitCode.SHORT


def diagnose(config: RunConfig) -> Iterator[Diagnosis]:
    """Yield a diagnosis of each requirement of a run."""
    yield _python()
    yield _browser()
    yield from containment_lines(probe())
    yield _pages()
    yield _packages()
    yield from plugin_lines()
    yield from _applications()
    yield _prefect()
    yield from machine_lines(config)
    yield _engine(config.engine)
    if code := trusted_code(config.engine):
        pinned = config.engine.revision is not None
        yield Diagnosis(
            name="code",
            health=Health.GOOD if pinned else Health.POOR,
            found=f"vLLM executes code beside its own: {code}",
            remedy="" if pinned else "pin it, or leave --trust-remote-code out; see SECURITY.md",
        )


def _applications() -> Iterator[Diagnosis]:
    """Yield a diagnosis of each application that a package offers, and of the packages of worlds."""
    for name in APPLICATIONS.names:
        try:
            found = find_installation(name, os.environ)
        except BadConfig:
            continue  # its line as a plug-in says why
        yield Diagnosis(
            name="site",
            health=Health.GOOD if found else Health.POOR,
            found=f"{name} {found.version}" if found else f"no {name}",
            remedy="" if found else f"'stepmill sites install {name}', for its tasks",
        )
    if untold := [name for name in PACKAGE_OF if name not in APPLICATIONS.names]:
        packages = dict.fromkeys(PACKAGE_OF[name] for name in untold)
        yield Diagnosis(
            name="site",
            health=Health.POOR,
            found=f"no package {', '.join(packages)}",
            remedy=f"{HOW}, for {', '.join(untold)}",
        )
    absent = not_here()
    yield Diagnosis(
        name="site",
        health=Health.POOR if absent else Health.GOOD,
        found="no packages of worlds" if absent else f"{len(read_lock())} packages of worlds",
        remedy=f"'{INSTALL}', for tasks of worlds" if absent else "",
    )


def _python() -> Diagnosis:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= MIN_PYTHON:
        return Diagnosis(name="python", health=Health.GOOD, found=version)
    return Diagnosis(
        name="python", health=Health.LACKING, found=version, remedy="install Python 3.11 or later"
    )


def _browser() -> Diagnosis:
    try:
        path = find_chromium()
    except NoBrowser as error:
        return Diagnosis(name="browser", health=Health.LACKING, found="none", remedy=str(error))
    version = _browser_version(path)
    if version is None:
        return Diagnosis(
            name="browser",
            health=Health.LACKING,
            found=f"{path}, which does not start",
            remedy=f"run '{path} --version' to see why; 'make setup' installs its libraries",
        )
    if is_headless_shell(path):
        return Diagnosis(name="browser", health=Health.GOOD, found=f"{version} ({path})")
    return Diagnosis(
        name="browser",
        health=Health.POOR,
        found=f"{version} ({path}), a full browser: slow with 16 sessions and more",
        remedy="install chromium-headless-shell, or 'playwright install --only-shell chromium'",
    )


def containment_lines(found: Containment) -> Iterator[Diagnosis]:
    """Yield the isolation of the browser and of this user's files from pages and from other users."""
    remedies = {"sandbox": _OF_ITS_OWN, "devtools": _ALONE}
    for name, level in found.levels.items():
        is_open = name in found.open
        yield Diagnosis(
            name=name,
            health=Health.POOR if is_open else Health.GOOD,
            found=level,
            remedy=remedies[name] if is_open else "",
        )


def _browser_version(path: Path) -> str | None:
    try:
        process = subprocess.run(  # noqa: S603 - the browser that a run would start
            [str(path), "--version"],
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=True,
            env=inherit(os.environ, BROWSER),
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip() or "a browser that does not say its version"


def _pages() -> Diagnosis:
    try:
        count = len(template_paths()) if pages_root().is_dir() else 0
    except metadata.PackageNotFoundError:
        count = 0
    if count:
        return Diagnosis(name="pages", health=Health.GOOD, found=f"MiniWoB++, {count} templates")
    return Diagnosis(name="pages", health=Health.LACKING, found="none", remedy="make setup")


def _packages() -> Diagnosis:
    missing: list[str] = []
    for name in ("aiohttp", "deltalake", "pillow", "playwright", "prefect", "pyarrow", "rich"):
        try:
            metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        lacking = "without " + ", ".join(missing)
        return Diagnosis(name="packages", health=Health.LACKING, found=lacking, remedy="make setup")
    return Diagnosis(name="packages", health=Health.GOOD, found="all installed")


def plugin_lines() -> Iterator[Diagnosis]:
    """Yield each part that a plug-in offers; a broken one stops only the runs that name it."""
    if not any(find_plugins(group) for group in Group):
        yield Diagnosis(name="plug-ins", health=Health.GOOD, found="none")
        return
    from flows.job.plugins import plugin_problems  # noqa: PLC0415 - heavy, and only where there are any

    for plugin, problem in plugin_problems():
        found = f"{plugin.group.noun} '{plugin.name}' of {plugin.origin}"
        health = Health.POOR if problem else Health.GOOD
        yield Diagnosis(name="plug-in", health=health, found=found, remedy=problem)


def _prefect() -> Diagnosis:
    if os.environ.get("PREFECT_API_URL"):
        found = f"the server at {os.environ['PREFECT_API_URL']}"
    elif has_profiles() or HOME in os.environ:
        found = "as your Prefect profile says"
    else:
        found = f"an embedded server, its files in {private_home(os.environ)}"
    return Diagnosis(name="prefect", health=Health.GOOD, found=found)


def machine_lines(config: RunConfig) -> Iterator[Diagnosis]:
    """Yield whether the machine's limits allow the configured sessions."""
    sessions = session_limit(config)
    machine = look_at_machine(sessions, config.run.url)
    short = {one.name: one for one in hold_against(sessions, machine)}
    for name, free, more in (
        ("memory", machine.memory, f"; {os.cpu_count() or 1} cores, for {sessions} sessions"),
        ("disk", machine.disk, ""),
    ):
        if name not in short:
            found = f"{free / _GIB:.1f} GiB free{more}"
            yield Diagnosis(name=name, health=Health.GOOD, found=found)
    for one in short.values():
        health = Health.LACKING if one.fatal else Health.POOR
        yield Diagnosis(name=one.name, health=health, found=one.found, remedy=one.remedy)


def _engine(section: EngineSection) -> Diagnosis:
    try:
        program = find_vllm(section)
    except NoEngine:
        return Diagnosis(
            name="engine",
            health=Health.GOOD,
            found="no vLLM; engine.kind = 'vllm' needs one, nothing else does",
            remedy="'make engine-cpu', or requirements/engine.txt where there is a GPU",
        )
    return Diagnosis(name="engine", health=Health.GOOD, found=f"vLLM: {program[0]}")


def is_fit(lines: Sequence[Diagnosis]) -> bool:
    """Return whether every requirement is met."""
    return all(line.health is not Health.LACKING for line in lines)
