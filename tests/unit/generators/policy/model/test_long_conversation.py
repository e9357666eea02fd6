"""Forty steps in the tokens of a plain chat template and of one by Nemotron's rules.

`tests/vllm` asks a real vLLM the same.
"""

import html
from collections.abc import Callable
from itertools import pairwise

import pytest
from support.checkpoints.rendering import chat, prompt_ids
from support.engines.long_conversation import (
    STEPS,
    TEMPLATES,
    Sent,
    TokenIds,
    common_messages,
    converse,
    defects,
)

from generators.engine.protocol import EnginePrompt, Message
from generators.policy.model import repair


def _counted(template: str, change: Callable[[str], str] = str) -> TokenIds:
    """Return what counts by a template, all texts but the first changed before."""

    async def token_ids(prompt: EnginePrompt) -> list[int]:
        first, *others = prompt.messages
        return prompt_ids(chat([first, *(_changed(one, change) for one in others)]), template)

    return token_ids


def _changed(message: Message, change: Callable[[str], str]) -> Message:
    parts = tuple(change(part) if isinstance(part, str) else part for part in message.parts)
    return message.model_copy(update={"parts": parts})


def _dropped(sent: list[Sent]) -> int:
    """Return how many new segments begin with another first observation."""
    pairs = pairwise(sent)
    return sum(
        common_messages(a.messages, b.messages) == 1 and len(b.messages) < len(a.messages)
        for a, b in pairs
        if a.segment != b.segment
    )


@pytest.mark.parametrize("name", TEMPLATES)
async def test_each_prompt_of_a_segment_begins_with_all_of_the_one_before(name: str) -> None:
    template, suffix = TEMPLATES[name]

    sent = await converse(_counted(template))

    assert defects(sent, template, suffix) == []
    assert len(sent) == STEPS + 2
    assert [one.role for one in sent].count(repair.ROLE) == 1
    assert sent[-1].segment > 10
    assert _dropped(sent) > 1


async def test_pages_with_their_switch_words_whole_would_make_prompts_part_elsewhere() -> None:
    template, suffix = TEMPLATES["nemotron"]

    sent = await converse(_counted(template, html.unescape))

    found = defects(sent, template, suffix)
    assert found
    assert "prompt 1 does not end in '<SPECIAL_11>Assistant\\n<think></think>'" in found
