"""A contacts application that speaks the gym API of cua-bench's web apps, written from what that publishes.

The page keeps its state on the server: its script calls `/api/contacts` and `/api/groups` with the
session of its address (`/?session=ID`) in `X-Session-Id`; the cookie `gym_session` does as well. The
gym API is answered under `/gym` as its table says and under `/api/gym` as its own clients call it.
"""

import copy
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from sites import serving
from sites.contact_tasks import tasks
from sites.serving import Answer, Fault, Misbehaviour, Refused, Request, Route, Served, reply
from sites.tasks import SiteTask, Value, judge

PAGE = Path(__file__).with_name("cua_bench.html")
MANIFEST = {"name": "Contacts", "short_name": "Contacts", "start_url": "/", "display": "standalone"}
SHARED = ""
"""The session of requests that name none."""

FIRST = ("Ida", "Jonas", "Kofi", "Lena", "Mira", "Noor", "Otto", "Priya")
LAST = ("Adler", "Brandt", "Castro", "Doyle", "Eriksen", "Fontaine", "Gupta", "Huber")

FIELDS: Mapping[str, Mapping[str, Value]] = {
    "contacts": {"name": "", "phone": "", "email": "", "group": "", "favourite": False},
    "groups": {"name": ""},
}
"""The fields of a row beside its id, with what they are if they are not given."""

Tables = dict[str, list[dict[str, Value]]]


def initial_state(seed: int) -> Tables:
    """Six contacts, two of them in a group, and three groups; the same for the same seed."""
    random = Random(seed)
    groups = ("Family", "Work", "Football")
    firsts, lasts = random.sample(FIRST, 6), random.sample(LAST, 6)
    contacts: list[dict[str, Value]] = [
        {
            "id": number,
            "name": f"{first} {last}",
            "phone": f"0{random.randint(150, 179)} 555 {random.randint(1000, 9999)}",
            "email": f"{first}.{last}@example.org".lower(),
            "group": {2: groups[0], 3: groups[1]}.get(number, ""),
            "favourite": number == 2,
        }
        for number, (first, last) in enumerate(zip(firsts, lasts, strict=True), start=1)
    ]
    return {
        "contacts": contacts,
        "groups": [{"id": number, "name": name} for number, name in enumerate(groups, start=1)],
    }


@dataclass
class Session:
    """What one session holds now and held at the start of its task; None before the first."""

    tables: Tables
    before: Tables
    task: SiteTask | None = None


class Gym:
    """The sessions, in memory."""

    def __init__(self, seed: int = 1, wrong: Misbehaviour | None = None) -> None:
        self._wrong = wrong or Misbehaviour()
        self._seeded = initial_state(seed)
        self._tasks = {one.template: one for one in tasks(seed, self._seeded)}
        self._groups = self._seeded["groups"]
        self._sessions: dict[str, Session] = {}
        self._seed(SHARED, None)
        rows = "/api/(contacts|groups)"
        self.routes = (
            Route("GET", "/", lambda _: serving.page(PAGE.read_text(encoding="utf-8"))),
            Route("GET", "/manifest.json", lambda _: reply(MANIFEST)),
            Route("GET", rows, lambda request, table: reply(self._session(request).tables[table])),
            Route("POST", rows, self._add),
            Route("PATCH", f"{rows}/([0-9]+)", self._edit),
            Route("DELETE", f"{rows}/([0-9]+)", self._remove),
            *self._gym("/gym"),
            *self._gym("/api/gym"),
        )

    def _gym(self, base: str) -> Sequence[Route]:
        return (
            Route("GET", f"{base}/tasks", self._show),
            Route("POST", f"{base}/start/{{task}}", self._start),
            Route("GET", f"{base}/evaluate", self._evaluate),
            Route("POST", f"{base}/evaluate", self._evaluate),
            Route("POST", f"{base}/reset", self._reset),
            Route("POST", f"{base}/session", self._open),
            Route("DELETE", f"{base}/session", self._close),
        )

    def _named(self, request: Request) -> str:
        if Fault.LEAKS in self._wrong:
            return SHARED
        return request.headers.get("X-Session-Id") or request.cookie("gym_session") or SHARED

    def _session(self, request: Request) -> Session:
        name = self._named(request)
        if name not in self._sessions:
            raise Refused(404, f"there is no session {name}")
        return self._sessions[name]

    def _seed(self, name: str, task: SiteTask | None) -> None:
        tables = copy.deepcopy(self._seeded)
        if Fault.HALF_RESET in self._wrong:
            tables["groups"] = copy.deepcopy(self._groups)
        self._sessions[name] = Session(tables, copy.deepcopy(tables), task)

    def _show(self, request: Request) -> Answer:
        del request
        return reply({"tasks": [_shown(task) for task in self._tasks.values()]})

    def _start(self, request: Request, template: str) -> Answer:
        if template not in self._tasks:
            raise Refused(404, f"there is no task {template}")
        task = self._tasks[template]
        name = self._named(request) or (
            SHARED if Fault.LEAKS in self._wrong else secrets.token_hex(8)
        )
        self._seed(name, task)
        return reply(
            {"success": True, "prompt": task.instruction, "task": _shown(task), "sessionId": name}
        )

    def _evaluate(self, request: Request) -> Answer:
        session = self._session(request)
        if session.task is None:
            return reply(_result({"a task was started": False}))
        found = judge(session.task.changes, session.before, session.tables)
        if session.task.answer is not None:
            said = request.json().get("agentAnswer", "") if request.method == "POST" else ""
            found["the answer"] = str(said).strip().casefold() == session.task.answer.casefold()
        return reply(_result(found))

    def _reset(self, request: Request) -> Answer:
        self._seed(self._named(request), None)
        return reply({"success": True})

    def _open(self, request: Request) -> Answer:
        del request
        name = secrets.token_hex(8)
        self._seed(name, None)
        return reply({"sessionId": name})

    def _close(self, request: Request) -> Answer:
        self._session(request)
        name = self._named(request)
        if name == SHARED:
            raise Refused(400, "name the session in X-Session-Id")
        del self._sessions[name]
        return reply({"success": True})

    def _add(self, request: Request, table: str) -> Answer:
        session = self._session(request)
        rows = session.tables[table]
        row = {
            "id": max((int(row["id"] or 0) for row in rows), default=0) + 1,
            **FIELDS[table],
            **_given(request, table),
        }
        if not row["name"]:
            raise Refused(400, "Give a name.")
        rows.append(row)
        return self._kept(session, row, 201)

    def _edit(self, request: Request, table: str, number: str) -> Answer:
        session = self._session(request)
        row = _row(session, table, number)
        row.update(_given(request, table))
        return self._kept(session, row)

    def _remove(self, request: Request, table: str, number: str) -> Answer:
        session = self._session(request)
        row = _row(session, table, number)
        if table == "groups" and any(
            one["group"] == row["name"] for one in session.tables["contacts"]
        ):
            raise Refused(409, "Somebody is in this group.")
        session.tables[table].remove(row)
        return self._kept(session, row)

    def _kept(self, session: Session, row: Mapping[str, Value], status: int = 200) -> Answer:
        self._groups = session.tables["groups"]
        return reply(row, status)


def _shown(task: SiteTask) -> Mapping[str, str]:
    return {"id": task.template, "prompt": task.instruction}


def _result(found: Mapping[str, bool]) -> Mapping[str, object]:
    failed = [name for name, passed in found.items() if not passed]
    return {
        "success": not failed,
        "reward": float(not failed),
        "message": f"not met: {'; '.join(failed)}" if failed else "the task is done",
        "subResults": [{"name": name, "passed": passed} for name, passed in found.items()],
    }


def _given(request: Request, table: str) -> dict[str, Value]:
    """The row's fields in the body; refused if one is unknown or of another type."""
    sent, known = request.json(), FIELDS[table]
    given: dict[str, Value] = {}
    for name, value in sent.items():
        if name not in known or not isinstance(value, type(known[name])):
            raise Refused(400, f"{name} = {value!r} is no field of {table}")
        given[name] = value
    return given


def _row(session: Session, table: str, number: str) -> dict[str, Value]:
    for row in session.tables[table]:
        if row["id"] == int(number):
            return row
    raise Refused(404, f"there is no {number} in {table}")


def main(arguments: Sequence[str] | None = None) -> None:
    given = serving.options(__doc__).parse_args(arguments)
    wrong = serving.misbehaviour(given)
    made = tasks(given.seed, initial_state(given.seed))
    served = Served(Gym(given.seed, wrong).routes, port=given.port, wrong=wrong)
    serving.run([served], made, only_tasks=given.tasks)


if __name__ == "__main__":
    main()
