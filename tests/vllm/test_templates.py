"""Real vLLM with the tiny model's plain chat template and with the one by Nemotron's rules: every token is foreseen."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from source_tree import ROOT
from support.checkpoints.nemotron_template import NEMOTRON_FILE
from support.checkpoints.rendering import chat, prompt_ids
from support.servers.engine_serve import Serving
from support.servers.long_conversation import STEPS, TEMPLATES, converse, defects

from generators.engine.client.client import OpenAIEngine
from generators.engine.protocol import EnginePrompt, Sampling
from generators.policy.model import repair

pytestmark = pytest.mark.timeout(1_200)  # a start takes half a minute, on a busy machine several

FLAGS = {
    "plain": (),
    "nemotron": ("--chat-template", str(ROOT / "models" / "tiny" / NEMOTRON_FILE)),
}
"""How vLLM is told each template."""


@dataclass(frozen=True)
class Served:
    """A vLLM that serves the tiny model with a template."""

    name: str
    template: str
    suffix: str
    url: str


@pytest.fixture(scope="module", params=TEMPLATES)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    """A server with each template in turn."""
    name = str(request.param)
    running = Serving(*FLAGS[name])
    try:
        yield Served(name, *TEMPLATES[name], running.url())
    finally:
        running.end()


@pytest.fixture
async def engine(served: Served) -> AsyncIterator[OpenAIEngine]:
    """A client of it."""
    async with OpenAIEngine([served.url]) as engine:
        yield engine


async def test_forty_steps_grow_token_by_token(engine: OpenAIEngine, served: Served) -> None:
    async def token_ids(prompt: EnginePrompt) -> tuple[int, ...]:
        asked = EnginePrompt(messages=prompt.messages)
        reply = await engine.reply(asked, Sampling(temperature=0.0, max_tokens=1), session="long")
        assert reply.prompt_token_ids is not None
        assert reply.prompt_token_ids == (*prompt_ids(chat(prompt.messages), served.template),)
        return reply.prompt_token_ids

    sent = await converse(token_ids)

    assert defects(sent, served.template, served.suffix) == []
    assert [one.role for one in sent].count(repair.ROLE) == 1
    assert len(sent) == STEPS + 2
    assert sent[-1].segment > 10
