"""A whole run passes its audit; whatever is changed, lost or put into it is named."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable
from support.episodes.factories import MadeRun, make_whole_run
from support.stores.faulty_lake import Cut, CutBefore, commit, swap
from support.stores.memory_store import MemoryStore

from schemas.errors import NotFound
from schemas.tables.tables import UNIT_TABLES
from storage.audit import AuditReport, audit
from storage.objects.local import LocalStore
from storage.spool import Spool, spool_key

TABLES = (*UNIT_TABLES, "verdicts")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeRun:
    return asyncio.run(make_whole_run(tmp_path_factory.mktemp("made") / "run"))


@pytest.fixture
def run(made: MadeRun, tmp_path: Path) -> MadeRun:
    """Return a copy to be damaged; that it passes shows that a run may be moved."""
    folder = tmp_path / "moved"
    shutil.copytree(made.folder, folder)
    return MadeRun(folder, LocalStore(folder), made.run, made.units)


async def look(run: MadeRun, *, deep: bool = True) -> AuditReport:
    return await audit(run.store, deep=deep)


def keys(run: MadeRun, pattern: str) -> list[str]:
    return sorted(str(path.relative_to(run.folder)) for path in run.folder.glob(pattern))


def named(report: AuditReport) -> set[str]:
    return {finding.partition(": ")[0] for finding in report.findings}


@pytest.mark.parametrize("deep", [True, False])
async def test_a_whole_run_has_no_findings(run: MadeRun, deep: bool) -> None:  # noqa: FBT001
    report = await look(run, deep=deep)

    assert (report.findings, report.leftovers) == ((), ())
    assert report.counts["units"] == 2
    assert report.counts["shards"] == 14
    assert report.counts["objects"] == len(keys(run, "**/*.*")) == 14 + 23
    if deep:
        assert report.counts["episodes"] == report.counts["verdicts"] == 8
        assert report.counts["steps"] == report.counts["pictures"] == 24


async def test_the_audit_needs_nothing_but_the_bytes(run: MadeRun) -> None:
    copy = MemoryStore()
    async for found in run.store.list():
        await copy.put(found.key, await run.store.get(found.key))

    assert await audit(copy, deep=True) == await look(run)


@pytest.mark.parametrize("part", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99999])
async def test_a_changed_byte_of_any_shard_is_found(run: MadeRun, part: float) -> None:
    shards = keys(run, "tables/*/*.parquet")
    for key in shards:
        data = bytearray((run.folder / key).read_bytes())
        data[int(len(data) * part)] ^= 1
        (run.folder / key).write_bytes(data)

    assert named(await look(run)) == set(shards)


@pytest.mark.parametrize("deep", [True, False])
async def test_any_lost_shard_is_named(run: MadeRun, deep: bool) -> None:  # noqa: FBT001
    for key in keys(run, "tables/*/*.parquet"):
        kept = (run.folder / key).read_bytes()
        (run.folder / key).unlink()

        report = await look(run, deep=deep)

        assert report.findings == (f"{key}: is missing: a committed shard",)
        (run.folder / key).write_bytes(kept)


async def test_any_lost_log_entry_is_named(run: MadeRun) -> None:
    """The oldest and the newest too, though the log that is left looks like one."""
    entries = keys(run, "tables/*/_delta_log/*.json")
    assert len(entries) == 7 * 3
    for key in entries:
        kept = (run.folder / key).read_bytes()
        (run.folder / key).unlink()

        report = await look(run, deep=False)

        assert f"{key}: is missing: an entry of the table's log" in report.findings
        (run.folder / key).write_bytes(kept)


@pytest.mark.parametrize("table", TABLES)
async def test_a_lost_log_is_named_entry_by_entry(run: MadeRun, table: str) -> None:
    entries = keys(run, f"tables/{table}/_delta_log/*.json")
    shutil.rmtree(run.folder / "tables" / table / "_delta_log")

    assert named(await look(run, deep=False)) >= set(entries)


async def test_a_lost_run_file_is_named(run: MadeRun) -> None:
    (run.folder / "run.json").unlink()

    assert (await look(run)).findings == ("run.json: is missing",)


async def test_a_lost_version_is_named(run: MadeRun) -> None:
    lake = run.lake()
    await commit(lake, run.unit(50))
    assert await lake.seal() == 2
    await lake.close()
    (run.folder / "versions" / "1.json").unlink()

    assert (await look(run)).findings == ("versions/1.json: is missing",)


@pytest.mark.parametrize(
    "pattern",
    ["run.json", "versions/1.json", "tables/steps/_delta_log/*1.json", "tables/steps/*.parquet"],
)
@pytest.mark.parametrize("part", [0.0, 0.5, 0.98])
@pytest.mark.parametrize("deep", [True, False])
async def test_a_torn_object_is_named(
    run: MadeRun,
    pattern: str,
    part: float,
    deep: bool,  # noqa: FBT001
) -> None:
    key = keys(run, pattern)[0]
    data = (run.folder / key).read_bytes()
    (run.folder / key).write_bytes(data[: int(len(data) * part)])

    assert key in named(await look(run, deep=deep))


@pytest.mark.parametrize(
    "key",
    [
        "notes.txt",
        ".DS_Store",
        "versions/one.json",
        "versions/01.json",
        "spool/notes",
        "tables/notes.txt",
        "tables/steps/part-0.parquet",
        "tables/steps/_delta_log/notes.json",
        "tables/steps/_delta_log/1.json",
        "tables/moods/_delta_log/00000000000000000000.json",
        "tables/steps/deeper/" + "a" * 32 + "-0-" + "b" * 64 + ".parquet",
        "_delta_log/00000000000000000000.json",
    ],
)
async def test_a_foreign_object_is_named_wherever_it_lies(run: MadeRun, key: str) -> None:
    await run.store.put(key, b"{}")

    for deep in (True, False):
        assert named(await look(run, deep=deep)) == {key}


async def test_a_foreign_object_with_the_name_of_a_part_is_named(run: MadeRun) -> None:
    shard = f"tables/steps/{'a' * 32}-0-{'b' * 64}.parquet"
    entry = f"tables/steps/_delta_log/{3:020d}.json"
    far = f"tables/tasks/_delta_log/{10**18:020d}.json"
    spooled = spool_key("c" * 32, "d" * 32)
    for key in (shard, entry, far, spooled, "versions/2.json"):
        await run.store.put(key, b'{"name": 1}')

    assert named(await look(run)) >= {shard, entry, far, spooled, "versions/2.json"}


async def test_what_a_killed_process_leaves_is_no_finding(run: MadeRun) -> None:
    unit, other = run.units[0], run.unit(50)
    await Spool(run.store).put(unit.episodes[0])
    await Spool(run.store).put(other.episodes[0])
    (run.folder / "tables" / "steps" / ".tmp-0123456789abcdef").write_bytes(b"half")
    staged = "tables/steps/_delta_log/00000000000000000003.json#1"
    await run.store.put(staged, b"half")
    lake = run.lake()
    swap(lake, "tasks", CutBefore)
    with pytest.raises(Cut):
        await commit(lake, other)
    await lake.close()
    shards = {key for key in keys(run, "tables/*/*.parquet") if other.unit_id in key}
    assert len(shards) == 6

    for deep in (True, False):
        report = await look(run, deep=deep)
        assert report.findings == ()
        assert {leftover.partition(": ")[0] for leftover in report.leftovers} == shards | {
            spool_key(unit.unit_id, unit.episodes[0].episode_id),
            "tables/steps/.tmp-0123456789abcdef",
            staged,
        }
        assert report.counts["spooled"] == 1


@pytest.mark.parametrize("table", UNIT_TABLES)
async def test_a_unit_cut_in_its_commit_is_no_finding(run: MadeRun, table: str) -> None:
    unit = run.unit(50)
    lake = run.lake()
    swap(lake, table, CutBefore)
    with pytest.raises(Cut):
        await commit(lake, unit)
    await lake.seal()
    await lake.close()

    report = await look(run)

    assert report.findings == ()
    assert any(unit.unit_id in leftover for leftover in report.leftovers)


async def test_a_spooled_episode_of_another_run_is_named(run: MadeRun) -> None:
    episode = run.unit(50).episodes[0].model_copy(update={"attempt": 7})
    await Spool(run.store).put(episode)

    assert named(await look(run)) == {spool_key(episode.unit_id, episode.episode_id)}


async def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    await LocalStore(tmp_path).put("notes.txt", b"mine")

    with pytest.raises(NotFound, match="there is no run here"):
        await audit(LocalStore(tmp_path), deep=True)


def rewrite(run: MadeRun, key: str, change: Callable[[str], str]) -> str:
    path = run.folder / key
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))
    return key


@pytest.mark.parametrize(
    ("number", "change"),
    [
        (1, lambda text: text.replace('"size":', '"size":1')),
        (1, lambda text: text.replace('\\"numRecords\\":12', '\\"numRecords\\":13')),
        (1, lambda text: text.replace('\\"step\\":2', '\\"step\\":1')),
        (1, lambda text: text.rpartition("\n")[0]),
        (1, lambda text: text.partition("\n")[0]),
        (0, lambda text: text.replace('\\"type\\":\\"integer\\"', '\\"type\\":\\"long\\"', 1)),
        (0, lambda text: text.replace('\\"name\\":\\"step\\"', '\\"name\\":\\"stop\\"')),
        (0, lambda text: text.replace('"partitionColumns":[]', '"partitionColumns":["step"]')),
        (0, lambda text: text.replace('\\"type\\":\\"integer\\"', '\\"tipe\\":\\"integer\\"', 1)),
        (0, lambda text: text.replace('\\"fields\\":[', '\\"fields\\":[7,', 1)),
    ],
    ids=[
        *("size", "rows", "range", "no token", "commit info alone", "type", "name", "partitions"),
        *("a column without a type", "a column that is none"),
    ],
)
async def test_an_altered_log_entry_is_found(
    run: MadeRun, number: int, change: Callable[[str], str]
) -> None:
    rewrite(run, f"tables/steps/_delta_log/{number:020d}.json", change)

    assert any("tables/steps" in finding for finding in (await look(run)).findings)


async def test_a_commit_by_somebody_else_is_named(run: MadeRun) -> None:
    DeltaTable(str(run.folder / "tables" / "verdicts")).delete("round = 0")

    assert "tables/verdicts/_delta_log/00000000000000000003.json" in named(await look(run))


async def test_a_unit_committed_twice_is_named(run: MadeRun) -> None:
    log = run.folder / "tables" / "steps" / "_delta_log"
    shutil.copy(log / f"{1:020d}.json", log / f"{3:020d}.json")

    report = await look(run, deep=False)

    [finding] = report.findings
    assert finding.startswith(f"tables/steps/_delta_log/{3:020d}.json: commits ")


async def test_tables_of_different_rollouts_are_named(run: MadeRun) -> None:
    def other(text: str) -> str:
        head, _, token = text.rpartition('"version":')
        return f'{head}"version":1{token}'

    rewrite(run, f"tables/calls/_delta_log/{1:020d}.json", other)

    [finding] = (await look(run, deep=False)).findings
    assert "tables/calls: unit " in finding


async def test_a_checkpoint_is_held_against_the_log(run: MadeRun) -> None:
    DeltaTable(str(run.folder / "tables" / "steps")).create_checkpoint()
    [key] = keys(run, "tables/steps/_delta_log/*.checkpoint.parquet")
    assert (await look(run)).findings == ()

    whole = (run.folder / key).read_bytes()
    (run.folder / key).write_bytes(whole[:-20])
    assert named(await look(run)) == {key}
    DeltaTable(str(run.folder / "tables" / "tasks")).create_checkpoint()
    foreign = run.folder / key.replace("steps", "tasks")
    (run.folder / key).write_bytes(foreign.read_bytes())
    assert named(await look(run)) == {key}
    (run.folder / key).unlink()
    assert named(await look(run)) == {key}


async def test_versions_that_go_backwards_are_named(run: MadeRun) -> None:
    version = json.loads(await run.store.get("versions/1.json"))
    await run.store.put("versions/2.json", json.dumps(version | {"steps": 1}).encode())

    assert named(await look(run, deep=False)) == {"versions/2.json"}


async def test_a_run_file_that_says_two_things_is_named(run: MadeRun) -> None:
    rewrite(run, "run.json", lambda text: text.replace('"attempts": 2', '"attempts": 3'))

    assert "run.json: states tasks.attempts twice, with two values" in (await look(run)).findings


async def test_progress_is_told_to_the_end(run: MadeRun) -> None:
    told: list[tuple[int, int]] = []

    await audit(run.store, deep=True, progress=lambda done, total: told.append((done, total)))

    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][0] == told[-1][1] == told[0][1]


@pytest.mark.parametrize(
    "torn", ['{"minValues":{"a":1}"nullCount":{}}', "[]", '{"nullCount":7}', '{"minValues":[]}']
)
@pytest.mark.parametrize("deep", [True, False])
async def test_torn_statistics_of_a_file_are_found(run: MadeRun, torn: str, deep: bool) -> None:  # noqa: FBT001
    """A quick audit reads no shard and no statistics of one, and does not break off over them either."""

    def tear(line: str) -> str:
        action = json.loads(line)
        return json.dumps({"add": action["add"] | {"stats": torn}}) if "add" in action else line

    [shard] = keys(run, "tables/steps/*.parquet")[:1]
    for entry in keys(run, "tables/steps/_delta_log/*.json"):
        text = (run.folder / entry).read_text()
        if Path(shard).name in text:
            (run.folder / entry).write_text("\n".join(map(tear, text.splitlines())))

    report = await look(run, deep=deep)

    told = (f"{shard}: its statistics in the log are torn or altered",)
    assert report.findings[:1] == told if deep else report.findings == ()


async def test_a_shard_of_a_unit_that_no_entry_commits_is_named(run: MadeRun) -> None:
    """Whoever went on with such a run would commit the unit a second time."""
    for entry in keys(run, "tables/steps/_delta_log/*[12].json"):
        rewrite(run, entry, lambda text: text.replace('"appId":"', '"appId":"x'))

    found = [one for one in (await look(run)).findings if "which no entry" in one]

    assert {one.partition(": ")[0] for one in found} == set(keys(run, "tables/steps/*.parquet"))


async def test_a_log_whose_schema_is_no_table_s_is_named(run: MadeRun) -> None:
    entry = f"tables/steps/_delta_log/{0:020d}.json"
    rewrite(
        run, entry, lambda text: text.replace(r"{\"type\":\"struct\"", r"{\"type\":\"rtruct\"", 1)
    )

    assert any(one.startswith(f"{entry}: is torn or altered") for one in (await look(run)).findings)
