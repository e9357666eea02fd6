"""The source of training rows: an episode with its verdicts, and its conversation in a dialect.

Storage depends on no dialect. A renderer, which `flows` passes in, returns the prompts that a model
would have got and the replies it would have given, in segments: the prompt of a segment only grows, so
each of its prompts is the beginning of its turns. `replies_of` takes the segments apart again, into one
prompt for each reply.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from schemas.episodes.conversation import ChatMessage, MaskReason, Rendered


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with the prompt that it answers."""

    step: int
    """The step whose action it is."""
    prompt: tuple[ChatMessage, ...]
    """Every message before it."""
    turn: ChatMessage
    """The reply."""

    @property
    def text(self) -> str:
        """The text of the reply."""
        return "".join(part for part in self.turn.parts if isinstance(part, str))

    @property
    def shown(self) -> tuple[tuple[str, tuple[str | bytes, ...]], ...]:
        """The prompt as a model is shown it: roles, texts and pictures' bytes."""
        return tuple(
            (turn.role, tuple(part if isinstance(part, str) else part.jpeg for part in turn.parts))
            for turn in self.prompt
        )

    @property
    def is_bad(self) -> bool:
        """Whether it is masked because its action could not be carried out, or was a mistake on purpose."""
        return self.turn.mask_reason in {MaskReason.FAILED, MaskReason.MISTAKE}


def replies_of(rendered: Rendered) -> Iterator[Reply]:
    """Yield every reply of an episode with its prompt, in order, those that are masked too."""
    for segment in rendered.segments:
        for place, turn in enumerate(segment.turns):
            if turn.step is not None:
                yield Reply(turn.step, segment.turns[:place], turn)
