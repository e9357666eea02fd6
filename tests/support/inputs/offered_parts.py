"""Distributions that offer parts to Stepmill: folders that look as an installer leaves them."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch


def offer(
    folder: Path,
    distribution: str,
    parts: Mapping[str, str],
    *,
    version: str = "1.0",
    modules: Mapping[str, str] | None = None,
) -> None:
    """Install a distribution in `folder`, which the caller puts on the path.

    `parts` are its entry points, `stepmill.policies:centre` to `module:Class`; `modules` its code.
    """
    info = folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    lines = [
        f"[{group}]\n{name} = {place}\n"
        for (group, _, name), place in ((key.partition(":"), place) for key, place in parts.items())
    ]
    (info / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    for name, code in (modules or {}).items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")


@contextmanager
def installed(folder: Path) -> Iterator[Path]:
    """Put `folder` on the path, and forget the modules that were loaded meanwhile."""
    before = set(sys.modules)
    with patch.object(sys, "path", [str(folder), *sys.path]):
        yield folder
    for name in set(sys.modules) - before:
        if (file := sys.modules[name].__dict__.get("__file__")) and file.startswith(str(folder)):
            del sys.modules[name]
