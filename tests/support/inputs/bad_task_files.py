"""Wrong task files."""

import json

from support.inputs.bad_input import BadInput, Inputs, file

_ROW = {"site": "miniwob", "template_id": "click-test", "seed": 1}


def _tasks(text: str | bytes, told: str) -> BadInput:
    argv = ("generate", "--no-prefect", "--set=tasks.source=tasks.jsonl")
    return BadInput(argv, told, file("tasks.jsonl", text))


def _row(told: str, **columns: object) -> BadInput:
    return _tasks(json.dumps(_ROW | columns), f"tasks.jsonl: line 1: {told}")


TASK_FILES: Inputs = {
    **{
        f"tasks {name}": BadInput(
            ("generate", "--no-prefect", f"--set=tasks.source={source}"), told, file("a/b", "")
        )
        for name, (source, told) in {
            "that are not there": ("nowhere.jsonl", "'nowhere.jsonl' is no such file"),
            "that are a folder": ("a", "'a' is a folder"),
            "that are a device": ("/dev/zero", "/dev/zero"),
            "that are noise": ("/dev/urandom", "/dev/urandom"),
            "too long by name": ("a" * 300, "File name too long"),
            "with a NUL": ('"a\\u0000b"', "is no such file"),
            "of two lines": ('"a\\nb"', "'a b' is no such file"),
            "of a bucket": ("s3://bucket/tasks.jsonl", "is no such file"),
        }.items()
    },
    "no tasks": _tasks("", "holds no task"),
    "blank tasks": _tasks("\n\n \n", "holds no task"),
    "tasks of half a line": _tasks("{", "line 1: is not a row of JSON values"),
    "tasks of a list": _tasks("[]", "is not a JSON object: []"),
    "tasks of half a list": _tasks('[{"site"', "is not one JSON array"),
    "tasks of a line too long": _tasks(b"\n" + b"a" * (16 * 2**20 + 1), "line 2: has more than"),
    "tasks of numbers": _tasks("1", "is not a JSON object"),
    "tasks of a long text": _tasks(json.dumps("a" * 100_000), "is not a JSON object"),
    "tasks of bytes": _tasks(b"\xff\xfe\x00", "line 1: holds text that is not valid UTF-8"),
    "tasks of UTF-16": _tasks(json.dumps(_ROW).encode("utf-16"), "line 1: holds text that is not"),
    "tasks of brackets": _tasks('{"site":' + "[" * 100_000, "nested too deep"),
    "tasks of objects": _tasks('{"site":' * 100_000, "nested too deep"),
    "tasks of digits": _tasks(f'{{"site":"miniwob","seed":{"9" * 5_000}}}', "too many digits"),
    "tasks with a key twice": _tasks('{"site":"a","site":"b"}', "states 'site' twice"),
    "tasks with a key of two lines twice": _tasks('{"a\\nb":1,"a\\nb":2}', "states 'a b' twice"),
    "tasks with no number": _tasks('{"site":"miniwob","parameters":{"a":NaN}}', "line 1"),
    "tasks of torn Parquet": _tasks(b"PAR1", "not a readable Parquet file"),
    "tasks of false Parquet": _tasks(b"PAR1" + b"\0" * 100, "not a readable Parquet file"),
    "a task of a column that nobody knows": _row("unknown column 'sed'", sed=1),
    "a task of a column of two lines": _row("unknown column 'a b'", **{"a\nb": 1}),
    "a task of a column of controls": _row("unknown column", **{"\x1b[31m": 1}),
    "a task of a site that nobody knows": _row("unknown site 'miniwb'", site="miniwb"),
    "a task of a site of two lines": _row("unknown site 'a b'", site="a\nb"),
    "a task of a site of controls": _row("unknown site", site="\x1b]0;x\x07\u202e"),
    "a task of a long site": _row("unknown site", site="a" * 1_000_000),
    "a task of half a character": _row("holds text that is not valid UTF-8", difficulty="\ud800"),
    "a task of a template that nobody knows": _row(
        "miniwob has no template 'clik'", template_id="clik"
    ),
    "a task of a template that is a path": _row(
        "miniwob has no template", template_id="../../etc/passwd"
    ),
    "a task of a template with a NUL": _row("miniwob has no template", template_id="a\0b"),
    "a task of an empty template": _row("template_id", template_id=""),
    "a task of half a seed": _row("seed = 1.5", seed=1.5),
    "a task of a seed below nothing": _row("seed = -1", seed=-1),
    "a task of a seed too large": _row("seed", seed=2**63),
    "a task of no steps": _row("max_steps = 0", max_steps=0),
    "a task of a text for tags": _row("tags", tags="x"),
    "a task of yesterday": _row("expires_at", expires_at="yesterday"),
    "a task of an answer of no kind": _row("answer_kind", answer_kind="x"),
    "a task that is a file": _row("start_url", start_url="file:///etc/passwd"),
    "a task elsewhere": _row("start_url", start_url="http://169.254.169.254/"),
    "a task of half an address": _row("start_url", start_url="http://[::1"),
    "a task with another id": _row("task_id", task_id="0" * 32),
    "a task of a wrong expectation": _row("expect: miniwob judges its tasks itself", expect={}),
    "a task of a text for a rubric": _row("rubric", rubric="{"),
    "a task of a reference that nobody knows": _row("reference", reference={"actions": 1}),
    "a task of a reference without steps": _row(
        'reference = []: expected at least one step; a task that needs no action has the one step {"do": "answer"',
        reference=[],
    ),
    "a task twice": _tasks(f"{json.dumps(_ROW)}\n{json.dumps(_ROW)}", "line 2: is the same task"),
}
"""Files of tasks, read for a run."""
