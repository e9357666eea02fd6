"""Which split a template is published in, that it stays there, and what is held back."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.episodes.factories import make_screenshot, make_task, make_unit, make_verdict
from support.runs.memory_run import (
    RULE,
    MemoryRun,
    commit_unit,
    contents,
    later,
    published,
    tables_of,
)

from registries.splits.registry import MIN_GROUPS, registry_version, splits_of_files
from schemas.base import sha256_hex
from schemas.episodes.episode import Episode
from schemas.errors import BadTasks, Conflict, Damaged
from storage.lake.split_record import KEY as RECORD
from storage.lake.split_record import add_splits, read_splits
from storage.objects.local import LocalStore
from storage.publish.plan.selection import Selection, select
from storage.publish.plan.splits import Splits, published_splits


def _committed(
    episodes: Mapping[str, Mapping[str, object]], known: Mapping[str, str] | None = None
) -> Splits:
    """Return the splits of a run with an episode a template, changed as said."""
    run = MemoryRun()
    run.splits.update(known or {})
    for number, (name, change) in enumerate(episodes.items()):
        task = make_task(number * 50, template=name).model_copy(
            update={key: change[key] for key in ("split", "split_version") if key in change}
        )
        _, [episode] = make_unit([task])
        first, *others = episode.steps
        picture = {key: change[key] for key in ("screenshot_sha256",) if key in change}
        first = first.model_copy(update=picture)
        goal = {key: change[key] for key in ("instruction",) if key in change}
        run.commit([task], [_with(episode, steps=(first, *others), **goal)])
    tables = tables_of(run.seal())
    templates = {
        row["episode_id"]: name
        for row, name in zip(
            tables.datasets["episodes"].to_table(columns=["episode_id"]).to_pylist(),
            episodes,
            strict=True,
        )
    }
    return published_splits(tables, templates, tables.known_splits)


def _with(episode: Episode, **change: object) -> Episode:
    return episode.model_copy(update=change)


@pytest.mark.parametrize(
    "shared",
    [{"instruction": 'Press "this".'}, {"screenshot_sha256": "0" * 64}],
    ids=lambda one: next(iter(one)),
)
def test_a_task_that_shows_what_an_earlier_split_shows_is_held_back(
    shared: dict[str, object],
) -> None:
    apart = {"one": {"split": "train"}, "other": {"split": "test"}}
    met = {name: change | shared for name, change in apart.items()}

    assert len(_committed(met).held_back) == 1
    assert not _committed(apart).held_back
    assert not _committed(
        {name: change | {"split": "test"} for name, change in met.items()}
    ).held_back


@pytest.mark.parametrize(
    "lacking",
    [{"instruction": " "}, {"screenshot_sha256": sha256_hex(b"")}],
    ids=lambda one: next(iter(one)),
)
def test_tasks_that_lack_the_same_share_nothing(lacking: dict[str, object]) -> None:
    assert not _committed(
        {"one": {"split": "train"} | lacking, "other": {"split": "test"} | lacking}
    ).held_back


def test_the_registry_decides_where_a_run_records_no_split() -> None:
    none = {"split": ""}
    splits = _committed(
        {"text-transform": none, "drag-items": none, "click-tab": none, "other": none}
    )

    assert dict(splits.by_template) == {
        "text-transform": "test",
        "drag-items": "validation",
        "click-tab": "train",
        "other": "train",
    }
    assert not splits.elsewhere


def test_templates_of_one_page_are_one_group_as_the_registry_says() -> None:
    splits = _committed({"focus-text": {}, "focus-text-2": {}, "click-tab": {}})

    assert splits.groups["focus-text"] == splits.groups["focus-text-2"]
    assert splits.count == 2


def test_what_was_published_keeps_its_split_whatever_the_registry_says() -> None:
    recorded = {"split": "test", "split_version": registry_version()}

    splits = _committed({"text-transform": recorded}, {"text-transform": "train"})

    assert splits.by_template["text-transform"] == "train"
    assert splits.elsewhere == {"text-transform"}


def test_a_split_on_which_two_versions_disagree_is_refused_by_name() -> None:
    earlier = {"split": "train", "split_version": registry_version() + 1}

    with pytest.raises(
        BadTasks,
        match=r"text-transform of miniwob is in 'train' by version 2 .* 'test' by version 1",
    ):
        _committed({"text-transform": earlier})
    known = {"text-transform": "train"}
    assert _committed({"text-transform": earlier}, known).by_template == known


def test_a_group_is_published_in_the_split_that_it_was_planned_for() -> None:
    tasks = [
        make_task(number * 50, template=f"t{number}").model_copy(update={"split": ""})
        for number in range(40)
    ]
    planned = splits_of_files(tasks)
    some = {f"t{number}" for number in range(MIN_GROUPS)}

    splits = _committed(
        {
            name: {"split": one.split, "split_version": one.version}
            for name, one in planned.items()
            if name in some | {n for n, o in planned.items() if o.split != "train"}
        }
    )

    assert {*splits.by_template.values()} == {"train", "validation", "test"}
    assert splits.by_template == {name: planned[name].split for name in splits.by_template}


def test_a_split_that_the_task_file_asks_for_is_kept() -> None:
    run = MemoryRun()
    commit_unit(run, 1, "enter-text")
    commit_unit(run, 2, "other")

    chosen = select(tables_of(run.seal()), RULE, include_rejected=False)

    assert dict(chosen.splits.by_template) == {"enter-text": "test", "other": "train"}
    assert {c.template_id: c.acceptance.split for c in chosen.candidates} == {
        "enter-text": "test",
        "other": "train",
    }


def test_what_is_held_back_is_in_no_file(tmp_path: Path) -> None:
    run = MemoryRun()
    commit_unit(run, 1, "click-test")
    commit_unit(run, 2, "enter-text")
    task = make_task(900, template="enter-text", instruction="Click the button.")
    _, [episode] = make_unit([task])
    run.commit([task], [episode])
    run.judge([make_verdict(episode, verifier=name) for name in RULE.passed])
    snapshot = run.seal()

    chosen: Selection = select(tables_of(snapshot), RULE, include_rejected=True)
    report = published(snapshot, tmp_path, include_rejected=True)

    assert chosen.splits.held_back == {task.task_id}
    assert task.task_id not in {c.task_id for c in chosen.published}
    assert report.rows["tasks"] == report.rows["results"] == 4
    assert (report.rows["attempts"], report.rows["verdicts"]) == (8, 8 * len(RULE.passed))
    assert [path for path in contents(tmp_path) if "/test-" in path]


@dataclass(frozen=True)
class _Worlds:
    """A run with tasks of worlds, one unit a task."""

    run: MemoryRun = field(default_factory=MemoryRun)

    def add(self, template: str, goal: str, *, host: str, split: str, picture: int = 0) -> str:
        """Commit an accepted attempt at a task; return the task's id. A picture of 0 is one of its own."""
        number = len(self.run.rows.get("tasks", ())) + 1
        task = make_task(number, template=template, instruction=goal).model_copy(
            update={
                "site": "worlds",
                "start_url": f"http://{host}.localhost/",
                "split": split,
            }
        )
        _, [episode] = make_unit([task], n_steps=1)
        first, *others = episode.steps
        seen = make_screenshot(picture or number)
        shown = first.model_copy(
            update={"screenshot": seen, "screenshot_sha256": sha256_hex(seen.bytes)}
        )
        episode = _with(later(episode, number), site="worlds", steps=(shown, *others))
        self.run.commit([task], [episode])
        self.run.judge([make_verdict(episode, verifier=name) for name in RULE.passed])
        return task.task_id

    def select(self) -> Selection:
        return select(tables_of(self.run.seal()), RULE, include_rejected=False)


def test_a_family_of_worlds_is_one_group_whose_split_its_tasks_name() -> None:
    worlds = _Worlds()
    for family, split in (("shop", "train"), ("library", "validation"), ("banking", "test")):
        worlds.add(f"{family}/find", f'Find "{family}".', host=f"{family}-1", split=split)
        worlds.add(f"{family}/count", f"How many {family}?", host=f"{family}-2", split=split)

    chosen = worlds.select()

    assert set(chosen.splits.groups.values()) == {"shop/*", "library/*", "banking/*"}
    assert chosen.splits.families == {"shop": "train", "library": "validation", "banking": "test"}
    assert {one.template_id: one.acceptance.split for one in chosen.published} == {
        f"{family}/{kind}": split
        for family, split in chosen.splits.families.items()
        for kind in ("find", "count")
    }


@pytest.mark.parametrize(
    ("goal", "host", "picture", "repeats"),
    [
        ('Open "Bob".', "board-2", 0, False),
        ('open  "Ann".', "board-2", 0, True),
        ('Open "Bob".', "shop-1", 0, True),
        ('Open "Bob".', "board-2", 7, True),
    ],
    ids=["wording alone", "goal", "world", "picture"],
)
def test_a_task_of_a_world_that_shows_what_an_earlier_split_shows_is_held_back(
    goal: str, host: str, picture: int, *, repeats: bool
) -> None:
    worlds = _Worlds()
    first = worlds.add("shop/find", 'Open "Ann".', host="shop-1", split="train", picture=7)
    other = worlds.add("board/find", goal, host=host, split="test", picture=picture)

    chosen = worlds.select()

    assert {one.task_id for one in chosen.published} == ({first} if repeats else {first, other})


def test_what_repeats_an_earlier_split_is_in_no_row_of_its_own(tmp_path: Path) -> None:
    worlds = _Worlds()
    for n in range(3):
        worlds.add("shop/find", f'Open "{n}".', host=f"shop-{n}", split="train")
        worlds.add("board/find", f'Open "{n + 2}".', host=f"board-{n}", split="test")
    report = published(worlds.run.seal(), tmp_path)
    card = " ".join((tmp_path / "README.md").read_text().split())

    assert report.rows["trajectories"] == report.rows["tasks"] == report.rows["attempts"] == 5
    assert "1 episodes of 1 tasks are held back" in card
    assert "`shop` in train; none in validation; `board` in test." in card


def test_a_later_publication_keeps_the_splits_of_the_first(tmp_path: Path) -> None:
    run = MemoryRun()
    for number in range(MIN_GROUPS - 1):
        commit_unit(run, number + 1, f"t{number}", tasks=1, attempts=1)
    published(run.seal(), tmp_path)
    first = dict(run.splits)
    for number in range(MIN_GROUPS - 1, 45):
        commit_unit(run, number + 1, f"t{number}", tasks=1, attempts=1)
    published(run.seal(), tmp_path)

    assert set(first.values()) == {"train"}
    assert first.items() <= run.splits.items()
    assert {*run.splits.values()} == {"train", "validation", "test"}


def test_a_published_task_says_the_version_only_of_the_split_that_it_is_in(tmp_path: Path) -> None:
    run = MemoryRun()
    for number, template in enumerate(("click-tab", "click-link")):
        task = make_task(number * 50, template=template).model_copy(
            update={"split": "train", "split_version": registry_version()}
        )
        _, [episode] = make_unit([task])
        run.commit([task], [episode])
    run.splits["click-tab"] = "test"
    published(run.seal(), tmp_path, include_rejected=True)

    rows = [
        row
        for path in (tmp_path / "data" / "tasks").glob("*.parquet")
        for row in pq.read_table(path).to_pylist()
    ]
    assert {(row["template_id"], row["split"], row["split_version"]) for row in rows} == {
        ("click-tab", "test", None),
        ("click-link", "train", registry_version()),
    }


def test_the_record_of_a_run_only_grows(tmp_path: Path) -> None:
    async def scenario() -> dict[str, str]:
        store = LocalStore(tmp_path)
        assert await read_splits(store) == {}
        await add_splits(store, {"a": "train"})
        await add_splits(store, {"b": "test"})
        before = (tmp_path / RECORD).read_bytes()
        await add_splits(store, {"a": "train"})
        assert (tmp_path / RECORD).read_bytes() == before
        with pytest.raises(Conflict, match="put a into train"):
            await add_splits(store, {"a": "test", "c": "train"})
        return await read_splits(store)

    assert asyncio.run(scenario()) == {"a": "train", "b": "test"}


def test_publications_that_record_splits_at_once_all_do(tmp_path: Path) -> None:
    shared = {f"t{number}": "train" for number in range(5)}
    own = [{f"own{number}": "test"} for number in range(8)]

    async def scenario() -> dict[str, str]:
        async with asyncio.TaskGroup() as group:
            for mine in own:
                group.create_task(add_splits(LocalStore(tmp_path), shared | mine))
        return await read_splits(LocalStore(tmp_path))

    assert asyncio.run(scenario()) == {k: v for part in [shared, *own] for k, v in part.items()}


@pytest.mark.parametrize(
    "text",
    ['{"splits": {"a": "test"}, "digest": "0"}', "{}", "[", '{"splits": {}, "digest": ""}'],
)
def test_a_record_that_is_torn_or_altered_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / RECORD).write_text(text, encoding="utf-8")

    with pytest.raises(Damaged, match=r"splits\.json: cannot be read"):
        asyncio.run(read_splits(LocalStore(tmp_path)))
