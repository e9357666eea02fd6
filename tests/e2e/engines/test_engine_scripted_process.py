"""The simulator as a process: its first line, how it ends, what it refuses."""

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import openai
import psutil
import pytest
from source_tree import ROOT
from support.runs.commands import SECONDS
from support.servers.engine_servers import SIMULATOR, scripted_engine

from generators.engine.simulator.__main__ import main

PATIENCE = SECONDS


def _status(url: str) -> int:
    with urllib.request.urlopen(url, timeout=PATIENCE) as response:  # noqa: S310 - our own server
        return int(response.status)


def test_its_first_line_is_where_it_is_and_openais_client_is_served() -> None:
    flags = ("--model", "tiny", "--context", "4096", "--coordinates", "0-1", "--seed", "3")
    with scripted_engine(*flags, "--delay-ms", "1,5", "--puppet", "--no-prefix-cache") as (_, url):
        assert _status(f"{url}/health") == 200
        with openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client:
            model = client.models.list().data[0]
            reply = client.chat.completions.create(
                model="tiny",
                messages=[{"role": "user", "content": "go on"}],
                extra_body={"return_token_ids": True},
            )
            chunks = list(
                client.chat.completions.create(
                    model="tiny", messages=[{"role": "user", "content": "go on"}], stream=True
                )
            )

    text = reply.choices[0].message.content
    assert model.id == "tiny"
    assert reply.usage is not None
    assert text
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to(number: int) -> None:
    with scripted_engine() as (process, url):
        assert _status(f"{url}/health") == 200
        process.send_signal(number)

        assert process.wait(PATIENCE) == 0


def test_it_ends_when_its_standard_input_does_and_says_nothing_more_than_its_url() -> None:
    with scripted_engine() as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert _status(f"{url}/health") == 200
        assert process.stdin is not None
        process.stdin.close()

        assert process.wait(PATIENCE) == 0
        process.stdin = None
        assert process.stdout is not None
        assert process.stdout.read() == b""


PARENT = """
import subprocess, sys
stdin = subprocess.PIPE if sys.argv[1] == "pipe" else subprocess.DEVNULL
child = subprocess.Popen(sys.argv[2:], stdin=stdin, stdout=subprocess.PIPE)
print(child.pid, child.stdout.readline().decode().strip(), flush=True)
child.wait()
"""


@pytest.mark.parametrize("stdin", ["pipe", "nothing"])
def test_it_outlives_no_parent_that_was_killed(stdin: str) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, stdin, *SIMULATOR], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert parent.stdout is not None
    number, url = parent.stdout.readline().decode().split()
    engine = psutil.Process(int(number))
    assert _status(f"{url}/health") == 200

    parent.kill()
    parent.communicate()

    gone, alive = psutil.wait_procs([engine], PATIENCE)
    for process in alive:
        process.kill()
    assert len(gone) == 1


def test_a_fault_can_be_given_on_the_command_line() -> None:
    with scripted_engine("--fault", "http-503:2:path=/health:retry_after=4") as (_, url):
        for _ in range(2):
            with pytest.raises(urllib.error.HTTPError) as failed:
                _status(f"{url}/health")
            assert failed.value.code == 503
            assert failed.value.headers["Retry-After"] == "4"
            failed.value.close()
        assert _status(f"{url}/health") == 200


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--fault", "flood"), "flood"),
        (("--fault", "cut:many"), "times"),
        (("--delay-ms", "80,20"), "delay_ms"),
        (("--delay-ms", "soon"), "--delay-ms"),
        (("--coordinates", "inches"), "inches"),
        (("--context", "1"), "context_tokens"),
        (("--port", "70000"), "port"),
    ],
)
def test_what_it_cannot_do_is_refused_before_it_listens(
    flags: tuple[str, ...], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code = main(flags)

    said = capfd.readouterr()
    assert (code, said.out) == (2, "")
    assert message in said.err
    assert "Traceback" not in said.err


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = subprocess.run(
            [*SIMULATOR, "--port", port],
            input="",
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )

    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"port {port}" in refused.stderr
    assert "Traceback" not in refused.stderr
