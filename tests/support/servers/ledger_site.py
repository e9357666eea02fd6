"""The ledger of `tests/sites/ledger.py` as an application, its tasks, and a browser's part without one."""

import contextlib
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
from pydantic import JsonValue
from source_tree import ROOT

from generators.sites.application.site import ApplicationSite
from generators.sites.gateway import Gateway
from generators.sites.protocol import Outcome, Problem, Visit
from schemas.configuration.application import Application
from schemas.episodes.action import Action
from schemas.episodes.observation import Download, Effect
from schemas.tasks.expectation import parse_expectation
from schemas.tasks.task import Task

ORIGIN = "http://ledger.localhost"
SCRIPT = ROOT / "tests" / "sites" / "ledger.py"


def command(*faults: str) -> list[str]:
    """Return what starts a ledger."""
    return [sys.executable, str(SCRIPT), "{port}", *faults]


def ledger(*faults: str, **more: Any) -> Application:
    """Return the application, with `more` of its keys set."""
    shared = more.get("visits", "one") != "one"
    headers = {"X-Session": "{session}"} if shared else {}
    table: dict[str, Any] = {
        "origin": ORIGIN,
        "start": {"command": command(*faults), "seconds": 20},
        "reset": {"request": {"path": "/reset?seed={seed}", "headers": headers}},
        "state": {"request": {"method": "GET", "path": "/state", "headers": headers}},
    }
    return Application.model_validate(table | more)


SHARED = {"carrier": "header", "name": "X-Session"}
"""`visits` of a ledger that many share."""


def ledger_task(
    seed: int = 1, *, path: str = "/", expect: Mapping[str, JsonValue] | None = None
) -> Task:
    """Return a task: to add one entry."""
    wanted = expect or {"added": [{"table": "entries", "where": {"text": "Rope"}}]}
    return Task(
        task_id=f"add {seed}",
        template_id="add",
        source="test",
        site="ledger",
        start_url=ORIGIN + path,
        instruction="Add Rope to the ledger.",
        seed=seed,
        expect=parse_expectation(dict(wanted), "a test"),
    )


class Hands:
    """What a session does to a site: requests with the cookies of its visit. Waiting takes no time."""

    downloads: tuple[Download, ...] = ()

    def __init__(self, gateway: Gateway, visit: Visit, host: str = "ledger.localhost") -> None:
        assert visit.sign_in is not None
        self.cookies = {one.name: one.value for one in visit.sign_in.cookies}
        self._gateway = gateway
        self._host = host

    async def ask(self, method: str, path: str, **form: str) -> tuple[int, str, Mapping[str, str]]:
        """Return the status, the text and the header of an answer."""
        async with (
            aiohttp.ClientSession(cookies=self.cookies) as http,
            http.request(
                method,
                f"http://127.0.0.1:{self._gateway.port}{path}",
                headers={"Host": self._host},
                data=form or None,
                allow_redirects=False,
            ) as answer,
        ):
            return answer.status, await answer.text(), dict(answer.headers)

    async def act(self, action: Action) -> Effect:
        """Do nothing."""
        del action
        return Effect(act_ms=0.0)


def mounted(gateway: Gateway, application: Application) -> ApplicationSite:
    """Return the site of an application; its user enters it."""
    return ApplicationSite("ledger", application, gateway)


@contextlib.asynccontextmanager
async def serving(application: Application) -> AsyncIterator[tuple[ApplicationSite, Gateway]]:
    """Yield the site of an application over a server that runs."""
    async with Gateway() as gateway, mounted(gateway, application) as site:
        yield site, gateway


@contextlib.asynccontextmanager
async def visiting(
    site: ApplicationSite, gateway: Gateway, task: Task
) -> AsyncIterator[tuple[Visit, Problem, Hands]]:
    """Yield a visit whose start page was loaded and whose problem has begun."""
    async with site.open(task) as visit:
        hands = Hands(gateway, visit)
        await hands.ask("GET", task.start_url.removeprefix(ORIGIN))
        yield visit, await site.begin(visit, hands), hands  # type: ignore[arg-type]


async def answered(
    site: ApplicationSite, problem: Problem, hands: Hands, text: str = ""
) -> Outcome:
    """Answer, and return how the task was judged."""
    return await site.outcome(problem, hands, answer=text)  # type: ignore[arg-type]
