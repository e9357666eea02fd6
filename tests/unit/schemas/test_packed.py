"""Packed numbers read like tuples, are equal to them, never change, and take four bytes each."""

import pickle
import sys

import pyarrow as pa
import pytest
from pydantic import TypeAdapter, ValidationError

from schemas.packed import Logprobs, TokenIds
from schemas.tables.tables import Row
from storage.lake.row_batch import RowBatch

IDS = TypeAdapter(TokenIds | None)
LOGPROBS = TypeAdapter(Logprobs)


def test_they_read_like_a_tuple_and_are_equal_to_it() -> None:
    ids = TokenIds([3, 1, 2])

    assert [*ids] == [3, 1, 2]
    assert (ids[0], ids[-1], len(ids), ids.index(1)) == (3, 2, 3, 1)
    assert isinstance(ids[:2], TokenIds)
    assert ids[:2] == TokenIds((3, 1))
    assert hash(ids) == hash((3, 1, 2)) == hash(TokenIds(iter([3, 1, 2])))
    equal: list[object] = [(3, 1, 2), [3, 1, 2], TokenIds([3, 1, 2])]
    unequal: list[object] = [(3, 1), (3, 1, 3), "312", None, TokenIds()]
    assert all(ids == other for other in equal)
    assert not any(ids == other for other in unequal)
    assert not TokenIds()
    assert pickle.loads(pickle.dumps(ids)) == ids  # noqa: S301 - our own bytes
    assert repr(ids) == "TokenIds([3, 1, 2])"


def test_they_cannot_be_changed() -> None:
    ids = TokenIds([1, 2])

    with pytest.raises(TypeError):
        ids[0] = 3  # type: ignore[index]
    with pytest.raises(TypeError):
        ids.data[0] = 3
    with pytest.raises(AttributeError):
        ids.more = 1  # type: ignore[attr-defined]


def test_each_takes_four_bytes() -> None:
    ids = TokenIds(range(100_000))

    assert sys.getsizeof(ids._numbers) <= 4.7 * len(ids)
    assert ids.data.nbytes == 4 * len(ids)


@pytest.mark.parametrize("text", ["[]", "[1,2,2147483647]", "null"])
def test_they_survive_json(text: str) -> None:
    ids = IDS.validate_json(text)

    assert IDS.dump_json(ids) == text.encode()
    assert IDS.validate_python(ids) is ids
    assert IDS.dump_python(ids) is ids
    assert IDS.validate_python(None if ids is None else list(ids)) == ids


def test_log_probabilities_are_the_floats_of_their_column() -> None:
    told = LOGPROBS.validate_json("[-0.1,-2]")

    assert told == Logprobs([-0.1, -2.0])
    assert LOGPROBS.validate_json(LOGPROBS.dump_json(told)) == told
    assert [*told] == pa.array([-0.1, -2.0], pa.float32()).to_pylist()


@pytest.mark.parametrize("text", ["[2147483648]", "[1.5]", '["a"]', "[null]", "7", "[true,{}]"])
def test_what_no_column_holds_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        IDS.validate_json(text)


@pytest.mark.parametrize("text", ["[1e39]", "[NaN]", "[Infinity]"])
def test_a_probability_that_no_column_holds_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        LOGPROBS.validate_json(text)


def test_they_become_the_column_that_lists_become() -> None:
    columns: dict[str, pa.DataType] = {
        "ids": pa.list_(pa.int32()),
        "probabilities": pa.list_(pa.float32()),
    }
    schema = pa.schema(columns)
    rows: list[Row] = [
        {"ids": [1, 2, 3], "probabilities": [-0.5, -0.25]},
        {"ids": None, "probabilities": None},
        {"ids": [], "probabilities": [-1.0]},
        {"ids": [7], "probabilities": None},
    ]
    kinds: dict[str, type[TokenIds | Logprobs]] = {"ids": TokenIds, "probabilities": Logprobs}
    packed: list[Row] = [
        {name: value if value is None else kinds[name](value) for name, value in row.items()}
        for row in rows
    ]

    made = RowBatch.from_records(packed, schema)

    made.plain.validate(full=True)
    assert made.plain.equals(RowBatch.from_records(rows, schema).plain)
    assert made.sizes() == RowBatch.from_records(rows, schema).sizes()
    assert RowBatch.from_records(packed[1:2], schema).plain.to_pylist() == rows[1:2]
    mixed = RowBatch.from_records([packed[0], rows[3]], schema)
    assert mixed.plain.to_pylist() == [rows[0], rows[3]]
