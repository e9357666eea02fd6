"""Commands that are kept running are started again when they die, and given up in the end."""

import subprocess
import sys
from pathlib import Path

from source_tree import ROOT
from support.runs.commands import SECONDS, environment

SCRIPT = """
import asyncio, os, psutil, sys
from flows.orchestration.supervisor import CommandFailed, Supervisor
from generators.engine.vllm.restart_policy import RestartPolicy
from schemas.backoff import Backoff

DYING = "import sys; open(sys.argv[1], 'a').write('x'); raise SystemExit(7)"

async def main():
    async with Supervisor(os.environ, RestartPolicy(backoff=Backoff(first_seconds=0.01, max_seconds=60.0, tries=3))) as tending:
        other = await tending.start_command("the server", ("sleep", "300"))
        await tending.start_command("the worker", (sys.executable, "-c", DYING, sys.argv[1]))
        try:
            await tending.supervise()
        except CommandFailed as error:
            print(error)
        print(other.poll())
    print(psutil.Process().children())

asyncio.run(main())
"""
"""In a process of its own, because what tends commands ends all its children."""


def test_a_command_that_keeps_dying_is_given_up_and_the_other_goes_on(tmp_path: Path) -> None:
    lives = tmp_path / "lives"

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(lives)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )

    given_up, other, left = done.stdout.splitlines()
    assert given_up.startswith("the worker ended 3 times")
    assert "at last with code 7" in given_up
    assert (other, left) == ("None", "[]")
    assert lives.read_text() == "xxx"
    assert "the worker ended with code 7; starting it again in 0.01 s" in done.stderr
