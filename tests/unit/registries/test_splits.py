"""The registry of splits: what it holds, and what it says of a task before anybody attempts it."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.episodes.factories import make_task

from generators.sites import miniwob
from generators.sites.miniwob_catalogue import catalogue
from generators.tasks.worlds.draw import kinds_of
from generators.worlds.drawing.draw import FAMILIES
from registries.splits.groups import Key, connect, wording
from registries.splits.registry import (
    MIN_GROUPS,
    SHARE,
    Content,
    assign,
    entry_of,
    registry_version,
    split_of,
    splits_of_files,
)
from schemas.base import content_hash
from schemas.errors import BadTasks
from schemas.tasks.task import SPLITS, Task

FIRST_VERSION = "f5247add52dad3a3a255433c698d4782"
"""A hash of the entries of version 1: what was once given out stays so."""


def _entries() -> dict[str, dict[str, str]]:
    """Return the split of each template that ships, by site."""
    names = {
        "miniwob": [*miniwob.template_paths()],
        "worlds": [f"{family}/{kind}" for family in FAMILIES for kind in kinds_of(family)],
    }
    found = {site: {name: entry_of(site, name) for name in own} for site, own in names.items()}
    return {
        site: {name: "" if one is None else one.split for name, one in own.items()}
        for site, own in found.items()
    }


def test_every_template_that_ships_has_an_entry() -> None:
    for site, own in _entries().items():
        assert [name for name, split in own.items() if not split] == [], site


def test_an_entry_stays_as_it_was_in_its_version() -> None:
    """Add new templates to the hash; if another entry moved, raise the version of the registry."""
    families = {
        family: entry.split
        for family in FAMILIES
        if (entry := entry_of("worlds", f"{family}/find"))
    }

    assert registry_version() == 1
    assert content_hash([_entries()["miniwob"], families]) == FIRST_VERSION


def test_a_twentieth_of_the_groups_of_miniwob_is_in_each_of_the_small_splits() -> None:
    groups = {
        (one.split, one.group)
        for name in miniwob.template_paths()
        if (one := entry_of("miniwob", name)) is not None
    }
    counts = {split: sum(one == split for one, _ in groups) for split in SPLITS}

    assert counts["validation"] == counts["test"] == -(-len(groups) // SHARE)


def test_no_page_and_no_wording_of_miniwob_is_in_two_splits() -> None:
    owner: dict[Key, str] = {}
    for name, about in catalogue().items():
        entry = entry_of("miniwob", name)
        assert entry is not None
        for key in (("goal", wording(about.goal)), ("page", miniwob.start_url(name))):
            assert owner.setdefault(key, entry.split) == entry.split, (name, key)


def test_a_task_says_its_split_and_why_before_it_is_attempted() -> None:
    planned = make_task(1, template="text-transform").model_copy(
        update={"split": "test", "split_version": registry_version()}
    )
    own = planned.model_copy(update={"split": "train", "split_version": None})
    unplanned = planned.model_copy(update={"split": "", "split_version": None})

    assert split_of(planned)[::3] == split_of(unplanned)[::3] == ("test", 1)
    assert "entry 'text-transform' of miniwob" in split_of(planned).reason
    assert split_of(own)[:2] == ("train", "its task file names it")


def test_a_task_alone_that_no_entry_names_is_in_train() -> None:
    alone = split_of(make_task(1, template="of-nobody"))

    assert alone.split == "train"
    assert "fewer than 10 groups" in alone.reason


def test_a_task_that_another_version_put_elsewhere_is_refused_by_name() -> None:
    task = make_task(1, template="text-transform").model_copy(
        update={"split": "validation", "split_version": registry_version() + 6}
    )

    with pytest.raises(BadTasks, match=r"text-transform of miniwob .*'validation' by version 7"):
        split_of(task)


def _alone(count: int) -> list[Content]:
    """Return tasks of which each is a group of its own."""
    return [
        Content("wiki", f"t{n}", f"http://wiki.test/{n}", f"Do {chr(97 + n % 26) * (n // 26 + 1)}.")
        for n in range(count)
    ]


def _splits(contents: list[Content], stated: Mapping[str, str] | None = None) -> dict[str, str]:
    return {name: one.split for name, one in assign(contents, stated).items()}


@given(st.sets(st.integers(0, 300), min_size=MIN_GROUPS))
def test_the_split_of_a_group_does_not_depend_on_the_others(places: set[int]) -> None:
    whole = _splits(_alone(301))
    some = _splits([one for n, one in enumerate(_alone(301)) if n in places])

    assert some.items() <= whole.items()


def test_about_a_twentieth_of_the_groups_is_in_each_of_the_small_splits() -> None:
    own = [*_splits(_alone(1_000)).values()]

    assert {split: 25 <= own.count(split) <= 75 for split in SPLITS[1:]} == dict.fromkeys(
        SPLITS[1:], True
    )


def test_few_groups_are_all_in_train() -> None:
    one_page = [Content("wiki", f"t{n}", "http://wiki.test/", f"Do {n}.") for n in range(500)]

    assert {*_splits(_alone(MIN_GROUPS - 1)).values()} == {"train"}
    assert {*_splits(one_page).values()} == {"train"}
    assert len({one.group for one in assign(one_page).values()}) == 1


def test_what_shares_a_page_or_a_wording_is_in_one_split() -> None:
    held_out = next(name for name, split in _splits(_alone(200)).items() if split == "test")
    page = Content("wiki", "zz-page", f"http://wiki.test/{held_out[1:]}/", "Do something else.")
    goal = Content("wiki", "zz-goal", "http://wiki.test/else", "do   'it' else.")
    more = goal._replace(
        template="zz-more", goal='Do "that" else.', start_url="http://wiki.test/more"
    )
    splits = _splits([*_alone(200), page, goal, more])

    assert splits["zz-page"] == "test"
    assert splits["zz-goal"] == splits["zz-more"]


def test_a_group_follows_the_split_that_a_file_names() -> None:
    contents = [*_alone(50), Content("wiki", "own", "http://wiki.test/3", "Go.")]

    assert _splits(contents, {"own": "validation"})["t3"] == "validation"
    assert _splits(contents, {"own": "validation", "t3": "test"})["t3"] == "test"


def _task(number: int, **change: object) -> Task:
    return make_task(number, template=f"t{number}").model_copy(
        update={"site": "wiki", "split": "", **change}
    )


def test_the_tasks_of_files_are_assigned_together_and_once() -> None:
    tasks = [_task(number) for number in range(60)]
    found = splits_of_files(tasks)
    again = [
        task.model_copy(update={"split": one.split, "split_version": one.version})
        for task in tasks
        for one in [found[task.template_id]]
    ]

    assert {one.split for one in found.values()} == {*SPLITS}
    kept = splits_of_files(again[: MIN_GROUPS - 1] + [one for one in again if one.split == "test"])
    assert all(found[name].split == one.split for name, one in kept.items())
    assert {one.version for one in kept.values()} == {registry_version()}


def test_what_is_connected_through_a_third_is_one_group() -> None:
    keys = {
        "a": {("page", "1")},
        "b": {("page", "1"), ("goal", "x")},
        "c": {("goal", "x")},
        "d": {("page", "2")},
    }

    assert connect(keys) == (frozenset("abc"), frozenset("d"))


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
