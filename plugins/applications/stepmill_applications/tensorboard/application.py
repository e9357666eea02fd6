"""TensorBoard as an application: four training runs, which its own reader of events loads once."""

from pathlib import Path

from generators.sites.installable.protocol import Command
from stepmill_applications.application import Serving
from stepmill_applications.sources.pypi import ENVIRONMENTS, PYTHON, PyPI, environment_of, run_in
from stepmill_applications.sources.source import Installed
from stepmill_applications.written import Written

LOGS = "logs"
"""The folder of the runs."""

_SCRIPT = ENVIRONMENTS / "write_runs.py"


def _make(installed: Installed, folder: Path) -> None:
    run_in(installed, folder, str(_SCRIPT), str(folder / LOGS))


def _command(installed: Installed, serving: Serving) -> Command:
    return Command(
        arguments=(
            # Its pages show the folder of the runs as it was named.
            *("/usr/bin/env", "-C", str(serving.folder)),
            *(str(installed.find(PYTHON)), "-m", "tensorboard.main"),
            *("--logdir", LOGS, "--load_fast", "false"),
            *("--reload_interval", "0", "--host", "127.0.0.1", "--port", str(serving.port)),
        ),
        environment=environment_of(serving.folder),
    )


TENSORBOARD = Written(
    name="tensorboard",
    source=PyPI(package="tensorboard"),
    making=2,
    make=_make,
    command=_command,
)
"""The application."""
