"""What a folder does beyond the contract: killed writers, refused writes."""

import asyncio
import contextlib
import os
import stat
import sys
import textwrap
from pathlib import Path

import pytest

from schemas.errors import Damaged, Unwritable
from storage.objects.local import LocalStore


async def _keys(store: LocalStore) -> list[str]:
    return sorted([item.key async for item in store.list()])


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def _start(program: str, folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        textwrap.dedent(program),
        str(folder),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[4],
    )


async def test_a_torn_temporary_file_is_no_object(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    await store.put("a/b", b"1")
    (tmp_path / "a" / ".tmp-0123456789abcdef").write_bytes(b"half")

    assert await _keys(store) == ["a/b"]
    assert [item.key async for item in store.unfinished_writes()] == ["a/.tmp-0123456789abcdef"]


async def test_a_file_that_only_looks_temporary_is_an_object(tmp_path: Path) -> None:
    (tmp_path / ".tmp-notes").write_bytes(b"mine")

    assert await _keys(LocalStore(tmp_path)) == [".tmp-notes"]


async def test_no_write_leaves_a_temporary_file(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    await store.put("a", b"1")
    await store.put_new("a", b"2")
    await store.put_new("b", b"2")
    await store.replace("b", b"3", expected=b"2")

    assert _names(tmp_path) == ["a", "b"]


async def test_an_empty_folder_goes_with_its_last_object(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "run")
    await store.put("a/b/c", b"1")
    await store.delete(["a/b/c"])

    assert _names(tmp_path / "run") == []


async def test_nothing_is_made_before_the_first_object(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "a" / "b")
    await store.probe()
    await store.delete(["x"])
    assert await _keys(store) == []

    assert _names(tmp_path) == []


async def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"1")
    store = LocalStore(tmp_path / "run")
    await store.put("a", b"1")
    (tmp_path / "run" / "link").symlink_to(outside)

    assert await _keys(store) == ["a", "link"]


async def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(b"")
    store = LocalStore(tmp_path / "run")

    for write in (store.put("a", b"1"), store.put_new("a/b", b"1"), store.probe()):
        with pytest.raises(Unwritable, match=str(tmp_path / "run")):
            await write


async def test_an_object_in_the_way_of_a_folder_is_named(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    await store.put("a", b"1")

    with pytest.raises(Unwritable, match="a/b"):
        await store.put("a/b", b"2")


@pytest.mark.parametrize("folder", ["/sys/stepmill", "/proc/stepmill"])
async def test_a_folder_that_cannot_be_made_is_named(folder: str) -> None:
    """Not even root makes folders there."""
    store = LocalStore(Path(folder))

    for write in (store.put("a", b"1"), store.put_new("a", b"1"), store.probe()):
        with pytest.raises(Unwritable, match=f"{folder}.*: cannot be written"):
            await write


async def test_what_cannot_be_listed_is_named(tmp_path: Path) -> None:
    """A link in a loop is what even root cannot open."""
    loop = tmp_path / "loop"
    loop.symlink_to(loop)

    with pytest.raises(Damaged, match="loop: cannot be listed"):
        await _keys(LocalStore(loop))


FULL_DISK = """
    import asyncio, resource, signal, sys
    from pathlib import Path
    from schemas.errors import Unwritable
    from storage.objects.local import LocalStore

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    store = LocalStore(Path(sys.argv[1]))

    async def main():
        for write in (store.put("a", bytes(5000)), store.put_new("b", bytes(5000)),
                      store.replace("a", bytes(5000), expected=b"old"), store.probe()):
            try:
                await write
            except Unwritable as error:
                print(error)

    asyncio.run(main())
"""


async def test_a_full_disk_is_named_and_what_was_there_still_is(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    await store.put("a", b"old")

    process = await _start(FULL_DISK, tmp_path)
    shown, _ = await process.communicate()

    assert shown.decode().count("cannot be written: File too large") == 4
    assert await store.get("a") == b"old"
    assert _names(tmp_path) == ["a"]


KILLED = """
    import asyncio, sys
    from pathlib import Path
    from storage.objects.local import LocalStore

    store = LocalStore(Path(sys.argv[1]))

    async def main():
        number = 0
        while True:
            number += 1
            data = str(number).encode() * 20_000
            await store.put("same", data)
            await store.put_new(f"new/{number}", data)
            print(number, flush=True)

    asyncio.run(main())
"""


@pytest.mark.parametrize("writes", [1, 4, 11])
async def test_a_killed_writer_leaves_whole_objects_only(tmp_path: Path, writes: int) -> None:
    process = await _start(KILLED, tmp_path)
    assert process.stdout is not None
    acknowledged = 0
    while acknowledged < writes:
        acknowledged = int(await process.stdout.readline())
    process.kill()
    rest = await process.stdout.read()
    await process.wait()
    acknowledged = max([acknowledged, *map(int, rest.split(b"\n")[:-1])])

    store = LocalStore(tmp_path)
    there = {key for key in await _keys(store) if key.startswith("new/")}
    assert there >= {f"new/{number}" for number in range(1, acknowledged + 1)}
    for key in there:
        assert await store.get(key) == key.removeprefix("new/").encode() * 20_000
    assert len(await store.get("same")) % 20_000 == 0


@pytest.mark.parametrize("private", [True, False])
async def test_a_private_folder_and_its_files_are_the_users_alone(
    tmp_path: Path, *, private: bool
) -> None:
    folder = tmp_path / "over" / "run"
    store = LocalStore(folder, private=private)
    await store.put_new("a/b", b"x")
    await LocalStore(folder).put("a/c", b"x")
    await store.replace("a/c", b"y", expected=b"x")
    with contextlib.closing(store.draft("a")) as draft:
        draft.write(b"z")
        await store.put("a/d", draft)

    mode = await asyncio.to_thread(folder.stat)
    assert stat.S_IMODE(mode.st_mode) == (0o700 if private else 0o777 & ~_umask())
    for name in "bcd":
        file = await asyncio.to_thread((folder / "a" / name).stat)
        assert stat.S_IMODE(file.st_mode) == (0o600 if private else 0o666 & ~_umask()), name


async def test_a_folder_that_is_there_keeps_its_permissions(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o750)
    await LocalStore(folder, private=True).put_new("a", b"x")

    mode = await asyncio.to_thread(folder.stat)
    assert stat.S_IMODE(mode.st_mode) == 0o750 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_whose_name_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    Path(os.fsdecode(b"%s/a/\xff\n" % os.fsencode(tmp_path))).touch()

    with pytest.raises(Damaged, match=r"/a/\\udcff : its name is not text in UTF-8; rename or"):
        asyncio.run(_keys(LocalStore(tmp_path)))
