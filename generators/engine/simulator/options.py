"""The simulator's options: everything that its command line sets, as one record."""

from enum import StrEnum

from pydantic import Field, model_validator

from schemas.base import Record


class Coordinates(StrEnum):
    """The unit of the points in its replies."""

    PX = "px"
    """Pixels of the picture as it was sent, whole numbers."""
    RESIZED = "resized"
    """Pixels of the picture after Qwen's `smart_resize`, whole numbers."""
    THOUSAND = "0-1000"
    """Thousandths of the picture, whole numbers."""
    UNIT = "0-1"
    """Parts of the picture, four decimals."""


class SimulatorOptions(Record):
    """What a simulator serves, and how."""

    model: str = Field(default="scripted", min_length=1)
    """The only model it serves."""
    coordinates: Coordinates = Coordinates.THOUSAND
    """How it says points."""
    context_tokens: int = Field(default=32_768, ge=16)
    """The longest prompt and reply together, tokens."""
    max_pictures: int | None = Field(default=None, ge=0)
    """The most pictures in a request; None: any number, 0: it takes text alone."""
    delay_ms: tuple[float, float] = (0.0, 0.0)
    """A reply takes between these, drawn by the request's content, ms."""
    at_once: int = Field(default=256, ge=1)
    """Requests it works on at once; further ones wait."""
    prefix_cache: bool = True
    """It keeps the prefixes of prompts, and says what it took from there."""
    cache_blocks: int = Field(default=65_536, ge=1)
    """How many blocks of 16 tokens it keeps; the one used longest ago goes first."""
    prompt_tokens_details: bool = False
    """A reply's usage says how many tokens of the prompt came from the cache and are pictures."""
    request_metrics: bool = False
    """A reply says how long it waited, and how long its tokens took."""
    puppet: bool = False
    """It sends the replies that `PUT /puppet/{session}` queued."""
    seed: int = 0
    """Of every random reply; equal requests get equal replies."""
    api_key: str | None = Field(default=None, min_length=1)
    """What `/v1` must be asked with; None: nothing."""

    @model_validator(mode="after")
    def _in_order(self) -> "SimulatorOptions":
        low, high = self.delay_ms
        if not 0 <= low <= high:
            raise ValueError("delay_ms is a range that begins at 0 or later: 20,80")
        return self
