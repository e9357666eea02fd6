"""The program that made a run, as `run.json` and every episode record it.

Nothing here names a machine, a user or a path.
"""

import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path

from flows.job.plugins import acting_plugins, used_plugins
from flows.version import version_of
from generators.browser.process.enclosure import Confinement, probe
from generators.child_environment import SYSTEM, inherit
from generators.engine.vllm.command import trusted_code
from schemas.base import JsonObject
from schemas.configuration.config import RunConfig
from schemas.tasks.task import Task

_PACKAGES = ("deltalake", "miniwob", "playwright", "prefect", "pyarrow", "pydantic")
_GIT_SECONDS = 5
_SHA_CHARS = 12


def code_version(config: RunConfig, tasks: Iterable[Task]) -> str:
    """Return the program's version, with its commit where it runs from a checkout.

    After it stands each plug-in that an episode of the run may depend on, with its version.
    """
    sha = git_sha()
    version = version_of()
    own = f"{version}+{sha[:_SHA_CHARS]}" if sha else version
    return ", ".join([own, *sorted({plugin.origin for plugin in acting_plugins(config, tasks)})])


def provenance(config: RunConfig, tasks: Iterable[Task]) -> JsonObject:
    """Return the versions and browser settings that decide how the program behaves.

    The plug-ins that the run and its tasks name are among them, if there are any.
    """
    code = trusted_code(config.engine)
    plugins: JsonObject = {**used_plugins(config, tasks)}
    return {
        "version": version_of(),
        "git_sha": git_sha(),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {name: version_of(name) for name in _PACKAGES},
        **({"plugins": plugins} if plugins else {}),
        **({"model_code": code} if code else {}),
        "browser": {**probe(Confinement.of(config.browser)).levels},
    }


def git_sha() -> str | None:
    """Return the commit the code was checked out from; None if it was not, or git is missing."""
    folder = Path(__file__).parents[1]
    if not (folder.parent / ".git").exists():
        return None
    try:
        process = subprocess.run(  # noqa: S603 - a fixed command
            ["git", "-C", str(folder), "rev-parse", "HEAD"],  # noqa: S607 - found on PATH
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=True,
            env=inherit(os.environ, SYSTEM),
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return process.stdout.strip() or None
