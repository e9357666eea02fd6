"""What programs import: make a run, open a run or a published dataset, look at episodes and tables.

    from stepmill import make_run, open_run

    report = make_run("smoke", run="runs/first")
    for one in open_run(report.run).episodes():
        print(one.task.instruction, one.acceptance.accepted)

Every function here waits until it is done, in a notebook too, where an event loop runs already. What they need is
loaded by the first use of each: a program that only opens datasets loads no browser.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flows.job.report import Report as Report
    from schemas.verdicts.full_episode import FullEpisode as FullEpisode
    from stepmill.dataset import Dataset as Dataset
    from stepmill.dataset import open_dataset as open_dataset
    from stepmill.making import make_run as make_run
    from stepmill.pictures import picture as picture
    from stepmill.rows import Rows as Rows
    from stepmill.run import Run as Run
    from stepmill.run import open_run as open_run

_HOMES = {
    "Dataset": "stepmill.dataset",
    "FullEpisode": "schemas.verdicts.full_episode",
    "Report": "flows.job.report",
    "Rows": "stepmill.rows",
    "Run": "stepmill.run",
    "make_run": "stepmill.making",
    "open_dataset": "stepmill.dataset",
    "open_run": "stepmill.run",
    "picture": "stepmill.pictures",
}


def __getattr__(name: str) -> object:
    """Return a name of this package, whose module is loaded now."""
    if name not in _HOMES:
        raise AttributeError(f"module 'stepmill' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the names of this package, for whoever looks what there is."""
    return sorted(_HOMES)
