"""Training rows as exports: Parquet files that trainers load as they are, or lines.

The rows are those of `storage.publish.training`. Three trainers find no pictures in a column: for them
`sft` has lines whose parts hold the pictures themselves, spelt and named as each of them reads them. Rows
of grounding are lines beside pictures as files, with the keys that ScreenSpot and OS-Atlas made common
(an image's path, an instruction, a box of left, top, right, bottom in pixels or in parts of the picture);
there is no package to validate with.
"""

import base64
from collections.abc import Iterator, Sequence

from pydantic import JsonValue
from typing_extensions import override

from schemas.base import JsonObject
from schemas.configuration.sections import RowKind
from schemas.tables.tables import Row
from schemas.tables.training_renderer import Renderer
from storage.export.chat import data_url
from storage.export.dataset_info import TRAINER_COLUMNS
from storage.export.line_columns import LineColumns
from storage.export.protocol import (
    File,
    Format,
    FormatCounts,
    FullEpisode,
    GroupFormat,
    Line,
    Piece,
    TableRow,
    picture_path,
)
from storage.export.registry import FormatName, Spelling
from storage.publish.training.messages import Spelt
from storage.publish.training.preference import PairMaker
from storage.publish.training.rows import RowMaker, origin
from storage.publish.training.schema import row_schema


class TrainingRows(Format):
    """The `Format` of `sft`, `kto` and `step_labels`."""

    def __init__(self, maker: RowMaker, *, spelling: Spelling = Spelling.COLUMNS) -> None:
        self._maker = maker
        self._spelling = spelling
        self._schema = row_schema(maker.kind)
        self._trainer = TRAINER_COLUMNS.get(maker.kind)

    @property
    @override
    def name(self) -> FormatName:
        return FormatName(self._maker.kind.value)

    @property
    @override
    def options(self) -> JsonObject:
        return {
            "renderer": self._maker.renderer.about,
            "system": self._maker.system.value,
            "steps": "good" if self._maker.only_good else "all",
            "spelling": self._spelling.value,
        }

    @override
    def pieces(self, source: FullEpisode, counts: FormatCounts) -> Iterator[Piece]:
        if self._spelling is Spelling.COLUMNS:
            for row in self._maker.rows(source, counts):
                yield TableRow(row, self._schema, self._trainer)
            return
        for reply, spelt, label in self._maker.spell_replies(source, counts):
            yield Line(
                {
                    **_conversation(spelt, self._spelling),
                    "system": spelt.system,
                    "label": label,
                    **origin(source, reply.step, self._maker.renderer),
                },
                _spelt_columns(self._spelling),
            )


class Preference(GroupFormat):
    """The `GroupFormat` of `preference`."""

    name = FormatName.PREFERENCE

    def __init__(self, maker: PairMaker) -> None:
        self._maker = maker
        self._schema = row_schema(RowKind.PREFERENCE)

    @property
    @override
    def options(self) -> JsonObject:
        return {"renderer": self._maker.renderer.about, "system": self._maker.system.value}

    @override
    def group_pieces(self, group: Sequence[FullEpisode], counts: FormatCounts) -> Iterator[Piece]:
        for row in self._maker.rows(group, counts):
            yield TableRow(row, self._schema, TRAINER_COLUMNS[RowKind.PREFERENCE])


def _conversation(spelt: Spelt, spelling: Spelling) -> JsonObject:
    """Return the keys that hold the messages, as the trainers of a spelling read them."""
    pictures = [shown.jpeg for shown in spelt.pictures]
    prompt: list[JsonValue] = [*_inline(spelt.prompt, pictures, spelling)]
    reply: list[JsonValue] = [{**spelt.reply}]
    match spelling:
        case Spelling.IMAGE_URL:
            return {"prompt": prompt, "completion": reply}
        case Spelling.BASE64:
            prompt = [{**_dict(message), "training": False} for message in prompt]
            reply = [{**_dict(message), "training": True} for message in reply]
    return {"messages": [*prompt, *reply]}


def _inline(
    messages: Sequence[JsonObject], pictures: Sequence[bytes], spelling: Spelling
) -> Iterator[JsonObject]:
    """Yield messages whose picture parts hold their pictures."""
    remaining = iter(pictures)
    for message in messages:
        parts: list[JsonValue] = [
            _picture(next(remaining), spelling) if part.get("type") == "image" else part
            for part in _list(message["content"])
        ]
        yield {**message, "content": parts}


def _list(content: JsonValue) -> list[dict[str, JsonValue]]:
    assert isinstance(content, list)  # noqa: S101 - a spelt message is parts
    return [_dict(part) for part in content]


def _dict(value: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(value, dict)  # noqa: S101 - messages and parts are objects
    return value


def _picture(jpeg: bytes, spelling: Spelling) -> JsonObject:
    match spelling:
        case Spelling.IMAGE_URL:
            return {"type": "image_url", "image_url": {"url": data_url(jpeg)}}
        case Spelling.BASE64:
            return {"type": "image", "base64": base64.b64encode(jpeg).decode("ascii")}
    return {"type": "image", "image": data_url(jpeg)}


_ORIGIN = {
    "system": "string",
    "label": "bool",
    "id": "string",
    "tools": "string",
    "dialect": "string",
    "reward": "float64",
    "step": "int64",
    "episode_id": "string",
    "group_id": "string",
    "task_id": "string",
    "template_id": "string",
}


def _spelt_columns(spelling: Spelling) -> LineColumns:
    names = ("prompt", "completion") if spelling is Spelling.IMAGE_URL else ("messages",)
    return dict.fromkeys(names, ("json",)) | _ORIGIN


_GROUNDING: LineColumns = {
    "id": "string",
    "image": "string",
    "width": "int64",
    "height": "int64",
    "instruction": "string",
    "by": "string",
    "expressions": ("string",),
    "goal": "string",
    "action": "string",
    "point": ("float64",),
    "point_norm": ("float64",),
    "box": ("float64",),
    "box_norm": ("float64",),
    "kind": "string",
    "role": "string",
    "name": "string",
    "text": "string",
    "tag": "string",
    "negatives": ("json",),
    "url": "string",
    "episode_id": "string",
    "step": "int64",
    "task_id": "string",
    "template_id": "string",
    "accepted": "bool",
}


def _without_null(row: Row) -> JsonObject:
    """Return a row of grounding whose elements' missing words are empty instead of null."""
    negatives = [{key: value or "" for key, value in one.items()} for one in row["negatives"]]
    return {key: "" if value is None else value for key, value in row.items()} | {
        "negatives": negatives
    }


class Grounding(Format):
    """The `Format` of `grounding`."""

    name = FormatName.GROUNDING

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer

    @property
    @override
    def options(self) -> JsonObject:
        return self._renderer.about_grounding

    @override
    def pieces(self, source: FullEpisode, counts: FormatCounts) -> Iterator[Piece]:
        for row in self._renderer.grounding_rows(source, counts):
            path = picture_path(source.episode.episode_id, row["step"])
            yield File(path, row["image"]["bytes"])
            yield Line(_without_null(row) | {"image": path}, _GROUNDING)
