"""The program `seat` of Harbor's directories as a container runs it, at a server whose pages are those of a list.

Two clicks win. The program is a process of its own, with a folder for what its commands tell each other.
"""

import asyncio
import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.runs.commands import Said
from support.runs.served_seats import scripted_pages
from support.servers.engine_servers import until
from support.servers.seat_server import TOKEN, SeatServer, seats_config, served

from generators.seats.turnstile import Turnstile
from generators.tasks.harbor import seat as program
from schemas.base import JsonObject
from schemas.tasks.selector import Selector

CLICK = {"type": "click", "x": 5, "y": 5}
NAMED: JsonObject = {"name": "click-test", "seed": 3}


@dataclass
class Container:
    """A place with the program and a task, and what its commands leave."""

    place: Path
    url: str
    server: SeatServer
    token: str = TOKEN

    @property
    def reward(self) -> Path:
        return self.place / "logs" / "reward.txt"

    @property
    def state(self) -> Path:
        return self.place / "state" / "state.json"

    async def seat(self, *words: str, told: str = "") -> Said:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(self.place / "seat.py"), *words),
            env={
                "STEPMILL_URL": self.url,
                "STEPMILL_TOKEN": self.token,
                "STEPMILL_STATE": str(self.place / "state"),
            },
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(told.encode())
        return Said(process.returncode or 0, out.decode(), err.decode())

    def read(self, path: str) -> bytes:
        return Path(path).read_bytes()

    async def act(self, **action: Any) -> Said:
        return await self.seat("act", json.dumps(action))

    async def verify(self) -> Said:
        return await self.seat("reward", str(self.reward.parent))

    async def view(self) -> Any:
        return json.loads((await self.seat("look")).out)

    def oracle(self, *, viewport: list[int]) -> str:
        """Write what an oracle does; return the file."""
        path = self.place / "oracle.json"
        path.write_text(json.dumps({"viewport": viewport, "actions": [CLICK, CLICK, CLICK]}))
        return str(path)


@asynccontextmanager
async def container(
    home: Path, *, reset: JsonObject = NAMED, task_id: str | None = None, **seats: Any
) -> AsyncIterator[Container]:
    """A container beside a server; `task_id` None: that of the task that the server gives."""
    config = seats_config(home, seats={"commit_seconds": 0.05, **seats})
    with scripted_pages():
        async with served(config) as server:
            task = await server.seats.desk.draw(Selector.model_validate(NAMED))
            place = home / "container"
            place.mkdir()
            shutil.copy(program.__file__, place / "seat.py")
            told = {"task_id": task_id or task.task_id, "reset": reset}
            (place / "task.json").write_text(json.dumps(told))
            url = str(server.client._base_url).rstrip("/")
            made = Container(place, url, server)
            try:
                yield made
            finally:
                made.state.unlink(missing_ok=True)  # what holds the seat ends with it


async def test_who_acts_sees_the_page_and_gets_the_sites_reward(tmp_path: Path) -> None:
    async with container(tmp_path) as one:
        first = await one.view()
        assert first["observation"]["instruction"]
        assert one.read(first["observation"]["picture"])[:2] == b"\xff\xd8"
        assert (await one.act(**CLICK)).code == 0
        done = json.loads((await one.act(**CLICK)).out)
        assert (done["done"], done["reward"]) == (True, 1.0)
        assert (await one.view())["done"]
        assert (await one.verify()).code == 0
        assert one.reward.read_text() == "1.0\n"
        row = json.loads((one.reward.parent / "episode.json").read_text())
    assert (row["policy"], row["episode_id"]) == ("harbor", done["metadata"]["episode_id"])


async def test_an_oracle_acts_as_it_was_recorded_until_the_page_says_done(tmp_path: Path) -> None:
    async with container(tmp_path) as one:
        size = (await one.view())["observation"]["viewport"]
        assert (await one.seat("play", one.oracle(viewport=size))).code == 0
        await one.verify()
        assert one.reward.read_text() == "1.0\n"


@pytest.mark.parametrize("clicks", [0, 1])
async def test_an_episode_that_goes_on_is_ended_and_gets_what_it_deserves(
    tmp_path: Path, clicks: int
) -> None:
    async with container(tmp_path) as one:
        for _ in range(clicks):
            await one.act(**CLICK)
        assert (await one.verify()).code == 0
        assert float(one.reward.read_text()) == 0
        row = json.loads((one.reward.parent / "episode.json").read_text())
    assert (row["n_steps"], row["stop_reason"]) == (clicks + 1, "answered")


async def test_a_server_that_has_gone_gives_no_reward_and_an_old_one_is_removed(
    tmp_path: Path,
) -> None:
    async with container(tmp_path) as one:
        await one.act(**CLICK)
        await one.verify()
        assert one.reward.exists()
    said = await one.verify()
    assert said.code == 1
    assert one.url in said.err
    assert not one.reward.exists()


async def test_a_seat_that_was_given_back_gives_no_reward(tmp_path: Path) -> None:
    async with container(tmp_path) as one:
        await one.act(**CLICK)
        (lease,) = one.server.seats.leases.values()
        await one.server.seats.leave(lease, "it is taken away")
        said = await one.verify()
        assert said.code == 1
        assert not one.reward.exists()


@pytest.mark.full
async def test_the_seat_is_held_for_as_long_as_its_agent_thinks(tmp_path: Path) -> None:
    silence = program.HOLD_SECONDS + 1
    async with container(tmp_path, silence_seconds=silence) as one:
        await one.view()
        await asyncio.sleep(silence + program.HOLD_SECONDS)
        assert len(one.server.seats.leases) == 1
        assert (await one.act(**CLICK)).code == 0


async def test_who_got_no_seat_gets_no_reward_of_0(tmp_path: Path) -> None:
    async with container(tmp_path) as one:
        good, one.url = one.url, "http://127.0.0.1:9"
        assert (await one.seat("look")).code == 1
        one.url = good
        said = await one.verify()
        assert said.code == 1
        assert "there was no seat to act in" in said.err
        assert not one.reward.exists()
        await one.act(**CLICK)
        assert (await one.verify()).code == 0


async def test_a_server_without_a_free_seat_is_asked_again(tmp_path: Path) -> None:
    async with container(tmp_path, wait_seconds=0.3) as one:
        turnstile = one.server.seats.turnstile
        taken = [await one.server.seats.take("trainer") for _ in range(2)]
        looking = asyncio.create_task(one.seat("look"))
        for count in (1, 0):  # it waits, and is told to come again
            await until(partial(_waiting, turnstile, count))
        for lease in taken:
            await one.server.seats.leave(lease)
        assert (await looking).code == 0


async def _waiting(turnstile: Turnstile, count: int) -> bool:
    return turnstile.waiting == count


async def test_another_task_of_the_same_name_is_refused_and_given_back(tmp_path: Path) -> None:
    async with container(tmp_path, task_id="f" * 32) as one:
        said = await one.seat("look")
        assert said.code == 1
        assert f"and not {'f' * 32}" in said.err
        assert not one.server.seats.leases
        assert "there was no seat" in (await one.verify()).err


async def test_a_page_of_another_size_is_not_acted_in_by_an_oracle(tmp_path: Path) -> None:
    async with container(tmp_path) as one:
        said = await one.seat("play", one.oracle(viewport=[1, 2]))
        assert said.code == 1
        assert "set browser.viewport of the server" in said.err
        assert (await one.verify()).code == 1
        assert not one.reward.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("act", "{"), "the action is no JSON"),
        (("act", "[]"), "the action is no object"),
        (("act", '{"x": 5}'), "expected an action as"),
        (("act", '{"type": "reset", "seed": 1}'), "expected an action as"),
        (("act", '{"type": "clik"}'), "there is no tool 'clik'"),
        (("act", '{"type": "click", "x": 5}'), "click.y"),
    ],
)
async def test_what_is_no_action_is_refused_and_the_episode_goes_on(
    tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    async with container(tmp_path) as one:
        said = await one.seat(*words)
        assert said.code == 1
        assert told in said.err
        assert (await one.view())["observation"]["step"] == 0


async def test_a_task_that_is_not_served_and_a_wrong_token_are_named(tmp_path: Path) -> None:
    async with container(tmp_path, reset={"name": "click-tests"}) as one:
        assert "click-tests" in (await one.seat("look")).err
        one.token = "another"  # noqa: S105 - a wrong one
        assert "401" in (await one.seat("look")).err
        one.token = ""
        assert "STEPMILL_TOKEN" in (await one.seat("look")).err


async def test_an_mcp_client_gets_the_same_tools_and_pictures(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = [
        {"method": "initialize"},
        {"method": "ping"},
        {"method": "tools/list"},
        {"method": "tools/call", "params": {"name": "look", "arguments": {}}},
        {"method": "tools/call", "params": {"name": "click", "arguments": {"x": 5, "y": 5}}},
        {"method": "tools/call", "params": {"name": "reset", "arguments": {}}},
        {"method": "sampling/none"},
    ]
    lines = [json.dumps({"jsonrpc": "2.0", "id": at, **call}) for at, call in enumerate(calls)]
    lines.insert(1, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    async with container(tmp_path) as one:
        said = await one.seat("mcp", told="\n".join(lines))
        assert (await one.view())["observation"]["step"] == 1
    answers = [json.loads(line) for line in said.out.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(len(calls)))
    begun, _, listed, look, click, reset, unknown = answers
    assert begun["result"]["capabilities"] == {"tools": {}}
    names = {tool["name"] for tool in listed["result"]["tools"]}
    assert {"look", "click", "answer"} <= names
    assert "reset" not in names
    for shown in (look, click):
        assert [part["type"] for part in shown["result"]["content"]] == ["text", "image"]
    assert reset["result"]["isError"]
    assert "there is no method" in unknown["error"]["message"]


async def test_a_command_that_is_none_tells_those_there_are(tmp_path: Path) -> None:
    async with container(tmp_path) as one:
        said = await one.seat("jump")
    assert said.code == 2
    assert "seat look" in said.out
