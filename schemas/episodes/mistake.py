"""The mistakes that policies make on purpose: the clumsy one anywhere, and the reference where people make them."""

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
    LOOK_ALIKE = "look_alike"
    """It opened a row of a similar name."""
    OTHER_TAB = "other_tab"
    """It opened a row of a similar name in a new tab."""
    WRONG_VIEW = "wrong_view"
    """It opened another entry of the navigation."""
    EMPTY_SEARCH = "empty_search"
    """It searched with a wrong letter."""
    WRONG_FILTER = "wrong_filter"
    """It narrowed a list by another option."""
    WRONG_OPTION = "wrong_option"
    """It took the option beside the right one."""
    REFUSED_ENTRY = "refused_entry"
    """It typed a value as the form does not take it."""
    LEFT_OUT = "left_out"
    """It sent a form without a field that has to be filled."""
    WRONG_FIELD = "wrong_field"
    """It typed into the field beside."""
    WRONG_LETTER = "wrong_letter"
    """It typed a wrong letter, and saw it."""


SLIPS = frozenset(
    {
        InjectedMistake.LOOK_ALIKE,
        InjectedMistake.OTHER_TAB,
        InjectedMistake.WRONG_VIEW,
        InjectedMistake.EMPTY_SEARCH,
        InjectedMistake.WRONG_FILTER,
        InjectedMistake.WRONG_OPTION,
        InjectedMistake.REFUSED_ENTRY,
        InjectedMistake.LEFT_OUT,
        InjectedMistake.WRONG_FIELD,
        InjectedMistake.WRONG_LETTER,
    }
)
"""Those of a reference, which are seen and mended (`generators/policy/slips`)."""
