"""The columns of training rows: one row that trainers of every spelling load as it is.

A row holds its prompt twice: as lists of parts, for TRL, and as strings with `<image>`, for
LLaMA-Factory, ms-swift and verl. Text costs little; the pictures are stored once, in `images`, in the
order of their placeholders. Columns that trainers find by name have the expected names.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from schemas.configuration.sections import RowKind

PICTURE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
"""A picture, as the `datasets` library decodes it."""

PICTURES = pa.list_(PICTURE)
"""A list of pictures, as the `datasets` library decodes them."""

_PART = pa.struct([pa.field("type", pa.string()), pa.field("text", pa.string())])
_IN_PARTS = pa.struct([pa.field("role", pa.string()), pa.field("content", pa.list_(_PART))])
_AS_STRING = pa.struct([pa.field("role", pa.string()), pa.field("content", pa.string())])


class Column(NamedTuple):
    """A column of training rows."""

    name: str
    """As trainers look for it."""
    type: pa.DataType
    """Its Arrow type."""
    about: str
    """A sentence on its content and the meaning of null."""
    nullable: bool = False
    """Whether a row may have none."""

    @property
    def field(self) -> "pa.Field[Any]":
        """The column in a schema.

        The `datasets` library decodes no pictures of a list that may not be null.
        """
        nullable = self.nullable or pa.types.is_nested(self.type)
        return pa.field(self.name, self.type, nullable=nullable)


_ID = Column("id", pa.string(), "The row's name, unique in the dataset.")
_PROMPT = Column(
    "prompt",
    pa.list_(_IN_PARTS),
    "Every message before the reply, its content a list of parts: `image` without a text, or `text`.",
)
_MESSAGES = (
    "string content; `<image>` stands for the next picture, and such words of a page are escaped"
)
_SHARED = (
    Column(
        "images", PICTURES, "The prompt's pictures as sent, in the order of their placeholders."
    ),
    Column(
        "tools",
        pa.string(),
        "JSON list of function tools that the engine is given; null: none, as with every dialect here.",
        nullable=True,
    ),
    Column(
        "system",
        pa.string(),
        "The system prompt, where `--system trainer` leaves it out of the messages; null: they have it.",
        nullable=True,
    ),
    Column("dialect", pa.string(), "Whose words these are."),
)
_STEP = Column("step", pa.int32(), "The step whose reply it is, from 0.")
_GROUP = (
    Column("group_id", pa.string(), "All attempts at one task share it."),
    Column("task_id", pa.string(), "The task."),
    Column("template_id", pa.string(), "The task's template."),
)
_LABEL = "as `label` of the published `steps`; null where `steps` has not judged it"

_REPLY = (
    _ID,
    _PROMPT,
    Column("completion", pa.list_(_IN_PARTS), "The reply: one message of one text part."),
    Column("messages", pa.list_(_AS_STRING), f"Prompt and reply: {_MESSAGES}."),
    *_SHARED,
    Column("label", pa.bool_(), "Whether the run's rule accepts the attempt."),
    Column("reward", pa.float64(), "The raw reward of the attempt; null: none.", nullable=True),
    _STEP,
    Column("episode_id", pa.string(), "The attempt."),
    *_GROUP,
)
_WANTED = Column(
    "label",
    pa.bool_(),
    "True: a step of an accepted attempt that was of use (`on_path`, `explores`, `recovery`). False: a `mistake` or a"
    " `redundant` step of any attempt.",
)
_STEP_LABEL = Column(
    "step_label", pa.string(), "What the step did, as `label` of the published `steps`."
)
_CHANGE = Column(
    "visible_change",
    pa.bool_(),
    "Whether anything could be seen to change, as in the published `steps`; null where nothing tells.",
    nullable=True,
)
_PREFERENCE = (
    _ID,
    _PROMPT,
    Column("chosen", pa.list_(_IN_PARTS), "The accepted attempt's reply: one message of parts."),
    Column("rejected", pa.list_(_IN_PARTS), "The rejected attempt's reply: one message of parts."),
    Column("conversation", pa.list_(_AS_STRING), f"The prompt: {_MESSAGES}."),
    Column("chosen_message", _AS_STRING, "The accepted attempt's reply, as one message."),
    Column("rejected_message", _AS_STRING, "The rejected attempt's reply, as one message."),
    Column("messages", pa.list_(_AS_STRING), f"Prompt and accepted reply: {_MESSAGES}."),
    Column("rejected_response", pa.string(), "The rejected attempt's reply, as a string."),
    *_SHARED,
    Column("chosen_label", pa.string(), f"Of the accepted reply, {_LABEL}.", nullable=True),
    Column("rejected_label", pa.string(), f"Of the rejected reply, {_LABEL}.", nullable=True),
    _STEP,
    Column("chosen_episode_id", pa.string(), "The accepted attempt."),
    Column("rejected_episode_id", pa.string(), "The rejected attempt."),
    *_GROUP,
)

_BOX = "left, top, right, bottom"
_NEGATIVE = pa.struct(
    [
        pa.field("why", pa.string()),
        pa.field("expression", pa.string()),
        pa.field("by", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("role", pa.string()),
        pa.field("name", pa.string()),
        pa.field("tag", pa.string()),
        pa.field("box", pa.list_(pa.float64())),
    ]
)
_GROUNDING = (
    Column("id", pa.string(), "The row's name, unique in the dataset: its episode and step."),
    Column("image", PICTURE, "The screenshot before the action."),
    Column("width", pa.int32(), "Of the picture, in its pixels."),
    Column("height", pa.int32(), "Of the picture, in its pixels."),
    Column("instruction", pa.string(), "What to do with what: a verb and the first expression."),
    Column("by", pa.string(), "What the first expression distinguishes the target by."),
    Column(
        "expressions",
        pa.list_(pa.string()),
        "Up to four expressions, each of which fits the target and nothing else in the picture.",
    ),
    Column("goal", pa.string(), "The task in words."),
    Column("action", pa.string(), "The type of the action that was carried out."),
    Column("point", pa.list_(pa.float64()), "Where it pointed: x, y, in pixels of the picture."),
    Column("point_norm", pa.list_(pa.float64()), "The same in parts of the picture's sides."),
    Column("box", pa.list_(pa.float64()), f"The target's {_BOX}, in pixels of the picture."),
    Column("box_norm", pa.list_(pa.float64()), "The same in parts of the picture's sides."),
    Column("kind", pa.string(), "A plain noun for what the target looks like."),
    Column("role", pa.string(), "Its accessible role; null: none.", nullable=True),
    Column("name", pa.string(), "Its accessible name; null: none.", nullable=True),
    Column("text", pa.string(), "Its text; null: none.", nullable=True),
    Column("tag", pa.string(), "Its tag; null: unknown.", nullable=True),
    Column(
        "negatives",
        pa.list_(_NEGATIVE),
        "What is not meant, `alike` or `near`, each with an expression of its own and its box "
        f"({_BOX}, in pixels of the picture).",
    ),
    Column("url", pa.string(), "The page's address."),
    Column("episode_id", pa.string(), "The attempt."),
    Column("step", pa.int32(), "The step, from 0."),
    Column("task_id", pa.string(), "The task."),
    Column("template_id", pa.string(), "The task's template."),
    Column("accepted", pa.bool_(), "Whether the run's rule accepts the attempt."),
)


LIKE_SFT = (RowKind.KTO, RowKind.STEP_LABELS)
"""Kinds whose columns are those of `sft`, but for a few."""


def columns(kind: RowKind) -> tuple[Column, ...]:
    """Return the columns of a kind of row, in order."""
    return tuple(_columns(kind))


def own_columns(kind: RowKind) -> tuple[Column, ...]:
    """Return the columns of a kind of row; of those of `LIKE_SFT` what `sft` has not."""
    beside = set(columns(RowKind.SFT)) if kind in LIKE_SFT else set()
    return tuple(column for column in columns(kind) if column not in beside)


def _columns(kind: RowKind) -> Iterator[Column]:
    match kind:
        case RowKind.SFT:
            yield from _REPLY
        case RowKind.KTO:
            yield from (_WANTED if column.name == "label" else column for column in _REPLY)
        case RowKind.STEP_LABELS:
            for column in _REPLY:
                yield column
                if column.name == "reward":
                    yield from (_STEP_LABEL, _CHANGE)
        case RowKind.PREFERENCE:
            yield from _PREFERENCE
        case RowKind.GROUNDING:
            yield from _GROUNDING


def row_schema(kind: RowKind) -> pa.Schema:
    """Return the Arrow schema of a kind of row."""
    return pa.schema([column.field for column in columns(kind)])
