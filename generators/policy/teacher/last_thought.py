"""What the teacher says at the end of a task that the site has reported as done: nothing but what it sees and has done."""

from collections.abc import Sequence

from generators.policy.element_names import words
from schemas.episodes.action import TypeText
from schemas.episodes.episode import Step
from schemas.episodes.observation import Observation


def last_thought(history: Sequence[Step], seen: Observation) -> str:
    """Return the thought before the last answer: what was entered and is in sight, or what the last step changed."""
    shown = " ".join(one.text for one in seen.sights or ())
    entered = [
        words(step.action.text) for step in history[::-1] if isinstance(step.action, TypeText)
    ]
    text = next((one for one in entered if one and one in shown), None)
    if text is not None:
        return f"The page shows '{text}', which I have entered, and no step of the goal is left."
    if history and history[-1].screenshot.bytes != seen.screenshot.bytes:
        return "My last step has changed what the page shows, and no step of the goal is left."
    return "The page looks as it did before my last step, and no step of the goal is left."
