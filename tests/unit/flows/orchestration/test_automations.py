"""What makes a dead night go on, as the server reads it: of our flows, bounded, and with every end that there is."""

from typing import Any

import yaml
from conftest import ROOT
from prefect.client.schemas.objects import TERMINAL_STATES
from prefect.events.schemas.automations import AutomationCore

from flows.orchestration.deploy import AUTOMATIONS

FOUND: dict[str, dict[str, Any]] = {
    one["name"]: one for one in yaml.safe_load((ROOT / AUTOMATIONS).read_text())["automations"]
}
DEPLOYED = yaml.safe_load((ROOT / "prefect.yaml").read_text())


def test_the_server_s_own_schema_takes_each() -> None:
    for one in FOUND.values():
        assert AutomationCore.model_validate(one).name == one["name"]
    assert {*FOUND} == {"stepmill-silent", "stepmill-never-begun", "stepmill-again"}


def test_each_acts_on_our_flows_alone() -> None:
    names = sorted(one["entrypoint"].rpartition(".")[2] for one in DEPLOYED["deployments"])
    for one in FOUND.values():
        flow, tag = one["trigger"]["match_related"]
        assert flow["prefect.resource.role"] == "flow"
        assert sorted({*flow["prefect.resource.name"]}) == names
        assert tag == {
            "prefect.resource.role": "tag",
            "prefect.resource.id": f"prefect.tag.{DEPLOYED['deployments'][0]['tags'][0]}",
        }
    assert {tuple(one["tags"]) for one in DEPLOYED["deployments"]} == {("stepmill",)}


def test_silence_after_an_end_is_no_death() -> None:
    expected = {*FOUND["stepmill-silent"]["trigger"]["expect"]}
    ends = {f"prefect.flow-run.{state.value.capitalize()}" for state in TERMINAL_STATES}

    assert expected >= {*ends, "prefect.flow-run.Skipped", "prefect.flow-run.heartbeat"}
    assert {*FOUND["stepmill-never-begun"]["trigger"]["expect"]} >= ends


def test_a_death_is_told_before_three_heartbeats_are_missing_and_starts_are_bounded() -> None:
    every = int(
        DEPLOYED["deployments"][0]["work_pool"]["job_variables"]["env"][
            "PREFECT_FLOWS_HEARTBEAT_FREQUENCY"
        ]
    )
    again = FOUND["stepmill-again"]["trigger"]["match"]["prefect.run-count"]

    assert FOUND["stepmill-silent"]["trigger"]["within"] == 3 * every
    assert again == ["1", "2", "3"]
    for one in DEPLOYED["deployments"]:
        assert one["work_pool"] == DEPLOYED["definitions"]["pool"]
