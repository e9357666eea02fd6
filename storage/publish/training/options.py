"""The options of training rows; help reads them, so the module imports nothing heavy."""

from enum import StrEnum


class SystemPrompt(StrEnum):
    """Where the system prompt of a row stands."""

    ROW = "row"
    """First in its messages."""
    TRAINER = "trainer"
    """In a column of its own; the messages are without it, and the trainer puts it there, or its own."""
