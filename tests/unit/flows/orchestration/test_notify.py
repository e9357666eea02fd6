"""The automation that tells people of a night that fell is one that Prefect takes."""

from pathlib import Path

import yaml
from prefect.events.schemas.automations import AutomationCore

from flows.orchestration.dataset_events import FELL

ROOT = Path(__file__).parents[4]


def test_prefect_takes_the_automation_and_it_waits_for_the_event_that_is_emitted() -> None:
    [told] = yaml.safe_load((ROOT / "notify.yaml").read_text())["automations"]

    automation = AutomationCore.model_validate(told)

    assert set(automation.trigger.expect) == {FELL}  # type: ignore[union-attr] # an event's trigger
    [action] = automation.actions
    assert action.type == "send-notification"
