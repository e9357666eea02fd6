"""What starts a server follows from the configuration; what cannot start one is refused first."""

import socket
import sys
from pathlib import Path

import pytest

from generators.engine.vllm.command import (
    CACHE_MODE_FLAG,
    LOCAL_VLLM,
    TRUST_FLAG,
    USAGE_FLAGS,
    configured_port,
    flag_value,
    hold_port,
    schedules_by_priority,
    serve_command,
    server_environment,
    trusted_code,
    without_flag,
)
from generators.engine.vllm.process import FIRST_ERRORS, LAST_LINES, StartupLog, adapted_command
from generators.engine.vllm.restart_policy import RestartCounter, RestartPolicy
from schemas.backoff import Backoff
from schemas.configuration.sections import EngineSection
from schemas.errors import NoEngine

NAMED = EngineSection(model="some/model", command=("env", "A=1", sys.executable))


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_server_listens_on_loopback_at_the_port_that_is_held() -> None:
    command = serve_command(NAMED, 7_000)

    assert command.argv[:3] == ("env", "A=1", sys.executable)
    place = ("--host", "127.0.0.1", "--port", "7000")
    assert command.argv[3:] == ("serve", "some/model", *place, *USAGE_FLAGS)
    assert command.origin == "http://127.0.0.1:7000"


REVISION = "0123456789abcdef0123456789abcdef01234567"


def test_a_revision_pins_weights_and_code() -> None:
    pinned = NAMED.model_copy(update={"revision": REVISION})

    argv = serve_command(pinned, 7_000).argv

    assert argv[-4:] == ("--revision", REVISION, "--code-revision", REVISION)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        (NAMED, None),
        (
            NAMED.model_copy(update={"args": (TRUST_FLAG,)}),
            "some/model's, at no revision: set engine.revision",
        ),
        (
            NAMED.model_copy(update={"args": (TRUST_FLAG,), "revision": REVISION}),
            f"some/model's, at revision {REVISION}",
        ),
        (
            NAMED.model_copy(update={"args": (TRUST_FLAG,), "model": "."}),
            "that of a model's folder on this machine",
        ),
    ],
)
def test_whose_code_a_server_executes_is_stated(section: EngineSection, said: str | None) -> None:
    found = trusted_code(section)

    assert (found is None) if said is None else str(found).startswith(said)


def test_arguments_say_where_a_server_listens() -> None:
    args = ("--host=0.0.0.0", "--port", "8000", "--max-num-seqs", "9")
    section = NAMED.model_copy(update={"args": args})

    command = serve_command(section, configured_port(section))

    assert command.argv[3:] == ("serve", "some/model", *USAGE_FLAGS, *args)
    assert command.origin == "http://127.0.0.1:8000"
    assert serve_command(NAMED.model_copy(update={"args": ("--host", "::1")}), 1).origin == (
        "http://[::1]:1"
    )


@pytest.mark.parametrize("port", ["0", "x", "65536", "²", "-1", ""])
def test_what_is_no_port_is_refused(port: str) -> None:
    with pytest.raises(NoEngine, match="is not a port"):
        configured_port(NAMED.model_copy(update={"args": ("--port", port)}))


def test_the_environment_beside_is_looked_in_before_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    section = EngineSection(model="some/model")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(NoEngine, match=r"no vLLM found: .*make engine-cpu"):
        serve_command(section, 1)

    on_path = _program(tmp_path / "bin" / "vllm")
    assert serve_command(section, 1).argv[0] == str(on_path)

    beside = _program(tmp_path / LOCAL_VLLM)
    assert serve_command(section, 1).argv[0] == str(beside)


@pytest.mark.parametrize("model", ["~nobodyhere/model", "/" + "a" * 300])
def test_what_can_be_no_folder_of_a_model_is_refused(model: str) -> None:
    with pytest.raises(NoEngine, match=r"engine\.model: .*cannot be opened"):
        serve_command(NAMED.model_copy(update={"model": model}), 1)


def test_a_command_that_is_not_there_is_refused() -> None:
    with pytest.raises(NoEngine, match=r"/no/vllm. is not on PATH"):
        serve_command(NAMED.model_copy(update={"command": ("/no/vllm",)}), 1)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (None, "engine.model is not set"),
        ("./nowhere", "there is no folder ./nowhere"),
        ("/nowhere/at-all", "there is no folder /nowhere/at-all"),
        (".", r"the folder \. holds no model"),
    ],
)
def test_a_model_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str | None, words: str
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(NoEngine, match=words):
        serve_command(NAMED.model_copy(update={"model": model}), 1)


def test_a_held_port_is_free_for_a_server_and_for_nobody_else() -> None:
    with hold_port(0) as holder:
        port = holder.getsockname()[1]
        for _ in range(2):
            with socket.socket() as server:
                server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                server.bind(("127.0.0.1", port))
                server.listen()
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", port))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def test_what_the_arguments_say_of_accounts_is_said_last_and_counts() -> None:
    args = ("--no-enable-per-request-metrics",)

    command = serve_command(NAMED.model_copy(update={"args": args}), 1)

    assert command.argv[-3:] == (*USAGE_FLAGS, *args)


def test_a_server_that_holds_too_many_requests_is_told_fewer() -> None:
    args = ("--max-num-seqs=900", "--x", "1")

    command = serve_command(NAMED.model_copy(update={"args": args}), 1).with_max_sequences(7)

    assert command.argv[-4:] == ("--x", "1", "--max-num-seqs", "7")


def test_the_last_of_a_flags_values_counts_and_all_of_them_can_be_left_out() -> None:
    args = ("--a", "1", "--b=2", "--a=3", "--c", "--b")

    assert [flag_value(args, flag) for flag in ("--a", "--b", "--c", "--d")] == [
        "3",
        "",
        "--b",
        None,
    ]
    assert without_flag(args, "--a") == ("--b=2", "--c", "--b")
    assert without_flag(args, "--b") == ("--a", "1", "--a=3", "--c")


def test_a_server_gets_no_credentials_and_nothing_about_this_programs_python() -> None:
    given = {"PYTHONPATH": "/x", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/h", "HF_TOKEN": "x"}

    environ = server_environment({**given, "VLLM_NO_USAGE_STATS": "0"})

    assert environ == {"HOME": "/h", "VLLM_NO_USAGE_STATS": "0", "PYTHONUNBUFFERED": "1"}


def test_deaths_are_answered_later_and_later_and_in_the_end_not_at_all() -> None:
    deaths = RestartCounter(RestartPolicy(backoff=Backoff(first_seconds=1, max_seconds=3, tries=5)))

    assert [deaths.count_death(served) for served in (9.0, None, 1.0, None)] == [1, 2, 3, 3]
    assert deaths.count_death(None) is None
    assert deaths.deaths_in_a_row == 5


def test_a_server_that_served_for_long_begins_a_new_row() -> None:
    deaths = RestartCounter(
        RestartPolicy(backoff=Backoff(first_seconds=1, max_seconds=60, tries=2), stable_seconds=60)
    )

    assert [deaths.count_death(seconds) for seconds in (60.0, 61.0, 62.0)] == [1, 1, 1]
    assert deaths.count_death(59.0) is None


def test_deaths_that_a_request_caused_are_forgiven() -> None:
    deaths = RestartCounter(RestartPolicy(backoff=Backoff(first_seconds=1, max_seconds=9, tries=3)))

    assert [deaths.count_death(9.0), deaths.count_death(9.0)] == [1, 2]
    deaths.forgive()
    assert [deaths.count_death(9.0), deaths.count_death(9.0)] == [1, 2]
    assert deaths.count_death(9.0) is None


def test_a_server_that_never_served_is_not_started_again() -> None:
    assert RestartCounter(RestartPolicy()).count_death(None) is None


def test_a_log_is_read_as_it_grows_and_only_from_where_the_start_began(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("ValueError: of another life\n")
    log = StartupLog(path)

    phases = []
    for piece in ("Resolved archi", "tecture: X\n10%\r20%", "\rStarting to load model\n", "\xff"):
        with path.open("ab") as file:
            file.write(piece.encode("latin-1"))
        phases += list(log.read())

    assert phases == ["starting the engine", "loading weights"]
    assert "another life" not in "".join(log.summary())
    assert log.summary()[-3:] == ["  20%", "  Starting to load model", "  \ufffd"]


def test_a_phase_is_told_once_and_none_twice_backwards(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("")
    log = StartupLog(path)
    path.write_text("Loading weights took 1 s\nStarting to load model\nLoading weights took 2 s\n")

    assert list(log.read()) == ["warming up"]


def test_last_words_hold_the_causes_that_came_long_before_the_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("")
    log = StartupLog(path)
    errors = [f"(EngineCore) ERROR ValueError: cause {number}" for number in range(9)]
    path.write_text("\n".join([*errors, *("at work" for _ in range(LAST_LINES)), "x" * 9_999, ""]))
    list(log.read())

    said = "\n".join(log.summary())

    assert [f"cause {number}" in said for number in range(9)] == [
        n < FIRST_ERRORS for n in range(9)
    ]
    assert len(said) < 3_000
    assert str(path) in said


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("vllm: error: unrecognized arguments: --enable-per-request-metrics", {USAGE_FLAGS[1]}),
        (f"vllm: error: unrecognized arguments: {' '.join(USAGE_FLAGS)}", {*USAGE_FLAGS}),
        ("ValueError: Error: --enable-per-request-metrics requires engine stat", {USAGE_FLAGS[1]}),
        ("usage: vllm serve [--enable-per-request-metrics]", set()),
        ("vllm: error: unrecognized arguments: --other", set()),
        (f"vllm: error: unrecognized arguments: {CACHE_MODE_FLAG} align", {CACHE_MODE_FLAG}),
        (f"WARNING {CACHE_MODE_FLAG} is deprecated and has no effect", set()),
    ],
)
def test_a_flag_of_ours_that_a_server_refuses_is_read_from_the_log(
    tmp_path: Path, line: str, refused: set[str]
) -> None:
    path = tmp_path / "log"
    path.write_text("")
    log = StartupLog(path)
    path.write_text(f"{line}\n")
    list(log.read())

    assert log.refused_flags == refused


@pytest.mark.parametrize("given", [(CACHE_MODE_FLAG, "align"), (f"{CACHE_MODE_FLAG}=align",)])
def test_a_server_that_no_longer_knows_the_mode_of_its_cache_is_started_without(
    tmp_path: Path, given: tuple[str, ...]
) -> None:
    args = ("--seed", "1", *given, "--enable-prefix-caching")
    command = serve_command(NAMED.model_copy(update={"args": args}), 1)
    path = tmp_path / "log"
    path.write_text("")
    log = StartupLog(path)
    path.write_text(f"vllm: error: unrecognized arguments: {' '.join(given)}\n")
    list(log.read())

    adapted = adapted_command(command, log)

    assert adapted is not None
    assert adapted[0].argv[-4:] == (USAGE_FLAGS[1], "--seed", "1", "--enable-prefix-caching")
    assert adapted[1] == f"this vLLM does not take {CACHE_MODE_FLAG}; starting again without"


def test_the_most_requests_that_fit_are_read_from_the_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("")
    log = StartupLog(path)
    path.write_text(
        "ValueError: max_num_seqs (1024) exceeds available Mamba cache blocks (658). E\n"
    )
    list(log.read())

    assert log.max_sequences == 658


@pytest.mark.parametrize(
    "args",
    [("--api-key", "x"), ("--api_key=x",), ("--hf-token", "x"), ("--seed", "1", "--api-key=x")],
)
def test_a_credential_among_the_arguments_is_refused_without_being_shown(
    args: tuple[str, ...],
) -> None:
    with pytest.raises(NoEngine, match="would be seen by every user of this machine") as refused:
        serve_command(
            NAMED.model_copy(update={"args": tuple(a.replace("x", "hush") for a in args)}), 1
        )

    assert "hush" not in str(refused.value)


def test_arguments_that_only_sound_like_credentials_are_passed_on() -> None:
    args = (
        "--max-num-batched-tokens",
        "2624",
        "--tokenizer",
        "x",
        "--long-prefill-token-threshold=1",
    )

    assert serve_command(NAMED.model_copy(update={"args": args}), 1).argv[-5:] == args


@pytest.mark.parametrize(
    ("args", "is_told"),
    [
        ((), False),
        (("--scheduling-policy", "fcfs"), False),
        (("--scheduling-policy", "priority"), True),
        (("--scheduling_policy=priority",), True),
        (("--scheduling-policy", "priority", "--scheduling-policy", "fcfs"), False),
    ],
)
def test_a_server_schedules_by_priority_where_its_arguments_say_so(
    args: tuple[str, ...], *, is_told: bool
) -> None:
    assert schedules_by_priority(args) is is_told
