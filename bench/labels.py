"""Whether the labels of steps agree with those of readers who see goals, pictures and actions.

`make` makes the runs that steps are drawn from: worlds by the reference and by the clumsy policy, which wraps it, and
templates of MiniWoB++ on which the clumsy teacher mends what it mistyped. Another first seed gives other episodes.

    .venv/bin/python -m bench.labels make --to RUNS --first-seed 5400

`draw` takes steps from runs and makes sheets of them: of each episode the goal and all its actions in words, and the
pictures before and after the steps that are asked about, with what was pointed at. The sheets say nothing of our labels,
of thoughts or of recorded mistakes. Steps of each of our labels are drawn as evenly as the runs allow, and none that an
earlier set has. Beside the sheets lie `steps.json`, the steps that are asked about, and `INSTRUCTION.md`, the section of
`docs/dataset.md` that says what the labels mean.

    .venv/bin/python -m bench.labels draw RUN... --to SHEETS --keep SET.json --prefix T [--without OTHER.json]

`score` compares: κ between two readers, and of the steps on which they agree the precision and the recall of each of our
labels. Where runs are named our labels are judged anew by the verifier of today; otherwise those of the set count.

    .venv/bin/python -m bench.labels score SET.json READER.json READER.json [--runs RUN...]

A reader's file is an object of labels by the ids of steps. A set names for each step its run's configuration, template,
seed and policy, so that the same episodes can be made again.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from pydantic import JsonValue

from bench.measuring.label_sheets import draw_episode
from bench.measuring.result import RESULTS, ROOT, write_result
from flows.job.config_loader import Sources
from flows.job.stored_run import open_stored_run
from generators.verify.steps import Steps
from schemas.episodes.episode import Episode
from schemas.tasks.task import Task
from schemas.verdicts.step_label import Label

STEPS, A_EPISODE = 300, 8
"""Steps of a set, and the most of one episode."""

MIN_EACH, MIN_KAPPA, MIN_SHARE = 30, 0.7, 0.95
"""Steps of each label in a set, agreement of two readers, and precision and recall of our labels."""

_TYPING = (
    *(
        "enter-text",
        "enter-text-2",
        "enter-text-dynamic",
        "enter-password",
        "enter-date",
        "enter-time",
    ),
    *(
        "login-user",
        "login-user-popup",
        "search-engine",
        "text-transform",
        "simple-algebra",
        "simple-arithmetic",
    ),
    *(
        "find-word",
        "generate-number",
        "read-table",
        "use-autocomplete-nodelay",
        "email-inbox-noscroll",
    ),
    *(
        "click-checkboxes",
        "click-option",
        "choose-list",
        "navigate-tree",
        "click-tab-2-easy",
        "phone-book",
    ),
)
_RUNS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "worlds-reference": (
        "worlds",
        (
            "tasks.seeds=[{first}, {last}]",
            "tasks.sample=70",
            "tasks.faults=0.4",
            "policy.options={{mistakes=1.0}}",
        ),
    ),
    "worlds-clumsy": (
        "worlds",
        ("tasks.seeds=[{first}, {last}]", "tasks.sample=70", 'policy.name="clumsy"'),
    ),
    "miniwob-clumsy": (
        "demo",
        (
            'tasks.sources=["miniwob"]',
            "tasks.seeds=[{first}, {fourth}]",
            f"tasks.include={json.dumps(_TYPING)}",
            "tasks.attempts=1",
            'policies=[{{name="clumsy"}}]',
        ),
    ),
}
"""The runs by their names: the configuration that ships, and what is set in it."""

_COMMON = (
    "publish.to=[]",
    'verify.verifiers=["structure", "steps", "outcome"]',
    "verify.rejected_too=[]",
    'accept.passed=["structure", "outcome"]',
)

_SECTION = re.compile(r"^## Step labels\n.*?(?=^## )", re.MULTILINE | re.DOTALL)


def make(to: Path, first: int, sessions: int) -> list[str]:
    """Make the runs from a first seed, and return their folders."""
    folders = list[str]()
    for name, (config, settings) in _RUNS.items():
        folders.append(f"{to}/{name}-{first}")
        told = [one.format(first=first, last=first + 19, fourth=first + 3) for one in settings]
        told += [
            *_COMMON,
            f"run.url={folders[-1]}",
            f"run.name={name}-{first}",
            f"browser.sessions={sessions}",
        ]
        options = [part for setting in told for part in ("--set", setting)]
        path = str(ROOT / "configs" / f"{config}.toml")
        command = [
            sys.executable,
            "-m",
            "flows.cli",
            "generate",
            "--no-prefect",
            "--config",
            path,
            *options,
        ]
        subprocess.run(command, check=False, stdout=sys.stderr, cwd=ROOT)
    return folders


@dataclass(frozen=True)
class Labelled:
    """An episode with our labels."""

    run: str
    task: Task
    episode: Episode
    labels: Mapping[int, Label]


async def read_run(url: str) -> list[Labelled]:
    """Return the episodes of a run with the labels that the verifier of today gives them."""
    stored = await open_stored_run(url, Sources(), os.environ)
    verifier, out = Steps({}), list[Labelled]()
    try:
        for unit in await stored.lake.committed_units():
            tasks = {task.task_id: task for task in await stored.lake.tasks(unit)}
            for episode in await stored.lake.episodes(unit):
                finding = await verifier.examine(tasks[episode.task_id], episode)
                labels = dict(_labels(finding.evidence.get("steps")))
                out.append(
                    Labelled(stored.config.run.name, tasks[episode.task_id], episode, labels)
                )
    finally:
        await stored.lake.close()
    return sorted(out, key=lambda one: one.episode.episode_id)


def _labels(rows: JsonValue) -> Iterator[tuple[int, Label]]:
    for row in rows if isinstance(rows, list) else ():
        match row:
            case {"step": int() as step, "label": str() as label}:
                yield step, Label(label)


def choose(
    episodes: Sequence[Labelled], *, count: int, random: Random, without: frozenset[str]
) -> list[tuple[Labelled, list[int]]]:
    """Return steps of episodes, as evenly of each label as there are; `without` names steps as `place` does."""
    places = [
        (label, number, step)
        for number, one in enumerate(episodes)
        for step, label in one.labels.items()
        if place(one, step) not in without
    ]
    random.shuffle(places)
    by_label = {label: [one for one in places if one[0] is label] for label in Label}
    taken: dict[int, list[int]] = defaultdict(list)
    found = 0
    while found < count and any(by_label.values()):
        for label in Label:
            queue = by_label[label]
            while queue:
                known = (
                    place for place, one in enumerate(queue) if 0 < len(taken[one[1]]) < A_EPISODE
                )
                _, number, step = queue.pop(next(known, -1))
                if len(taken[number]) < A_EPISODE:
                    taken[number].append(step)
                    found += 1
                    break
            if found == count:
                break
    return [(episodes[number], sorted(steps)) for number, steps in sorted(taken.items()) if steps]


def place(one: Labelled, step: int) -> str:
    """Return where a step is from: template, seed, policy, attempt and number, which every run with them shares."""
    episode = one.episode
    return f"{one.task.template_id} {episode.seed} {episode.policy} {episode.attempt} {step}"


def draw(
    runs: Sequence[str], to: Path, keep: Path, *, prefix: str, without: Sequence[Path], count: int
) -> None:
    """Make the sheets of a set, and the files beside them."""
    episodes = [one for url in runs for one in asyncio.run(read_run(url))]
    labelled = frozenset(
        row["place"]
        for path in without
        for row in json.loads(path.read_text(encoding="utf-8"))["steps"]
    )
    chosen = choose(episodes, count=count, random=Random(prefix), without=labelled)
    to.mkdir(parents=True, exist_ok=True)
    asked, kept = list[dict[str, JsonValue]](), list[dict[str, JsonValue]]()
    for number, (one, steps) in enumerate(chosen):
        name = f"{prefix}{number:03}"
        sheets = draw_episode(one.episode, steps, name=name, to=to)
        for step in steps:
            row: dict[str, JsonValue] = {"id": f"{name}-{step}", "episode": name, "step": step}
            asked.append(row | {"sheets": [*sheets]})
            kept.append(
                row | {"place": place(one, step), "run": one.run, "label": one.labels[step].value}
            )
    _write(to / "steps.json", asked)
    page = (ROOT / "docs" / "dataset.md").read_text(encoding="utf-8")
    section = _SECTION.search(page)
    if section is None:
        raise SystemExit("docs/dataset.md: expected a section '## Step labels'")
    (to / "INSTRUCTION.md").write_text(_INTRODUCTION + section[0], encoding="utf-8")
    counts: JsonValue = {**Counter(str(row["label"]) for row in kept)}
    _write(keep, {"counts": counts, "steps": [*kept]})
    print(json.dumps({"steps": len(kept), "episodes": len(chosen), "labels": counts}))


_INTRODUCTION = """# How to label these steps

Each episode has sheets (`NAME-0.png`, `NAME-1.png` …) and a page in words (`NAME.txt`): the goal, and all actions in their
order. A sheet shows the page before a step, with what was pointed at in pink; the picture after it is that before the next
step. `steps.json` lists the steps that are asked about. Write an object with one label for each id, as
`{"T000-3": "on_path"}`. You may look at the later steps of the episode: a label says also what came of a step.

"""


def _write(path: Path, value: JsonValue | Sequence[Mapping[str, JsonValue]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def kappa(one: Sequence[str], other: Sequence[str]) -> float:
    """Return Cohen's κ of two readers' labels of the same steps."""
    total = len(one)
    equal = sum(a == b for a, b in zip(one, other, strict=True)) / total
    first, second = Counter(one), Counter(other)
    chance = sum(first[label] * second[label] for label in first) / total**2
    return 1.0 if chance == 1 else (equal - chance) / (1 - chance)


def shares(ours: Sequence[str], theirs: Sequence[str]) -> dict[str, dict[str, float | int | None]]:
    """Return of each label how many steps readers gave it, and our precision and recall; None: of no step."""
    out: dict[str, dict[str, float | int | None]] = {}
    for label in (one.value for one in Label):
        both = sum(a == b == label for a, b in zip(ours, theirs, strict=True))
        said, true = ours.count(label), theirs.count(label)
        out[label] = {
            "steps": true,
            "precision": round(both / said, 3) if said else None,
            "recall": round(both / true, 3) if true else None,
        }
    return out


def score(kept: Path, readers: Sequence[Path], runs: Sequence[str], *, keep: str | None) -> None:
    """Print κ between two readers and how our labels do where they agree, with the steps that differ."""
    rows = json.loads(kept.read_text(encoding="utf-8"))["steps"]
    today = {
        place(one, step): label.value
        for url in runs
        for one in asyncio.run(read_run(url))
        for step, label in one.labels.items()
    }
    ours = {row["id"]: today.get(row["place"], row["label"]) for row in rows}
    one, other = (json.loads(path.read_text(encoding="utf-8")) for path in readers)
    ids = [row["id"] for row in rows if row["id"] in one and row["id"] in other]
    agreed = [name for name in ids if one[name] == other[name]]
    for name in agreed:
        if ours[name] != one[name]:
            print(f"{name}: readers {one[name]}, we {ours[name]}")
    labels = shares([ours[name] for name in agreed], [one[name] for name in agreed])
    agreement = round(kappa([one[name] for name in ids], [other[name] for name in ids]), 3)
    figures = {
        "bench": "labels",
        "steps": len(ids),
        "kappa": agreement,
        "agreed": len(agreed),
        "labels": labels,
        "held": agreement >= MIN_KAPPA and all(map(_is_held, labels.values())),
    }
    print(json.dumps(figures))
    if keep is not None:
        write_result(RESULTS, keep, figures)


def _is_held(label: Mapping[str, float | None]) -> bool:
    """Return whether a label's precision and recall are as high as they have to be."""
    precision, recall = label["precision"], label["recall"]
    return precision is not None and recall is not None and min(precision, recall) >= MIN_SHARE


def _paths(names: Iterable[str]) -> list[Path]:
    return [Path(name) for name in names]


def main() -> None:
    """Draw a set, or score one."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("--to", type=Path, required=True)
    making.add_argument("--first-seed", type=int, required=True)
    making.add_argument("--sessions", type=int, default=4)
    drawing = commands.add_parser("draw")
    drawing.add_argument("runs", nargs="+")
    drawing.add_argument("--to", type=Path, required=True)
    drawing.add_argument("--keep", type=Path, required=True)
    drawing.add_argument("--prefix", required=True)
    drawing.add_argument("--without", nargs="*", default=[])
    drawing.add_argument("--count", type=int, default=STEPS)
    scoring = commands.add_parser("score")
    scoring.add_argument("kept", type=Path)
    scoring.add_argument("readers", nargs=2)
    scoring.add_argument("--runs", nargs="*", default=[])
    scoring.add_argument("--keep")
    args = parser.parse_args()
    if args.command == "make":
        print(*make(args.to.absolute(), args.first_seed, args.sessions), sep="\n")
    elif args.command == "draw":
        without = _paths(args.without)
        draw(args.runs, args.to, args.keep, prefix=args.prefix, without=without, count=args.count)
    else:
        score(args.kept, _paths(args.readers), args.runs, keep=args.keep)


if __name__ == "__main__":
    main()
