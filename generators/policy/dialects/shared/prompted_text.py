"""The base of families that an engine is asked in for a text with a call in it.

A subclass says its system prompt, its parser and its calls. Here are the settings, the texts about tasks, pages and
results, and the words that stand before a call.
"""

from dataclasses import dataclass

from typing_extensions import override

from generators.policy.dialects.coordinates import Convention, Frame
from generators.policy.dialects.image_size import Patched, PictureRule
from generators.policy.dialects.protocol import Dialect, ParsedAction
from generators.policy.dialects.settings import FunctionSettings
from generators.policy.dialects.shared.arguments import Scale
from generators.policy.dialects.shared.json_dialect import setting_fields
from generators.policy.dialects.shared.prompt_text import (
    MAX_RESULT_CHARS,
    MAX_TASK_CHARS,
    page_text,
)
from generators.policy.dialects.shared.remark import Remark, bound_remark, write_remark
from generators.policy.dialects.shared.sanitize import break_words, escape_markup
from schemas.base import JsonObject
from schemas.episodes.action import Action
from schemas.episodes.episode import Step
from schemas.episodes.observation import PageState


@dataclass(frozen=True)
class TextFamily:
    """What a family of this kind has of its own."""

    name: str
    """The name in configurations."""
    version: str
    """Changes with the prompt's text and with the parser."""
    published: Convention
    """The convention of its points."""
    processor: Patched
    """The size at which pictures are sent, without a configuration's bound."""
    switch_words: tuple[str, ...]
    """The words that its chat template or tokenizer takes for something other than text."""
    placeholder: str | None = None
    """Stands for an older screenshot; None: as the settings say."""
    headings: str = ""
    """What begins the lines that part a reply; empty where tags do."""


class PromptedText(Dialect):
    """What families with a call in a text have in common."""

    drives_engine = True

    def __init__(self, family: TextFamily, settings: FunctionSettings) -> None:
        self.family = family
        self.settings = (
            settings
            if family.placeholder is None
            else settings.with_published(placeholder=family.placeholder)
        )

    @property
    @override
    def name(self) -> str:
        return self.family.name

    @property
    @override
    def version(self) -> str:
        return self.family.version

    @property
    @override
    def convention(self) -> Convention:
        return self.settings.convention or self.family.published

    @property
    @override
    def switch_words(self) -> tuple[str, ...]:
        return self.family.switch_words

    @property
    @override
    def pictures(self) -> PictureRule:
        return self.family.processor.with_most(self.settings.max_pixels)

    @property
    @override
    def image_placeholder(self) -> str:
        return self.settings.placeholder

    @property
    @override
    def request_fields(self) -> JsonObject:
        """Fields of a request's body that the settings ask for, beside the prompt."""
        return setting_fields(self.settings)

    @override
    def task_message(self, instruction: str) -> str:
        return f"Task: {self._escape(instruction, MAX_TASK_CHARS)}\n"

    @override
    def observation_text(self, step: int, page: PageState) -> tuple[str, str]:
        """Return what is said of the page before the picture, and nothing after it."""
        del step
        return self._page_text(page), ""

    @override
    def result_text(self, step: Step) -> str:
        """Return why an action failed, or what it gave back; empty if neither."""
        if step.action_error is not None:
            return self.rejection_text(step.action, step.action_error) + "\n"
        said = self._escape(step.result_text or "", MAX_RESULT_CHARS)
        return f"Result: {said}\n" if said else ""

    @override
    def rejection_text(self, action: Action, why: str) -> str:
        """Return why an action was not carried out."""
        del action
        return f"Error: {self._escape(why, MAX_RESULT_CHARS)}"

    @override
    def repair_message(self, problem: str) -> str:
        said = break_words(problem, self.switch_words)
        return (
            f"Your last reply could not be used and nothing was done: {said}.\n"
            "Reply again to the same screenshot, with one call in the form that was asked for."
        )

    def _page_text(self, page: PageState) -> str:
        return page_text(page, named=self.settings.page_line, switch_words=self.switch_words)

    def _with_instructions(self, prompt: str) -> str:
        """Return a system prompt with the configuration's own instructions at its end."""
        more = self.settings.more_instructions
        return f"{prompt}\n\n{more}" if more else prompt

    def _remark(self, thought: str | None, note: str | None) -> str:
        """Return the words before a call, bounded."""
        kept = bound_remark(thought, note)
        return write_remark(
            kept.thought, kept.note, switch_words=self.switch_words, headings=self.family.headings
        )

    def _scale(self, frame: Frame) -> Scale:
        return Scale(frame=frame, convention=self.convention)

    def _escape(self, text: str, max_chars: int) -> str:
        return escape_markup(text, max_chars, switch_words=self.switch_words)


def make_parsed(
    action: Action,
    remark: Remark,
    canonical_reply: str,
    *,
    element: str | None = None,
    dropped: str | None = None,
) -> ParsedAction:
    """Return a parsed reply; `dropped` says what was left out of its call, None if nothing was."""
    return ParsedAction(
        action=action,
        thought=remark.thought,
        note=remark.note,
        element=element,
        canonical_reply=canonical_reply,
        dropped="; ".join(part for part in (dropped, remark.dropped) if part) or None,
    )
