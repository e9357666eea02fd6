"""The GPUs of a server and of this machine.

How many one server takes follows from its arguments. Those of the machine are counted without any library
of a GPU's maker: by `CUDA_VISIBLE_DEVICES` where it is set, else by `nvidia-smi`, else by the folders that
the driver shows. Nothing here starts a server.
"""

import math
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from generators.engine.vllm.command import flag_value
from schemas.configuration.sections import EngineKind, EngineSection
from schemas.errors import BadConfig, NoEngine

VISIBLE = "CUDA_VISIBLE_DEVICES"
"""The variable by which a process is given GPUs."""

DRIVER_FOLDER = Path("/proc/driver/nvidia/gpus")
"""Where the driver shows a folder for each GPU."""

_PARALLEL_FLAGS = (
    ("--tensor-parallel-size", "-tp"),
    ("--pipeline-parallel-size", "-pp"),
    ("--data-parallel-size", "-dp"),
)
"""The flags whose product is the number of GPUs of a server, each with its short form."""

_SECONDS = 30.0
"""The time limit of `nvidia-smi`, seconds."""


def gpus_per_server(section: EngineSection) -> int:
    """Return how many GPUs one endpoint of an engine has; at least 1.

    Raises:
        BadConfig: the arguments of vLLM give no number, or another one than `engine.gpus`.
    """
    if section.kind is not EngineKind.VLLM:
        return section.gpus or 1
    sizes = [size for flags in _PARALLEL_FLAGS if (size := _size(section.args, flags)) is not None]
    if not sizes:
        return section.gpus or 1
    product = math.prod(sizes)
    if section.gpus not in (None, product):
        raise BadConfig(
            f"engine.gpus = {section.gpus}: the arguments of vLLM in engine.args take {product}; leave "
            "one of the two out"
        )
    return product


def _size(args: Sequence[str], flags: Sequence[str]) -> int | None:
    """Return the value of a flag in any of its forms; None: it is not there.

    Raises:
        BadConfig: it is no number above 0.
    """
    for flag in flags:
        for form in (flag, flag.replace("-", "_").replace("__", "--", 1)):
            if (text := flag_value(args, form)) is not None:
                if not text.isascii() or not text.isdigit() or not int(text[:6]):
                    raise BadConfig(f"engine.args: {form} {text}: expected a number of GPUs from 1")
                return int(text[:6])
    return None


def check_replicas(section: EngineSection) -> None:
    """Refuse replicas that cannot be started, without looking for GPUs.

    Raises:
        BadConfig: the error names the key and the remedy.
    """
    if section.replicas == 1:
        return
    shown = f'"{section.replicas}"' if section.replicas == "gpus" else section.replicas
    if section.kind is not EngineKind.VLLM:
        raise BadConfig(
            f"engine.replicas = {shown}: '{section.kind}' starts no vLLM; leave the key out, or set "
            "engine.kind to 'vllm'"
        )
    if flag_value(section.args, "--port") is not None:
        raise BadConfig(
            f"engine.replicas = {shown}: every replica gets a port of its own; leave --port out of "
            "engine.args"
        )
    if any(part.startswith(f"{VISIBLE}=") for part in section.command or ()):
        raise BadConfig(
            f"engine.replicas = {shown}: every replica gets GPUs of its own; leave {VISIBLE} out of "
            "engine.command and set it in the environment of this command"
        )


def place_replicas(section: EngineSection, environ: Mapping[str, str]) -> list[str | None]:
    """Return the GPUs of every replica, as `CUDA_VISIBLE_DEVICES` names them; None: all that there are.

    Raises:
        NoEngine: this machine has no GPU, or too few.
    """
    if section.replicas == 1:
        return [None]
    each, gpus = gpus_per_server(section), list_gpus(environ)
    wanted = len(gpus) // each if section.replicas == "gpus" else section.replicas
    if not wanted or wanted * each > len(gpus):
        raise NoEngine(
            f"engine.replicas: {max(wanted, 1)} of {each} GPUs each take {max(wanted, 1) * each}, and "
            f"there are {len(gpus)}; ask for at most {len(gpus) // each}"
        )
    return [",".join(gpus[first : first + each]) for first in range(0, wanted * each, each)]


def list_gpus(environ: Mapping[str, str], *, driver_folder: Path = DRIVER_FOLDER) -> list[str]:
    """Return the GPUs that a server may be given, as `CUDA_VISIBLE_DEVICES` names them.

    Raises:
        NoEngine: none is found; the message says where was looked.
    """
    visible = environ.get(VISIBLE)
    if visible is not None:
        found = [name for part in visible.split(",") if (name := part.strip())]
        if not found or "-1" in found:
            raise NoEngine(f"engine.replicas: {VISIBLE} is set to '{visible}', which names no GPU")
        return found
    told, why = _ask_nvidia_smi(environ)
    if told:
        return [str(number) for number in range(told)]
    folders = list(driver_folder.iterdir()) if driver_folder.is_dir() else []
    if folders:
        return [str(number) for number in range(len(folders))]
    raise NoEngine(
        f"engine.replicas: no GPU is found on this machine: {why}, and {driver_folder} shows none; leave the "
        f"key out, or name the GPUs in {VISIBLE}"
    )


def _ask_nvidia_smi(environ: Mapping[str, str]) -> tuple[int, str]:
    """Return how many GPUs `nvidia-smi` lists, and why it is none."""
    program = shutil.which("nvidia-smi", path=environ.get("PATH"))
    if program is None:
        return 0, "there is no nvidia-smi on PATH"
    try:
        done = subprocess.run(  # noqa: S603 - found on the user's PATH
            [program, "--list-gpus"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 0, f"nvidia-smi fails ({error})"
    if done.returncode:
        words = " ".join((done.stderr or done.stdout).split())
        return 0, f"nvidia-smi fails with code {done.returncode} ({words[:200]})"
    listed = [line for line in done.stdout.splitlines() if line.startswith("GPU ")]
    return len(listed), "nvidia-smi lists none"
