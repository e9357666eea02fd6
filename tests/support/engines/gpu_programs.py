"""A machine with GPUs, as far as a program that counts them can see."""

from pathlib import Path


def nvidia_smi(folder: Path, *, gpus: int = 0, fails: str = "") -> str:
    """Put an `nvidia-smi` that lists so many GPUs, or fails with these words, into `folder`; return a PATH with it."""
    program = folder / "nvidia-smi"
    lines = "\n".join(f"GPU {number}: NVIDIA Test (UUID: GPU-{number})" for number in range(gpus))
    body = f"echo '{fails}' >&2\nexit 9" if fails else f"cat <<'END'\n{lines}\nEND"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"
