"""What of a dialect can be set: the records behind the table `policy.dialect_options`.

Each part of a family's published contract that a checkpoint might do otherwise is a key here, so
that a new checkpoint is a configuration and not a new program.
"""

from typing import Annotated

from pydantic import Field, StringConstraints

from generators.policy.dialects.geometry import Convention
from schemas.base import Record

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,39}$")]
"""A key or tag: letters, digits, `_` and `-`."""

_LIMIT = Annotated[int, Field(ge=1, le=1_000)]


class Settings(Record):
    """What every family that asks an engine can be set to."""

    convention: Convention | None = None
    """What the numbers of a point mean; None: as the family was published."""
    placeholder: str = Field(default="[Image omitted by context cleaning]", min_length=1)
    """Stands where a picture was taken out."""
    page_line: bool = True
    """URL and title of the page are told beside its picture."""
    schema_in_prompt: bool = True
    """The reply's schema is written in the system prompt."""
    more_instructions: str = Field(default="", max_length=20_000)
    """Added to the end of the system prompt; as `/no_think` for a model that listens to it."""
    thinking: bool | None = None
    """Asks the server's chat template for thinking, or for none; None: as the template does."""
    thinking_key: Name = "enable_thinking"
    """What the chat template calls that switch."""
    text_limit: _LIMIT | None = None
    """Bounds each text of a reply by a pattern; None: a reply's tokens bound it."""


class HolotronSettings(Settings):
    """What Holotron can be set to: its own contract is not published, its relatives' is."""

    note_key: Name = "note"
    """Holds what is to be remembered, or null."""
    thought_key: Name = "thought"
    """Holds the reasoning."""
    call_key: Name = "tool_call"
    """Holds the call."""
    name_key: Name = "tool_name"
    """Holds the tool's name, beside its arguments."""
    observation_tag: Name = "observation"
    """Around each picture."""
    output_tag: Name = "tool_output"
    """Around what a tool gave back."""
    error_tag: Name = "error"
    """Around why a tool failed."""
    done: str = Field(default="done", min_length=1)
    """What a tool gives back that says nothing of its own."""
    leave_out: tuple[str, ...] = ()
    """Tools that are not offered."""
    tiles: int = Field(default=12, ge=1, le=12)
    """Most tiles of a picture, as the server's `max_num_tiles`."""


class HoloSettings(Settings):
    """What Holo1.5 and Holo2 can be set to."""

    extended: bool = True
    """Tools beyond the published ones are offered, for actions that those cannot say."""
    max_pixels: int | None = Field(default=None, ge=3_136, le=16_777_216)
    """Of a picture as sent; None: as the family was published."""


class TextSettings(Record):
    """What a family that only reads and writes replies can be set to."""

    convention: Convention | None = None
    """What the numbers of a point mean; None: as the family was published."""
