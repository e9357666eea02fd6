"""The applications with drawn contents themselves, where they are installed: their seeded contents, their reset, their references."""

import os
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from form_browser import FormBrowser
from pydantic import JsonValue
from source_tree import ROOT

from generators.data_folder import data_folder
from generators.sites.judging.compare import compare_states
from generators.sites.judging.judge import judge
from generators.sites.judging.protocol import Judgement
from generators.sites.judging.sqlite_views import read_views
from schemas.tasks.expectation import parse_expectation
from stepmill_applications.application import Application, ContentFolders
from stepmill_applications.application_task import ApplicationTask
from stepmill_applications.parts import APPLICATIONS
from stepmill_applications.snapshots import base_folder, put_back, snapshot_folder
from stepmill_applications.sources.source import Installed

State = dict[str, JsonValue]

START_SECONDS = 60.0


def state_in(application: Application, folder: Path) -> State:
    """Return the state of an instance, as the application's shipped file says to read it."""
    file = ROOT / "configs" / "apps" / f"{application.name}.toml"
    views = tomllib.loads(file.read_text(encoding="utf-8"))["state"]["views"]
    return read_views(folder / application.state, views)


class Instance:
    """A running application, and what a test does with it."""

    def __init__(self, application: Application, folder: Path, port: int) -> None:
        self.application, self.folder, self.port = application, folder, port

    def reset(self, content: int) -> State:
        data = data_folder(os.environ)
        found = self.application.source.find(self.application.name, data)
        assert found
        put_back(self.application, found, data=data, folder=self.folder, content=content)
        return self.state()

    def state(self) -> State:
        return state_in(self.application, self.folder)

    def browser(self) -> FormBrowser:
        return FormBrowser(self.port, self.application.origin, dict(self.application.cookies))

    def carry_out(self, task: ApplicationTask) -> str | None:
        browser = self.browser()
        browser.get(task.start)
        browser.do(task.reference)
        return browser.answer


def _installed(name: str) -> tuple[Application, Installed]:
    application = APPLICATIONS[name]
    found = application.source.find(name, data_folder(os.environ))
    assert found is not None, f"{name} is not installed: stepmill sites install {name}"
    return application, found


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.fixture(scope="module")
def instance(drawn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Start an application by its own command, and stop it in the end."""
    application, _ = _installed(drawn)
    folder, port = tmp_path_factory.mktemp(application.name), _free_port()
    command = (sys.executable, "-m", "generators.sites.installable", "serve", application.name)
    running = subprocess.Popen(
        (*command, "--folder", str(folder), "--port", str(port)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    started = Instance(application, folder, port)
    try:
        _wait_for(started, running)
        yield started
    finally:
        running.kill()
        running.wait()


def judged(task: ApplicationTask, before: State, after: State, answer: str | None) -> Judgement:
    """Return what the judge makes of the end of a task."""
    expectation = parse_expectation(task.expect, task.template_id)
    delta = compare_states(before, after)
    return judge(expectation, before=before, after=after, delta=delta, answer=answer)


def _wait_for(instance: Instance, running: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            instance.browser().get(instance.application.start)
        except ConnectionError:
            assert running.poll() is None
            assert time.monotonic() < until
        else:
            return


def test_each_reference_does_what_its_task_expects_and_nothing_else(instance: Instance) -> None:
    for task in instance.application.draw_tasks(0):
        before = instance.reset(task.content)
        answer = instance.carry_out(task)

        said = judged(task, before, instance.state(), answer)
        assert said.reward == 1.0, (task.template_id, said.reasons)
        assert judged(task, before, before, "nothing was done").reward == 0.0, task.template_id


def test_a_reset_undoes_what_was_done(instance: Instance) -> None:
    before = instance.reset(0)
    task = next(one for one in instance.application.draw_tasks(0) if "added" in one.expect)

    instance.carry_out(task)

    assert instance.state() != before
    assert instance.reset(0) == before


def test_another_content_is_seen_by_the_running_program(instance: Instance) -> None:
    instance.reset(1)
    task = next(
        one for one in instance.application.draw_tasks(1) if one.template_id.startswith("read-")
    )

    assert instance.carry_out(task) == task.reference[-1].text


def test_looking_around_changes_nothing(instance: Instance) -> None:
    before = instance.reset(0)
    browser = instance.browser()
    browser.get(instance.application.start)
    links = [one["href"] for one in browser.page.elements if one.tag == "a"]
    for link in sorted({link for link in links if link.startswith("/") and "ogout" not in link}):
        browser.get(link)

    assert instance.state() == before


def test_the_same_content_is_the_same_state_when_made_again(drawn: str, tmp_path: Path) -> None:
    application, found = _installed(drawn)
    kept = snapshot_folder(application, found, data=data_folder(os.environ), seed=2)
    base = base_folder(application, found, data=data_folder(os.environ))
    application.make(found, 2, ContentFolders(folder=tmp_path, base=base))

    assert state_in(application, tmp_path) == state_in(application, kept)
