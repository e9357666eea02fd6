"""Which episodes of a run repeat another one, and what the rule makes of it."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from schemas.base import JsonObject
from schemas.configuration.sections import AcceptSection
from schemas.verdicts import novelty
from schemas.verdicts.acceptance import AcceptanceStatus, JudgedEpisode, accept_all
from schemas.verdicts.novelty import MAX_COMPARED, Fingerprints, Repeats, find_repeats
from schemas.verdicts.step_label import Label, StepLabel
from schemas.verdicts.verdict import Status, Verdict

NOVEL = AcceptSection(passed=("novelty",))


def _verdict(verifier: str, status: Status, evidence: JsonObject) -> Verdict:
    return Verdict(
        episode_id="e",
        unit_id="u",
        verifier=verifier,
        verifier_version="1",
        round=0,
        status=status,
        reason="Because.",
        evidence=evidence,
        seconds=0.0,
        judged_at=datetime(2026, 1, 2, tzinfo=UTC),
    )


def _judged(id_: str, trajectory: str, *others: Verdict) -> JudgedEpisode:
    evidence: JsonObject = {
        "trajectory": trajectory,
        "course": trajectory,
        "pictures": ["0"],
        "task": id_,
    }
    return JudgedEpisode(id_, "t", (_verdict("novelty", Status.PASSED, evidence), *others))


def _prints(**changes: str) -> Fingerprints:
    """Return fingerprints that no other has, but for `changes`."""
    pictures = (changes.pop("picture", "f" * 64),)
    unique = {
        name: changes.get(name, f"{id(changes)}") for name in ("trajectory", "course", "task")
    }
    return Fingerprints(**unique, pictures=pictures)


def test_of_equal_episodes_the_first_by_id_is_accepted() -> None:
    judged = accept_all(NOVEL, [_judged(id_, "same") for id_ in ("c", "a", "b")])

    assert {id_ for id_, one in judged.items() if one.acceptance.accepted} == {"a"}
    assert judged["a"].acceptance.duplicate_of is None
    assert judged["b"].status is AcceptanceStatus.REJECTED
    assert judged["c"].acceptance.rejected_because == ("novelty: repeats: a copy of a",)


def test_a_copy_is_only_labelled_where_the_rule_does_not_name_novelty() -> None:
    judged = accept_all(AcceptSection(passed=()), [_judged(id_, "same") for id_ in ("a", "b")])

    assert judged["b"].status is AcceptanceStatus.ACCEPTED
    assert judged["b"].acceptance.duplicate_of == "a"


@pytest.mark.parametrize("torn", ["", "none", " "])
def test_a_picture_without_a_hash_is_near_no_other(torn: str) -> None:
    own = {id_: _prints(course="same", trajectory=id_, picture=torn) for id_ in ("a", "b")}
    whole = {id_: _prints(course="same", trajectory=id_) for id_ in ("c", "d")}

    found = find_repeats(own | whole, dict.fromkeys("abcd", "t"))

    assert {id_: one.near_duplicate_of for id_, one in found.items()} == {"d": "c"}


def test_every_episode_has_the_labels_of_its_steps_a_copy_too() -> None:
    evidence: JsonObject = {"steps": [{"label": "on_path", "visible_change": True}]}
    told = _verdict("steps", Status.PASSED, evidence)

    judged = accept_all(NOVEL, [_judged("a", "same", told), _judged("b", "same", told)])

    assert judged["b"].status is AcceptanceStatus.REJECTED
    label = StepLabel(label=Label.ON_PATH, visible_change=True)
    assert [one.labels for one in judged.values()] == [(label,), (label,)]


def test_what_the_rule_rejects_is_no_original() -> None:
    rule = AcceptSection(passed=("novelty", "structure"))
    statuses = {"a": Status.FAILED, "b": Status.PASSED, "c": Status.PASSED}
    episodes = [
        _judged(id_, "same", _verdict("structure", status, {})) for id_, status in statuses.items()
    ]

    judged = accept_all(rule, episodes)

    assert judged["b"].status is AcceptanceStatus.ACCEPTED
    assert judged["c"].acceptance.duplicate_of == "b"


def test_an_episode_without_fingerprints_repeats_nothing() -> None:
    torn = JudgedEpisode("b", "t", (_verdict("novelty", Status.PASSED, {"trajectory": "same"}),))

    judged = accept_all(NOVEL, [_judged("a", "same"), torn])

    assert judged["b"].acceptance.duplicate_of is None


@pytest.mark.parametrize(
    ("other", "is_near"),
    [
        (_prints(course="one"), True),
        (_prints(course="one", picture="f" * 60 + "0000"), True),
        (_prints(course="one", picture="f" * 59 + "00000"), False),
        (_prints(course="two"), False),
        (_prints(course="one", picture="f" * 16), False),
        (_prints(course="one")._replace(pictures=("f" * 64,) * 2), False),
    ],
    ids=["the same", "near", "too far", "another course", "an older hash", "longer"],
)
def test_near_copies_share_their_course_and_have_near_pictures(
    other: Fingerprints, *, is_near: bool
) -> None:
    episodes = {"a": _prints(course="one", trajectory="a", task="a"), "b": other}

    found = find_repeats(episodes, {"a": "t", "b": "t"})

    assert found == ({"b": Repeats(near_duplicate_of="a")} if is_near else {})


def test_equal_tasks_name_the_first_of_them() -> None:
    episodes = {id_: _prints(trajectory=id_, course=id_, task="same") for id_ in ("a", "b", "c")}

    found = find_repeats(episodes, {"a": "t2", "b": "t1", "c": "t1"})

    assert found == {"a": Repeats(same_task_as="t1")}


def test_an_episode_is_compared_with_a_bounded_number_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: Counter[str] = Counter()

    def never(one: str, other: str) -> bool:
        compared[one] += 1
        return one == other

    monkeypatch.setattr(novelty, "_is_near", never)
    episodes = {
        f"{n:04}": _prints(trajectory=str(n), task=str(n), course="one", picture=str(n))
        for n in range(500)
    }
    find_repeats(episodes, dict.fromkeys(episodes, "t"))

    assert max(compared.values()) == MAX_COMPARED
