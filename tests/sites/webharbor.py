"""A bookshop that speaks WebHarbor's contract, written from what that publishes.

The site is on one port and its control plane on another. `POST /reset/bookshop` copies the seed
database over the instance's, byte for byte, and answers `{site, pid, ready}`; what a visit did is read
from the SQLite file `instance/bookshop.db` of the folder. One visit at a time: there is one database.
If WEBSYN_CONTROL_TOKEN is set, the control plane asks for it as a bearer token.
"""

import hmac
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from sites import bookshop, serving
from sites.bookshop_site import Shop
from sites.bookshop_tasks import tasks
from sites.serving import Answer, Fault, Misbehaviour, Refused, Request, Route, Served, reply

SITE = "bookshop"


class Files:
    """The seed's database and the instance's, in one folder."""

    def __init__(self, folder: Path, seed: int, wrong: Misbehaviour) -> None:
        self.seed = folder / "instance_seed" / f"{SITE}.db"
        self.instance = folder / "instance" / f"{SITE}.db"
        self._wrong = wrong
        for path in (self.seed, self.instance):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
        bookshop.build(self.seed, seed)
        shutil.copyfile(self.seed, self.instance)

    def reset(self) -> None:
        fresh = self.instance.with_suffix(".new")
        shutil.copyfile(self.seed, fresh)
        if Fault.HALF_RESET in self._wrong:
            with closing(sqlite3.connect(fresh)) as database, database:
                database.execute("DELETE FROM orders")
                database.execute("ATTACH ? AS old", (str(self.instance),))
                database.execute("INSERT INTO orders SELECT * FROM old.orders")
        fresh.replace(self.instance)


class Control:
    """The control plane."""

    def __init__(self, files: Files, token: str | None = None) -> None:
        self._files = files
        self._token = token
        self.routes = (
            Route("GET", "/health", self._health),
            Route("POST", "/reset-all", lambda request: self._reset(request, SITE)),
            Route("POST", "/reset/{site}", self._reset),
        )

    def _health(self, request: Request) -> Answer:
        self._admit(request)
        return reply({"ok": True, "sites": {SITE: {"pid": os.getpid(), "alive": True}}})

    def _reset(self, request: Request, site: str) -> Answer:
        self._admit(request)
        if site != SITE:
            return reply({"error": f"unknown site: {site}", "valid_sites": [SITE]}, 404)
        self._files.reset()
        return reply({"site": site, "pid": os.getpid(), "ready": True})

    def _admit(self, request: Request) -> None:
        given = request.headers.get("Authorization", "")
        if self._token and not hmac.compare_digest(given, f"Bearer {self._token}"):
            raise Refused(401, "the control token is missing or wrong")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = serving.options(__doc__)
    parser.add_argument("--control-port", type=int, default=0, help="0 takes a free one")
    parser.add_argument(
        "--folder", type=Path, default=None, help="of the databases; else a new one"
    )
    given = parser.parse_args(arguments)
    wrong = serving.misbehaviour(given)
    with ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        files = Files(folder, given.seed, wrong)
        shop = Shop(files.instance, leaks=Fault.LEAKS in wrong)
        control = Control(files, os.environ.get("WEBSYN_CONTROL_TOKEN"))
        served = [
            Served(shop.routes, port=given.port, wrong=wrong),
            Served(control.routes, port=given.control_port),
        ]
        made = tasks(given.seed, bookshop.read(files.seed))
        serving.run(served, made, only_tasks=given.tasks)


if __name__ == "__main__":
    main()
