"""What the three small servers have in common: correct HTTP, faults on request, a start from any folder."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from sites import bookshop, bookshop_tasks, contact_tasks, cua_bench, cua_gym_hub, mail_tasks
from sites.bookshop_site import Shop
from sites.client import call
from sites.cua_bench import Gym
from sites.cua_gym_hub import Hub
from sites.serving import Fault, Misbehaviour, Route, Served
from sites.tasks import Row, SiteTask, added, changed, judge, lines, removed
from sites.webharbor import Files

SITES = Path(__file__).parents[2] / "sites"
NAMES = ("cua_gym_hub", "cua_bench", "webharbor")

Start = Callable[..., AbstractContextManager[str]]


def _routes(name: str, folder: Path) -> Sequence[Route]:
    if name == "webharbor":
        return Shop(Files(folder, 1, Misbehaviour()).instance).routes
    return Hub().routes if name == "cua_gym_hub" else Gym().routes


@pytest.fixture(params=NAMES)
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Start:
    """Serves one of the sites, and gives its address."""

    @contextmanager
    def serve(wrong: Misbehaviour | None = None) -> Iterator[str]:
        with Served(_routes(request.param, tmp_path), wrong=wrong) as served:
            yield served.url

    return serve


def _started(name: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, SITES, name, *arguments], stdout=subprocess.PIPE, text=True, cwd="/"
    )


def test_head_says_what_get_would_without_the_body(start: Start) -> None:
    with start() as url:
        head, get = call(f"{url}/", "HEAD"), call(f"{url}/")

    assert (head.status, get.status) == (200, 200)
    assert head.body == b""
    assert head.headers["Content-Length"] == str(len(get.body)) == get.headers["Content-Length"]


def test_an_unknown_path_is_404(start: Start) -> None:
    with start() as url:
        assert call(f"{url}/nowhere/at/all").status == 404


def test_another_method_is_405_and_named(start: Start) -> None:
    with start() as url:
        answer = call(f"{url}/", "PUT", body={})

    assert (answer.status, answer.headers["Allow"]) == (405, "GET")


@pytest.mark.parametrize("value", [b"{", b"[1]"])
def test_a_body_that_is_no_json_object_is_refused(value: bytes) -> None:
    with Served(Hub().routes) as served:
        assert call(f"{served.url}/post?sid=a", "POST", body=value).status == 400


def test_a_server_can_answer_500_after_some_requests(start: Start) -> None:
    with start(Misbehaviour(Fault.ERRORS, after=2)) as url:
        assert [call(f"{url}/").status for _ in range(3)] == [200, 200, 500]


def test_a_slow_server_answers_well_after_its_time(start: Start) -> None:
    with start(Misbehaviour(Fault.SLOW, seconds=0.2)) as url:
        before = time.monotonic()

        assert call(f"{url}/").status == 200
        assert time.monotonic() - before >= 0.2


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_is_to_die_ends_in_the_middle_of_a_request(name: str) -> None:
    with _started(name, "--fault", "dies", "--after", "1") as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert call(f"{url}/").status == 200
        with pytest.raises(OSError, match=r"without response|reset|aborted"):
            call(f"{url}/")
        assert process.wait(timeout=200) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_tasks_are_the_same_in_another_process_and_differ_by_the_seed(
    name: str, tmp_path: Path
) -> None:
    with _started(name, "--tasks", "--seed", "2") as process:
        written = process.communicate(timeout=200)[0]

    assert written == lines(_tasks(name, 2, tmp_path)) != lines(_tasks(name, 1, tmp_path))
    tasks = [json.loads(line) for line in written.splitlines()]
    assert len({task["template"] for task in tasks}) >= 12
    assert all(task["reference"] and (task["changes"] or task["answer"]) for task in tasks)


def _tasks(name: str, seed: int, folder: Path) -> Sequence[SiteTask]:
    if name == "webharbor":
        state = bookshop.read(Files(folder, seed, Misbehaviour()).seed)
        return bookshop_tasks.tasks(seed, state)
    if name == "cua_bench":
        return contact_tasks.tasks(seed, cua_bench.initial_state(seed))
    return mail_tasks.tasks(seed, cua_gym_hub.initial_state(seed))


BEFORE: Mapping[str, Sequence[Row]] = {
    "rows": [{"id": 1, "name": "a", "done": False}, {"id": 2, "name": "b", "done": False}]
}


def test_a_state_with_all_changes_and_nothing_else_is_as_wanted() -> None:
    changes = [
        changed("rows", {"name": "a"}, done=True),
        removed("rows", id=2),
        added("rows", name="c"),
    ]
    after: Mapping[str, Sequence[Row]] = {
        "rows": [{"id": 1, "name": "a", "done": True}, {"id": 3, "name": "c", "done": False}]
    }

    assert all(judge(changes, BEFORE, after).values())


@pytest.mark.parametrize(
    ("after", "failing"),
    [
        (BEFORE["rows"], ["1: changed in rows"]),
        ([BEFORE["rows"][0], {**BEFORE["rows"][1], "done": True}], None),
        ([{**BEFORE["rows"][0], "done": True, "name": "A"}, BEFORE["rows"][1]], None),
        ([{**BEFORE["rows"][0], "done": True}], ["nothing else"]),
        (
            [{**BEFORE["rows"][0], "done": True}, BEFORE["rows"][1], {"id": 3, "name": "a"}],
            ["nothing else"],
        ),
    ],
    ids=["not done", "wrong row", "one field too many", "another row gone", "a row too many"],
)
def test_a_near_miss_is_not_as_wanted(after: Sequence[Row], failing: Sequence[str] | None) -> None:
    found = judge([changed("rows", {"name": "a"}, done=True)], BEFORE, {"rows": after})

    assert [name for name, passed in found.items() if not passed] == (failing or list(found))
