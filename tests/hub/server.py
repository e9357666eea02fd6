"""A Hugging Face Hub on this machine, for the real clients: `huggingface_hub`, `hf_xet`, `datasets`.

It runs in a thread of the test that starts it, on loopback; the test makes accounts, decides
faults, looks at what is there, and reads which requests came.
"""

import asyncio
import base64
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from aiohttp.typedefs import Middleware
from hub.bucket_endpoints import BucketEndpoints
from hub.endpoints import Endpoints
from hub.faults import Fault
from hub.state import Account, Bucket, Refused, Repo, State
from support.servers.read_ranges import Read

TOKEN = "hf_localtokenofthetests"  # noqa: S105 - good for nothing elsewhere
USER = "tester"

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LocalHub:
    """A Hub at work; close it when done."""

    def __init__(self, folder: Path, *, xet: bool = True) -> None:
        self.state = State(folder)
        self.state.accounts[TOKEN] = Account(USER, orgs=("org",))
        self.faults: list[Fault] = []
        self.requests: Counter[str] = Counter()
        self._endpoints = Endpoints(self.state, user=USER, xet=xet)
        self._buckets = BucketEndpoints(self._endpoints, self.state)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(30), "the local Hub does not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self.state.cas.close()

    @property
    def url(self) -> str:
        return self._endpoints.url

    @url.setter
    def url(self, url: str) -> None:
        """Say where it is to be asked, where something stands before it."""
        self._endpoints.url = url

    @property
    def reads(self) -> list[Read]:
        """Which parts of files were given out; it may be emptied."""
        return self._endpoints.reads

    def repo(self, name: str) -> Repo:
        return self.state.repos[name]

    def bucket(self, name: str) -> Bucket:
        return self.state.buckets[name]

    def files(self, name: str, revision: str = "main") -> dict[str, str]:
        """Return every file of a revision with its SHA-256."""
        files = self.repo(name).at(revision).files
        return {path: f.sha256 for path, f in files.items() if path != ".gitattributes"}

    def text(self, name: str, path: str, revision: str = "main") -> bytes:
        """Return a small file's bytes."""
        file = self.repo(name).at(revision).files[path]
        return (self.state.blobs / file.sha256).read_bytes()

    def objects(self, name: str) -> dict[str, str]:
        """Return every file of a bucket with its Xet hash; none where there is no bucket."""
        bucket = self.state.buckets.get(name)
        return {} if bucket is None else {path: file.xet for path, file in bucket.files.items()}

    def edit(self, name: str, path: str, data: bytes | None, branch: str = "main") -> str:
        """Commit as somebody else: a file's new bytes, or its end."""
        repo = self.repo(name)
        lines: list[dict[str, Any]] = [{"key": "header", "value": {"summary": f"Edit {path}"}}]
        if data is None:
            lines.append({"key": "deletedFile", "value": {"path": path}})
        else:
            content = base64.b64encode(data).decode()
            lines.append({"key": "file", "value": {"path": path, "content": content}})
        return self.state.commit(repo, branch, lines)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=1)
        self._loop.run_until_complete(runner.setup())
        site = web.TCPSite(runner, "127.0.0.1", 0)
        self._loop.run_until_complete(site.start())
        host, port = runner.addresses[0][:2]
        self._endpoints.url = f"http://{host}:{port}"
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 30, middlewares=[self._middleware()])
        app.add_routes([*self._endpoints.routes(), *self._buckets.routes()])
        return app

    def _middleware(self) -> Middleware:
        @web.middleware
        async def around(request: web.Request, handler: _Handler) -> web.StreamResponse:
            self.requests[f"{request.method} {_kind(request.path)}"] += 1
            body = await request.read()
            fault = next(
                (f for f in self.faults if f.strikes(request.method, request.path, body)), None
            )
            if fault is None:
                return await _answered(request, handler)
            answer = await _answered(request, handler) if fault.after else None
            if fault.call is not None:
                fault.call()
            if fault.harmless:
                return answer or await _answered(request, handler)
            if fault.status is not None:
                return web.json_response(
                    {"error": "injected"}, status=fault.status, headers=dict(fault.headers)
                )
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=500)

        return around


async def _answered(request: web.Request, handler: _Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Refused as refused:
        headers = {"X-Error-Message": refused.message}
        if refused.code:
            headers["X-Error-Code"] = refused.code
        return web.json_response({"error": refused.message}, status=refused.status, headers=headers)


def _kind(path: str) -> str:
    """Return what a request is about."""
    parts = path.strip("/").split("/")
    if parts[0] == "api" and parts[1] in ("datasets", "buckets"):
        return parts[4] if len(parts) > 4 else "info"
    if "resolve" in parts:
        return "resolve"
    return parts[1] if parts[0] == "api" else parts[0]
