"""Which rows differ, and in what."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from schemas.base import sha256_hex
from schemas.tables.tables import Row
from storage.diff.rows import KEYS, RowChanges, RowComparison, missing_key
from storage.reading.row_files import RowFile, RowFiles


class _Sides:
    """Writes the files of both sides."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def files(self, *stretches: Sequence[Row], schema: pa.Schema | None = None) -> RowFiles:
        return [self._file(rows, schema) for rows in stretches]

    def _file(self, rows: Sequence[Row], schema: pa.Schema | None) -> RowFile:
        self._count += 1
        path = self._folder / f"{self._count}.parquet"
        pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path)
        fragment = ds.ParquetFileFormat().make_fragment(str(path), pa.fs.LocalFileSystem())
        return RowFile(sha256_hex(path.read_bytes()), fragment, None)


def _compare(
    config: str, first: RowFiles, second: RowFiles, renamed: Mapping[str, str] | None = None
) -> tuple[RowChanges, set[str]]:
    comparison = RowComparison(config, KEYS[config], renamed or {})
    return comparison.run(first, second, lambda: None), comparison.touched


def _step(episode: str, step: int = 0, **more: object) -> Row:
    return {"episode_id": episode, "step": step, "title": "a page", **more}


def test_rows_are_added_removed_changed_or_the_same(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)
    first = sides.files([_step("a"), _step("b"), _step("c")])
    second = sides.files([_step("d"), _step("c", title="another")], [_step("b")])

    found, touched = _compare("steps", first, second)

    assert (found.first, found.second) == (3, 3)
    assert (found.added, found.removed, found.changed, found.same) == (1, 1, 1, 1)
    assert found.columns == {"title": 1}
    assert touched == {"a", "c", "d"}


def test_values_that_python_takes_for_equal_or_hashes_alike_are_told_apart(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)
    first = sides.files([_step("a", x=-1), _step("b", x=None), _step("c", x=0)])
    second = sides.files([_step("a", x=-2), _step("b", x=0), _step("c", x=0)])

    found, _ = _compare("steps", first, second)

    assert found.changed == 2


def test_a_text_is_no_null_however_it_reads(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)

    found, _ = _compare(
        "steps",
        sides.files([_step("a", note=None), _step("b", note="x")]),
        sides.files([_step("a", note="None"), _step("b", note="x")]),
    )

    assert found.columns == {"note": 1}


def test_a_file_that_both_have_is_not_read(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)
    shared = sides.files([_step("a"), _step("b")])
    grown = [*shared, *sides.files([_step("c")])]
    opened = [RowFile(one.identity, _Unreadable(one.fragment), None) for one in shared]  # type: ignore[arg-type]

    found, _ = _compare("steps", opened, [*opened, grown[-1]])

    assert (found.first, found.second, found.added, found.unread) == (2, 3, 1, 2)


class _Unreadable:
    """A fragment of which only the number of rows may be asked."""

    def __init__(self, real: ds.Fragment) -> None:
        self.count_rows = real.count_rows


def test_a_column_that_one_side_lacks_is_named_and_not_compared(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)

    found, _ = _compare(
        "steps", sides.files([_step("a", old=1)]), sides.files([_step("a", new="x")])
    )

    assert (found.changed, found.same) == (0, 1)
    assert (found.only_first, found.only_second) == (("old",), ("new",))


def test_a_column_that_some_files_of_a_side_lack_is_compared_where_it_is(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)
    first = sides.files([_step("a")], [_step("b", new="x")])
    second = sides.files([_step("a", new="y"), _step("b", new="y")])

    found, _ = _compare("steps", first, second)

    assert found.changed == 1
    assert found.only_second == ()


def test_pictures_are_not_read(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)
    picture: pa.DataType = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    columns: dict[str, pa.DataType] = {
        "episode_id": pa.string(),
        "step": pa.int32(),
        "screenshot": picture,
        "images": pa.list_(picture),
    }
    schema = pa.schema(columns)
    one, other = ({"bytes": data, "path": "x"} for data in (b"one", b"other"))

    [file] = sides.files([_step("a", screenshot=one, images=[one])], schema=schema)
    found, _ = _compare(
        "steps", [file], sides.files([_step("a", screenshot=other, images=[other])], schema=schema)
    )

    assert list(file.columns) == ["episode_id", "step"]
    assert found.same == 1


def test_other_attempts_at_a_task_are_compared_without_ids_times_and_durations(
    tmp_path: Path,
) -> None:
    sides = _Sides(tmp_path)
    first = sides.files(
        [
            _step("a", at=1, observe_ms=1.0, action="x"),
            _step("b", at=1, observe_ms=1.0, action="x"),
        ]
    )
    second = sides.files(
        [
            _step("y", at=2, observe_ms=2.0, action="x"),
            _step("z", at=2, observe_ms=1.0, action="other"),
        ]
    )

    found, touched = _compare("steps", first, second, {"y": "a", "z": "b"})

    assert (found.added, found.removed, found.changed) == (0, 0, 1)
    assert found.columns == {"action": 1}
    assert touched == {"b"}


def test_the_same_episode_is_compared_with_its_times(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)

    found, _ = _compare("steps", sides.files([_step("a", at=1)]), sides.files([_step("a", at=2)]))

    assert found.columns == {"at": 1}


def test_a_label_changes_a_row_but_not_the_steps(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)

    found, touched = _compare(
        "steps",
        sides.files([_step("a", label="on_path")]),
        sides.files([_step("a", label="mistake")]),
    )

    assert found.changed == 1
    assert touched == set()


def test_a_task_that_several_units_have_counts_once(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)
    stated: Row = {"task_id": "t", "instruction": "Click."}
    unstated: Row = {"task_id": "t", "instruction": ""}

    found, _ = _compare("tasks", sides.files([unstated], [stated]), sides.files([stated, unstated]))

    assert (found.first, found.second, found.same) == (1, 1, 1)


def test_a_row_that_is_there_twice_is_no_match_for_one(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)

    twice, _ = _compare("steps", sides.files([_step("a"), _step("a")]), sides.files([_step("a")]))
    other, _ = _compare("steps", sides.files([_step("a")]), sides.files([_step("a"), _step("a")]))

    assert (twice.removed, other.added) == (1, 1)


def test_rows_of_one_name_are_compared_in_their_order(tmp_path: Path) -> None:
    sides = _Sides(tmp_path)
    first = sides.files([_step("a"), _step("a", title="later")])

    same, _ = _compare("steps", first, sides.files([_step("a")], [_step("a", title="later")]))
    other, _ = _compare("steps", first, sides.files([_step("a"), _step("a", title="new")]))

    assert (same.added, same.removed, same.changed) == (0, 0, 0)
    assert (other.added, other.removed, other.changed) == (0, 0, 1)


def test_a_config_whose_rows_have_no_name_is_told(tmp_path: Path) -> None:
    [file] = _Sides(tmp_path).files([{"episode_id": "a"}])

    assert missing_key("steps", [file]) == "step"
    assert missing_key("attempts", [file]) is None
