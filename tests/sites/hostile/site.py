"""The hostile pages as a user's own site: a plug-in for whole runs, and a site for single attempts.

The outcome is read by the code that reads it on MiniWoB++'s pages, so that what is forged here is forged
for that. Nothing else is shared: no page has a policy that forbids it anything.
"""

import contextlib
import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from sites.hostile.fault import CLICKS, GIVEN_UP, WON, Fault
from sites.hostile.markup import page_of
from sites.hostile.pages import FAULTS, INNOCENTS
from sites.hostile.ways_out import WAYS

from generators.browser.protocol import ClockSpec, Session
from generators.browser.session import ChromiumSession
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob
from generators.sites.protocol import Problem, Visit
from schemas.errors import FailureKind, RolloutFailure
from schemas.tasks.task import Task
from schemas.truncation import GOAL_BYTES, truncate

HOST = "hostile.localhost"
ORIGIN = f"http://{HOST}"

_BEGIN = """(nonce => {
  Object.defineProperty(window, "stepmillProblem", {
    value: asked => asked !== nonce ? "left" : [reward, done],
  });
  return goal;
})("%s")"""

NOWHERE = {
    "tcp": "127.0.0.1:47111",
    "port": "47111",
    "udp": "47111",
    "foreign": "198.51.100.1",
    "foreign6": "2001:db8:ffff::1",
    "near": "169.254.7.1",
    "name": "way.example",
    "away": "/away?to=nobody",
}
"""Where the ways out of this site's pages lead: nobody listens there."""

WAYS_OUT = {
    f"way-{name}": Fault(
        rf"{WON}|finished -1\.0$|{GIVEN_UP}", click="win()", acts=(*way.acts, *CLICKS)
    )
    for name, way in WAYS.items()
}
"""Pages that go a way out while they load; some are gone then."""

PAGES: dict[str, Fault] = FAULTS | INNOCENTS | WAYS_OUT


class Hostile(MiniWob):
    """The site."""

    stepmill_api = 1
    name = "hostile"

    def __init__(self, gateway: Gateway) -> None:
        gateway.mount(HOST, self._answer)

    @property
    def version(self) -> str:
        return "1"

    def has_template(self, template_id: str) -> bool:
        return template_id in PAGES

    def threshold(self, template_id: str) -> None:
        """The run's threshold applies."""

    def area(self, template_id: str) -> tuple[int, int]:
        del template_id
        return (500, 400)

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        yield Visit(
            start_url=task.start_url, allowed_origins=(ORIGIN,), clock=ClockSpec(), seed="0"
        )

    async def begin(self, visit: Visit, session: Session) -> Problem:
        nonce = secrets.token_hex(16)
        goal = await session.evaluate(_BEGIN % nonce)
        if not isinstance(goal, str):
            raise RolloutFailure(FailureKind.PAGE, f"the page's goal is not text: {goal!r}")
        name = visit.start_url.removeprefix(f"{ORIGIN}/")
        if PAGES[name].crashes:
            assert isinstance(session, ChromiumSession)
            with contextlib.suppress(RolloutFailure):
                await session._tab.channel.send("Page.crash", seconds=1.0)
        return Problem(goal=truncate(goal, GOAL_BYTES), nonce=nonce)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        name = request.path.removeprefix("/")
        page = PAGES.get(name)
        if name == "away":
            raise web.HTTPFound(f"http://{NOWHERE['tcp']}/")
        if page is None:
            return web.Response(status=404, text="no such page")
        if name in WAYS_OUT:
            way = WAYS[name.removeprefix("way-")]
            text = page_of(name, click=page.click, body=way.page(NOWHERE))
            headers = way.answer_headers(NOWHERE)
            return web.Response(text=text, content_type="text/html", headers=headers)
        if page.serve is not None:
            return await page.serve(request)
        text = page_of(name, click=page.click, load=page.load, body=page.body)
        return web.Response(text=text, content_type="text/html", charset="utf-8")


def hostile_task(name: str) -> Task:
    """Return the task of a page."""
    return Task(
        task_id=name,
        template_id=name,
        source="test",
        site="hostile",
        site_version="1",
        start_url=f"{ORIGIN}/{name}",
        instruction="",
        seed=0,
        max_steps=10,
    )


def write_run(folder: Path, *names: str) -> tuple[str, str]:
    """Write a run's tasks and the script for them; return the paths of both."""
    tasks, script = folder / "tasks.jsonl", folder / "script.json"
    rows = [
        {
            "site": "hostile",
            "template_id": name,
            "instruction": "Press go.",
            "start_url": f"{ORIGIN}/{name}",
        }
        for name in names
    ]
    tasks.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    acts = {name: [act.model_dump(mode="json") for act in PAGES[name].acts] for name in names}
    script.write_text(json.dumps(acts), encoding="utf-8")
    return str(tasks), str(script)
