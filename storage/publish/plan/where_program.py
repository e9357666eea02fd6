"""The program that evaluates the words of `select.where`, in a process of its own that can be killed.

It gets the words and a table from standard input and writes which rows meet them. The words are data from a
configuration: one expression over the columns alone, of functions that give the same for the same values. It opens no
file and no connection, has a bound of memory, and ends by itself even if nobody waits for it any longer. The answer
goes to standard output: a table, or with the exit code `REFUSED` what is wrong with the words.
"""

import json
import resource
import sys
from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa

REFUSED = 3
"""The exit code for words that cannot be evaluated."""

MEMORY_BYTES = 2 << 30
"""The most address space of the process, beside its table."""

_CLASSES = {
    *("COLUMN_REF", "CONSTANT", "COMPARISON", "CONJUNCTION", "FUNCTION", "OPERATOR", "CAST"),
    *("BETWEEN", "CASE", "COLLATE", "TYPE"),
}
"""The kinds of expression that look at nothing but the row."""

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
    "threads": "1",
    "memory_limit": "512MB",
}


class Refused(Exception):
    """Words that cannot be evaluated."""


def main() -> int:
    """Evaluate the words, write the answer, and return the exit code."""
    seconds = int(sys.argv[1])
    data = sys.stdin.buffer.read()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES + len(data),) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with pa.ipc.open_stream(data) as reader:
        table = reader.read_all()
    words = (table.schema.metadata or {})[b"where"].decode()
    try:
        answer = evaluate(words, table)
    except Refused as error:
        sys.stdout.buffer.write(str(error).encode())
        return REFUSED
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, answer.schema) as writer:
        writer.write_table(answer)
    sys.stdout.buffer.write(sink.getvalue())
    return 0


def evaluate(words: str, table: pa.Table) -> pa.Table:
    """Return the column `kept`, and in its metadata the names of the columns that the words have.

    Raises:
        Refused: the words are no such expression, or fail on a row.
    """
    connection = duckdb.connect(":memory:", config=_SETTINGS)
    try:
        named = columns_in(connection, words, table.column_names)
        connection.register("attempts", table)
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET lock_configuration = true")
        query = f"SELECT ({words}\n) AS kept FROM attempts"  # noqa: S608 - one expression, as just seen
        found = connection.sql(query).to_arrow_table()
    except (duckdb.Error, MemoryError) as error:
        raise Refused(first_line(error)) from None
    kept = found["kept"]
    if kept.type == pa.null():
        kept = kept.cast(pa.bool_())
    if kept.type != pa.bool_():
        raise Refused(f"it is a value of type {kept.type}, and not true or false")
    return pa.table({"kept": kept}).replace_schema_metadata({"columns": json.dumps(named)})


def columns_in(connection: duckdb.DuckDBPyConnection, words: str, known: list[str]) -> list[str]:
    """Return the names of the columns in an expression.

    Raises:
        Refused: the words are not one expression, name no known column, or look at more than the row.
    """
    parsed = json.loads(_value(connection, "SELECT json_serialize_sql(?)", f"SELECT ({words}\n)"))
    if parsed["error"]:
        raise Refused(f"{parsed['error_message']}")
    nodes = [one["node"] for one in parsed["statements"]]
    if len(nodes) != 1 or not _is_one_expression(nodes[0]):
        raise Refused("it is more than one expression")
    allowed, names = _functions(connection), dict[str, None]()
    for part in _parts(nodes[0]["select_list"][0]):
        kind = part["class"]
        if kind not in _CLASSES:
            raise Refused(
                f"{kind.lower().replace('_', ' ')}: only the columns of a row are looked at"
            )
        if kind == "FUNCTION" and part["function_name"] not in allowed:
            raise Refused(
                f"{part['function_name']}: there is no such function, or not here: it does not give the same for "
                "the same row"
            )
        if kind == "COLUMN_REF":
            name = part["column_names"][0]
            if name.lower() not in known or len(part["column_names"]) > 1:
                raise Refused(
                    f"there is no column '{'.'.join(part['column_names'])}'; there are {', '.join(known)}"
                )
            names[name.lower()] = None
    if not names:
        raise Refused(f"it names no column; there are {', '.join(known)}")
    return [*names]


def _is_one_expression(node: dict[str, Any]) -> bool:
    """Return whether a statement selects a single expression from nothing, and does no more."""
    empty = not any(
        node.get(key)
        for key in ("modifiers", "where_clause", "group_expressions", "having", "qualify", "sample")
    )
    source = node.get("from_table") or {}
    return empty and source.get("type") == "EMPTY" and len(node.get("select_list", ())) == 1


def _parts(part: Any) -> Iterator[dict[str, Any]]:
    """Yield every expression within one, itself first."""
    if isinstance(part, dict):
        if "class" in part:
            yield part
        for inner in part.values():
            yield from _parts(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _parts(inner)


def _functions(connection: duckdb.DuckDBPyConnection) -> set[str]:
    """Return the functions that give the same for the same values, whenever and wherever they are called."""
    rows = connection.execute(
        "SELECT function_name FROM duckdb_functions() WHERE function_type = 'scalar' "
        "GROUP BY ALL HAVING bool_and(stability = 'CONSISTENT')"
    ).fetchall()
    return {name for (name,) in rows}


def _value(connection: duckdb.DuckDBPyConnection, query: str, value: str) -> str:
    row = connection.execute(query, [value]).fetchone()
    return str(row[0]) if row else ""


def first_line(error: BaseException) -> str:
    """Return what an error of DuckDB says, without its excerpts."""
    text = next((line for line in str(error).splitlines() if line.strip()), "not enough memory")
    kind, _, rest = text.partition(" Error: ")
    return rest or kind


if __name__ == "__main__":
    sys.exit(main())
