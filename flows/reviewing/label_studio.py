"""Episodes as tasks of Label Studio, and its annotations as reviews.

The formats are Label Studio's: a labelling configuration, tasks with `data`, `predictions` and `annotations`
(https://labelstud.io/guide/tasks, https://labelstud.io/guide/export), whose results name a control and an object of
the configuration. Pictures are data URIs, so that a file needs nothing beside it. Label Studio knows reviewers by
numbers of its own; who exports annotations with their names gets reviews by name.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from flows.reviewing.review_file import review_of
from schemas.base import JsonObject
from schemas.episodes.episode import Episode
from schemas.errors import BadReview
from schemas.tasks.task import Task
from schemas.verdicts.acceptance import AcceptanceStatus
from schemas.verdicts.review import Decision, Review

LABEL_CONFIG = """\
<View>
  <Header value="Goal"/>
  <Text name="goal" value="$instruction"/>
  <Header value="What was done, step by step"/>
  <Text name="actions" value="$actions"/>
  <Image name="pictures" valueList="$pictures"/>
  <Choices name="decision" toName="pictures" choice="single" showInline="true">
    <Choice value="accept" hotkey="a"/>
    <Choice value="reject" hotkey="r"/>
    <Choice value="unsure" hotkey="u"/>
  </Choices>
  <Header value="Why (a rejection needs it)"/>
  <TextArea name="reason" toName="pictures" maxSubmissions="1"/>
  <Header value="The step it is about, from 0"/>
  <Number name="step" toName="pictures" min="0"/>
  <Header value="A better wording of the goal"/>
  <TextArea name="instruction" toName="pictures" maxSubmissions="1"/>
</View>
"""
"""The labelling configuration of a project that the tasks are imported into."""

_OBJECT = "pictures"
_PREDICTED = {AcceptanceStatus.ACCEPTED: "accept", AcceptanceStatus.REJECTED: "reject"}


def label_task(
    task: Task,
    episode: Episode,
    reviews: Sequence[Review],
    *,
    status: AcceptanceStatus,
    numbers: Mapping[str, int],
) -> JsonObject:
    """Return an episode as a task: what the rule says as a prediction, its standing reviews as annotations.

    `numbers` has a number for each reviewer, as Label Studio numbers people.
    """
    predicted = _PREDICTED.get(status)
    result: list[JsonValue] = [] if predicted is None else [_choice(predicted)]
    return {
        "data": {
            "episode_id": episode.episode_id,
            "instruction": task.instruction,
            "actions": "\n".join(
                f"{one.step}: {one.action.model_dump_json(exclude_none=True)}"
                for one in episode.steps
                if one.step < episode.n_steps
            ),
            "pictures": [_data_uri(one.screenshot.bytes) for one in episode.steps],
        },
        "predictions": [{"model_version": "stepmill", "result": result}] if result else [],
        "annotations": [_annotation(one, numbers[one.reviewer]) for one in reviews],
    }


def _annotation(review: Review, number: int) -> JsonObject:
    result: list[JsonValue] = []
    if review.decision is not Decision.MARK:
        result.append(_choice(review.decision.value))
    if review.reason:
        result.append(_region("reason", "textarea", {"text": [review.reason]}))
    if review.step is not None:
        result.append(_region("step", "number", {"number": review.step}))
    if review.instruction is not None:
        result.append(_region("instruction", "textarea", {"text": [review.instruction]}))
    at = review.model_dump(mode="json")["at"]
    return {
        "completed_by": number,
        "created_username": review.reviewer,
        "created_at": at,
        "updated_at": at,
        "was_cancelled": False,
        "result": result,
    }


def _choice(value: str) -> JsonObject:
    return _region("decision", "choices", {"choices": [value]})


def _region(name: str, kind: str, value: JsonObject) -> JsonObject:
    return {"id": name, "from_name": name, "to_name": _OBJECT, "type": kind, "value": value}


def _data_uri(picture: bytes) -> str:
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{b64encode(picture).decode()}"


def read_label_studio(path: Path) -> list[Review]:
    """Return the reviews in a JSON export of Label Studio; cancelled annotations and empty ones are none.

    Raises:
        BadReview: it cannot be read, or an annotation is no review; the error names the place.
    """
    try:
        tasks: Any = json.loads(path.read_bytes())
    except OSError as error:
        raise BadReview(f"{path}: cannot be read: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise BadReview(
            f"{path}: line {error.lineno}, column {error.colno}: is not JSON, or torn: {error.msg}"
        ) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise BadReview(f"{path}: is no export of Label Studio: {error}") from None
    if not isinstance(tasks, list):
        raise BadReview(f"{path}: expected Label Studio's JSON, an array of tasks")
    return [
        review
        for number, task in enumerate(tasks, 1)
        for review in _reviews(task, f"{path}: task {number}")
    ]


def _reviews(task: Any, where: str) -> Iterator[Review]:
    """Yield the reviews of a task."""
    match task:
        case {"data": {"episode_id": str(episode_id)}}:
            pass
        case _:
            raise BadReview(
                f"{where}: has no data.episode_id, so it is not one that stepmill wrote"
            )
    annotations = task.get("annotations") or []
    if not isinstance(annotations, list):
        raise BadReview(f"{where}: expected a list of annotations")
    for number, one in enumerate(annotations, 1):
        place = f"{where}, annotation {number}"
        if not isinstance(one, dict):
            raise BadReview(f"{place}: expected an object")
        row = _row(one, place)
        if not one.get("was_cancelled") and row.keys() - {"reason"}:
            yield review_of(
                {"decision": "mark", "reason": ""}
                | row
                | {
                    "episode_id": episode_id,
                    "reviewer": _reviewer(one),
                    "at": one.get("updated_at") or one.get("created_at"),
                },
                place,
            )


def _row(annotation: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return what the results of an annotation say, by column of a review."""
    row: dict[str, Any] = {}
    for result in annotation.get("result") or []:
        match result:
            case {"from_name": "decision", "value": {"choices": [str(choice)]}}:
                row["decision"] = choice
            case {"from_name": "reason" | "instruction" as name, "value": {"text": [*lines]}}:
                row[name] = "\n".join(map(str, lines))
            case {"from_name": "reason" | "instruction" as name, "value": {"text": str(text)}}:
                row[name] = text
            case {"from_name": "step", "value": {"number": int() | float() as number}}:
                row["step"] = number
            case _:
                raise BadReview(f"{where}: has a result of another labelling configuration")
    return row


def _reviewer(annotation: Mapping[str, Any]) -> str:
    """Return who gave an annotation: their name as far as the export has it, else Label Studio's number."""
    match annotation:
        case {"completed_by": {"email": str(email)}} if email:
            return email
        case {"created_username": str(name)} if name.strip():
            return name.strip()
        case {"completed_by": int(number) | {"id": int(number)}}:
            return f"label-studio {number}"
    return "label-studio"
