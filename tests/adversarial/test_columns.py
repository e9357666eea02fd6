"""Every column of every table is held by somebody, or it is said who could not hold it.

A column that `structure` holds is altered alone, with the digest over the steps taken again: that is
rejected. One that `replay` holds is altered by a kind of lie that `test_lies.py` tells on real pages. One
that nobody can tell from the truth is accepted when altered, so that the list says no more than what is.
"""

import types
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import pytest
from adversarial.lies.catalogue import LIES, UNTOLD
from support.browsers.scripted_rollouts import scripted_task
from support.episodes.altered_episodes import call, changed, defects, examined, replied, step, won

from schemas.base import Record
from schemas.episodes.action import Click
from schemas.episodes.call import WeightsSpan
from schemas.episodes.episode import Episode, FailedTry, PolicyKind, StopReason, ThoughtSource
from schemas.episodes.mistake import InjectedMistake
from schemas.episodes.observation import Screenshot
from schemas.episodes.state_delta import Delta
from schemas.errors import FailureKind
from schemas.page_facts import PageFacts
from schemas.tables.tables import arrow_schema
from schemas.tasks.expectation import Expectation
from schemas.tasks.reference import REFERENCE
from schemas.tasks.task import Task
from schemas.tasks.task_file import TaskFile

KEYS = {"episode_id", "unit_id"}
"""Columns by which rows of an episode's other tables refer to it; the audit compares them."""

STRUCTURE: Mapping[str, frozenset[str]] = {
    "tasks": frozenset(
        [
            "task_id",
            "template_id",
            "site",
            "site_version",
            "start_url",
            "instruction",
            "parameters",
            "seed",
            "expect",
            "files",
            "page",
            "user",
            "fault",
        ]
    ),
    "episodes": frozenset(
        [
            "episode_id",
            "run_id",
            "task_id",
            "attempt",
            "group_id",
            "site",
            "start_url",
            "policy_kind",
            "dialect",
            "model",
            "model_revision",
            "weights_version",
            "engine",
            "sampling",
            "prompt_sha256",
            "browser",
            "viewport_width",
            "viewport_height",
            "device_scale_factor",
            "clock_ms",
            "seed",
            "capsule",
            "stop_reason",
            "failure_kind",
            "failure_message",
            "answer",
            "n_steps",
            "reward",
            "done",
            "state_before_sha256",
            "state_after_sha256",
            "delta",
            "trainable",
            "prompt_tokens",
            "completion_tokens",
            "cached_tokens",
            "image_tokens",
            "engine_seconds",
            "browser_seconds",
            "wall_seconds",
            "cost_usd",
            "started_at",
            "ended_at",
            "content_sha256",
            "schema_version",
        ]
    ),
    "steps": frozenset(
        [
            "step",
            "screenshot",
            "screenshot_sha256",
            "screenshot_phash",
            "width",
            "height",
            "actor",
            "thought",
            "thought_source",
            "note",
            "action",
            "x_norm",
            "y_norm",
            "raw_reply",
            "parse_error",
            "injected_mistake",
            "state_changed",
            "terminated",
            "truncated",
            "observe_ms",
            "think_ms",
            "act_ms",
            "at",
        ]
    ),
    "calls": frozenset(
        [
            "step",
            "call",
            "role",
            "engine",
            "model",
            "weights_version",
            "weights_spans",
            "prompt_sha256",
            "messages",
            "image_steps",
            "sent_width",
            "sent_height",
            "coordinates",
            "segment",
            "reply",
            "structured_mode",
            "finish_reason",
            "sampling",
            "prompt_tokens",
            "cached_tokens",
            "image_tokens",
            "completion_tokens",
            "wasted_tokens",
            "prompt_token_ids",
            "completion_token_ids",
            "completion_logprobs",
            "logprobs_mode",
            "queue_ms",
            "ttft_ms",
            "total_ms",
            "cost_usd",
            "at",
        ]
    ),
    "prompts": frozenset(["prompt_sha256", "dialect", "dialect_version", "text", "tools"]),
    "observations": frozenset({"step"}),
}
"""Columns that follow from others, the task, the capsule or the calls."""

REPLAY: Mapping[str, Mapping[str, str]] = {
    "episodes": {"instruction": "instruction_altered", "reward_before": "paid_already_before"},
    "steps": {
        "url": "url_altered",
        "title": "title_altered",
        "form_sha256": "form_altered",
        "focus": "focus_altered",
        "scroll_x": "scroll_altered_across",
        "scroll_y": "scroll_altered",
        "dom_sha256": "dom_altered",
        "dialog": "dialog_made_up",
        "tab": "tab_altered",
        "tabs": "tabs_made_up",
        "elements_left_out": "left_out_altered",
        "downloads": "download_made_up",
        "delta": "change_of_the_server_made_up",
        "target_tag": "target_s_tag_altered",
        "target_role": "target_s_role_altered",
        "target_name": "target_s_name_altered",
        "target_text": "target_s_text_altered",
        "target_bbox": "target_s_box_widened",
        "target_visible": "target_s_share_altered",
        "target_frame": "target_s_frame_altered",
        "action_error": "action_error_altered",
        "result_text": "result_text_made_up",
        "reward": "paid_one_step_early",
    },
    "observations": {"elements": "elements_renamed", "sights": "text_in_sight_altered"},
}
"""Columns that a second execution shows, and a kind of lie about each."""

WRITTEN: frozenset[str] = frozenset(
    [
        "action_type",
        "x",
        "y",
        "to_x",
        "to_y",
        "button",
        "count",
        "text",
        "key",
        "direction",
        "amount",
        "accept",
    ]
)
"""Columns of `steps` that are parts of `action`; the audit compares them with it."""

NOBODY: Mapping[str, Mapping[str, str]] = {
    "tasks": {
        "source": "where a task came from shows in nothing else",
        "max_steps": "a limit that was not reached shows in nothing else",
        "difficulty": "a label of the task file",
        "tags": "labels of the task file",
        "feasible": "a word of the task file",
        "answer_kind": "a word of the task file",
        "rubric": "a word of the task file; no verifier reads it yet",
        "reference": "a word of the task file; `tasks check` carries it out",
        "expires_at": "a word of the task file",
        "original_instruction": "a word of the task file, which reads it as the task's own goal",
        "rephrased_by": "a word of the task file",
        "split": "a word of the task file, or of the registry of splits",
        "split_version": "the registry's version; publication refuses one that says otherwise",
    },
    "episodes": {
        "unit_id": "made from the tasks of the whole unit; the audit derives it",
        "asked_group": "the client's own word for attempts that belong together",
        "asked_group_size": "the client's own word",
        "policy": "the same actions may be anybody's",
        "privileged": "who wrote a model's replies shows in nothing else; of a teacher `structure` knows",
        "engine_version": "the server's own word",
        "browser_version": "a replay runs in the browser that is there",
        "tries": "a try that failed leaves nothing but this",
        "blocked": "what the gateway refused leaves nothing but this",
        "code_version": "the program that recorded is gone",
    },
    "calls": {
        "reasoning": "the server's own word",
        "cacheable_tokens": "other conversations sent what a cache could serve; `structure` knows its bound",
        "retries": "a request that was repeated leaves nothing but this",
    },
}
"""Columns of which nothing in an episode and in a second execution depends, with why."""


def test_every_column_of_every_table_is_assigned_once() -> None:
    for table in ("tasks", "episodes", "steps", "observations", "calls", "prompts"):
        names = set(arrow_schema(table).names)
        if table not in ("tasks", "episodes", "prompts"):
            names -= KEYS
        classes = [
            set(STRUCTURE.get(table, ())),
            set(REPLAY.get(table, ())),
            set(NOBODY.get(table, ())),
            set(WRITTEN) if table == "steps" else set(),
        ]
        assert set().union(*classes) == names, table
        assert sum(map(len, classes)) == len(names), table


@pytest.mark.parametrize(
    "name", sorted({name for columns in REPLAY.values() for name in columns.values()})
)
def test_a_column_that_a_replay_shows_is_lied_about_on_real_pages(name: str) -> None:
    assert LIES[name].by == "replay"


NEW: Mapping[str, object] = {
    "steps.thought_source": ThoughtSource.TEMPLATE,
    "steps.action": Click(x=50, y=50),
    "steps.screenshot": Screenshot(bytes=b"another", path="x.jpg"),
    "steps.injected_mistake": InjectedMistake.TYPO,
    "steps.terminated": True,
    "steps.truncated": True,
    "episodes.policy_kind": PolicyKind.SCRIPTED,
    "episodes.failure_kind": "page",
    "episodes.stop_reason": StopReason.STEP_LIMIT,
    "episodes.tries": (FailedTry(failure_kind=FailureKind.PAGE, failure_message="", n_steps=1),),
    "steps.think_ms": 60_000.0,
    "tasks.split": "test",
    "tasks.parameters": {"level": 1},
    "tasks.expect": Expectation(answer="42"),
    "tasks.files": (TaskFile(name="a.txt", text="1"),),
    "tasks.page": PageFacts(locale="de-DE"),
    "tasks.reference": REFERENCE.validate_python([{"do": "answer", "text": "42"}]),
    "episodes.delta": Delta(),
    "calls.weights_spans": (WeightsSpan(version="7"),),
    "calls.prompt_token_ids": (1, 2, 3),
    "calls.image_steps": (1,),
    "calls.completion_logprobs": None,
    "calls.structured_mode": None,
    "calls.coordinates": "px",
    "calls.finish_reason": "length",
    "calls.wasted_tokens": 4,
    "calls.cost_usd": 99.0,
    "calls.reasoning": "So.",
    "prompts.tools": None,
}
"""What is told of a column that another value of its type would not do for."""


ALTER: tuple[tuple[type | types.UnionType, Callable[[Any], object]], ...] = (
    (bool, lambda value: not value),
    (StrEnum, lambda value: next(one for one in type(value) if one is not value)),
    (int | float, lambda value: value + 1),
    (str, lambda value: value + "x"),
    (datetime, lambda value: value + timedelta(days=1)),
    (tuple, lambda value: (*value, *value) or ("x",)),
    (dict, lambda value: {**value, "more": 1}),
    (list, lambda value: value[:-1]),
)
"""By a value's type, another value of it."""


def _other(where: str, value: object, record: Record) -> object:
    """Return another value of a column."""
    if where in NEW:
        return NEW[where]
    other = next((alter for kind, alter in ALTER if isinstance(value, kind)), None)
    if other is not None:
        return other(value)
    name = where.partition(".")[2]
    annotation = str(type(record).model_fields[name].annotation)
    return 1 if "int" in annotation else 1.5 if "float" in annotation else "x"


async def _altered(table: str, name: str) -> tuple[Task, Episode]:
    """Return an episode of a model, and its task, with one column altered."""
    task, episode = scripted_task(), await replied()
    if table == "tasks":
        told = _other(f"tasks.{name}", getattr(task, name), task)
        return task.model_copy(update={name: told}), episode
    record: Any = {
        "episodes": episode,
        "steps": episode.steps[0],
        "calls": episode.calls[0],
        "prompts": episode.prompts[0],
    }[table]
    update: dict[str, Any] = {name: _other(f"{table}.{name}", getattr(record, name), record)}
    if table == "episodes":
        return task, changed(**update)(episode)
    if table == "steps":
        return task, step(0, **update)(episode)
    if table == "calls":
        return task, call(0, **update)(episode)
    return task, changed(prompts=(record.model_copy(update=update),))(episode)


HELD = [
    (table, name)
    for table, names in STRUCTURE.items()
    for name in sorted(names)
    if table != "observations"
]


@pytest.mark.parametrize(("table", "name"), HELD, ids=str)
async def test_a_column_that_follows_from_others_cannot_be_altered(table: str, name: str) -> None:
    task, episode = await _altered(table, name)

    assert defects(await examined(episode, task))


UNHELD = [(table, name) for table, names in NOBODY.items() for name in sorted(names)]


@pytest.mark.parametrize(("table", "name"), UNHELD, ids=str)
async def test_a_column_that_nobody_can_hold_is_said_to_be_so(table: str, name: str) -> None:
    task, episode = await _altered(table, name)

    assert defects(await examined(episode, task)) == []


async def test_what_a_policy_thinks_without_a_model_is_its_own_word() -> None:
    for name in ("thought", "note"):
        told = step(0, **{name: "Another."})(await won())

        assert defects(await examined(told)) == []
    assert {"thought_that_quotes_nothing", "note_made_up"} <= UNTOLD.keys()
