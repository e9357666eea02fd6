"""The mistakes that the clumsy policy makes on purpose."""

from enum import StrEnum


class InjectedMistake(StrEnum):
    """A kind of mistake that a policy made on purpose."""

    GAVE_UP = "gave_up"
    """It ended the episode with an empty answer."""
    ANSWERED_EARLY = "answered_early"
    """It said that it was done before it was."""
    IDLED = "idled"
    """It waited for nothing."""
    LOOPED = "looped"
    """It repeated its last action."""
    MISSED = "missed"
    """It pointed a few pixels beside its target."""
    CONFUSED = "confused"
    """It took another thing of the same kind."""
    TYPO = "typo"
    """It typed a wrong letter."""
    FORGOT = "forgot"
    """It skipped an action, and took the following one at this step."""
    HURRIED = "hurried"
    """It pressed a button before its turn."""
