"""Reads a `task.toml` by Harbor's own model: `python read_harbor.py WHEEL task.toml`.

Harbor wants Python 3.12, which is not asked for here: the module of the model loads without. It prints what it read,
and the tables and keys that the model has no field for, which it would drop without a word.
"""

import importlib
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def unknown(stated: Mapping[str, Any], model: Any, where: str = "") -> Iterator[str]:
    """Yield what a table states that its model has no field for; `metadata` is anybody's."""
    for name, value in stated.items():
        if name not in type(model).model_fields:
            yield f"{where}{name}"
        elif isinstance(value, dict) and hasattr(getattr(model, name), "model_fields_set"):
            yield from unknown(value, getattr(model, name), f"{where}{name}.")


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    model = importlib.import_module("harbor.models.task.config").TaskConfig
    text = Path(sys.argv[2]).read_text(encoding="utf-8")
    task = model.model_validate_toml(text)
    (server,) = task.environment.mcp_servers
    assert (server.transport, server.command, server.args) == ("stdio", "seat", ["mcp"])
    assert task.metadata == tomllib.loads(text)["metadata"]
    told = {
        "name": task.task.name,
        "schema_version": task.schema_version,
        "env": sorted(task.environment.env),
        "unknown": list(unknown(tomllib.loads(text), task)),
    }
    sys.stdout.write(f"{json.dumps(told)}\n")


if __name__ == "__main__":
    main()
