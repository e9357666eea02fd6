"""What a flow run's log says: warnings of this program, progress that moves, a report, problems."""

import logging

import pytest

from flows.orchestration import run_log as module
from flows.orchestration.run_log import calm_cancellation, run_log


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What Prefect was told, by level."""
    told = list[tuple[str, str]]()

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append((record.levelname, record.getMessage()))

    log = logging.getLogger("of a flow run")
    log.setLevel(logging.INFO)
    log.addHandler(Kept())
    monkeypatch.setattr(module, "get_run_logger", lambda: log)
    return told


def test_warnings_are_there_as_long_as_it_is_open(said: list[tuple[str, str]]) -> None:
    ours, others = logging.getLogger("storage.lake.x"), logging.getLogger("elsewhere")
    with run_log():
        ours.warning("the store is %s", "slow")
        ours.info("not said")
        others.warning("not ours")
    ours.warning("too late")

    assert said == [("WARNING", "the store is slow")]


def test_progress_is_said_when_it_moves_and_a_report_as_one_entry(
    said: list[tuple[str, str]],
) -> None:
    with run_log() as log:
        log.progress("1/2")
        log.progress("1/2")
        log.progress("2/2")
        log.lines(["run x", "made 2"])
        log.problem("a unit failed: \x1b[31mno\u202e")
        log.lines(["to https://user:hunter2hunter2@host/x"])
        logging.getLogger("flows.x").error("at https://user:hunter2hunter2@host/x")

    assert said == [
        ("INFO", "1/2"),
        ("INFO", "2/2"),
        ("INFO", "run x\nmade 2"),
        ("ERROR", "a unit failed: \N{REPLACEMENT CHARACTER}[31mno\N{REPLACEMENT CHARACTER}"),
        ("INFO", "to https://***@host/x"),
        ("ERROR", "at https://***@host/x"),
    ]


def test_what_was_cancelled_is_no_error() -> None:
    log = logging.getLogger("prefect.task_runs")
    before = [*log.filters]
    calm_cancellation()
    try:
        levels = []
        for state in ("Cancelled('interrupted')", "Failed('no')"):
            text = "Finished in state %s"
            record = log.makeRecord(log.name, logging.ERROR, "", 0, text, (state,), None)
            assert log.filter(record)
            levels.append(record.levelname)
    finally:
        log.filters[:] = before

    assert levels == ["INFO", "ERROR"]


def test_what_cannot_be_said_is_no_end_of_the_work(
    said: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    log = logging.getLogger("of a flow run")
    bad = log.makeRecord("flows.x", logging.WARNING, "", 0, "%d", ("no number",), None)
    module._Forward(log).emit(bad)

    assert said == []
