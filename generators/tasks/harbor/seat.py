#!/usr/bin/env python3
"""A seat at a Stepmill server, for whoever acts in a container: a command line, an MCP server, and the reward.

    seat look                                        what the page shows now
    seat act '{"type": "click", "x": 80, "y": 100}'  act; what the page shows then
    seat actions                                     which actions there are
    seat mcp                                         the same as an MCP server on standard input and output
    seat play FILE                                   act as a file says
    seat reward FOLDER                               end the episode; write the site's reward there

It stands in the directories that `stepmill tasks export` writes, and needs Python alone. The server's address and the
token are the variables STEPMILL_URL and STEPMILL_TOKEN. The task is that of `task.json` beside this file. The seat is
taken with the first command and is the same for all that follow: `seat hold`, which runs beside them, lets the server
know that the seat is wanted for as long as the container is there.
"""

import base64
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STATE = Path(os.environ.get("STEPMILL_STATE", "/tmp/stepmill-seat"))  # noqa: S108 - of a container of its own
"""The folder with what the commands tell each other."""

ANSWER_SECONDS = 300.0
"""How long an answer may take."""

SEAT_SECONDS = 300.0
"""How long a free seat is waited for."""

HOLD_SECONDS = 5.0
"""Between two signs of life."""

MAX_UNHEARD = 12
"""How many of them in a row may not reach the server."""

COMMIT_SECONDS = 240.0
"""How long the row of an episode is waited for."""

_WAIT_SECONDS = 20

Json = dict[str, Any]


class Failed(Exception):
    """It cannot be done; the text says why."""


class Refused(Failed):
    """The server refuses it."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """When to come again, in seconds; None: it would be refused then too."""


def _get(path: str, body: Json | None = None) -> Any:
    """Return the answer of the server, to a POST where there is a body."""
    url, token = os.environ.get("STEPMILL_URL"), os.environ.get("STEPMILL_TOKEN")
    if not url or not token:
        raise Failed("set STEPMILL_URL and STEPMILL_TOKEN: `stepmill serve` prints both")
    request = urllib.request.Request(  # noqa: S310 - the address is the user's own
        url.rstrip("/") + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=ANSWER_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise Failed(f"{url}: {error.code}: {error.read().decode(errors='replace')}") from error
    except (OSError, ValueError) as error:
        raise Failed(f"{url}: {error}") from error


def _rpc(method: str, **params: Any) -> Json:
    """Return the result of a method of the server's MCP."""
    answer = _get("/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    if "error" in answer:
        raise Refused(answer["error"]["message"])
    result: Json = answer["result"]
    return result


def _task() -> Json:
    task: Json = json.loads((HERE / "task.json").read_text(encoding="utf-8"))
    return task


def _state() -> Json | None:
    """Return what the commands so far have left; None: no seat was taken."""
    try:
        state: Json = json.loads((STATE / "state.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return state


def _save(state: Json) -> Json:
    STATE.mkdir(parents=True, exist_ok=True)
    part = STATE / "state.json.part"
    part.write_text(json.dumps(state), encoding="utf-8")
    part.replace(STATE / "state.json")
    return state


def _take() -> Json:
    """Return the state with the seat, which is taken if nobody has yet.

    A seat that cannot be had is remembered: without it, an episode that the verifier begins would say that the agent has
    done nothing.
    """
    state = _state()
    if state is not None:
        return state
    try:
        state = _save(_first_page())
    except Failed as error:
        _miss(str(error))
        raise
    subprocess.Popen(  # noqa: S603 - this program
        [sys.executable, str(Path(__file__).resolve()), "hold"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    return state


def _miss(why: str) -> None:
    """Remember that there is no seat to act in."""
    STATE.mkdir(parents=True, exist_ok=True)
    (STATE / "no-seat.txt").write_text(why, encoding="utf-8")
    (STATE / "state.json").unlink(missing_ok=True)


def _first_page() -> Json:
    """Return the state with a new seat at the task."""
    task = _task()
    session = _rpc("openenv/session/create")["session_id"]
    policy = os.environ.get("STEPMILL_POLICY", "harbor")
    content = _reset(session, {**task["reset"], "elements": True, "policy": policy})
    state = _to_state(content, session)
    served = state["view"]["metadata"]["task_id"]
    if served != task["task_id"]:
        _rpc("openenv/session/close", session_id=session)
        raise Failed(
            f"the server's task of {json.dumps(task['reset'])} is {served}, and not {task['task_id']}: "
            "serve these directories (tasks.sources), with the sites as they were"
        )
    return state


def _reset(session: str, asked: Json) -> list[Json]:
    """Take a task in a session, once a seat is free."""
    end = time.monotonic() + SEAT_SECONDS
    while True:
        try:
            return _call(session, "reset", asked)
        except Refused as busy:
            if busy.retry_after is None or time.monotonic() >= end:
                raise
            time.sleep(busy.retry_after)  # noqa: TID251 - as the server asks


def _call(session: str, name: str, arguments: Json) -> list[Json]:
    """Have a tool called in a session; return its content."""
    result = _rpc("tools/call", session_id=session, name=name, arguments=arguments)
    content: list[Json] = result["content"]
    if result["isError"]:
        raise Refused(content[0]["text"], result.get("_meta", {}).get("retry_after"))
    return content


def _to_state(content: list[Json], session: str) -> Json:
    """Return the state that a tool's content makes: the page as text, and its picture in a file."""
    view: Json = json.loads(content[0]["text"])
    view["observation"].pop("metadata", None)
    for image in content[1:]:
        suffix = ".png" if image["mimeType"] == "image/png" else ".jpg"
        picture = STATE / f"page{suffix}"
        STATE.mkdir(parents=True, exist_ok=True)
        picture.write_bytes(base64.b64decode(image["data"]))
        view["observation"]["picture"] = str(picture)
    return {"session": session, "view": view}


def _act(state: Json, action: Json) -> tuple[Json, list[Json]]:
    """Act; return the state then, and what the server's tool told."""
    arguments = dict(action)
    name = arguments.pop("type", None)
    if not isinstance(name, str) or name == "reset":  # which would be another attempt
        raise Failed('expected an action as {"type": "click", "x": 80, "y": 100}')
    content = _call(state["session"], name, arguments)
    return _save(_to_state(content, state["session"])), content


def _object(text: str) -> Json:
    try:
        read = json.loads(text)
    except ValueError as error:
        raise Failed(f"the action is no JSON: {error}") from error
    if not isinstance(read, dict):
        raise Failed("the action is no object of JSON")
    return read


def _print(told: object) -> None:
    sys.stdout.write(json.dumps(told, indent=1, ensure_ascii=False) + "\n")


def _hold() -> None:
    """Let the server know that the seat is wanted, until the episode is over or the seat is given back."""
    unheard = 0
    while unheard < MAX_UNHEARD and (state := _state()) is not None and not state["view"]["done"]:
        try:
            _rpc("initialize", session_id=state["session"])
            unheard = 0
        except Refused:
            return
        except Failed:
            unheard += 1
        time.sleep(HOLD_SECONDS)  # noqa: TID251 - a sign of life, and nothing to wait for


def _play(file: str) -> None:
    """Act as a file says, in a page of the size for which it was recorded."""
    oracle = json.loads(Path(file).read_text(encoding="utf-8"))
    state = _take()
    size = state["view"]["observation"]["viewport"]
    if size != oracle["viewport"]:
        _rpc("openenv/session/close", session_id=state["session"])
        _miss(
            why
            := f"the page is {size} and was {oracle['viewport']} when the actions were recorded: "
            "set browser.viewport of the server"
        )
        raise Failed(why)
    for action in oracle["actions"]:
        if not state["view"]["done"]:
            state, _ = _act(state, action)
    _print(state["view"]["metadata"])


def _reward(folder: str) -> None:
    """End the episode, and write what the site gave for it; nothing is written where it gave nothing.

    An episode that goes on is answered, and gets what the page as it is deserves; so does one that nobody began.
    """
    written = Path(folder) / "reward.txt"
    written.unlink(missing_ok=True)
    missed = STATE / "no-seat.txt"
    if _state() is None and missed.exists():
        raise Failed(f"there was no seat to act in: {missed.read_text(encoding='utf-8')}")
    state = _take()
    if not state["view"]["done"]:
        state, _ = _act(state, {"type": "answer"})
    row = _row(state["view"]["metadata"].get("episode_id"))
    if row["task"]["id"] != _task()["task_id"]:
        raise Failed(f"episode {row['episode_id']} is of another task")
    if row["reward"] is None:
        why = row["failure_message"] or "the site reported none"
        raise Failed(f"no reward: {row['failure_kind'] or 'no failure'}: {why}")
    Path(folder).mkdir(parents=True, exist_ok=True)
    (Path(folder) / "episode.json").write_text(json.dumps(row, indent=1), encoding="utf-8")
    written.write_text(f"{row['reward']}\n", encoding="utf-8")


def _row(episode_id: str | None) -> Json:
    """Return an episode as the run has it, once it is committed."""
    if not episode_id:
        raise Failed("the episode left no row: its seat was given back")
    end = time.monotonic() + COMMIT_SECONDS
    while time.monotonic() < end:
        items = _get(f"/episodes?episode={episode_id}&wait={_WAIT_SECONDS}")["items"]
        if items:
            row: Json = items[0]
            return row
    raise Failed(f"episode {episode_id} was not committed within {COMMIT_SECONDS:g} s")


def _mcp() -> None:
    """Answer the requests of an MCP client, a line each."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        answer: Json = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            answer["result"] = _answer(request["method"], request.get("params") or {})
        except Failed as error:
            answer["error"] = {"code": -32000, "message": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


_LOOK: Json = {
    "name": "look",
    "description": "See the page as it is.",
    "inputSchema": {"type": "object", "properties": {}},
}


def _answer(method: str, params: Json) -> Json:
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [_LOOK, *_tools()]}
    if method != "tools/call":
        return _rpc(method, **params)
    state = _take()
    try:
        if params.get("name") == "look":
            return {"content": _content(state), "isError": False}
        state, _ = _act(state, {**params.get("arguments", {}), "type": params.get("name")})
        return {"content": _content(state), "isError": False}
    except Failed as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}


def _tools() -> list[Json]:
    """Return the server's tools but `reset`: the task is this one."""
    return [tool for tool in _rpc("tools/list")["tools"] if tool["name"] != "reset"]


def _content(state: Json) -> list[Json]:
    content: list[Json] = [{"type": "text", "text": json.dumps(state["view"])}]
    picture = state["view"]["observation"].get("picture")
    if picture is not None:
        kind = "image/png" if picture.endswith(".png") else "image/jpeg"
        data = base64.b64encode(Path(picture).read_bytes()).decode()
        content.append({"type": "image", "data": data, "mimeType": kind})
    return content


def main(words: list[str]) -> int:
    """Carry a command out; 1: it failed."""
    try:
        match words:
            case ["look"]:
                _print(_take()["view"])
            case ["act", action]:
                _print(_act(_take(), _object(action))[0]["view"])
            case ["actions"]:
                _print(_tools())
            case ["mcp"]:
                _mcp()
            case ["play", file]:
                _play(file)
            case ["reward", folder]:
                _reward(folder)
            case ["hold"]:
                _hold()
            case _:
                sys.stdout.write(__doc__ or "")
                return 2
    except Failed as error:
        sys.stderr.write(f"seat: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
