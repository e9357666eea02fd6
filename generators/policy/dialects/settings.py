"""The settings of a dialect: the records behind the table `policy.dialect_options`.

Each part of a family's published contract in which a checkpoint may differ is a key here, so that a
new checkpoint needs a configuration and no code.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, StringConstraints

from generators.policy.dialects.coordinates import Convention
from schemas.base import Record

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,39}$")]
"""A key or tag: letters, digits, `_` and `-`."""

Effort = Literal["low", "medium", "high"]
"""How much a model plans, in the words of OpenAI's field."""

_LIMIT = Annotated[int, Field(ge=1, le=1_000)]


class PromptSettings(Record):
    """The settings of every family that can prompt an engine."""

    convention: Convention | None = None
    """What the numbers of a point mean; None: as the family was published."""
    placeholder: str = Field(default="[Image omitted by context cleaning]", min_length=1)
    """Stands in the prompt where an older screenshot was taken out."""
    page_line: bool = True
    """Whether the page's URL and title stand beside its screenshot."""
    more_instructions: str = Field(default="", max_length=20_000)
    """Added to the end of the system prompt; as `/no_think` for a model that listens to it."""
    thinking: bool | None = None
    """Asks the server's chat template to let the model think, or not to; None: the template's
    default."""
    thinking_key: Name = "enable_thinking"
    """The chat template's name for `thinking`; `holo2` calls it `thinking` unless this is set."""
    reasoning_effort: Effort | None = None
    """How much the model plans before it acts, for a server that takes this field: H Company calls `medium`
    sensible for Holo3. None: the server's own."""
    leave_out: tuple[str, ...] = ()
    """Tools that are not offered, as `["goto", "open_tab"]`."""

    def with_published(self, **values: JsonValue) -> Self:
        """Return the settings with what a family publishes in place of each that a configuration does not set."""
        left = {name: one for name, one in values.items() if name not in self.model_fields_set}
        return self.model_copy(update=left)


class Settings(PromptSettings):
    """The settings of families that reply with one JSON object."""

    schema_in_prompt: bool = True
    """Whether the system prompt contains the JSON schema of a reply."""
    text_limit: _LIMIT | None = None
    """The longest text in a reply, held by a pattern in its schema; None: `policy.max_tokens` alone
    bounds it."""


class HolotronSettings(Settings):
    """The settings of Holotron, whose contract is not published; those of related models are."""

    note_key: Name = "note"
    """Key of a reply for a note to remember, or null."""
    thought_key: Name = "thought"
    """Key of a reply for the reasoning."""
    call_key: Name = "tool_call"
    """Key of a reply for the tool call."""
    name_key: Name = "tool_name"
    """Key of a tool call for the tool's name, beside its arguments."""
    observation_tag: Name = "observation"
    """Tag around each screenshot in the prompt."""
    output_tag: Name = "tool_output"
    """Tag around a tool's result in the prompt."""
    error_tag: Name = "error"
    """Tag around the reason why a tool failed."""
    done: str = Field(default="done", min_length=1)
    """Result of a tool that returns nothing."""
    tiles: int = Field(default=12, ge=1, le=12)
    """The most tiles of a screenshot, as the server's `max_num_tiles`."""


class HoloSettings(Settings):
    """The settings of Holo1.5, Holo2 and Holo3."""

    extended: bool = True
    """Whether tools beyond the published ones are offered, for actions that those cannot express."""
    max_pixels: int | None = Field(default=None, ge=3_136, le=16_777_216)
    """The most pixels of a screenshot as it is sent; None: as the family was published."""


class FunctionSettings(PromptSettings):
    """The settings of families that reply with a text and a call: Qwen3-VL, GUI-Owl, Fara, OpenCUA."""

    extended: bool = True
    """Whether tools beyond the published ones are offered, for actions that those cannot express."""
    max_pixels: int | None = Field(default=None, ge=3_136, le=16_777_216)
    """The most pixels of a screenshot as it is sent; None: as the family was published."""


class Holotron3Settings(Settings):
    """The settings of Holotron-3."""

    extended: bool = True
    """Whether tools beyond the published ones are offered, for actions that those cannot express."""


class Holo4Settings(HoloSettings):
    """The settings of Holo4, of which no prompt is published."""

    reconstructed: bool = False
    """Allows the dialect, which is a guess from the family's earlier models; refused without it."""


class Holotron4Settings(Holotron3Settings):
    """The settings of Holotron-4, of which no prompt is published."""

    reconstructed: bool = False
    """Allows the dialect, which is a guess from the family's earlier models; refused without it."""


class TextSettings(Record):
    """The settings of a family that is only parsed and formatted."""

    convention: Convention | None = None
    """What the numbers of a point mean; None: as the family was published."""
