"""The contacts site obeys the gym API that cua-bench's web apps publish."""

from collections.abc import Iterator, Mapping

import pytest
from sites.client import Response, call
from sites.contact_tasks import tasks
from sites.cua_bench import Gym, initial_state
from sites.serving import Fault, Misbehaviour, Served


@pytest.fixture(params=["/gym", "/api/gym"])
def gym(request: pytest.FixtureRequest) -> Iterator[str]:
    with Served(Gym().routes) as served:
        yield f"{served.url}{request.param}"


def _as(session: object) -> Mapping[str, str]:
    return {"X-Session-Id": str(session)}


def _rows(gym: str, table: str = "contacts", *, session: object) -> Response:
    base = gym.removesuffix("/gym").removesuffix("/api")
    return call(f"{base}/api/{table}", headers=_as(session))


def _edit(gym: str, path: str, method: str, body: object, *, session: object) -> Response:
    base = gym.removesuffix("/gym").removesuffix("/api")
    return call(f"{base}/api/{path}", method, body=body, headers=_as(session))


def _start(gym: str, task: str, **headers: str) -> dict[str, object]:
    return call(f"{gym}/start/{task}", "POST", headers=headers).json


def test_the_tasks_are_listed(gym: str) -> None:
    listed = call(f"{gym}/tasks").json["tasks"]

    assert listed == [
        {"id": task.template, "prompt": task.instruction} for task in tasks(1, initial_state(1))
    ]


def test_a_start_without_a_session_makes_one_with_the_seeded_state(gym: str) -> None:
    started = _start(gym, "add_group")

    assert started["success"] is True
    assert started["prompt"] == "Make a group called Choir."
    assert _rows(gym, session=started["sessionId"]).body == _rows(gym, session="").body


def test_a_task_that_is_done_is_rewarded(gym: str) -> None:
    session = _start(gym, "add_group")["sessionId"]
    assert call(f"{gym}/evaluate", headers=_as(session)).json["reward"] == 0.0

    assert _edit(gym, "groups", "POST", {"name": "Choir"}, session=session).status == 201

    assert call(f"{gym}/evaluate", headers=_as(session)).json == {
        "success": True,
        "reward": 1.0,
        "message": "the task is done",
        "subResults": [
            {"name": "1: added in groups", "passed": True},
            {"name": "nothing else", "passed": True},
        ],
    }


def test_a_side_effect_is_not_rewarded(gym: str) -> None:
    session = _start(gym, "add_group")["sessionId"]
    _edit(gym, "groups", "POST", {"name": "Choir"}, session=session)
    _edit(gym, "contacts/1", "DELETE", None, session=session)

    result = call(f"{gym}/evaluate", headers=_as(session)).json

    assert (result["reward"], result["message"]) == (0.0, "not met: nothing else")


@pytest.mark.parametrize(("said", "reward"), [("", 0.0), ("1", 0.0), (None, 1.0)])
def test_an_answer_is_evaluated_by_a_post(gym: str, said: str | None, reward: float) -> None:
    right = next(one.answer for one in tasks(1, initial_state(1)) if one.template == "find_phone")
    session = _start(gym, "find_phone")["sessionId"]
    body = {"agentAnswer": right if said is None else said}

    assert call(f"{gym}/evaluate", "POST", body=body, headers=_as(session)).json["reward"] == reward
    assert call(f"{gym}/evaluate", headers=_as(session)).json["reward"] == 0.0


def test_sessions_are_opened_and_closed_and_do_not_see_one_another(gym: str) -> None:
    one, other = (call(f"{gym}/session", "POST").json["sessionId"] for _ in range(2))
    _edit(gym, "contacts/1", "DELETE", None, session=one)

    assert _rows(gym, session=one).body != _rows(gym, session=other).body
    assert _rows(gym, session=other).body == _rows(gym, session="").body
    assert call(f"{gym}/session", "DELETE", headers=_as(one)).status == 200
    assert _rows(gym, session=one).status == 404


def test_the_cookie_names_the_session_too(gym: str) -> None:
    session = _start(gym, "add_group")["sessionId"]
    _edit(gym, "groups", "POST", {"name": "Choir"}, session=session)

    result = call(f"{gym}/evaluate", headers={"Cookie": f"gym_session={session}"}).json

    assert result["success"] is True


def test_a_session_of_the_callers_own_name_is_started_and_reset(gym: str) -> None:
    assert _start(gym, "add_group", **_as("mine"))["sessionId"] == "mine"
    before = _rows(gym, session="mine").body
    _edit(gym, "contacts/1", "DELETE", None, session="mine")

    assert call(f"{gym}/reset", "POST", headers=_as("mine")).json == {"success": True}

    assert _rows(gym, session="mine").body == before
    assert call(f"{gym}/evaluate", headers=_as("mine")).json["reward"] == 0.0


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "contacts", {"name": ""}, 400),
        ("POST", "contacts", {"name": "A", "age": 3}, 400),
        ("PATCH", "contacts/1", {"favourite": "yes"}, 400),
        ("PATCH", "contacts/77", {"favourite": True}, 404),
        ("DELETE", "groups/1", None, 409),
    ],
)
def test_a_bad_edit_is_refused_and_changes_nothing(
    gym: str, method: str, path: str, body: object, status: int
) -> None:
    session = _start(gym, "add_group")["sessionId"]
    before = _rows(gym, session=session).body, _rows(gym, "groups", session=session).body

    assert _edit(gym, path, method, body, session=session).status == status

    assert before == (
        _rows(gym, session=session).body,
        _rows(gym, "groups", session=session).body,
    )


def test_an_unknown_task_and_an_unknown_session_are_404(gym: str) -> None:
    assert call(f"{gym}/start/sing", "POST").status == 404
    assert call(f"{gym}/evaluate", headers=_as("nobody")).status == 404


def test_with_leaks_one_session_sees_the_other() -> None:
    with Served(Gym(wrong=Misbehaviour(Fault.LEAKS)).routes) as served:
        gym = f"{served.url}/gym"
        before = _rows(gym, session="a").body
        _edit(gym, "contacts/1", "DELETE", None, session="a")

        assert _rows(gym, session="b").body != before


def test_half_a_reset_leaves_the_groups() -> None:
    with Served(Gym(wrong=Misbehaviour(Fault.HALF_RESET)).routes) as served:
        gym = f"{served.url}/gym"
        session = _start(gym, "add_group")["sessionId"]
        _edit(gym, "groups", "POST", {"name": "Choir"}, session=session)
        _edit(gym, "contacts/1", "DELETE", None, session=session)

        again = _start(gym, "add_group")["sessionId"]

        assert b"Choir" in _rows(gym, "groups", session=again).body
        assert _rows(gym, session=again).body == _rows(gym, session="").body


@pytest.mark.parametrize("seed", range(1, 6))
def test_every_task_names_rows_that_its_state_holds(seed: int) -> None:
    state = initial_state(seed)

    for task in tasks(seed, state):
        for change in task.changes:
            if change.kind != "added":
                rows = [row for row in state[change.table] if change.row.items() <= row.items()]
                assert len(rows) == 1, task
                assert change.kind == "removed" or rows[0] != {**rows[0], **(change.now or {})}
