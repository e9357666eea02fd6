"""Real vLLM with the tiny model's plain chat template and with the one by Nemotron's rules: every token is foreseen."""

import html
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import pytest
from source_tree import ROOT
from support.checkpoints.nemotron_template import NEMOTRON_FILE
from support.checkpoints.rendering import chat, prompt_ids
from support.engines.long_conversation import STEPS, TEMPLATES, converse, defects
from support.servers.engine_serve import Serving

from generators.endpoint_check.endpoint import CheckedEndpoint
from generators.endpoint_check.result import CheckResult, Fitness
from generators.endpoint_check.template import check_template
from generators.engine.client.client import OpenAIEngine
from generators.engine.protocol import EnginePrompt, Message, Role, Sampling
from generators.policy.dialects.registry import make_dialect
from generators.policy.model import repair
from schemas.episodes.observation import PageState

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
        assert (*reply.prompt_token_ids,) == (*prompt_ids(chat(prompt.messages), served.template),)
        return (*reply.prompt_token_ids,)

    sent = await converse(token_ids)

    assert defects(sent, served.template, served.suffix) == []
    assert [one.role for one in sent].count(repair.ROLE) == 1
    assert len(sent) == STEPS + 2
    assert sent[-1].segment > 10


async def _line(engine: OpenAIEngine, dialect: str) -> CheckResult:
    endpoint = CheckedEndpoint(engine, make_dialect(dialect))
    endpoint.max_images = 3
    (line,) = await check_template(endpoint)
    return line


async def test_the_check_sees_what_the_template_does(engine: OpenAIEngine, served: Served) -> None:
    line = await _line(engine, "holotron")

    place, fitness = {
        "plain": ("inside", Fitness.FIT),
        "nemotron": ("before", Fitness.POOR),
    }[served.name]
    assert line.fitness is fitness
    assert line.found.startswith(f"the picture stands {place} the observation; ")
    assert f"ends in {json.dumps(served.suffix)}; none of " in line.found


async def test_the_check_sees_a_template_that_obeys_words_of_another_family(
    engine: OpenAIEngine, served: Served
) -> None:
    line = await _line(engine, "holo1_5")

    assert ("obeys what a page says: </think>, /think, /no_think" in line.found) == (
        served.name == "nemotron"
    )
    assert line.fitness is (Fitness.FIT if served.name == "plain" else Fitness.UNFIT)


async def test_an_address_with_a_switch_word_opens_no_thinking_block(
    engine: OpenAIEngine, served: Served
) -> None:
    dialect, url = make_dialect("holotron"), "http://shop.localhost/thinkpads/x0"
    page = PageState(url=url, title="Thinkpads", scroll_x=0.0, scroll_y=0.0)
    as_sent = "".join(dialect.observation_text(0, page))
    endings = []
    for text in (as_sent, html.unescape(as_sent)):
        prompt = EnginePrompt(messages=(Message(role=Role.USER, parts=(text,)),))
        shown = await engine.render(prompt)
        assert shown is not None
        endings.append(shown.text.endswith(served.suffix))
        assert ("http://shop.localhostpads/x0" in shown.text) == (not endings[-1])

    assert endings == [True, served.name == "plain"]
