"""A thought that a model wrote in place of a stored one. It lies beside a run: an episode is never edited."""

from pydantic import Field

from schemas.base import Record


class RewrittenThought(Record):
    """A thought of one step in other words: a line of the file that `stepmill tasks rephrase RUN` writes."""

    episode_id: str
    """The episode."""
    step: int = Field(ge=0)
    """The step of the episode."""
    thought: str = Field(min_length=1)
    """What the model wrote."""
    by: str = Field(min_length=1)
    """The model."""
    instead_of: str
    """The stored thought, which an export checks."""
