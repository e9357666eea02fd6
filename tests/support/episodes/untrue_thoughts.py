"""What is wrong about the thoughts of a policy that reads the document, and may not show that it does."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from generators.verify.thoughts import contradiction, quotes
from schemas.episodes.episode import Step

_JARGON = re.compile(
    r"\b(?:div|span|li|ul|ol|td|tr|th|svg|img|input|textarea|href|css|html|dom|class|id|px|null"
    r"|undefined|element|node)\b|(?<=\w )(?-i:None)\b|[#.]\w+-\w|rgb\(",
    re.IGNORECASE,
)
"""What only who reads the document says."""

_OPENS = re.compile(r"\b(?:open|unfold|look (?:into|under)|turn it over)\b")
"""What a thought says of an action after which something else is seen."""


def untrue(steps: Sequence[Step]) -> Iterator[str]:
    """Yield what is wrong about the thoughts of steps that follow each other, but for the last one's."""
    for step, after in pairwise(steps):
        thought = bare = step.thought or ""
        for quoted in quotes(thought):
            bare = bare.replace(quoted, "")
        if not thought:
            yield f"step {step.step} has no thought"
        if (word := _JARGON.search(bare)) is not None:
            yield f"{thought} says {word[0]}"
        if (wrong := contradiction(step)) is not None:
            yield f"{thought} is denied: {wrong}"
        same = after.screenshot_sha256 == step.screenshot_sha256
        if same and _OPENS.search(bare):
            yield f"{thought} opens nothing"
