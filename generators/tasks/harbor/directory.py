"""A task as a directory of Harbor: its files by their paths, made from the task and an episode that did it.

The container has no browser. It has `seat`, a program that takes a seat at a Stepmill server, and the page is there. The
verifier ends the episode and writes the site's own reward; where the site gave none it writes nothing, which Harbor
takes for a failure. The oracle acts as a recorded episode did. The same task and episode give the same bytes.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import JsonValue

from generators.tasks.files import JSON_COLUMNS, row_of
from generators.tasks.site_offers import SiteOffer, make_template_task
from schemas.base import JsonObject
from schemas.episodes.action import NoAction
from schemas.episodes.episode import Episode
from schemas.tasks.task import SPLITS, Task

SCHEMA_VERSION = "1.4"
"""The version of Harbor's `task.toml` that is written; that of Harbor 0.26."""

ORGANISATION = "stepmill"
"""The organisation in the names of tasks."""

CONFIG = "task.toml"
"""The file by which a directory is a task."""

_MAX_NAME = 60
_VERIFIER_SECONDS = 600.0

_DOCKERFILE = """\
FROM python:3.12-slim
COPY seat.py task.json /opt/stepmill/
RUN chmod 755 /opt/stepmill/seat.py && ln -s /opt/stepmill/seat.py /usr/local/bin/seat
WORKDIR /root
"""

_INSTRUCTION = """\
{goal}

The page is in a browser elsewhere, and the program `seat` is your way to it:

* `seat look` tells the page: its address, its elements with the middle of each, and the file with its picture.
* `seat act '{{"type": "click", "x": 80, "y": 100}}'` acts and tells the page then. Points are in CSS pixels of `viewport`.
* `seat actions` tells every action there is.
* `seat act '{{"type": "answer", "text": "…"}}'` says that you are done, with the answer where the task asks for one.

The attempt is over when `done` is true, and there is only one. `seat mcp` is the same as an MCP server.
"""

_TEST = """\
#!/bin/bash
# Ends the episode and writes the site's reward. Where there is none, nothing is written, and the trial has failed.
exec python3 "$(dirname "$0")/seat.py" reward "${VERIFIER_LOGS:-/logs/verifier}"
"""

_SOLVE = """\
#!/bin/bash
# Acts as a recorded episode did.
exec seat play "$(dirname "$0")/oracle.json"
"""


def name_of(task: Task) -> str:
    """Return the name of a task's directory: template, seed and the beginning of the id."""
    slug = re.sub(r"[^a-z0-9]+", "-", task.template_id.lower()).strip("-")[:_MAX_NAME]
    return f"{slug or 'task'}-{task.seed}-{task.task_id[:8]}"


def files_of(task: Task, episode: Episode, sites: Mapping[str, SiteOffer]) -> dict[str, bytes]:
    """Return the files of a task's directory by their paths in it; the oracle acts as `episode` did."""
    asked = _json({"task_id": task.task_id, "reset": selector_of(task, sites)})
    return {
        CONFIG: _config(task).encode(),
        "instruction.md": _INSTRUCTION.format(goal=task.instruction.strip()).encode(),
        "environment/Dockerfile": _DOCKERFILE.encode(),
        "environment/seat.py": _seat(),
        "environment/task.json": asked,
        "tests/seat.py": _seat(),
        "tests/task.json": asked,
        "tests/test.sh": _TEST.encode(),
        "solution/solve.sh": _SOLVE.encode(),
        "solution/oracle.json": _json(_oracle(episode)),
    }


def selector_of(task: Task, sites: Mapping[str, SiteOffer]) -> JsonObject:
    """Return what a server is asked for, to get a task: its template and seed, where these alone make it, or its id."""
    told: JsonObject = {"name": task.task_id}
    offer = sites.get(task.site)
    if offer is not None and task.template_id in offer.templates and not task.rephrased_by:
        drawn = make_template_task(
            offer, task.template_id, seed=task.seed, source=task.source, faults=0.0
        )
        if drawn.task_id == task.task_id:
            told = {"name": task.template_id, "seed": task.seed}
    # Without a split a server gives tasks of the other two.
    return told | ({"split": task.split} if task.split == SPLITS[-1] else {})


def _oracle(episode: Episode) -> JsonObject:
    actions: list[JsonValue] = [
        {"type": step.action.type} | step.action.model_dump(mode="json", exclude_defaults=True)
        for step in episode.steps
        if not isinstance(step.action, NoAction)
    ]
    return {
        "episode_id": episode.episode_id,
        "policy": episode.policy,
        "viewport": [episode.viewport_width, episode.viewport_height],
        "actions": actions,
    }


@cache
def _seat() -> bytes:
    return Path(__file__).with_name("seat.py").read_bytes()


def _json(value: JsonObject) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _config(task: Task) -> str:
    """Return a task's `task.toml`."""
    row = row_of(task)
    told = {
        key: json.dumps(row[key], ensure_ascii=False) if key in JSON_COLUMNS else row[key]
        for key in row
    }
    tables: list[tuple[str, Mapping[str, JsonValue]]] = [
        (
            "[task]",
            {
                "name": f"{ORGANISATION}/{name_of(task)}",
                "description": " ".join(task.instruction.split()),
                "keywords": list(task.tags),
            },
        ),
        ("[metadata.stepmill]", told),
        ("[verifier]", {"timeout_sec": _VERIFIER_SECONDS}),
        (
            "[environment.env]",
            {"STEPMILL_URL": "${STEPMILL_URL}", "STEPMILL_TOKEN": "${STEPMILL_TOKEN}"},
        ),
        (
            "[[environment.mcp_servers]]",
            {"name": "stepmill", "transport": "stdio", "command": "seat", "args": ["mcp"]},
        ),
    ]
    parts = [f"schema_version = {_toml(SCHEMA_VERSION)}\n"]
    for head, table in tables:
        lines = [f"{key} = {_toml(value)}\n" for key, value in table.items()]
        parts.append("".join([f"{head}\n", *lines]))
    return "\n".join(parts)


def _toml(value: JsonValue) -> str:
    """Return a plain value as TOML has it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    # TOML's strings are JSON's, but for one more character that has to be escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
