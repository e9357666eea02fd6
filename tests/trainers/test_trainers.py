"""Each trainer's own code reads the training rows, set up by the files that `docs/training.md` gives.

`make test-trainers` runs it; `STEPMILL_TRAINERS_RUN` names a run, otherwise a demo is made. A trainer has
an environment of its own, in which a reader (`read_NAME.py`) runs the trainer's dataset class. One that
cannot be installed fails with the reason.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_tree import ROOT

pytestmark = pytest.mark.timeout(3600)

HERE = Path(__file__).parent
ROWS = 200
"""How many rows each trainer reads; a demo has more than twice as many."""
END_OF_TURN = "<|im_end|>"

Row = dict[str, Any]


class Trainer(NamedTuple):
    """How a trainer is handed the rows."""

    name: str
    """Of its lock, its environment and its reader."""
    spelling: str = "columns"
    """As `stepmill export --spelling` names it."""
    folder: str = "demo-sft"
    """As its section of the page names the exported rows."""

    @property
    def file(self) -> str:
        """The rows that it reads, in the folder."""
        return "train-00000.parquet" if self.spelling == "columns" else "train.jsonl"


TRAINERS = {trainer.name: trainer for trainer in (Trainer("trl"),)}
each_trainer = pytest.mark.parametrize("trainer", TRAINERS.values(), ids=TRAINERS)


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """Run a command without the caches of others, and return what it prints; fail with its last words."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env=kept | environment,
    )
    assert done.returncode == 0, f"{command[0]} {command[1]} failed:\n{done.stderr[-4000:]}"
    return done.stdout


def python_of(name: str) -> Path:
    """Return the interpreter of a trainer's environment, which is made where it is missing."""
    run("sh", ROOT / "setup.sh", "trainer", name)
    return ROOT / ".venv-trainers" / name / "bin" / "python"


def files_of_the_page() -> dict[str, str]:
    """Return the files that the page gives, by name."""
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    found = re.findall(r"^```\w+ file (\S+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return dict(found)


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


def rows_of(trainer: Trainer, exports: Callable[..., Path], most: int) -> list[Row]:
    """Return rows of the training split from all over it."""
    if trainer.spelling == "columns":
        rows = pq.read_table(exports("sft") / trainer.file).to_pylist()
    else:
        file = exports("sft", "--spelling", trainer.spelling) / trainer.file
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= most, f"the run gives {len(rows)} rows; make one with more"
    return [rows[number * len(rows) // most] for number in range(most)]


@pytest.fixture
def reader(tmp_path: Path, exports: Callable[..., Path]) -> "Reader":
    """Hand rows to trainers in a folder of the test's own."""
    return Reader(tmp_path, exports)


class Reader:
    """Hands rows to a trainer in a folder that has what the page tells its reader to make."""

    def __init__(self, folder: Path, exports: Callable[..., Path]) -> None:
        self.folder = folder
        self._exports = exports
        for name, text in files_of_the_page().items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")

    def write(self, trainer: Trainer, rows: Sequence[Row]) -> Path:
        """Write rows as an export writes them."""
        path = self.folder / trainer.folder / trainer.file
        path.parent.mkdir()
        if trainer.spelling == "columns":
            schema = pq.read_schema(self._exports("sft") / trainer.file)
            pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), path)
        else:
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return path

    def ask(self, trainer: Trainer, rows: Path, script: str | None = None) -> list[Row]:
        """Return the lines that a script prints of rows; its trainer's reader, if none is named."""
        python = python_of(trainer.name)
        quiet = {
            "HOME": str(self.folder),
            "HF_HOME": str(self.folder / "hf"),
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "CUDA_VISIBLE_DEVICES": "",
        }
        model = self.folder / "model"
        if not model.exists():
            run(python, HERE / "tiny_model.py", model, cwd=self.folder, **quiet)
        script = script or f"read_{trainer.name}.py"
        told = run(python, HERE / script, rows, model, cwd=self.folder, **quiet)
        return [json.loads(line) for line in told.splitlines()]


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
    rows = rows_of(trainer, exports, ROWS)

    read = reader.ask(trainer, reader.write(trainer, rows))

    assert differences(rows, read) == []
    assert {pictures_of(row) for row in rows} >= {1, 2}


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


@each_trainer
@pytest.mark.parametrize("spoil", [with_a_placeholder_too_many, with_words_of_a_page_as_they_are])
def test_a_row_whose_pictures_cannot_be_told_is_noticed(
    spoil: Callable[[Row], Row], trainer: Trainer, reader: Reader, exports: Callable[..., Path]
) -> None:
    before, row, after = rows_of(trainer, exports, 3)
    rows = [before, spoil(row), after]

    try:
        told = differences(rows, reader.ask(trainer, reader.write(trainer, rows)))
    except AssertionError as refused:
        told = [str(refused)]

    assert told


def test_steps_of_trl_lower_the_loss_on_the_rows(
    reader: Reader, exports: Callable[..., Path]
) -> None:
    trainer = TRAINERS["trl"]
    rows = reader.write(trainer, rows_of(trainer, exports, 8))

    (loss,) = reader.ask(trainer, rows, script="step_trl.py")

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
