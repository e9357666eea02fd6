"""Which split a template is published in, and that it stays there."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
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

from schemas.base import sha256_hex
from schemas.episodes.episode import Episode
from schemas.errors import Conflict, Damaged
from schemas.tasks.task import SPLITS
from storage.lake.split_record import KEY as RECORD
from storage.lake.split_record import add_splits, read_splits
from storage.objects.local import LocalStore
from storage.publish.plan.selection import Selection, select
from storage.publish.plan.splits import (
    MIN_GROUPS,
    SHARE,
    Key,
    Splits,
    assign_splits,
    published_splits,
    wording,
)

Shown = dict[str, set[Key]]


def _alone(count: int, first: int = 0) -> Shown:
    """Return templates of which each is a group of its own."""
    return {f"t{n}": {("page", str(n))} for n in range(first, first + count)}


@st.composite
def _growth(draw: st.DrawFn) -> list[Shown]:
    """Return what the templates of a run show, version by version: it only grows."""
    versions: list[Shown] = []
    shown: Shown = {}
    for _ in range(draw(st.integers(1, 4))):
        shown = {template: set(keys) for template, keys in shown.items()}
        for number in draw(st.sets(st.integers(0, 60), max_size=40)):
            own = shown.setdefault(f"t{number}", {("page", str(number))})
            own |= {("goal", str(n)) for n in draw(st.sets(st.integers(0, 80), max_size=2))}
        versions.append(shown)
    return versions


@given(_growth())
def test_no_template_moves_and_no_split_shares_anything_with_another(versions: list[Shown]) -> None:
    known: dict[str, str] = {}
    for shown in versions:
        splits = assign_splits(shown, known)

        assert known.items() <= splits.by_template.items()
        assert splits.by_template.keys() == known.keys() | shown.keys()
        owner: dict[Key, str] = {}
        for template in shown.keys() - splits.left_out:
            for key in shown[template]:
                split = splits.by_template[template]
                assert owner.setdefault(key, split) == split
        known = dict(splits.by_template)


@given(st.integers(MIN_GROUPS, 200))
def test_a_twentieth_of_the_groups_is_in_each_of_the_small_splits(count: int) -> None:
    splits = assign_splits(_alone(count), {})

    assert splits.is_conclusive
    assert not splits.left_out
    wanted = -(-count // SHARE)
    assert dict(splits.group_counts) == {
        "train": count - 2 * wanted,
        "validation": wanted,
        "test": wanted,
    }


def test_the_small_splits_are_filled_from_what_a_run_grows_by() -> None:
    before = assign_splits(_alone(20), {})
    after = assign_splits(_alone(100), before.by_template)

    assert dict(after.group_counts) == {"train": 90, "validation": 5, "test": 5}


def test_a_run_of_few_groups_is_all_train_and_says_so() -> None:
    for shown in (
        _alone(1),
        _alone(MIN_GROUPS - 1),
        {f"t{n}": {("page", "one")} for n in range(50)},
    ):
        splits = assign_splits(shown, {})

        assert set(splits.by_template.values()) == {"train"}
        assert not splits.is_conclusive


def test_a_large_group_stays_in_train() -> None:
    shown = _alone(30) | {f"large{n}": {("page", "large")} for n in range(30)}

    splits = assign_splits(shown, {})

    assert {splits.by_template[f"large{n}"] for n in range(30)} == {"train"}


def test_what_joins_two_splits_leaves_all_but_the_first() -> None:
    before = assign_splits(_alone(20), {})
    low, high = (
        next(name for name, split in before.by_template.items() if split == which)
        for which in ("train", "test")
    )
    shown = _alone(20)
    shown[low].add(("goal", "both"))
    shown["new"] = {("goal", "both"), *shown[high]}

    after = assign_splits(shown, before.by_template)

    assert after.by_template[high] == "test"
    assert after.by_template["new"] == "train"
    assert after.left_out == {high}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('Click on the "Ok" button.', "Click on the “no, thanks” button."),
        ("Select  3/12/2016 as the date", "select 11/1/2015 as the date"),
        ("Type 'it is' twice", "Type 'they' twice"),
        ("Buy 1,299.50 of it", "Buy 2 of it"),
        ("点击“确定”按钮。", "点击“取消”按钮。"),
        ('点击"确定"按钮。', '点击"取消"按钮。'),
        ("「はい」を押す", "「いいえ」を押す"),
        ("选择2016年3月12日", "选择2015年11月1日"),
        ("اكتب «نعم» ثم اضغط ٣ مرات", "اكتب «لا» ثم اضغط ١٢ مرات"),
        ('اكتب "نعم" و"لا"', 'اكتب "هذا" و"ذلك"'),
        ("Schreibe „ja“ hinein", "Schreibe „nein“ hinein"),
    ],
)
def test_a_wording_leaves_out_what_varies(one: str, other: str) -> None:
    assert wording(one) == wording(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Delete Bob's mail, it's old", "Delete Bob's letter, it's old"),
        ("Click one.", "Click two."),
        ('Click "a" now', 'Click "a" later'),
        ("点击确定按钮。", "点击取消按钮。"),
        ("اضغط على نعم", "اضغط على لا"),
    ],
)
def test_a_wording_keeps_what_is_said(one: str, other: str) -> None:
    assert wording(one) != wording(other)


def _committed(**episodes: Mapping[str, object]) -> Splits:
    """Return the splits of a run with an episode a template, changed as said."""
    run = MemoryRun()
    for number, (name, change) in enumerate(episodes.items()):
        task = make_task(number * 50, template=name)
        _, [episode] = make_unit([task])
        first, *others = episode.steps
        page = {key: change[key] for key in ("title", "url") if key in change}
        picture = {key: change[key] for key in ("screenshot_sha256",) if key in change}
        first = first.model_copy(update={"page": first.page.model_copy(update=page), **picture})
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
    return published_splits(tables, templates)


def _with(episode: Episode, **change: object) -> Episode:
    return episode.model_copy(update=change)


@pytest.mark.parametrize(
    "shared",
    [
        {"title": "Inbox"},
        {"instruction": 'Press "this".'},
        {"screenshot_sha256": "0" * 64},
    ],
    ids=lambda one: next(iter(one)),
)
def test_templates_that_share_what_is_seen_first_are_one_group(shared: dict[str, object]) -> None:
    splits = _committed(one=shared, other=shared, third={})

    assert splits.groups == (frozenset({"one", "other"}), frozenset({"third"}))


@pytest.mark.parametrize(
    "lacking",
    [
        {"title": " "},
        {"instruction": " "},
        {"screenshot_sha256": sha256_hex(b"")},
    ],
    ids=lambda one: next(iter(one)),
)
def test_templates_that_lack_the_same_share_nothing(lacking: dict[str, object]) -> None:
    splits = _committed(one=lacking, other=lacking)

    assert splits.groups == (frozenset({"one"}), frozenset({"other"}))


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


def test_what_is_left_out_is_in_no_file(tmp_path: Path) -> None:
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

    assert chosen.splits.left_out == {"enter-text"}
    assert {c.template_id for c in chosen.published} == {"click-test"}
    assert report.rows["tasks"] == report.rows["results"] == 2
    assert (report.rows["attempts"], report.rows["verdicts"]) == (4, 4 * len(RULE.passed))
    assert not [path for path in contents(tmp_path) if "/test-" in path]


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
    for family, split in (("shop", "train"), ("library", "validation"), ("board", "test")):
        worlds.add(f"{family}/find", f'Find "{family}".', host=f"{family}-1", split=split)
        worlds.add(f"{family}/count", f"How many {family}?", host=f"{family}-2", split=split)

    chosen = worlds.select()

    assert set(chosen.splits.groups) == {
        frozenset({f"{family}/find", f"{family}/count"}) for family in ("shop", "library", "board")
    }
    assert chosen.splits.families == {"shop": "train", "library": "validation", "board": "test"}
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
def test_a_task_that_shows_what_an_earlier_split_shows_is_left_out_of_its_own(
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
    assert "1 episodes of 1 tasks are left out" in card
    assert "`shop` in train; none in validation; `board` in test." in card


def test_a_later_publication_keeps_the_splits_of_the_first(tmp_path: Path) -> None:
    run = MemoryRun()
    for number in range(MIN_GROUPS):
        commit_unit(run, number + 1, f"t{number}", tasks=1, attempts=1)
    published(run.seal(), tmp_path)
    first = dict(run.splits)
    for number in range(MIN_GROUPS, 45):
        commit_unit(run, number + 1, f"t{number}", tasks=1, attempts=1)
    published(run.seal(), tmp_path)

    assert sorted(first.values()) == sorted(["test", "validation", *["train"] * 8])
    assert first.items() <= run.splits.items()
    assert [list(run.splits.values()).count(split) for split in SPLITS] == [39, 3, 3]


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
