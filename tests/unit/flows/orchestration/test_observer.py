"""What artifacts and units of flows are called, and how a night that is not made ends."""

import pytest
from prefect.runtime import deployment
from support.episodes.factories import make_task

from flows.job.plan import plan_units
from flows.orchestration.observer import artifact_key, skip_state
from schemas.configuration.config import RunConfig


@pytest.mark.parametrize(
    ("name", "key"),
    [
        (None, "generate-summary"),
        ("generate-nightly", "generate-nightly-summary"),
        ("My Night, 2×", "my-night-2-summary"),
        ("×", "generate-summary"),
    ],
)
def test_each_deployment_has_a_history_of_its_own(
    name: str | None, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deployment, "name", name, raising=False)

    assert artifact_key("generate", "summary") == key


def test_a_unit_is_called_by_what_is_in_it() -> None:
    tasks = [make_task(number, template=name) for number, name in enumerate("aabcdef")]
    config = RunConfig.model_validate({"tasks": {"attempts": 2, "unit_size": 14}})
    [unit] = plan_units(config, tasks, run_id="r")

    assert unit.title == "miniwob: a ×2, b, c, d and 2 more (14 episodes)"


def test_a_night_that_later_ones_replace_says_so() -> None:
    one, three = skip_state(1), skip_state(3)

    assert (one.name, one.is_completed()) == ("Skipped", True)
    assert one.message == "missed, and a later run of its schedule is due (parameter `missed`)"
    assert three.message == "missed, and 3 later runs of its schedule are due (parameter `missed`)"
