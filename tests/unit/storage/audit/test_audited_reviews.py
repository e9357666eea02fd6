"""Reviews that were committed past the rules: a deep audit names each."""

from pathlib import Path

import pytest
from support.episodes.factories import make_whole_run
from support.episodes.reviewed import make_review

from schemas.tables.tables import to_row
from schemas.verdicts.review import Review, identify, review_id
from storage.audit import audit

UNKNOWN = "0" * 32


def _of(episode: str, name: str) -> list[Review]:
    one = make_review(episode)
    undo = make_review(episode, "mark", undoes=review_id(one), after=1)
    return {
        "right": [one, undo],
        "twice": [one, one],
        "of no episode": [make_review(UNKNOWN)],
        "withdraws nothing": [undo],
        "withdraws another's": [
            one,
            make_review(episode, "mark", reviewer="ben", undoes=review_id(one), after=1),
        ],
    }[name]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("right", None),
        ("twice", "has a second row"),
        ("of no episode", f"reviews episode {UNKNOWN}, which does not exist"),
        ("withdraws nothing", "withdraws one that does not exist"),
        ("withdraws another's", "withdraws one that is not its reviewer's"),
        ("altered", "is not the hash of what the review says"),
    ],
)
async def test_a_wrong_review_is_named(tmp_path: Path, name: str, told: str | None) -> None:
    run = await make_whole_run(tmp_path / "run", units=1)
    episode = run.units[0].episodes[0].episode_id
    reviews = _of(episode, "right" if name == "altered" else name)
    rows = [to_row(identify(one)) for one in reviews]
    if name == "altered":
        rows = [rows[0] | {"reason": "said by nobody"}]
    lake = run.lake()
    for number, row in enumerate(rows):
        await lake.commit_rows("reviews", [f"{number:032x}"], [row])
    await lake.close()

    findings = (await audit(run.store, deep=True)).findings

    assert (await audit(run.store, deep=False)).findings == ()
    assert [told in one for one in findings] == [True] if told else findings == ()
