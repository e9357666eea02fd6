"""The proof that a published folder is what its manifest says."""

import asyncio
from pathlib import Path

import pytest
from published import (
    findings,
    published,
    small_run,
)

from schemas.errors import NotFound
from storage.publish.proof import Discrepancy, verify_published


def test_a_published_folder_agrees_with_its_manifest(tmp_path: Path) -> None:
    published(small_run().seal(), tmp_path)

    assert findings(tmp_path) == []


def test_what_is_missing_altered_or_foreign_is_named(tmp_path: Path) -> None:
    published(small_run().seal(), tmp_path)
    gone, changed, *_ = sorted(tmp_path.rglob("*.parquet"))
    gone.unlink()
    data = bytearray(changed.read_bytes())
    data[len(data) // 2] ^= 1
    changed.write_bytes(data)
    (tmp_path / "data/steps/more.parquet").write_bytes(b"")

    assert sorted(findings(tmp_path)) == sorted(
        [
            (Discrepancy.ALTERED, changed.relative_to(tmp_path).as_posix()),
            (Discrepancy.FOREIGN, "data/steps/more.parquet"),
            (Discrepancy.MISSING, gone.relative_to(tmp_path).as_posix()),
        ]
    )


def test_a_manifest_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    published(small_run().seal(), tmp_path)
    (tmp_path / "manifest.json").write_bytes(b"{")

    assert findings(tmp_path) == [(Discrepancy.ALTERED, "manifest.json")]


def test_where_nothing_was_published_there_is_nothing_to_verify(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no published dataset lies here"):
        asyncio.run(verify_published(tmp_path))
