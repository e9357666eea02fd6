"""What the artifacts of flows are called."""

import pytest
from prefect.runtime import deployment

from flows.orchestration.observer import artifact_key


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
