"""What a trainer does with exported training traces; for the interpreter of `.venv-verifiers`.

The `trace` of every line of the files named is read by OpenEnv's own record, strictly, and written back
as that writes it. The library's packages load its servers, its pages and its clients at once; the record
needs none of them, so empty packages stand for theirs, and the record's own modules are the library's.
"""

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

PACKAGES = ("openenv", "openenv.core", "openenv.core.harness", "openenv.core.harness.capture")


def prepare() -> None:
    """Stand empty packages for those of the library, so that only what is asked for loads."""
    found = importlib.util.find_spec("openenv")
    assert found is not None
    assert found.submodule_search_locations is not None
    root = Path(next(iter(found.submodule_search_locations)))
    for name in PACKAGES:
        package = ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package


def told(paths: list[str]) -> Iterator[str]:
    """Yield a line of JSON for every line of the files: the trace as it was read, or why it was not."""
    from openenv.core.harness.training import (  # type: ignore[import-not-found]  # noqa: PLC0415
        TrainingTrace,
    )

    for path in paths:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            try:
                trace = TrainingTrace.model_validate_json(json.dumps(record["trace"]))
            except ValueError as error:
                yield f"{json.dumps({'refused': str(error)})}\n"
            else:
                yield f"{json.dumps({'id': record['id'], 'trace': trace.model_dump()})}\n"


if __name__ == "__main__":
    prepare()
    sys.stdout.writelines(told(sys.argv[1:]))
