"""The command that starts vLLM: the program, its arguments, its address and its environment.

Everything that can be checked without starting anything is refused here: a missing program, no
model, a model's folder without a model, a port that is taken. The port is held while the server does
not listen on it, so that a restarted server keeps its address: this program binds it without
listening, and a server that reuses addresses, as they all do, may bind beside it.
"""

import os
import re
import shutil
import socket
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from generators.child_environment import MODEL_SERVER, inherit
from generators.engine.client.endpoint_keys import VLLM_KEY_VARIABLE
from generators.engine.vllm.flags import check_flags, installed_version
from schemas.base import Record
from schemas.configuration.sections import EngineSection
from schemas.errors import NoEngine
from schemas.redaction import is_secret_flag

LOCAL_VLLM = Path(".venv-engine/bin/vllm")
"""Where `make engine-cpu` puts vLLM, seen from the folder the program was started in."""

USAGE_FLAGS = ("--enable-prompt-tokens-details", "--enable-per-request-metrics")
"""Make each reply report how many tokens of its prompt came from the cache or are pictures, and how
long it waited and worked. vLLM has the first one in every version that may be installed, counts
pictures since 0.24, and has the second one since 0.25."""

CACHE_MODE_FLAG = "--mamba-cache-mode"
"""When the states of Mamba layers are kept, with a value. vLLM 0.33 takes it without effect, and later versions refuse it:
prefix caching alone decides there."""

SCHEDULING_FLAG = "--scheduling-policy"
"""In which order requests are worked on: `fcfs`, or by their `priority`. vLLM 0.26 to 0.33 take that field whatever
the order is, and read it with `priority` alone; older ones refuse it otherwise."""

TRUST_FLAG = "--trust-remote-code"
"""Makes vLLM execute code that comes with a checkpoint."""

BALANCING_FLAG = "--data-parallel-"
"""Begins every flag by which one vLLM spreads requests over several copies of a model."""

_BALANCING_SHORT = re.compile(r"^-dp(?:n|r|l|a|p|b|h|e|m)?(?![a-z])")
_ONE_COPY = frozenset({"--data-parallel-size", "--data-parallel-size-local", "-dp", "-dpl"})
"""Flags of those that say nothing where their value is 1."""

LOOPBACK = "127.0.0.1"
WILDCARD_HOSTS = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - only to know it when we see it
"""Hosts that a server can listen on and no client can connect to."""

_EXTRA_ENVIRONMENT = {"VLLM_NO_USAGE_STATS": "1", "PYTHONUNBUFFERED": "1"}
"""No usage statistics are sent; lines reach the log when they are written."""

_HIGHEST_PORT = 65_535


class ServeCommand(Record):
    """The command line of a server and its address."""

    argv: tuple[str, ...]
    """The program and its arguments."""
    host: str
    """The host that clients connect to."""
    port: int
    """The port that clients connect to."""
    notes: tuple[str, ...] = ()
    """What is to be said of its flags before the start."""

    @property
    def origin(self) -> str:
        """The server's address without a path."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def with_max_sequences(self, sequences: int) -> "ServeCommand":
        """Return the same command for at most `sequences` requests at once."""
        kept = without_flag(self.argv, "--max-num-seqs")
        argv = (*kept, "--max-num-seqs", str(sequences))
        return ServeCommand(argv=argv, host=self.host, port=self.port)

    def without_flags(self, flags: Collection[str]) -> "ServeCommand":
        """Return the same command without these flags, of those that a vLLM may refuse."""
        argv = tuple(arg for arg in self.argv if arg not in flags or arg == CACHE_MODE_FLAG)
        if CACHE_MODE_FLAG in flags:
            argv = without_flag(argv, CACHE_MODE_FLAG)
        return ServeCommand(argv=argv, host=self.host, port=self.port)


def check_arguments(args: Sequence[str]) -> None:
    """Refuse arguments that no server may be started with, whatever its version.

    These are credentials, which every user of the machine can read, and vLLM's own balancing.

    Raises:
        NoEngine: there is one; the message names its flag alone.
    """
    for flag in (arg.partition("=")[0] for arg in args if is_secret_flag(arg)):
        raise NoEngine(
            f"engine.args: what {flag} holds would be seen by every user of this machine (ps shows "
            f"it); leave it out: the key that vLLM must be asked with is taken from {VLLM_KEY_VARIABLE}, and a "
            "model that takes a token is downloaded beforehand (hf download)"
        )
    for number, arg in enumerate(args):
        if _balances(arg, next(iter(args[number + 1 :]), "")):
            raise NoEngine(
                f"engine.args: {arg.partition('=')[0]}: vLLM would spread the requests of an episode over several "
                "copies of the model, and only the one that computed its prefix has it cached; serve each copy by "
                "itself: engine.replicas, or several engine.urls, keep an episode with one server"
            )


def _balances(arg: str, following: str) -> bool:
    """Return whether an argument is a flag by which vLLM balances requests over copies of a model."""
    name, equals, text = arg.partition("=")
    name = name.replace("_", "-")
    if not name.startswith(BALANCING_FLAG) and not _BALANCING_SHORT.match(name):
        return False
    return name not in _ONE_COPY or (text if equals else following) != "1"


def check_installed_flags(section: EngineSection) -> tuple[str, ...]:
    """Return what is to be noted of a server's flags, given the vLLM that is installed here; none if none is.

    Raises:
        NoEngine: that vLLM does not know one of them.
    """
    try:
        program = find_vllm(section)
    except NoEngine:
        return ()  # the start refuses it; a dry run needs no vLLM
    return check_flags(section.args, installed_version(program))


def serve_command(section: EngineSection, port: int) -> ServeCommand:
    """Return the command for a server of `section`.

    It listens on loopback at `port` and gets `USAGE_FLAGS`, unless its arguments say otherwise.

    Raises:
        NoEngine: the program or model is missing, or an argument is refused.
    """
    check_arguments(section.args)
    program, model = find_vllm(section), _model(section.model)
    args = section.args
    host = flag_value(args, "--host")
    place = () if host is not None else ("--host", LOOPBACK)
    if flag_value(args, "--port") is None:
        place = (*place, "--port", str(port))
    return ServeCommand(
        argv=(*program, "serve", model, *place, *USAGE_FLAGS, *_revision_flags(section), *args),
        host=LOOPBACK if host is None or host in WILDCARD_HOSTS else host,
        port=port,
        notes=check_flags(args, installed_version(program)),
    )


def _revision_flags(section: EngineSection) -> tuple[str, ...]:
    """Return the flags that pin a checkpoint's weights and code."""
    if section.revision is None:
        return ()
    return ("--revision", section.revision, "--code-revision", section.revision)


def trusted_code(section: EngineSection) -> str | None:
    """Return the author of code that the server executes beside vLLM's own, in words; None: there is no such code."""
    if TRUST_FLAG not in section.args:
        return None
    if section.revision is not None:
        return f"{section.model}'s, at revision {section.revision}"
    if section.model is not None and Path(section.model).is_dir():
        return "that of a model's folder on this machine"
    return (
        f"{section.model}'s, at no revision: set engine.revision to the commit that you have read"
    )


def schedules_by_priority(args: Sequence[str]) -> bool:
    """Return whether a server with these arguments begins with the requests of the lowest `priority`."""
    return flag_value(args, SCHEDULING_FLAG) == "priority"


def configured_port(section: EngineSection) -> int:
    """Return the port that the arguments name; 0: any.

    Raises:
        NoEngine: `--port` is not a port.
    """
    named = flag_value(section.args, "--port")
    if named is None:
        return 0
    if not named.isascii() or not named.isdigit() or not 0 < int(named[:6]) <= _HIGHEST_PORT:
        raise NoEngine(
            f"engine.args: --port {named} is not a port; give a number from 1 to {_HIGHEST_PORT}"
        )
    return int(named)


def hold_port(port: int) -> socket.socket:
    """Return a socket that keeps `port`, or any free one, for a server started by this program.

    Raises:
        NoEngine: something else listens there.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        holder.bind((LOOPBACK, port))
    except OSError as error:
        holder.close()
        raise NoEngine(
            f"port {port} cannot be listened at: {error.strerror}; "
            "stop what listens there, or name another one with --port in engine.args"
        ) from None
    return holder


def server_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment a server is started in."""
    return {**_EXTRA_ENVIRONMENT, **inherit(environ, MODEL_SERVER)}


def flag_value(args: Sequence[str], flag: str) -> str | None:
    """Return the value of the last `flag` in `args`; None if it is missing."""
    found = None
    for number, arg in enumerate(args):
        name, equals, text = arg.partition("=")
        if name.replace("_", "-") == flag:  # vLLM takes both
            found = text if equals else next(iter(args[number + 1 :]), "")
    return found


def without_flag(args: Sequence[str], flag: str) -> tuple[str, ...]:
    """Return `args` without `flag` and its value."""
    kept: list[str] = []
    rest = iter(args)
    for arg in rest:
        name, equals, _ = arg.partition("=")
        if name.replace("_", "-") != flag:
            kept.append(arg)
        elif not equals:
            next(rest, None)
    return tuple(kept)


def find_vllm(section: EngineSection) -> tuple[str, ...]:
    """Return the program, before its arguments.

    Raises:
        NoEngine: none is installed; the message names every way to get one.
    """
    if section.command is not None:
        program = section.command[0]
        if shutil.which(program) is None:
            raise NoEngine(f"engine.command: '{program}' is not on PATH or cannot be executed")
        return section.command
    if os.access(LOCAL_VLLM, os.X_OK):
        return (str(LOCAL_VLLM.absolute()),)
    if found := shutil.which("vllm"):
        return (found,)
    raise NoEngine(
        f"no vLLM found: there is no {LOCAL_VLLM} here and no vllm on PATH; install one "
        "(requirements/engine.txt with a GPU, 'make engine-cpu' without), "
        "name one in engine.command, or ask a server that runs with engine.kind = 'openai'"
    )


def _model(model: str | None) -> str:
    if model is None:
        raise NoEngine("engine.model is not set; name a model, as Hcompany/Holotron-12B")
    try:
        folder = Path(model).expanduser()
        is_folder = folder.is_dir()
    except (OSError, RuntimeError) as error:
        raise NoEngine(f"engine.model: {model}: cannot be opened: {error}") from None
    if not is_folder:
        if folder.is_absolute() or model.startswith(("./", "../", "~")):
            raise NoEngine(f"engine.model: there is no folder {model}")
        return model
    if not (folder / "config.json").is_file():
        raise NoEngine(f"engine.model: the folder {model} holds no model: it has no config.json")
    return str(folder)
