"""Finished runs that several tests look at, each made once in a whole run of the tests, by whoever asks first.

The real command makes each in a real browser, in the folder that all workers share. A test asks for a copy,
which is its own to change, or looks at the run where it was made and changes nothing there. Of the files of a run
one says where things lie, `run.json`, and that only of what it was published to: of a copy it names the dataset that
the run was made with, so a command towards the copied dataset gives `publish.to` or `--to` of its own.

`TEACHER`: the six episodes of `SMALL`, the teacher's, all won, with a verdict of every verifier, replayed,
published.

`PAIRS`: two attempts at each task of some templates (`PAIRED`), the teacher's and the clumsy one's, judged by all
but `replay`, published with what was rejected; `accept.min_reward` is 0.5, which two of the templates overrule. Every
config of a dataset but `calls` and `prompts` has rows.

`MODEL`: three attempts at each of six tasks: a model's in the dialect `holo1_5`, another's in `holotron`,
both with log-probabilities, and the clumsy one's; the models say what the teacher would, by the scripted engine,
one of whose replies was empty, so that there is a repair; pictures of 512 by 512, of which a long task needs several segments; judged by
`structure`, `steps` and `outcome`, published with what was rejected. There are tasks of every split, and every
config of the dataset has rows.

`SURFER`: four episodes of the surfer, whose localizer speaks `holo1_5`, over the same engine, judged by `structure` and
`outcome`; not published.

`LEDGER`: four episodes of the application of `tests/sites/ledger.py`, by their references: three add an entry, and are
accepted and replayed; one adds another than was asked for and is not. Published.
"""

import asyncio
import fcntl
import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from unittest.mock import patch

from effort import THOROUGH
from support.runs.commands import SMALL, UNREPLAYED, Said, called, stepmill
from support.runs.memory_run import TEST, TRAIN, VALIDATION
from support.servers.ledger_site import command as start_ledger

from schemas.tasks.task import SPLITS


class Kept(StrEnum):
    """The runs that there are."""

    TEACHER = "teacher"
    PAIRS = "pairs"
    MODEL = "model"
    SURFER = "surfer"
    LEDGER = "ledger"


UNPUBLISHED = {Kept.SURFER}
"""Those that have no dataset."""


@dataclass(frozen=True, slots=True)
class LibraryRun:
    """A finished run, its dataset, and what the command that made both said."""

    base: Path
    said: Said
    settings: tuple[str, ...]
    """What the command that made both was told besides where they come to lie."""

    @property
    def run(self) -> Path:
        """Where the run lies."""
        return self.base / "run"

    @property
    def url(self) -> str:
        """The same, as a command is told."""
        return str(self.run)

    @property
    def dataset(self) -> Path:
        """Where its dataset lies; there is none where it was not published."""
        return self.base / "dataset"


class RunLibrary:
    """The runs, in a folder that several processes share."""

    def __init__(self, shared: Path) -> None:
        self._place = shared / "library"
        self._place.mkdir(exist_ok=True)

    def read(self, kept: Kept) -> LibraryRun:
        """Return a run where it was made, for whoever changes nothing there; make it if nobody did."""
        base, said = self._place / kept, self._place / f"{kept}.json"
        with (self._place / f"{kept}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not said.exists():
                shutil.rmtree(base, ignore_errors=True)
                base.mkdir()
                settings = _ASKED[kept](base)
                made = _made(base, settings, published=kept not in UNPUBLISHED)
                assert made.code == 0, made.err
                told = {"said": asdict(made), "settings": settings}
                said.write_text(json.dumps(told), encoding="utf-8")
        told = json.loads(said.read_text(encoding="utf-8"))
        return LibraryRun(base, Said(**told["said"]), tuple(told["settings"]))

    def copy(self, kept: Kept, to: Path) -> LibraryRun:
        """Return a run with its dataset, copied to a folder that is new or empty."""
        found = self.read(kept)
        for place in filter(Path.is_dir, (found.run, found.dataset)):
            shutil.copytree(place, to / place.name, copy_function=shutil.copyfile)
        return replace(found, base=to)


def generating(run: Path | str, settings: Sequence[str], *to: Path | str | None) -> tuple[str, ...]:
    """Return the command that makes a run of some settings and publishes it to some places."""
    places = json.dumps([str(place) for place in to if place is not None])
    return (
        "generate",
        "--json",
        "--no-prefect",
        f"--run={run}",
        *settings,
        f"--set=publish.to={places}",
    )


def _made(base: Path, settings: Sequence[str], *, published: bool) -> Said:
    """Make a run by the command, without the settings of whoever runs the tests."""
    strange = [name for name in os.environ if name.startswith("STEPMILL_") and "__" in name]
    with patch.dict(os.environ):
        for name in strange:
            del os.environ[name]
        argv = generating(base / "run", settings, base / "dataset" if published else None)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return called(*argv)
        return stepmill(*argv)  # there is a loop already, and the command brings its own


def _teacher(_: Path) -> tuple[str, ...]:
    return SMALL


_PAIRED = (
    *("bisect-angle", "circle-center", "click-checkboxes", "click-option", "click-tab-2"),
    *("login-user", "search-engine"),
)
_PAIRED_TOO = (
    *("click-dialog-2", "click-link", "click-menu-2", "click-tab-2-easy", "email-inbox-delete"),
    *("enter-password", "enter-text", "find-greatest", "form-sequence-2"),
)
PAIRED = (*_PAIRED, *_PAIRED_TOO) if THOROUGH else _PAIRED
"""The templates of `PAIRS`."""

PAIR_SEEDS = 3 if THOROUGH else 2
"""Of each of them."""


def _pairs(_: Path) -> tuple[str, ...]:
    return (
        f"--set=tasks.include={list(PAIRED)}",
        f"--set=tasks.seeds=[0,{PAIR_SEEDS - 1}]",
        "--set=tasks.attempts=2",
        '--set=policies=[{name="teacher"}, {name="clumsy"}]',
        "--set=browser.sessions=6",
        "--set=verify.verifiers=['structure','steps','outcome','novelty','seen']",
        "--set=accept.passed=['structure','outcome','novelty','seen']",
        "--set=accept.min_reward=0.5",
        "--set=publish.include_rejected=true",
    )


MODELLED = {
    (TRAIN, 0): SPLITS[0],
    (TRAIN, 1): SPLITS[0],
    (VALIDATION, 0): SPLITS[1],
    (TEST, 0): SPLITS[2],
    ("choose-list", 0): SPLITS[0],
    ("click-checkboxes-large", 0): SPLITS[0],
}
"""The tasks of `MODEL`, by template and seed, each with its split."""


def _model(base: Path) -> tuple[str, ...]:
    rows = [
        {"site": "miniwob", "template_id": template, "seed": seed, "split": split}
        for (template, seed), split in MODELLED.items()
    ]
    tasks = base / "tasks.jsonl"
    tasks.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    asking = "name='model',logprobs='processed'"
    models = f"{{{asking},dialect='holo1_5'}},{{{asking},dialect='holotron'}}"
    return (
        f"--set=policies=[{models},{{name='clumsy'}}]",
        "--set=tasks.attempts=3",
        f"--set=tasks.source={tasks}",
        "--set=engine.kind=scripted",
        "--set=engine.args=['--puppet','--fault=empty:1:after=12']",
        "--set=browser.viewport=[512,512]",
        "--set=browser.sessions=4",
        "--set=verify.verifiers=['structure','steps','outcome']",
        "--set=accept.passed=['structure','outcome']",
        "--set=publish.include_rejected=true",
    )


def _surfer(_: Path) -> tuple[str, ...]:
    return (
        "--set=policy.name=surfer",
        "--set=policy.localizer={dialect='holo1_5',max_tokens=64}",
        "--set=engine.kind=scripted",
        "--set=engine.args=['--puppet']",
        "--set=browser.viewport=[512,512]",
        "--set=browser.sessions=4",
        "--set=tasks.include=['click-test','enter-text','choose-list','drag-box']",
        "--set=tasks.seeds=[0,0]",
        *UNREPLAYED,
    )


ADDED = (("Rope", "Rope"), ("Soap", "Soap"), ("Wax", "Wax"), ("Ink", "Salt"))
"""What each task of `LEDGER` asks for, and what is added."""


def _ledger(base: Path) -> tuple[str, ...]:
    rows = [
        {
            "site": "ledger",
            "template_id": "add",
            "seed": seed,
            "start_url": "/",
            "instruction": f"Add {asked} to the ledger.",
            "expect": {"added": [{"table": "entries", "where": {"text": asked}}]},
            "reference": [
                {"do": "type", "on": "Entry", "text": added},
                {"do": "click", "on": "Add"},
            ],
        }
        for seed, (asked, added) in enumerate(ADDED)
    ]
    (base / "tasks.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (base / "ledger.toml").write_text(
        f'origin = "http://ledger.localhost"\n[start]\ncommand = {json.dumps(start_ledger())}\n'
        '[reset]\nrequest = { path = "/reset?seed={seed}" }\n'
        '[state]\nrequest = { method = "GET", path = "/state" }\n'
    )
    return (
        f"--set=sites={{ledger='{base / 'ledger.toml'}'}}",
        f"--set=tasks.source={base / 'tasks.jsonl'}",
        "--set=policy.name=scripted",
        "--set=browser.sessions=2",
    )


_ASKED: dict[Kept, Callable[[Path], tuple[str, ...]]] = {
    Kept.TEACHER: _teacher,
    Kept.PAIRS: _pairs,
    Kept.MODEL: _model,
    Kept.SURFER: _surfer,
    Kept.LEDGER: _ledger,
}
