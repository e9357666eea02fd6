"""`stepmill serve` as its users run it: a process that clients step into, that is killed, and that is interrupted."""

import asyncio
import signal
import socket
import subprocess
from pathlib import Path

from aiohttp import WSMsgType
from support.runs.commands import SECONDS, UNREPLAYED, Said, called, end, start, stepmill
from support.runs.served_seats import rows
from support.servers.seat_server import (
    BY_COMMAND,
    TOKEN_VARIABLE,
    address,
    ask,
    connected,
    win,
)

SERVED = (
    "--set=tasks.include=['click-test']",
    "--set=tasks.seeds=[0,3]",
    "--set=browser.sessions=2",
    "--set=limits.drain_seconds=3",
    *BY_COMMAND,
    *UNREPLAYED,
)


def serve(url: Path) -> subprocess.Popen[str]:
    return start("serve", "--run", str(url), *SERVED, env=TOKEN_VARIABLE)


async def stopped(server: subprocess.Popen[str]) -> Said:
    server.send_signal(signal.SIGINT)
    return await asyncio.to_thread(end, server)


async def test_what_clients_have_done_survives_a_kill_and_is_published(tmp_path: Path) -> None:
    run = tmp_path / "run"
    server = serve(run)
    async with connected(await address(server)) as door:
        wins = [await win(door) for _ in range(2)]
        assert [one["reward"] for one in wins] == [1.0, 1.0]
        await ask(door, "reset")
        server.kill()
    await asyncio.to_thread(end, server)
    assert not (run / "tables" / "episodes").exists()

    again = serve(run)
    async with connected(await address(again)) as door:
        wins.append(await win(door))
    assert (await stopped(again)).code == 0

    done = {one["metadata"]["episode_id"] for one in wins}
    assert {row[0] for row in rows(run, "episodes", "episode_id")} == done
    assert stepmill("audit", str(run), "--deep").code == 0
    published = stepmill("publish", str(run), "--to", str(tmp_path / "dataset"))
    assert published.code == 0, published.err
    assert "3 trajectories" in published.out + published.err
    (episode, *_) = done
    assert stepmill("replay", str(run), episode).code == 0


async def test_an_interrupt_tells_the_clients_and_commits(tmp_path: Path) -> None:
    server = serve(tmp_path)
    async with connected(await address(server)) as door:
        await win(door)
        await ask(door, "reset")
        said = await stopped(server)
        message = await door.receive(timeout=SECONDS)
        assert message.type is WSMsgType.CLOSE
        assert (message.data, message.extra) == (1001, "the server ends")
    assert said.code == 0
    assert "1 episodes are committed" in said.err
    assert len(rows(tmp_path, "episodes", "episode_id")) == 1


def test_a_taken_port_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = stepmill(
            "serve",
            "--run",
            str(tmp_path / "run"),
            *SERVED,
            f"--set=seats.port={port}",
            env=TOKEN_VARIABLE,
        )
    assert said.code == 2
    assert f"seats.port = {port}" in said.err
    assert not (tmp_path / "run").exists()


def test_a_token_that_is_not_set_is_refused(tmp_path: Path) -> None:
    said = stepmill("serve", "--run", str(tmp_path / "run"), *SERVED, "--dry-run")
    assert said.code == 2
    assert "the variable STEPMILL_TOKEN is not set" in said.err


def test_destinations_that_a_server_does_not_publish_to_are_said_with_the_command_that_does(
    tmp_path: Path,
) -> None:
    run, to = tmp_path / "run", tmp_path / "a dataset"
    asked = ("serve", "--run", str(run), *SERVED, "--dry-run")
    said = called(*asked, f"--set=publish.to=['{to}','s3://b/d']", env=TOKEN_VARIABLE)
    assert said.code == 0
    assert f"a server publishes nothing; stepmill publish {run} --to '{to}' does" in said.err
    assert f"stepmill publish {run} --to s3://b/d does" in said.err
    assert "publish" not in called(*asked, env=TOKEN_VARIABLE).err
