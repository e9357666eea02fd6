"""`chat`: conversations that train a model of a dialect, exactly as it would have been prompted.

A renderer, which `flows` passes in, returns the prompts that an episode would have had. A prompt only
grows until older pictures are evicted; such a stretch is a segment, and every prompt in it is a prefix
of its last one. So a segment is one line: training learns all its replies in one pass, each under the
prompt it answers. The next segment repeats the earlier replies after other pictures; there they are
masked, so that no reply is learnt twice. Steps that failed, or that a person took, are not learnt; where
only good steps are asked for, nor are mistakes, redundant steps and steps without a label.

There are two shapes: `openai`, as in https://platform.openai.com/docs/guides/vision-fine-tuning (parts
of `image_url`, and `weight` on replies), and `qwen`, as the Qwen-VL cookbooks and `qwen_vl_utils` read
it (parts of `image`, every message a list).
"""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import JsonValue
from typing_extensions import override

from schemas.base import JsonObject
from schemas.episodes.conversation import ChatMessage, MessagePicture, Segment
from schemas.tables.training_renderer import Renderer
from schemas.verdicts.step_label import GOOD_STEPS, StepLabel
from storage.export.line_columns import LineColumns
from storage.export.protocol import (
    File,
    Format,
    FormatCounts,
    FullEpisode,
    Line,
    Piece,
    picture_path,
)
from storage.export.registry import FormatName, MessageShape, Pictures, StepChoice

_COLUMNS: LineColumns = {
    "id": "string",
    "episode_id": "string",
    "task_id": "string",
    "template_id": "string",
    "segment": "int64",
    "steps": ("int64",),
    "accepted": "bool",
    "messages": ("json",),
    "loss_mask": ("int64",),
    "masked": ("string",),
}


class Chat(Format):
    """The `Format`."""

    name = FormatName.CHAT

    def __init__(
        self,
        renderer: Renderer,
        *,
        shape: MessageShape,
        pictures: Pictures,
        steps: StepChoice = StepChoice.ALL,
    ) -> None:
        self._renderer = renderer
        self._shape = shape
        self._pictures = pictures
        self._steps = steps
        files: LineColumns = {"images": ("string",)} if pictures is Pictures.FILES else {}
        self._columns: LineColumns = {**_COLUMNS, **files}

    @property
    @override
    def options(self) -> JsonObject:
        options: JsonObject = {
            "shape": self._shape.value,
            "pictures": self._pictures.value,
            "renderer": self._renderer.about,
        }
        return options if self._steps is StepChoice.ALL else options | {"steps": self._steps.value}

    @override
    def pieces(self, source: FullEpisode, counts: FormatCounts) -> Iterator[Piece]:
        rendered = self._renderer.render(source.episode, source.task.expect)
        if rendered.ended is not None:
            counts["cut" if rendered.segments else "skipped"] += 1
            counts[rendered.ended] += 1
        written: set[int] = set()
        for whole in rendered.segments:
            segment = whole
            if self._steps is StepChoice.GOOD:
                turns = tuple(_only_good(turn, source.labels or ()) for turn in whole.turns)
                segment = replace(whole, turns=turns)
            if masked := sum(turn.masked is not None for turn in segment.turns):
                counts["masked"] += masked
            if not any(turn.learnt for turn in segment.turns):
                continue
            for shown in _pictures_in(segment):
                if self._pictures is Pictures.FILES and shown.step not in written:
                    written.add(shown.step)
                    path = picture_path(source.episode.episode_id, shown.step)
                    yield File(path, shown.jpeg)
            counts["lines"] += 1
            counts["replies"] += sum(turn.learnt for turn in segment.turns)
            yield Line(self._record(source, segment), self._columns)

    def _record(self, source: FullEpisode, segment: Segment) -> JsonObject:
        episode = source.episode
        record: JsonObject = {
            "id": f"{episode.episode_id}-{segment.number}",
            "episode_id": episode.episode_id,
            "task_id": episode.task_id,
            "template_id": source.task.template_id,
            "segment": segment.number,
            "steps": list(segment.steps),
            "accepted": source.acceptance.accepted,
            "messages": [self._message(turn, episode.episode_id) for turn in segment.turns],
            "loss_mask": [int(turn.learnt) for turn in segment.turns],
            "masked": [turn.masked or "" for turn in segment.turns],
        }
        if self._pictures is Pictures.FILES:
            places: list[JsonValue] = [
                picture_path(episode.episode_id, shown.step) for shown in _pictures_in(segment)
            ]
            record["images"] = places
        return record

    def _message(self, turn: ChatMessage, episode_id: str) -> JsonObject:
        if self._shape is MessageShape.QWEN:
            return {"role": turn.role, "content": self._parts(turn, episode_id)}
        [first, *more] = turn.parts
        plain = isinstance(first, str) and not more
        content: JsonValue = (
            first if isinstance(first, str) and plain else self._parts(turn, episode_id)
        )
        message: JsonObject = {"role": turn.role, "content": content}
        return message | {"weight": int(turn.learnt)} if turn.role == "assistant" else message

    def _parts(self, turn: ChatMessage, episode_id: str) -> list[JsonValue]:
        return [
            {"type": "text", "text": part}
            if isinstance(part, str)
            else self._picture(part, episode_id)
            for part in turn.parts
        ]

    def _picture(self, shown: MessagePicture, episode_id: str) -> JsonObject:
        place = (
            data_url(shown.jpeg)
            if self._pictures is Pictures.DATA
            else picture_path(episode_id, shown.step)
        )
        if self._shape is MessageShape.QWEN:
            return {"type": "image", "image": place}
        return {"type": "image_url", "image_url": {"url": place}}


def _only_good(turn: ChatMessage, labels: Sequence[StepLabel]) -> ChatMessage:
    """Return a message that is learnt only if its step was of use."""
    if not turn.learnt or turn.step is None:
        return turn
    label = labels[turn.step].label if turn.step < len(labels) else None
    if label in GOOD_STEPS:
        return turn
    because = "`steps` has no label of it" if label is None else f"`steps` calls it {label.value}"
    return replace(turn, learnt=False, masked=because)


def _pictures_in(segment: Segment) -> list[MessagePicture]:
    return [
        part for turn in segment.turns for part in turn.parts if isinstance(part, MessagePicture)
    ]


def data_url(jpeg: bytes) -> str:
    """Return a picture as a data URL."""
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode('ascii')}"
