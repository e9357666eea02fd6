"""The simulator's options: everything that its command line sets, as one record."""

from enum import StrEnum

from pydantic import Field, model_validator

from generators.engine.simulator.batching.presets import read_presets
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
    """What the simulator serves, and how."""

    model: str = Field(default="scripted", min_length=1)
    """The name of the only model."""
    coordinates: Coordinates = Coordinates.THOUSAND
    """How replies write points."""
    context_tokens: int = Field(default=32_768, ge=16)
    """The longest prompt and reply together, tokens."""
    max_pictures: int | None = Field(default=None, ge=0)
    """The most pictures in a request; None: any number, 0: text alone."""
    delay_ms: tuple[float, float] = (0.0, 0.0)
    """A reply takes between these, drawn by the request's content, ms."""
    at_once: int = Field(default=256, ge=1)
    """Requests in progress at once; further ones wait."""
    prefix_cache: bool = True
    """Keep the prefixes of prompts, and report how much of each prompt was there."""
    cache_blocks: int = Field(default=65_536, ge=1)
    """How many blocks of 16 tokens are kept; the one used longest ago goes first."""
    prompt_tokens_details: bool = False
    """Report in a reply's usage how many prompt tokens came from the cache and are pictures."""
    request_metrics: bool = False
    """Report in a reply how long it waited, and how long its tokens took."""
    preset: str | None = None
    """A server of `batching/presets.toml`, whose scheduler, memory and times it has; None: replies take `delay_ms`."""
    speed: float = Field(default=1.0, gt=0, le=1_000)
    """How many seconds of that server pass in a real one."""
    by_priority: bool = False
    """Begin with the requests of the lowest `priority`, where a preset gives it a queue (`--scheduling-policy`)."""
    puppet: bool = False
    """Send the replies that `PUT /puppet/{session}` queued."""
    blunders: float = Field(default=0.0, ge=0, le=1)
    """The share of queued replies that are used up without being sent: something made up is sent in their place."""
    seed: int = 0
    """Seed of every random reply; equal requests get equal replies."""
    api_key: str | None = Field(default=None, min_length=1)
    """The key that requests to `/v1` must send; None: none."""

    @model_validator(mode="after")
    def _in_order(self) -> "SimulatorOptions":
        low, high = self.delay_ms
        if not 0 <= low <= high:
            raise ValueError("delay_ms is a range that begins at 0 or later: 20,80")
        if self.preset is not None and self.preset not in read_presets():
            raise ValueError(
                f"preset: there is no server '{self.preset}'; there are {', '.join(read_presets())}"
            )
        return self
