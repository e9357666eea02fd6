"""The run file: made once, compared afterwards, without secrets."""

import asyncio
import shutil
from pathlib import Path

import pytest
from support.stores.memory_store import MemoryStore

from schemas.configuration.config import RunConfig, resolve
from schemas.errors import Damaged, NotFound, OtherRun
from storage.objects.local import LocalStore
from storage.run_file import create_run, open_run


async def test_a_run_is_made_once_and_gone_on_with_afterwards() -> None:
    store = MemoryStore()
    made = await create_run(store, RunConfig(), provenance={"commit": "abc"})

    assert await create_run(store, RunConfig(), provenance={"commit": "def"}) == made
    assert await open_run(store) == made


async def test_of_two_commands_that_make_a_run_both_get_the_same() -> None:
    store = MemoryStore()

    async with asyncio.TaskGroup() as group:
        makers = [
            group.create_task(create_run(store, RunConfig(), provenance={})) for _ in range(5)
        ]

    assert len({maker.result().run_id for maker in makers}) == 1


async def test_runs_have_ids_of_their_own() -> None:
    first = await create_run(MemoryStore(), RunConfig(), provenance={})
    second = await create_run(MemoryStore(), RunConfig(), provenance={})

    assert first.run_id != second.run_id
    assert first.identity == second.identity


async def test_a_run_of_another_configuration_is_refused_key_by_key() -> None:
    store = MemoryStore()
    await create_run(store, resolve([("a", {"run": {"seed": 1}})]), provenance={})
    other = resolve([("b", {"run": {"seed": 2}, "tasks": {"attempts": 3}})])

    with pytest.raises(OtherRun) as refused:
        await create_run(store, other, provenance={})

    text = str(refused.value)
    assert "run.seed: there 1, asked for 2" in text
    assert "tasks.attempts: there 1, asked for 3" in text
    assert "tasks.seeds" not in text


async def test_what_does_not_decide_what_is_made_may_differ() -> None:
    store = MemoryStore()
    made = await create_run(store, RunConfig(), provenance={})
    other = resolve(
        [
            (
                "b",
                {
                    "run": {"url": "elsewhere", "name": "other"},
                    "browser": {"sessions": 3},
                    "verify": {"verifiers": []},
                    "storage": {"shard_mb": 1},
                },
            )
        ]
    )

    assert await create_run(store, other, provenance={}) == made


async def test_a_moved_run_is_the_same_run(tmp_path: Path) -> None:
    made = await create_run(LocalStore(tmp_path / "a"), RunConfig(), provenance={})
    shutil.copytree(tmp_path / "a", tmp_path / "b")

    assert await open_run(LocalStore(tmp_path / "b")) == made


async def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=f"{tmp_path}: there is no run here"):
        await open_run(LocalStore(tmp_path))


@pytest.mark.parametrize("keep", [0, 1, 40])
async def test_a_torn_run_file_is_named(keep: int) -> None:
    store = MemoryStore()
    await create_run(store, RunConfig(), provenance={})
    await store.put("run.json", (await store.get("run.json"))[:keep])

    with pytest.raises(Damaged, match=r"run\.json: cannot be read"):
        await open_run(store)
    with pytest.raises(Damaged, match=r"run\.json: cannot be read"):
        await create_run(store, RunConfig(), provenance={})


async def test_a_foreign_run_file_is_named() -> None:
    store = MemoryStore()
    await store.put("run.json", b'{"name": "mine"}')

    with pytest.raises(Damaged, match=r"run\.json: cannot be read: run_id"):
        await open_run(store)


async def test_no_secret_is_written() -> None:
    store = MemoryStore()
    config = resolve(
        [
            (
                "a",
                {
                    "engine": {
                        "urls": ["http://me:hunter2@engine:8000/v1?api_key=hunter2&x=1"],
                        "args": ["--api-key", "hunter2", "--hf-token=hunter2"],
                    },
                    "storage": {"endpoint_url": "https://hunter2@store"},
                    "publish": {"to": ["s3://bucket/x?X-Amz-Signature=hunter2"]},
                },
            )
        ]
    )
    await create_run(store, config, provenance={"remote": "https://bot:hunter2@git/x"})

    assert b"hunter2" not in await store.get("run.json")


async def test_what_only_sounds_secret_still_tells_runs_apart() -> None:
    store = MemoryStore()
    few = resolve([("a", {"engine": {"args": ["--max-num-batched-tokens", "8192"]}})])
    many = resolve([("a", {"engine": {"args": ["--max-num-batched-tokens", "16384"]}})])
    await create_run(store, few, provenance={})

    with pytest.raises(OtherRun, match="16384"):
        await create_run(store, many, provenance={})
