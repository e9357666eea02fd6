"""Caps and mixtures: the first in the order of publication are taken, whatever the order of the tables."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError
from support.runs.memory_run import (
    RULE,
    TEST,
    TRAIN,
    MemoryRun,
    MemorySnapshot,
    commit_unit,
    small_run,
    tables_of,
)

from schemas.configuration.select_section import SelectKey, SelectSection
from schemas.errors import BadConfig
from storage.publish.plan.candidate import Candidate, family_of
from storage.publish.plan.choice import choose
from storage.publish.plan.selection import Selection, select


def _select(snapshot: MemorySnapshot, *, rejected: bool = False, **keys: Any) -> Selection:
    section = SelectSection(**keys)
    return select(tables_of(snapshot), RULE, include_rejected=rejected, section=section)


def _by_template(selection: Selection) -> Mapping[str, int]:
    return Counter(one.template_id for one in selection.published)


def test_a_cap_takes_the_first_of_each_template_in_the_order_of_publication() -> None:
    whole, chosen = _select(small_run().seal()), _select(small_run().seal(), max_per_template=2)

    assert set(_by_template(whole).values()) == {3, 4}
    assert set(_by_template(chosen).values()) == {2}
    for template in _by_template(whole):
        first = [one.episode_id for one in whole.published if one.template_id == template][:2]
        assert [c.episode_id for c in chosen.published if c.template_id == template] == first
    assert chosen.left_out == {"max_per_template": 4}


def test_what_is_not_accepted_takes_no_place_and_is_not_said_to_be_left_out() -> None:
    chosen = _select(small_run().seal(), max_per_template=2)

    rejected = [one for one in chosen.candidates if not one.acceptance.accepted]
    assert len(rejected) == 2
    assert {one.left_out_by for one in rejected} == {None}
    assert not any(map(chosen.publishes, rejected))


def test_a_cap_of_tasks_takes_one_attempt_of_each() -> None:
    chosen = _select(small_run().seal(), max_per_task=1)

    assert max(Counter(one.task_id for one in chosen.published).values()) == 1
    assert len({one.task_id for one in chosen.published}) == 6


def test_what_is_selected_does_not_depend_on_the_order_of_the_tables() -> None:
    snapshot = small_run().seal()
    turned = {name: [part[::-1] for part in parts[::-1]] for name, parts in snapshot.rows.items()}
    keys: dict[str, Any] = {"where": "n_steps < 9", "max_per_template": 2, "max_per_task": 1}

    one = _select(snapshot, **keys)
    other = _select(replace(snapshot, rows=turned), **keys)

    assert [c.episode_id for c in one.published] == [c.episode_id for c in other.published]
    assert one.left_out == other.left_out


def test_a_run_that_goes_on_keeps_what_was_selected() -> None:
    run = small_run()
    first = _select(run.seal(), max_per_template=5, max_per_task=1)
    commit_unit(run, 4, TRAIN)
    commit_unit(run, 5, TRAIN)
    second = _select(run.seal(), max_per_template=5, max_per_task=1)

    ids = [one.episode_id for one in first.published]
    assert [one.episode_id for one in second.published][: len(ids)] == ids
    assert _by_template(second)[TRAIN] == 5


def test_what_other_nights_hold_of_a_template_and_of_its_family_counts() -> None:
    (one, *_) = _select(small_run().seal()).published
    rows = [
        replace(one, episode_id=f"{number}", task_id=f"t{number}", template_id=template)
        for number, template in enumerate(("shop/find", "shop/buy", "shop/find", "mail/send"))
    ]
    section = SelectSection(max_per_template=3, max_per_family=4)

    out = choose(_no_tables(), rows, section, {"shop/find": 2, "shop/sell": 1})

    assert out == {"1": SelectKey.MAX_PER_FAMILY, "2": SelectKey.MAX_PER_TEMPLATE}
    assert [family_of(name) for name in ("shop/find", "click-test")] == ["shop", "click-test"]


def _no_tables() -> Any:
    """Return nothing: caps and shares read no table."""
    return None


def _of_sites(counts: Mapping[str, int], split: str = "train") -> list[Candidate]:
    (one, *_) = _select(small_run().seal()).published
    acceptance = one.acceptance.model_copy(update={"split": split})
    return [
        replace(one, episode_id=f"{split}-{site}-{number:03d}", site=site, acceptance=acceptance)
        for site, count in counts.items()
        for number in range(count)
    ]


def test_shares_make_the_largest_mixture_of_train_and_leave_the_other_splits_as_they_are() -> None:
    made = [*_of_sites({"a": 70, "b": 100, "c": 5}), *_of_sites({"a": 1, "c": 9}, "test")]

    out = choose(_no_tables(), made, SelectSection(shares={"a": 0.7, "b": 0.3}), {})

    left = [one for one in made if one.episode_id not in out]
    assert Counter(one.site for one in left if one.acceptance.split == "train") == {
        "a": 70,
        "b": 30,
    }
    assert sum(one.acceptance.split == "test" for one in left) == 10
    assert [c.episode_id for c in left if c.site == "b"] == [f"train-b-{n:03d}" for n in range(30)]
    assert set(out.values()) == {SelectKey.SHARES}


def test_a_tenth_is_a_tenth_and_thirds_may_be_written() -> None:
    made = _of_sites({"a": 9, "b": 1})
    out = choose(_no_tables(), made, SelectSection(shares={"a": 0.9, "b": 0.1}), {})
    assert out == {}

    thirds = SelectSection(shares={"a": 0.333, "b": 0.333, "c": 0.334})
    out = choose(_no_tables(), _of_sites({"a": 5, "b": 5, "c": 5}), thirds, {})
    assert len(out) <= 3


@pytest.mark.parametrize("shares", [{"a": 0.5, "b": 0.4}, {"a": 0.7, "b": 0.7}, {"a": 0.5}])
def test_shares_that_do_not_add_up_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="shares add up to 1, and these to "):
        SelectSection(shares=shares)


def test_a_share_of_no_site_and_a_site_without_an_episode_in_train_are_refused() -> None:
    made = [*_of_sites({"a": 3}), *_of_sites({"b": 3}, "test")]

    with pytest.raises(BadConfig, match=r"no episode in train is of b; there are a \(3\)"):
        choose(_no_tables(), made, SelectSection(shares={"a": 0.5, "b": 0.5}), {})
    with pytest.raises(BadConfig, match="no episode in train is of shop; there are miniwob"):
        _select(small_run().seal(), shares={"shop": 1.0})


def test_the_counts_of_a_selection_are_of_what_is_published() -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, model=True)
    commit_unit(run, 2, TEST)
    chosen = _select(run.seal(), where=f"template_id = '{TEST}'")

    assert chosen.origins["model"] == {"": 4}
    assert sum(chosen.origins["site"].values()) == sum(1 for _ in chosen.published) == 4
    assert {count for (name, _), count in chosen.judges.items() if name == "outcome"} == {4}
