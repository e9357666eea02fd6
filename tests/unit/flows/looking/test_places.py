"""An attempt is found by the beginning of its id, and failures are chosen of several causes."""

from collections.abc import Collection, Iterator

import pytest

from flows.looking.places import Attempts, Head, failures, find_attempt
from schemas.configuration.sections import AcceptSection
from schemas.errors import NotFound
from schemas.verdicts.acceptance import AcceptanceStatus
from schemas.verdicts.full_episode import FullEpisode
from schemas.verdicts.verdict import Verdict


class _Attempts(Attempts):
    """Attempts in memory, without steps."""

    def __init__(self, *heads: Head) -> None:
        self.address = "runs/demo"
        self.heads = heads
        self.rule = AcceptSection()
        self.withdrawn = {"dead" * 8: "shows a name"}
        self.waiting = frozenset({"beef" * 8})

    def read(self, ids: Collection[str]) -> Iterator[FullEpisode]:
        del ids
        yield from ()

    def verdicts(self, ids: Collection[str]) -> dict[str, list[Verdict]]:
        return {id_: [] for id_ in ids}


def _head(id_: str, reason: str | None = "outcome: failed: x", template: str = "a") -> Head:
    status = AcceptanceStatus.REJECTED if reason else AcceptanceStatus.ACCEPTED
    return Head(id_.ljust(32, "0"), template, "miniwob", "teacher", 3, status, None, reason, False)  # noqa: FBT003


SEVERAL = _Attempts(_head("abcd1"), _head("abcd2"), _head("abcd3", None), _head("ffff"))


def test_as_much_of_an_id_as_begins_no_other_names_it() -> None:
    assert find_attempt(SEVERAL, "abcd2").episode_id.startswith("abcd2")
    assert find_attempt(SEVERAL, "ffff").episode_id.startswith("ffff")


def test_a_beginning_of_several_ids_names_them() -> None:
    with pytest.raises(NotFound) as refused:
        find_attempt(SEVERAL, "abcd")

    told = str(refused.value)
    assert "'abcd' begins 3 episodes: abcd1" in told
    assert "say more of the id" in told


@pytest.mark.parametrize(
    ("prefix", "said"),
    [
        ("deadde", "was withdrawn: shows a name"),
        ("beefbe", "its unit is not committed yet"),
        ("fffe", "has no episode 'fffe'; did you mean 'ffff0000'"),
    ],
)
def test_what_is_not_there_is_named(prefix: str, said: str) -> None:
    with pytest.raises(NotFound, match="episode") as refused:
        find_attempt(SEVERAL, prefix)

    assert said in str(refused.value)


def test_failures_are_one_of_each_cause_before_a_second_of_any() -> None:
    run = _Attempts(
        _head("1"),
        _head("2"),
        _head("3"),
        _head("4", "seen: failed: step 1"),
        _head("5", "outcome: failed: y", "b"),
        _head("6", None),
    )

    chosen = [one.episode_id[0] for one in failures(run, count=3)]

    assert sorted(chosen) == ["1", "4", "5"]
    assert [one.episode_id[0] for one in failures(run)][:3] == chosen
    assert len(failures(run)) == 5
    assert [one.episode_id[0] for one in failures(run, template="b")] == ["5"]


def test_an_unknown_template_names_the_nearest() -> None:
    with pytest.raises(NotFound, match="has no attempt of the template 'login'"):
        failures(_Attempts(_head("1", template="login-user")), template="login")
