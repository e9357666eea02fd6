"""Prompts as a run would write them: the dialect's system prompt, a task, pages with pictures."""

from generators.endpoint_check.endpoint import CheckedEndpoint
from generators.engine.protocol import Picture
from generators.policy.model.context_window import Budget, ContextWindow
from schemas.observation import PageState


def start_conversation(
    subject: CheckedEndpoint, task: str, *, keep: int, slack: int, salt: str = ""
) -> ContextWindow:
    """Return a conversation that has not seen anything yet; `salt` goes before everything."""
    dialect = subject.dialect
    return ContextWindow(
        salt + dialect.system_prompt(subject.frame),
        dialect.task_message(task),
        image_placeholder=dialect.image_placeholder,
        budget=Budget(keep_images=keep, slack_images=slack, tokens=None),
    )


def append_page(
    subject: CheckedEndpoint, window: ContextWindow, picture: Picture, *, step: int
) -> None:
    """Append an observation."""
    page = PageState(
        url=f"http://shop.example/{step}", title=f"Page {step}", scroll_x=0.0, scroll_y=0.0
    )
    before, after = subject.dialect.observation_text(step, page)
    window.append_observation(before, picture, after, picture_tokens=0)


def sent_size(subject: CheckedEndpoint) -> tuple[int, int]:
    """Return the size in which a run would send its pictures."""
    return subject.frame.sent_width, subject.frame.sent_height
