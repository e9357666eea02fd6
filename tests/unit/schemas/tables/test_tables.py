"""The columns outsiders read, written down a second time: none may go, change type or turn null."""

import pyarrow as pa
import pytest
from conftest import Golden
from support.episodes.factories import make_episode

from schemas.base import canonical_json
from schemas.episodes.episode import Episode, FailedTry
from schemas.errors import FailureKind
from schemas.tables.published import Attempt, Result
from schemas.tables.tables import (
    TABLES,
    arrow_schema,
    from_row,
    published_step_schema,
    record_schema,
    to_row,
    trajectory_schema,
)

PROMISED: dict[str, str] = {
    "tasks": """
        task_id string, template_id string, source string, site string, site_version string?,
        start_url string, instruction string, parameters string, seed int64, max_steps int32,
        difficulty string?, tags list<string>, feasible bool?, answer_kind string?,
        rubric string?, expires_at timestamp?, split string
    """,
    "episodes": """
        episode_id string, run_id string, unit_id string, task_id string, attempt int32,
        group_id string, instruction string, site string, start_url string, policy string,
        policy_kind string, privileged bool?, dialect string?, model string?, model_revision string?,
        weights_version string?, engine string?, engine_version string?, sampling string,
        prompt_sha256 string?, browser string, browser_version string, viewport_width int32,
        viewport_height int32, device_scale_factor double, clock_ms int64, seed int64,
        capsule string, stop_reason string, failure_kind string?, failure_message string?,
        answer string?, n_steps int32, reward double?, reward_before double?, done bool,
        tries string?, trainable bool, prompt_tokens int64, completion_tokens int64,
        cached_tokens int64?, image_tokens int64?, engine_seconds double, browser_seconds double,
        wall_seconds double, cost_usd double?, started_at timestamp, ended_at timestamp,
        content_sha256 string, schema_version int32, code_version string
    """,
    "steps": """
        episode_id string, step int32, screenshot image, screenshot_sha256 string,
        screenshot_phash string, width int32, height int32, url string, title string,
        form_sha256 string?, focus string?, scroll_x double, scroll_y double, dom_sha256 string?,
        actor string, thought string?, thought_source string?, note string?, action_type string,
        action string, x double?, y double?, x_norm double?, y_norm double?, to_x double?,
        to_y double?, button string?, count int32?, text string?, key string?, direction string?,
        amount int32?, target_tag string?, target_role string?, target_name string?,
        target_text string?, target_bbox list<double>?, target_visible double?,
        target_frame string?, raw_reply string?, parse_error string?, injected_mistake string?,
        action_error string?, result_text string?, state_changed bool?, reward double?, terminated bool, truncated bool,
        observe_ms double, think_ms double, act_ms double, at timestamp
    """,
    "calls": """
        episode_id string, step int32, call int32, role string, engine string?, model string?,
        weights_version string?, prompt_sha256 string?, messages string, image_steps list<int32>,
        sent_width int32?, sent_height int32?, coordinates string?, segment int32, reply string?,
        reasoning string?, structured_mode string?,
        finish_reason string?, sampling string, prompt_tokens int32?, cached_tokens int32?,
        cacheable_tokens int32?, image_tokens int32?, completion_tokens int32?,
        wasted_tokens int32?, prompt_token_ids list<int32>?, completion_token_ids list<int32>?,
        completion_logprobs list<float>?, logprobs_mode string?, queue_ms double?,
        ttft_ms double?, total_ms double?, retries int32, cost_usd double?, at timestamp
    """,
    "prompts": """
        prompt_sha256 string, dialect string, dialect_version string, text string, tools string
    """,
    "observations": "episode_id string, step int32, elements string",
    "verdicts": """
        episode_id string, verifier string, verifier_version string, round int32, status string,
        score double?, reason string, evidence string, seconds double, cost_usd double?,
        judged_at timestamp
    """,
    "reviews": """
        episode_id string, reviewer string, decision string, reason string, step int32?,
        instruction string?, at timestamp, undoes string?
    """,
}
"""Column and type by table; `?` marks those that may be null."""

PROMISED_TRAJECTORIES = """
    accepted bool, rejected_because list<string>, assurance string, replay string?,
    replay_score double?, judge_score double?, duplicate_of string?, split string
"""
"""What the published `trajectories` have beside all columns of `episodes`."""

ARROW: dict[str, pa.DataType] = {
    "string": pa.string(),
    "bool": pa.bool_(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "list<string>": pa.list_(pa.string()),
    "list<int32>": pa.list_(pa.int32()),
    "list<float>": pa.list_(pa.float32()),
    "list<double>": pa.list_(pa.float64()),
    "image": pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
}


def _promised(text: str) -> dict[str, tuple[pa.DataType, bool]]:
    columns = (column.split() for column in text.split(","))
    return {name: (ARROW[kind.rstrip("?")], kind.endswith("?")) for name, kind in columns}


def _actual(schema: pa.Schema) -> dict[str, tuple[pa.DataType, bool]]:
    return {field.name: (field.type, field.nullable) for field in schema}


def _described(schema: pa.Schema) -> str:
    lines = (f"{f.name}: {f.type}{'' if f.nullable else ' not null'}" for f in schema)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("table", PROMISED)
def test_a_table_has_every_promised_column(table: str) -> None:
    actual = _actual(arrow_schema(table))

    assert {name: actual.get(name) for name in _promised(PROMISED[table])} == _promised(
        PROMISED[table]
    )


def test_every_table_is_promised() -> None:
    assert set(PROMISED) == set(TABLES)


def test_trajectories_are_episodes_and_what_was_thought_of_them() -> None:
    promised = _promised(PROMISED["episodes"]) | _promised(PROMISED_TRAJECTORIES)

    actual = _actual(trajectory_schema())

    assert {name: actual.get(name) for name in promised} == promised
    assert list(actual)[: len(arrow_schema("episodes"))] == arrow_schema("episodes").names


@pytest.mark.parametrize("table", TABLES)
def test_a_schema_is_what_others_rely_on(table: str, golden: Golden) -> None:
    golden(f"schema/{table}.txt", _described(arrow_schema(table)))


def test_the_published_schema_is_what_others_rely_on(golden: Golden) -> None:
    golden("schema/trajectories.txt", _described(trajectory_schema()))
    golden("schema/published_steps.txt", _described(published_step_schema()))
    golden("schema/attempts.txt", _described(record_schema(Attempt)))
    golden("schema/results.txt", _described(record_schema(Result)))


@pytest.mark.parametrize("table", TABLES)
def test_a_column_has_one_name(table: str) -> None:
    names = [name.lower() for name in arrow_schema(table).names]

    assert len(names) == len(set(names))


def test_an_unknown_table_has_no_schema() -> None:
    with pytest.raises(KeyError):
        arrow_schema("nothing")


def test_a_row_of_a_later_version_is_read_without_its_new_column_and_keys() -> None:
    stored = {"failure_kind": "page", "failure_message": "it broke", "n_steps": 3, "later": 1}
    row = to_row(make_episode()) | {"tries": canonical_json([stored]), "later": 1}

    read = from_row(Episode, row)

    assert read.tries == (
        FailedTry(failure_kind=FailureKind.PAGE, failure_message="it broke", n_steps=3),
    )
