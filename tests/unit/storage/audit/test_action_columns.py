"""The flat columns of a step are parts of its action, and the audit compares them."""

import pytest
from support.episodes.factories import make_episode, make_task

from schemas.tables.tables import to_row
from storage.audit.report import Notes
from storage.audit.rows import RowChecks


@pytest.mark.parametrize(
    ("column", "value"), [(None, None), ("text", "another"), ("x", 3.25), ("action_type", "wait")]
)
def test_a_column_that_is_not_its_actions_is_named(column: str | None, value: object) -> None:
    episode = make_episode(make_task())
    notes = Notes(None)
    checks = RowChecks(None, notes)
    address = {"episode_id": episode.episode_id, "unit_id": episode.unit_id}
    altered = {} if column is None else {column: value}

    checks.check("episodes", "episodes-file", to_row(episode))
    checks.check("steps", "steps-file", address | to_row(episode.steps[0]) | altered)

    named = [one for one in notes.report().findings if "is not its action's" in one]
    assert len(named) == len(altered)
    assert all(f"{column} is not its action's" in one for one in named)
