"""A site of one page, whose one large button wins; the page itself is the judge."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from generators.browser.protocol import ClockSpec, Session
from generators.sites.gateway import Gateway
from generators.sites.protocol import Judge, Outcome, Problem, Visit
from schemas.tasks.task import Task

ORIGIN = "http://button.localhost"
PAGE = """<style>body{margin:0}button{width:100vw;height:100vh;font:40px serif}</style>
<button onclick="done = true; this.textContent = 'Pressed'">Press</button>
<script>var done = false, nonce = null;</script>"""


class Button:
    stepmill_api = 1
    name, version, repeatable, judge = "button", "1", True, Judge.PAGE

    def __init__(self, gateway: Gateway) -> None:
        gateway.mount("button.localhost", self._serve)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text=PAGE, content_type="text/html")

    def has_template(self, template_id: str) -> bool:
        return True

    def threshold(self, template_id: str) -> None:
        """The run's threshold applies."""

    def area(self, template_id: str) -> None:
        """The page fills any viewport."""

    @asynccontextmanager
    async def open(self, task: Task) -> AsyncIterator[Visit]:
        yield Visit(
            start_url=task.start_url, allowed_origins=(ORIGIN,), clock=ClockSpec(), seed="0"
        )

    async def begin(self, visit: Visit, session: Session) -> Problem:
        nonce = secrets.token_hex(16)
        await session.evaluate(f"nonce = '{nonce}'")
        return Problem(goal="Press the button.", nonce=nonce)

    async def state(self, problem: Problem) -> None:
        """There is no server with a state: the page is all there is."""

    async def outcome(
        self, problem: Problem, session: Session, *, answer: str | None = None
    ) -> Outcome:
        if await session.evaluate("typeof nonce === 'string' && nonce") != problem.nonce:
            return Outcome(reward=0.0, done=True)  # another page: the session has left the problem
        done = await session.evaluate("done") is True
        return Outcome(reward=float(done), done=done)
