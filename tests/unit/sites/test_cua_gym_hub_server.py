"""The mail site obeys the state API that CUA-Gym-Hub publishes."""

from collections.abc import Iterator

import pytest
from sites.client import call
from sites.cua_gym_hub import Hub, initial_state
from sites.mail_tasks import tasks
from sites.serving import Fault, Misbehaviour, Served


@pytest.fixture
def url() -> Iterator[str]:
    with Served(Hub().routes) as served:
        yield served.url


def _post(url: str, sid: str, action: str, **more: object) -> int:
    return call(f"{url}/post?sid={sid}", "POST", body={"action": action, **more}).status


def _go(url: str, sid: str) -> dict[str, object]:
    return call(f"{url}/go?sid={sid}").json


def test_an_unknown_session_is_at_the_defaults(url: str) -> None:
    assert _go(url, "a") == {
        "initial_state": initial_state(1),
        "current_state": initial_state(1),
        "state_diff": {},
    }
    assert call(f"{url}/state?sid=a").json == {
        "stored_state": None,
        "has_custom_state": False,
        "sid": "a",
    }


def test_set_gives_both_states_and_set_current_only_one(url: str) -> None:
    _post(url, "a", "set", state={"labels": [1]})
    _post(url, "a", "set_current", state={"labels": [1, 2], "more": 3})

    assert _go(url, "a") == {
        "initial_state": {"labels": [1]},
        "current_state": {"labels": [1, 2], "more": 3},
        "state_diff": {"labels": {"modified": [1, 2]}, "more": {"added": 3}},
    }


def test_a_second_set_keeps_the_first_initial_state_until_the_reset(url: str) -> None:
    _post(url, "a", "set", state={"n": 1})
    _post(url, "a", "set", state={"n": 2})
    assert _go(url, "a")["initial_state"] == {"n": 1}

    _post(url, "a", "reset")
    _post(url, "a", "set", state={"n": 3})

    assert _go(url, "a")["initial_state"] == {"n": 3}


def test_merge_keeps_the_other_keys(url: str) -> None:
    _post(url, "a", "set", state={"n": 1, "m": 1})
    _post(url, "a", "set_current", state={"n": 2}, merge=True)

    assert _go(url, "a")["current_state"] == {"n": 2, "m": 1}


def test_reset_goes_back_to_the_defaults(url: str) -> None:
    _post(url, "a", "set_current", state={"n": 2})
    _post(url, "a", "reset")

    assert _go(url, "a")["current_state"] == initial_state(1)


def test_two_sessions_do_not_see_one_another(url: str) -> None:
    _post(url, "a", "set_current", state={"n": 2})

    assert _go(url, "b")["state_diff"] == {}


@pytest.mark.parametrize("body", [{"action": "sing"}, {"action": "set"}, {"state": [1]}])
def test_what_is_no_action_is_refused(url: str, body: object) -> None:
    assert call(f"{url}/post?sid=a", "POST", body=body).status == 400


def test_every_view_is_the_page_with_the_defaults_in_it(url: str) -> None:
    bodies = {
        call(f"{url}{path}?sid=a").body for path in ("/", "/folder/inbox", "/message/1", "/labels")
    }

    assert len(bodies) == 1
    assert str(initial_state(1)["messages"][0]["subject"]) in bodies.pop().decode()


def test_the_defaults_depend_on_the_seed_alone() -> None:
    assert initial_state(1) == initial_state(1) != initial_state(2)


def test_with_leaks_one_session_sees_the_other() -> None:
    with Served(Hub(wrong=Misbehaviour(Fault.LEAKS)).routes) as served:
        _post(served.url, "a", "set_current", state={"n": 2})

        assert _go(served.url, "b")["current_state"] == {"n": 2}


def test_half_a_reset_leaves_the_labels() -> None:
    with Served(Hub(wrong=Misbehaviour(Fault.HALF_RESET)).routes) as served:
        _post(served.url, "a", "set_current", state={"messages": [], "labels": [7]})
        _post(served.url, "a", "reset")

        assert _go(served.url, "a")["current_state"] == {**initial_state(1), "labels": [7]}


@pytest.mark.parametrize("seed", range(1, 6))
def test_every_task_names_rows_that_its_state_holds(seed: int) -> None:
    state = initial_state(seed)

    for task in tasks(seed, state):
        for change in task.changes:
            if change.kind != "added":
                rows = [row for row in state[change.table] if change.row.items() <= row.items()]
                assert len(rows) == 1, task
                assert change.kind == "removed" or rows[0] != {**rows[0], **(change.now or {})}
