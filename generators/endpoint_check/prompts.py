"""Prompts as a run would write them: the dialect's system prompt, a task, pages with pictures."""

from generators.endpoint_check.endpoint import Subject
from generators.engine.protocol import Picture
from generators.policy.model.context_window import Budget, Window
from schemas.observation import PageState


def begin(subject: Subject, task: str, *, keep: int, slack: int, salt: str = "") -> Window:
    """Return a conversation that has not seen anything yet; `salt` goes before everything."""
    dialect = subject.dialect
    return Window(
        salt + dialect.system(subject.frame),
        dialect.opening(task),
        gone=dialect.gone,
        budget=Budget(keep_images=keep, slack_images=slack, tokens=None),
    )


def see(subject: Subject, window: Window, picture: Picture, *, step: int) -> None:
    """Append an observation."""
    page = PageState(
        url=f"http://shop.example/{step}", title=f"Page {step}", scroll_x=0.0, scroll_y=0.0
    )
    before, after = subject.dialect.around(step, page)
    window.saw(before, picture, after, picture_tokens=0)


def sent_size(subject: Subject) -> tuple[int, int]:
    """Return the size in which a run would send its pictures."""
    return subject.frame.sent_width, subject.frame.sent_height
