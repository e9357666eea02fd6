"""Each trainer's own code reads the training rows, set up by the files that `docs/training.md` gives.

`make test-trainers` runs it; `STEPMILL_TRAINERS_RUN` names a run, otherwise a demo is made. A trainer has
an environment of its own, in which a reader (`read_NAME.py`) runs the trainer's dataset class. One that
cannot be installed fails with the reason.
"""

import base64
import io
import os
import tomllib
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset  # type: ignore[import-untyped] # it ships no types
from environments import Reader, Row, Trainer, lay_info_beside, rows_of, run
from PIL import Image
from source_tree import ROOT

pytestmark = pytest.mark.timeout(3600)

ROWS = 200
"""How many rows each trainer reads; a demo has more than twice as many."""
END_OF_TURN = "<|im_end|>"


TRL = Trainer("trl")
LLAMA_FACTORY = Trainer("llamafactory")
SWIFT = Trainer("swift")
VERL = Trainer("verl")
SKYRL = Trainer("skyrl", spelling="image", folder="demo-sft-skyrl")
AXOLOTL = Trainer("axolotl", spelling="base64", folder="demo-sft-axolotl")
PRIME_RL = Trainer("prime-rl", spelling="image_url", folder="demo-sft-prime-rl")
"""On no package index, so its own code is not run: what it documents (`docs/training.md` and
`src/prime_rl/trainer/sft/data.py` of PrimeIntellect-ai/prime-rl) is held against the rows."""
DATA_URI = "data:image/jpeg;base64,"
TRAINERS = [TRL, LLAMA_FACTORY, SWIFT, VERL, SKYRL, AXOLOTL]
each_trainer = pytest.mark.parametrize("trainer", TRAINERS, ids=lambda trainer: trainer.name)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of the demo."""
    given = os.environ.get("STEPMILL_TRAINERS_RUN")
    if given:
        return given
    url = tmp_path_factory.mktemp("run") / "demo"
    config = ROOT / "configs" / "demo.toml"
    options = ("--config", config, "--run", url, "--set", "publish.to=[]")
    run(ROOT / ".venv/bin/stepmill", "generate", *options)
    return str(url)


@pytest.fixture(scope="session")
def exports(demo: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Export a format of the run, once for each choice of options."""
    made: dict[tuple[str, ...], Path] = {}

    def export(*options: str) -> Path:
        if options not in made:
            made[options] = tmp_path_factory.mktemp("export") / "rows"
            to = ("--to", made[options])
            run(ROOT / ".venv/bin/stepmill", "export", demo, "--format", *options, *to)
        return made[options]

    return export


@pytest.fixture
def reader(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """Hand rows to trainers in a folder of the test's own."""
    return Reader(tmp_path, models=tmp_path_factory.getbasetemp() / "models")


def parts_of(row: Row) -> list[dict[str, Any]]:
    """Return the parts of every message."""
    turns = row.get("prompt") or row["messages"]
    return [part for turn in turns for part in turn["content"] if isinstance(part, dict)]


def pictures_of(row: Row) -> int:
    """Return how many pictures a row has, in its column or in its parts."""
    if "images" in row:
        return len(row["images"])
    return sum(part["type"] != "text" for part in parts_of(row))


def reply_of(row: Row) -> str:
    """Return the one reply of a row."""
    (turn,) = row.get("completion") or row["messages"][-1:]
    return "".join(part["text"] for part in turn["content"])


def differences(rows: Sequence[Row], read: Sequence[Row]) -> list[str]:
    """Return in what a trainer's samples differ from the rows, a sentence each."""
    found = []
    if [sample["index"] for sample in read] != list(range(len(rows))):
        found.append(f"{len(read)} samples of {len(rows)} rows")
    for row, sample in zip(rows, read, strict=False):
        pictures = pictures_of(row)
        if sample["pictures"] != pictures:
            found.append(f"{row['id']}: {sample['pictures']} pictures of {pictures}")
        if sample["placeholders"] != pictures:
            found.append(f"{row['id']}: {sample['placeholders']} placeholders of {pictures}")
        # Most templates of this kind count the line break after a turn as its end.
        if sample["learnt"].removesuffix("\n") != reply_of(row) + END_OF_TURN:
            found.append(f"{row['id']}: learns {sample['learnt']!r}, not {reply_of(row)!r}")
    return found


@each_trainer
def test_a_trainer_learns_every_reply_under_all_its_pictures(
    trainer: Trainer, reader: Reader, exports: Callable[..., Path]
) -> None:
    export = exports("sft", "--spelling", trainer.spelling)
    rows = rows_of(trainer, export, ROWS)

    read = reader.ask(trainer, reader.write(trainer, rows, export))

    assert differences(rows, read) == []
    assert {pictures_of(row) for row in rows} >= {1, 2}


def noticed(reader: Reader, trainer: Trainer, rows: Sequence[Row], export: Path) -> str:
    """Return what is wrong with a trainer's samples of rows, or why it gave none; empty: nothing."""
    try:
        return " ".join(differences(rows, reader.ask(trainer, reader.write(trainer, rows, export))))
    except AssertionError as refused:
        return str(refused)


def with_a_placeholder_too_many(row: Row) -> Row:
    """Return a row whose last message before the reply has a place for one more picture."""
    return _longer(row, "<image>", {"type": "image", "text": None})


def with_words_of_a_page_as_they_are(row: Row) -> Row:
    """Return a row that quotes what trainers and processors take for a picture, unescaped."""
    words = " The page says <image> and <|image_pad|>."
    return _longer(row, words, {"type": "text", "text": words})


def _longer(row: Row, words: str, part: dict[str, Any]) -> Row:
    """Return a row with the same at the end of its last message before the reply, in all spellings."""
    row = deepcopy(row)
    for column in ("messages", "prompt"):
        turn = [turn for turn in row.get(column, ()) if turn["role"] == "user"][-1:]
        for message in turn:
            spelt = isinstance(message["content"], str)
            message["content"] += words if spelt else [part]
    return row


@pytest.mark.parametrize(
    ("trainer", "spoil"),
    [
        (trainer, spoil)
        for spoil in (with_a_placeholder_too_many, with_words_of_a_page_as_they_are)
        for trainer in TRAINERS
        if (trainer, spoil) != (SWIFT, with_a_placeholder_too_many)  # see the next test
    ],
)
def test_a_row_whose_pictures_cannot_be_told_is_noticed(
    trainer: Trainer, spoil: Callable[[Row], Row], reader: Reader, exports: Callable[..., Path]
) -> None:
    export = exports("sft", "--spelling", trainer.spelling)
    before, row, after = rows_of(trainer, export, 3)
    rows = [before, spoil(row), after]

    assert noticed(reader, trainer, rows, export)


def test_swift_leaves_a_placeholder_too_many_as_a_word(
    reader: Reader, exports: Callable[..., Path]
) -> None:
    export = exports("sft", "--spelling", SWIFT.spelling)
    rows = [with_a_placeholder_too_many(row) for row in rows_of(SWIFT, export, 3)]

    assert noticed(reader, SWIFT, rows, export) == ""


@pytest.mark.parametrize(
    ("trainer", "setting", "sentence"),
    [
        (TRL, ("sft_trl.py", ", columns=columns"), "not supported for language modeling datasets"),
        (TRL, ("sft_trl.py", "max_length=None,"), "learns ''"),
        (LLAMA_FACTORY, ("llamafactory.yaml", "mask_history: true"), "learns"),
        (LLAMA_FACTORY, ("llamafactory.yaml", "cutoff_len: 32768"), "placeholders of"),
        (SWIFT, ("swift.yaml", "loss_scale: last_round"), "learns"),
        (VERL, ("verl.sh", "data.custom_cls.path=verl_last_reply.py"), "learns"),
        (VERL, ("verl.sh", "data.tools_key=null"), "not iterable"),
        (VERL, ("verl.sh", "data.max_length=32768"), "max_length"),
        (AXOLOTL, ("axolotl.yaml", "  - axolotl_last_reply.LastReply\n"), "learns"),
    ],
)
def test_a_setting_that_the_page_names_is_needed(
    trainer: Trainer,
    setting: tuple[str, str],
    sentence: str,
    reader: Reader,
    exports: Callable[..., Path],
) -> None:
    export = exports("sft", "--spelling", trainer.spelling)
    rows = [row for row in rows_of(trainer, export, ROWS) if pictures_of(row) > 1][:2]
    file, words = setting
    reader.leave_out(words, file=file)

    told = noticed(reader, trainer, rows, export)

    assert sentence in told


def test_skyrl_reads_a_hundred_rows_without_the_split_that_the_page_names(
    reader: Reader, exports: Callable[..., Path]
) -> None:
    export = exports("sft", "--spelling", SKYRL.spelling)
    reader.leave_out("dataset_split=train", file="skyrl.sh")

    told = noticed(reader, SKYRL, rows_of(SKYRL, export, 101), export)

    assert told == "100 samples of 101 rows"


@pytest.mark.parametrize(
    ("trainer", "kind", "script"),
    [
        (TRL, "preference", "dpo_trl.py"),
        (TRL, "kto", "kto_trl.py"),
        (LLAMA_FACTORY, "preference", "llamafactory_dpo.sh"),
        (LLAMA_FACTORY, "kto", "llamafactory_kto.sh"),
    ],
)
def test_a_trainer_prepares_each_reply_of_rows_that_compare(
    trainer: Trainer, kind: str, script: str, reader: Reader, exports: Callable[..., Path]
) -> None:
    replies = ("chosen", "rejected") if kind == "preference" else ("completion",)
    export = exports(kind, "--include-rejected")
    files = sorted(export.glob("train-*.parquet"))
    table = pa.concat_tables([pq.read_table(file) for file in files]).slice(0, ROWS)
    path = reader.folder / f"demo-{kind}" / "train-00000.parquet"
    path.parent.mkdir()
    pq.write_table(table, path)
    lay_info_beside(path, export)

    read = reader.ask(trainer, path, f"read_{trainer.name}.py", script)

    rows = [row | {"completion": row[reply]} for row in table.to_pylist() for reply in replies]
    assert rows
    assert differences(rows, read) == []


def test_steps_of_trl_lower_the_loss_on_the_rows(
    reader: Reader, exports: Callable[..., Path]
) -> None:
    export = exports("sft", "--spelling", TRL.spelling)
    rows = reader.write(TRL, rows_of(TRL, export, 4), export)

    (loss,) = reader.ask(TRL, rows, "step_trl.py")

    assert loss["after"] < loss["before"]


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"pictures": 0}, "0 pictures of 1"),
        ({"placeholders": 2}, "2 placeholders of 1"),
        ({"learnt": "Hello"}, "learns 'Hello'"),
        ({"learnt": f"Yes{END_OF_TURN}{END_OF_TURN}"}, "learns"),
        ({"index": 1}, "samples of 1 rows"),
    ],
)
def test_a_sample_that_differs_from_its_row_is_told(lie: Row, sentence: str) -> None:
    reply = [{"role": "assistant", "content": [{"type": "text", "text": "Yes"}]}]
    row: Row = {"id": "one", "prompt": [], "completion": reply, "images": [b""]}
    true = {"index": 0, "pictures": 1, "placeholders": 1, "learnt": f"Yes{END_OF_TURN}"}
    assert differences([row], [true]) == []

    (told,) = differences([row], [true | lie])

    assert sentence in told


def without_nulls(value: Any) -> Any:
    """Return a value as prime-rl hands it on: without the keys that Arrow filled up."""
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


def strange_in(row: Row) -> Iterator[str]:
    """Yield what of a row prime-rl does not document, a sentence each."""
    if row.get("messages") is not None:
        yield "`messages` is taken before `prompt`"
    prompt, completion = without_nulls(row["prompt"]), without_nulls(row["completion"])
    if [turn["role"] for turn in completion] != ["assistant"]:
        yield "the completion is not one reply"
    for turn in [*prompt, *completion]:
        if turn["role"] not in ("system", "user", "assistant"):
            yield f"no role is {turn['role']!r}"
        for part in turn["content"]:
            yield from strange(part)


def strange(part: dict[str, Any]) -> Iterator[str]:
    """Yield what is no part of a message in OpenAI's words."""
    match part:
        case {"type": "text", "text": str(), **others} if not others:
            return
        case {"type": "image_url", "image_url": {"url": str(url), **more}, **others} if not (
            more or others
        ):
            try:
                Image.open(io.BytesIO(base64.b64decode(url.removeprefix(DATA_URI), validate=True)))
            except (OSError, ValueError) as error:
                yield f"no picture: {error}"
        case _:
            yield f"no part is {sorted(part)}"


def test_rows_have_the_schema_that_prime_rl_documents_though_its_code_was_not_run(
    reader: Reader, exports: Callable[..., Path]
) -> None:
    export = exports("sft", "--spelling", PRIME_RL.spelling)
    written = rows_of(PRIME_RL, export, ROWS)
    reader.write(PRIME_RL, written, export)
    config = tomllib.loads((reader.folder / "prime_rl.toml").read_text(encoding="utf-8"))

    folder = reader.folder / config["data"]["name"]
    rows = load_dataset(
        str(folder), split="train", cache_dir=str(reader.folder / "cache")
    ).to_list()

    assert [row["id"] for row in rows] == [row["id"] for row in written]
    assert [sentence for row in rows for sentence in strange_in(row)] == []
    assert [pictures_of(row) for row in rows] == [pictures_of(row) for row in written]
    assert {pictures_of(row) for row in rows} >= {1, 2}


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"messages": []}, "taken before"),
        ({"completion": []}, "not one reply"),
        ({"completion": [{"role": "user", "content": []}]}, "not one reply"),
        ({"prompt": [{"role": "person", "content": []}]}, "no role is 'person'"),
        ({"prompt": [{"role": "user", "content": [{"type": "image"}]}]}, "no part is ['type']"),
        (
            {
                "prompt": [
                    {
                        "role": "user",
                        "content": [{"type": "image_url", "image_url": {"url": f"{DATA_URI}AAAA"}}],
                    }
                ]
            },
            "no picture",
        ),
    ],
)
def test_a_row_that_prime_rl_would_not_take_is_told(lie: Row, sentence: str) -> None:
    reply = [{"role": "assistant", "content": [{"type": "text", "text": "Yes", "image_url": None}]}]
    row: Row = {"prompt": [], "completion": reply}
    assert list(strange_in(row)) == []

    (told,) = strange_in(row | lie)

    assert sentence in told
