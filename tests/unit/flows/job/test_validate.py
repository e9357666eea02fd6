"""What of a plan is attempted, and what a run says about the rest before anything is opened."""

import json
import logging
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from support.inputs.offered_application import COMMAND, Harbour
from support.inputs.offered_parts import installed, offer
from support.servers.ledger_site import ledger, ledger_task

from flows.job.plugins import acting_plugins, used_plugins
from flows.job.validate import check_stored_probes, validate
from schemas.configuration.application import Application
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import TasksSection
from schemas.errors import BadConfig, BadTasks, NotFound

LIVE = {"web_name": "Shop", "id": "Shop--0", "ques": "Find a kettle.", "web": "https://x.com/"}


@pytest.fixture
def live(tmp_path: Path) -> str:
    path = tmp_path / "live.jsonl"
    path.write_text("\n".join(json.dumps(LIVE | {"id": f"Shop--{n}"}) for n in (0, 1, 1)))
    return str(path)


def attempted(caplog: pytest.LogCaptureFixture, tasks: TasksSection) -> tuple[int, list[str]]:
    with caplog.at_level(logging.WARNING):
        valid = validate(RunConfig(tasks=tasks))
    return len(valid.tasks), [record.getMessage() for record in caplog.records]


def test_what_cannot_be_attempted_is_left_out_and_counted(
    live: str, caplog: pytest.LogCaptureFixture
) -> None:
    section = TasksSection(sources=("miniwob", live), include=("click-test", "webvoyager/*"))
    count, said = attempted(caplog, section)
    assert count == 5
    refused, unmapped = said
    assert refused.startswith("2 tasks are left out: live origins are not supported yet, because")
    assert unmapped.startswith("1 rows of task files give no task; `stepmill tasks validate")


def test_a_run_of_nothing_else_is_refused_in_a_line(live: str) -> None:
    with pytest.raises(BadTasks) as refused:
        validate(RunConfig(tasks=TasksSection(source=live)))
    said = str(refused.value)
    assert said.startswith("tasks: none of 2 tasks can be attempted: live origins are not")
    assert "\n" not in said


def test_a_sample_that_finds_fewer_tasks_says_so(caplog: pytest.LogCaptureFixture) -> None:
    section = TasksSection(include=("click-test",), seeds=(0, 2), sample=4)
    count, said = attempted(caplog, section)
    assert count == 3
    assert said == ["tasks.sample = 4, but there are only 3 tasks: all are taken"]


def test_a_sample_of_all_there_are_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    section = TasksSection(include=("click-test",), seeds=(0, 2), sample=3)
    assert attempted(caplog, section) == (3, [])


def test_a_run_names_the_package_of_an_application_that_its_tasks_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Harbour(tmp_path, monkeypatch)
    task = ledger_task(expect={"answer": "1"})
    start = {"start": {"command": COMMAND}}
    config = RunConfig(sites={"ledger": Application.model_validate(ledger().model_dump() | start)})

    assert used_plugins(config, [task]) == {"stepmill.applications:harbour": "harbour-sites 1.0"}
    assert [one.origin for one in acting_plugins(config, [task])] == ["harbour-sites 1.0"]
    assert used_plugins(config, []) == {}
    assert used_plugins(RunConfig(sites={"ledger": ledger()}), [task]) == {}


def test_a_probe_that_cannot_be_used_is_refused_before_any_work(tmp_path: Path) -> None:
    row = {"site": "ledger", "instruction": "Add.", "start_url": "/", "expect": {"probe": "sums"}}
    (tmp_path / "tasks.jsonl").write_text(json.dumps(row))
    config = RunConfig(
        tasks=TasksSection(source=str(tmp_path / "tasks.jsonl")), sites={"ledger": ledger()}
    )
    with installed(tmp_path):
        parts = {"stepmill.probes:sums": "broken_sums:sums"}
        offer(tmp_path, "broken-sums", parts, modules={"broken_sums": "raise OSError('no sums')"})
        with pytest.raises(BadConfig) as refused:
            validate(config)

    assert str(refused.value) == (
        "expect.probe: the probe 'sums' of broken-sums 1.0 (broken_sums:sums) cannot be used: its import "
        "fails: OSError: no sums"
    )


def test_a_stored_run_is_judged_where_its_probes_are() -> None:
    texts = [None, '{"answer":"probe"}', '{"options":{},"probe":"gone"}']
    check_stored_probes(None)
    check_stored_probes(ds.dataset(pa.table({"expect": texts[:2]})))

    with pytest.raises(NotFound, match="there is no probe 'gone'"):
        check_stored_probes(ds.dataset(pa.table({"expect": texts})))


def test_the_distribution_of_a_probe_is_known_of_the_run_and_of_its_episodes(
    tmp_path: Path,
) -> None:
    tasks = [ledger_task(), ledger_task(expect={"probe": "sums"})]
    with installed(tmp_path):
        offer(tmp_path, "own-sums", {"stepmill.probes:sums": "sums:sums"}, version="2.1")

        assert used_plugins(RunConfig(), tasks) == {"stepmill.probes:sums": "own-sums 2.1"}
        assert [one.origin for one in acting_plugins(RunConfig(), tasks)] == ["own-sums 2.1"]
        assert used_plugins(RunConfig(), tasks[:1]) == {}
