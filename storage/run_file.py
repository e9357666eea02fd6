"""`run.json`: a run's identity, written once when the run is created.

The file has the run's id, the part of the configuration that decides its episodes, the whole resolved
configuration, and where the program came from. It is put only if absent, so of two commands that start a
run at the same moment one creates it and both go on with it. Nothing in it depends on the run's place,
and it has no secrets: a value that could be one is redacted before it is written.
"""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, JsonValue, ValidationError, field_validator

from schemas.base import JsonObject, Record
from schemas.configuration.config import REMOVED, RunConfig, identity
from schemas.errors import BadConfig, Damaged, NotFound, OtherRun
from schemas.redaction import redact_values
from storage.objects.protocol import Missing, ObjectStore

KEY = "run.json"
"""The key of the file."""


class RunFile(Record):
    """A run's `run.json`."""

    run_id: str = Field(pattern=r"^[0-9a-f]{16,}$")
    """Random; every other id of the run is derived from it."""
    created_at: datetime
    """UTC."""
    identity: JsonObject
    """The dotted keys that decide the run's episodes, with their values."""
    config: JsonObject
    """The resolved configuration the run was made with; tables that no version reads are left out."""
    provenance: JsonObject
    """Where the program came from: commit, versions."""

    @field_validator("config")
    @classmethod
    def _keep_known(cls, config: JsonObject) -> JsonObject:
        return {key: value for key, value in config.items() if key not in REMOVED}


async def open_run(store: ObjectStore) -> RunFile:
    """Return the run in `store`.

    Raises:
        NotFound: the store holds no run.
        Damaged: its `run.json` cannot be read.
    """
    try:
        return read_run(await store.get(KEY), f"{store.url}/{KEY}")
    except Missing:
        raise NotFound(f"{store.url}: there is no run here ({KEY} is missing)") from None


async def create_run(
    store: ObjectStore, config: RunConfig, *, provenance: Mapping[str, JsonValue]
) -> RunFile:
    """Return the run of `config` in `store`, created unless it exists.

    Raises:
        OtherRun: the store holds a run of another identity; the error names every key that differs.
        Damaged: its `run.json` cannot be read.
        Unwritable: the store cannot be written.
    """
    made = RunFile.model_validate(
        {
            "run_id": secrets.token_hex(16),
            "created_at": datetime.now(UTC),
            "identity": redact_values(identity(config)),
            "config": redact_values(config.model_dump(mode="json")),
            "provenance": redact_values(dict(provenance)),
        }
    )
    if await store.put_new(KEY, made.model_dump_json(indent=2).encode() + b"\n"):
        return made
    existing = await open_run(store)
    check_identity(existing, config, f"{store.url}/{KEY}")
    return existing


def read_run(data: bytes, where: str) -> RunFile:
    """Return the run file in `data`.

    Raises:
        Damaged: it cannot be read; the error names `where`.
    """
    try:
        return RunFile.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise Damaged(f"{where}: cannot be read: {place}: {first['msg']}") from None


def check_identity(existing: RunFile, config: RunConfig, where: str) -> None:
    """Refuse a configuration of another identity than the existing run's.

    Raises:
        OtherRun: the error names every key that differs.
    """
    wanted: JsonObject = {key: redact_values(value) for key, value in identity(config).items()}
    stored = existing.identity
    keys = sorted(stored.keys() | wanted.keys())
    lines = [
        f"{where}: there is a run of another configuration here: {key}: there {stored.get(key)!r}, "
        f"asked for {wanted.get(key)!r}; give another folder, or the stored value"
        for key in keys
        if stored.get(key) != wanted.get(key)
    ]
    if lines:
        raise OtherRun(*lines)


def refuse_run_folder(folder: Path, verb: str) -> None:
    """Refuse a folder that belongs to a run or lies in one; `verb` is the caller's action for the message.

    Raises:
        BadConfig: the folder belongs to a run, which the error names.
    """
    root = folder.resolve()
    for parent in (root, *root.parents):
        if (parent / KEY).is_file() and (parent / "tables").is_dir():
            raise BadConfig(
                f"{folder}: lies in the folder of a run ({parent}); {verb} to a folder outside it"
            )
