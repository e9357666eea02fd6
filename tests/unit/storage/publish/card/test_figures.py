"""Every figure on a card is counted again, from the published files and by code of its own.

What the card should say is written down here from the rows and taken out of the card. No digit may be left
after that: a figure that nobody counts again is found, whatever sentence it stands in.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.memory_run import (
    TEST,
    TRAIN,
    VALIDATION,
    MemoryRun,
    commit_unit,
    make_run_file,
    published,
)

from registries.splits.registry import entry_of, registry_version
from schemas.base import JsonObject

Rows = list[dict[str, Any]]

SPLITS = ("train", "validation", "test")
OTHER = "other-template"
CONSTANTS = (
    "`state_before_sha256`",
    "`state_after_sha256`",
    "95 % interval",
    "at most 0.01 % of its cells of 4 × 4 px and 2 of 255 levels in the mean",
    "size and SHA-256",
)
"""What no row decides: the bounds of pictures have a test of their own, beside the verifier."""


def _changed(run: MemoryRun, unit: int, name: str, values: Sequence[object]) -> None:
    """Put `values` into a column of a unit's episodes."""
    table = run.rows["episodes"][unit]
    place = table.schema.get_field_index(name)
    field = table.schema.field(place)
    run.rows["episodes"][unit] = table.set_column(place, field, pa.array([*values], field.type))


def _of_many_kinds() -> MemoryRun:
    """Return a run in which every sentence of the card has something to count."""
    run = MemoryRun()
    facts: JsonObject = {"reward": 1.0, "done": True}
    agreed: JsonObject = {"agreed": True}
    parted: JsonObject = {"agreed": False}
    made = commit_unit(run, 1, TRAIN, tasks=3, attempts=2, rejects=[1])
    made += commit_unit(run, 2, VALIDATION, model=True)
    commit_unit(run, 3, TEST, n_steps=3, rejects=[0])
    own = commit_unit(run, 4, OTHER, tasks=1, attempts=3)
    threshold: JsonObject = {"min_reward": 0.95, "min_reward_reason": "Pixels are whole."}
    for episode in own:
        judged = make_verdict(episode, version="3", round_=1)
        run.judge([judged.model_copy(update={"evidence": facts | threshold})])
    tried = [made[place] for place in (0, 2, 3, 6)]
    for place, (episode, told) in enumerate(
        zip(tried, ([agreed], [parted, agreed], [agreed], [parted, agreed]), strict=True)
    ):
        found = make_verdict(episode, verifier="replay", version="3", round_=1)
        score = 0.5 if place % 2 else 1.0
        run.judge([found.model_copy(update={"evidence": {"tries": [*told]}, "score": score})])
    copy: JsonObject = {"trajectory": "t", "course": "c", "pictures": ["0" * 64], "task": "a"}
    for episode, seen in zip(own, (copy, copy, copy | {"trajectory": "u"}), strict=True):
        judged = make_verdict(episode, verifier="novelty", version="2", round_=1)
        run.judge([judged.model_copy(update={"evidence": seen})])
    tasks = [make_task(900, template="unjudged-template")]
    _, unjudged = make_unit(tasks)
    run.commit(tasks, unjudged)
    run.judge([make_verdict(one, verifier="structure") for one in unjudged])
    _changed(run, 0, "privileged", [True, True, None, None, False, True])
    _changed(run, 0, "policy_kind", ["clumsy", "clumsy", *["teacher"] * 4])
    _changed(run, 1, "viewport_width", [64, 64, 128, 128])
    _changed(run, 1, "model", ["m-1", "m-1", "m-1", "m-2"])
    return run


@dataclass
class _Published:
    """A published dataset, read anew."""

    to: Path

    @property
    def card(self) -> str:
        return (self.to / "README.md").read_text(encoding="utf-8")

    @property
    def manifest(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads((self.to / "manifest.json").read_bytes())
        return read

    def rows(self, config: str, split: str = "*") -> Rows:
        paths = sorted((self.to / "data" / config).glob(f"{split}-*.parquet"))
        tables = [pq.read_table(path) for path in paths]
        return pa.concat_tables(tables).to_pylist() if tables else []

    @cached_property
    def every(self) -> Rows:
        """All attempts, published as trajectories or not."""
        return self.rows("attempts")

    @property
    def templates(self) -> dict[str, str]:
        return {row["task_id"]: row["template_id"] for row in self.rows("tasks")}


@pytest.fixture(scope="module", params=[False, True], ids=["accepted alone", "with rejected"])
def data(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> _Published:
    place: Path = tmp_path_factory.mktemp("figures")
    published(
        _of_many_kinds().seal(),
        place / "asked",
        run_file=make_run_file(),
        include_rejected=bool(request.param),
    )
    return _Published(place / "asked")


def _ends(accepted: int, judged: int) -> str:
    """Return the 95 % interval in words: the shares within 1.96 standard errors, by bisection."""

    def surprising(share: float) -> bool:
        error = (share * (1 - share) / judged) ** 0.5
        return bool(abs(accepted / judged - share) > 1.959964 * error)

    ends = []
    for outside, end in ((0.0, accepted / judged), (1.0, accepted / judged)):
        far, near = outside, end
        for _ in range(60):
            middle = (far + near) / 2
            far, near = (middle, near) if surprising(middle) else (far, middle)
        ends.append(near)
    low = 0.0 if accepted == 0 else ends[0]
    high = 1.0 if accepted == judged else ends[1]
    return f"{low:.0%} to {high:.0%}"


def _cells(rows: Rows) -> str:
    unjudged = [row for row in rows if _standing(row) == "unjudged"]
    accepted = sum(row["accepted"] for row in rows)
    judged = len(rows) - len(unjudged)
    share = (
        f"{accepted / judged:.0%} | {_ends(accepted, judged)}" if judged else "unknown | unknown"
    )
    counts = f"{len(rows)} | {accepted} | {judged - accepted} | {len(unjudged)}"
    return f"{counts} | {share} |"


def _standing(row: dict[str, Any]) -> str:
    if row["accepted"]:
        return "accepted"
    missing = all(reason.endswith(": not judged") for reason in row["rejected_because"])
    return "unjudged" if missing else "rejected"


def _by(rows: Rows, *columns: str) -> dict[tuple[Any, ...], Rows]:
    out: defaultdict[tuple[Any, ...], Rows] = defaultdict(list)
    for row in rows:
        out[tuple(row[name] for name in columns)].append(row)
    return out


def _held(data: _Published) -> Iterator[str]:
    """Yield what the card should say of configs, splits and acceptance."""
    for config in sorted({path.parent.name for path in data.to.rglob("*.parquet")}):
        counts = " | ".join(str(len(data.rows(config, split))) for split in SPLITS)
        yield f"| `{config}` | {counts} |"
    firsts = {row["template_id"]: row["split"] for row in data.rows("tasks")}
    reached = {data.templates[row["task_id"]] for row in data.rows("trajectories")}
    for say, templates in (("{} groups, {}.", set(firsts)), ("here are {}: {}.", reached)):
        in_split = [f"{[firsts[t] for t in templates].count(one)} in {one}" for one in SPLITS]
        if say.startswith("{}") or len(reached) < len(firsts):
            yield say.format(len(templates), ", ".join(in_split))
    yield f"Version {registry_version()} of Stepmill's registry of splits"
    if any((one := entry_of("miniwob", name)) and one.split != firsts[name] for name in firsts):
        yield "1 template is in another split than the registry says"
    counts = data.manifest["counts"]
    standing = Counter(map(_standing, data.every))
    assert (counts["accepted"], counts["rejected"], counts["unjudged"]) == tuple(
        standing[name] for name in ("accepted", "rejected", "unjudged")
    )
    yield (
        f"Of {len(data.every)} episodes {standing['accepted']} were accepted and "
        f"{standing['rejected']} rejected; {standing['unjudged']} were not judged to the end."
    )
    yield f"a raw reward of {data.manifest['rule']['min_reward']:g} or more counts as success."
    own = _by(data.every, "task_id", "min_reward", "min_reward_reason")
    for task, minimum, why in own:
        if why:
            yield f"| {data.templates[task]} | {minimum} | {why.replace('.', '&#46;')} |"
    reasons = Counter(
        ": ".join(decisive[0].split(": ")[:2])
        for row in data.every
        if row["rejected_because"]
        for decisive in [
            [one for one in row["rejected_because"] if not one.endswith(": not judged")]
            or row["rejected_because"]
        ]
    )
    yield from (f"| {reason} | {number} |" for reason, number in reasons.items())


def _proved(data: _Published) -> Iterator[str]:
    """Yield what the card should say of replays, pictures and copies."""
    rows = data.rows("trajectories")
    tried = [row for row in rows if row["replays"]]
    often = [row for row in tried if row["replays"] > 1]
    parted = [row for row in tried if row["replays_agreed"] < row["replays"]]
    yield (
        f"{len(tried)} of these episodes were executed again, {sum(r['replays'] for r in tried)} times in "
        f"all: {len(often)} of them more than once, and for {len(parted)} not every"
    )
    agreed = sum(row["replays_agreed"] for row in often)
    yield f"Of the {sum(r['replays'] for r in often)} executions of those that were tried more"
    yield f"than once {agreed} agreed."
    reproduced = [row for row in rows if row["replay"] == "reproduced"]
    unequal = [row for row in reproduced if row["replay_score"] < 1]
    yield f"In {len(unequal)} of the {len(reproduced)} episodes that a replay reproduced"
    judges = _judges(data)
    early = judges["replay", "1"] + judges["replay", "2"]
    yield f"{early} of these episodes were replayed by an earlier version"
    looked = sum(number for (name, _), number in judges.items() if name == "novelty")
    if looked < len(rows):
        yield f"nothing compared with others, to find copies: {len(rows) - looked}."
    copies = [r for r in data.every if any("novelty: repeats" in x for x in r["rejected_because"])]
    yield f"Episodes rejected as copies of another one: {len(copies)}."
    yield f"Near copies among those here: {sum(bool(row['near_duplicate_of']) for row in rows)};"
    exact = [row for row in rows if row["duplicate_of"]]
    if exact:
        yield f"with equal pictures and actions: {len(exact)} ("


def _judges(data: _Published) -> Counter[tuple[str, str]]:
    """Return how many published episodes each version of a verifier judged last."""
    last: dict[tuple[str, str], tuple[int, str]] = {}
    for row in data.rows("verdicts"):
        key = (row["episode_id"], row["verifier"])
        last[key] = max(last.get(key, (-1, "")), (row["round"], row["verifier_version"]))
    ids = {row["episode_id"] for row in data.rows("trajectories")}
    return Counter((name, last[id_, name][1]) for id_, name in last if id_ in ids)


def _acted(data: _Published) -> Iterator[str]:
    """Yield what the card should say of policies and yields."""
    told = {True: "yes", False: "no", None: "not recorded"}
    actors = _by(data.every, "policy", "policy_kind", "model", "privileged")
    for (policy, kind, model, privileged), rows in actors.items():
        named = f"{policy} | {kind} | {model or ''} | {told[privileged]}"
        yield f"| {named} | {_cells(rows)}"
    published_ones = data.rows("trajectories")
    privileges = Counter(row["privileged"] for row in published_ones)
    known = privileges[True] + privileges[False]
    yield f"In {privileges[True]} of the {known} published episodes that record it"
    yield f"Of {privileges[None]} published episodes an earlier version did not record"
    rejected = [row for row in data.every if _standing(row) == "rejected"]
    clumsy = [row for row in rejected if row["policy_kind"] == "clumsy"]
    yield f"on purpose, are {len(clumsy)} of {len(rejected)} rejected episodes"
    of_template = defaultdict(list)
    for row in data.every:
        of_template[data.templates[row["task_id"]]].append(row)
    for template, rows in of_template.items():
        yield f"| {template} | {rows[0]['split']} | {_cells(rows)}"
    yield f"| all {len(of_template)} | | {_cells(data.every)}"


def _limited(data: _Published) -> Iterator[str]:
    """Yield what the card should say of limits, of how it was made, and of how to cite it."""
    rows, steps = data.rows("trajectories"), data.rows("steps")
    sizes = {(r["viewport_width"], r["viewport_height"], r["device_scale_factor"]) for r in rows}
    widths = sorted({size[0] for size in sizes})
    scale = f"scales from {rows[0]['device_scale_factor']:g} to {rows[0]['device_scale_factor']:g}"
    span = " to ".join(map(str, widths))
    yield f"in {len(sizes)} viewports: {span} CSS px wide, {rows[0]['viewport_height']} high, at {scale}"
    points = [(r["x_norm"], r["y_norm"]) for r in steps if r["x_norm"] is not None]
    (left, right), (top, bottom) = (_middle(sorted(axis)) for axis in zip(*points, strict=True))
    yield f"The middle nine tenths of the {len(points)} points lie between {left} % and {right} % of"
    yield f"width, and between {top} % and {bottom} % of its height"
    for column, what in (("action_type", "actions"), ("thought_source", "thoughts")):
        counts = Counter(row[column] for row in steps if row[column] not in (None, "none"))
        listed = ", ".join(f"{name} {number}" for name, number in counts.most_common())
        yield f"Of the {counts.total()} {what} by `{column}`: {listed}"
    solved = {row["task_id"] for row in data.every if row["accepted"]}
    reached = {data.templates[one] for one in solved}
    tasks, templates = len(data.templates), len(set(data.templates.values()))
    yield f"{len(solved)} of {tasks} tasks and {len(reached)} of {templates} templates have an"
    versions = sorted({row["browser_version"] for row in rows})
    yield f"(chromium; {', '.join(versions)})"
    for column in ("site", "policy", "policy_kind", "model", "browser", "browser_version"):
        values = Counter(row[column] for row in rows if row[column] is not None)
        yield "| " + ", ".join(f"{name} ({values[name]})" for name in sorted(values)) + " |"
    code = Counter(row["code_version"] for row in rows)
    yield ", ".join(f"{name} ({number})" for name, number in sorted(code.items()))
    judges = sorted(_judges(data).items())
    yield ", ".join(f"{name} {version} ({number})" for (name, version), number in judges)
    run, version = data.manifest["run"], data.manifest["version"]
    made = make_run_file()
    yield f"| Run | {run}, version {version} |"
    yield f"| Begun | {made.created_at:%Y-%m-%d} |"
    yield from (f"| {key} | {value} |" for key, value in made.provenance.items())
    yield f"@misc{{stepmill-{run[:8]}-v{version},"
    yield f"year = {{{made.created_at.year}}}"
    yield f"note = {{Version {version} of the run {run}, begun on {made.created_at:%Y-%m-%d};"


def _middle(values: Sequence[float]) -> tuple[int, int]:
    """Return between which hundredths the middle nine tenths of sorted `values` lie."""
    tail = len(values) / 20
    low = next(v for n, v in enumerate(values, 1) if n > tail)
    high = next(v for n, v in enumerate(values, 1) if n >= len(values) - tail)
    return int(low * 100), int(high * 100) + 1


def _filmed(data: _Published) -> Iterator[str]:
    """Yield what the card should say of the trajectory that it shows."""
    accepted = [row for row in data.rows("trajectories") if row["accepted"]]
    shown = data.card.partition("It is `")[2].partition("`")[0]
    [row] = [row for row in accepted if row["episode_id"] == shown]
    assert row["n_steps"] == max(one["n_steps"] for one in accepted)
    yield f"One trajectory, all {row['n_steps'] + 1} pictures"
    yield f"It is `{shown}`, of {data.templates[row['task_id']]}; its goal: {row['instruction'][:-1]}"
    for step in data.rows("steps"):
        if step["episode_id"] == shown and step["action_type"] != "none":
            where = f"{step['x']:.0f}, {step['y']:.0f}"
            thought = step["thought"].replace(".", "&#46;")
            yield f"* {step['step']}: {step['action_type']} at {where} (thought: {thought})"
        elif step["episode_id"] == shown:
            yield f"* {step['step']}: the final state"


def _sheeted(data: _Published) -> Iterator[str]:
    """Yield what the card should say of its contact sheet: the different first pictures of trajectories."""
    first = {row["screenshot_sha256"] for row in data.rows("steps") if row["step"] == 0}
    yield f"The first pages of {len(first)} trajectories, no two equal"


def _worded(data: _Published) -> Iterator[str]:
    """Yield what the card should say of goals, thoughts and notes."""
    tried = {row["task_id"] for row in data.rows("trajectories")}
    goals = [row["instruction"] for row in data.rows("tasks") if row["task_id"] in tried]
    unquoted = sum(not set('"“”') & set(goal) for goal in goals)
    yield f"Goals: of {len(goals)} tasks {100 * unquoted / len(goals):.0f} % quote nothing."
    sources = Counter(row["thought_source"] for row in data.rows("steps"))
    for source, count in sorted((one for one in sources.items() if one[0]), key=str):
        yield f"Thoughts, {count} of `{source}`:"
    assert all(row["note"] is None for row in data.rows("steps"))


def test_every_figure_of_the_card_is_that_of_the_published_files(data: _Published) -> None:
    text = " ".join(data.card.split("---\n", 2)[2].partition("\n## Columns")[0].split())
    assert 'data[0]["screenshot"]' in text
    text = text.replace('data[0]["screenshot"]', "")

    for parts in (_filmed, _sheeted, _held, _proved, _acted, _worded, _limited):
        for sentence in parts(data):
            said = " ".join(sentence.split())
            assert said in text, said
            text = text.replace(said, " … ", 1)
    for constant in CONSTANTS:
        text = text.replace(constant, " … ")
    left = re.findall(r".{0,60}\d.{0,60}", re.sub(r"&#\d+;", "", text))
    assert left == [], "figures that nobody counts again"


def test_the_columns_of_the_card_are_those_of_the_published_files(data: _Published) -> None:
    _, _, tables = data.card.partition("\n## Columns")
    for path in data.to.glob("data/*/train-*.parquet"):
        own = tables.partition(f"### `{path.parent.name}`")[2].partition("\n### ")[0]
        rows = [line.split(" | ", 2) for line in own.splitlines() if line.startswith("| `")]
        assert [row[0].strip("| `") for row in rows] == pq.read_schema(path).names
        assert all(len(row[2].strip(" |")) > 3 for row in rows)


def test_the_plot_has_every_template_with_its_share(data: _Published) -> None:
    plot = (data.to / "plots/yield.svg").read_text(encoding="utf-8")

    of_template = defaultdict(list)
    for row in data.every:
        of_template[data.templates[row["task_id"]]].append(row)
    for template, rows in of_template.items():
        standing = Counter(map(_standing, rows))
        judged = standing["accepted"] + standing["rejected"]
        share = f"{standing['accepted'] / judged:.0%} of {judged}" if judged else "not judged"
        assert re.search(rf">{template}</text>.*?>{re.escape(share)}</text>", plot, re.DOTALL)
    assert plot.count(" of ") == sum(
        any(_standing(row) != "unjudged" for row in rows) for rows in of_template.values()
    )
