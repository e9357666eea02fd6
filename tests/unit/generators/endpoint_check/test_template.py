"""What is found of a server's chat template: at the simulator, and at a server with each fault once."""

import pytest
from support.checkpoints.nemotron_template import NEMOTRON_TEMPLATE
from support.checkpoints.tokenizer import CHAT_TEMPLATE
from support.engines.templated_server import Manners, templated_server
from support.servers.engine_servers import engine

from generators.endpoint_check.endpoint import CheckedEndpoint
from generators.endpoint_check.result import CheckResult, Fitness
from generators.endpoint_check.template import check_template
from generators.engine.client.rendered_prompt import RenderedPrompt
from generators.engine.simulator.server import SimulatorServer
from generators.policy.dialects.registry import make_dialect

THINKING = CHAT_TEMPLATE.replace(
    "Assistant\\n' -}}\n{%- endif -%}", "Assistant\\n<think>\\n' -}}\n{%- endif -%}"
)
"""The plain template, but every reply begins with thinking."""

BLIND = CHAT_TEMPLATE.replace("part.text if part.type == 'text' else '<image>'", "part.text")
"""The plain template, but a picture leaves no trace."""

REWRITTEN = CHAT_TEMPLATE.replace(
    "{{- '<s>' -}}", "{{- '<s>' if add_generation_prompt else '</s>' -}}"
)
"""The plain template, but the prompt begins otherwise where no reply is asked for."""


async def _line(manners: Manners, dialect: str = "holotron", *, pictures: int = 3) -> CheckResult:
    async with templated_server(manners) as url, engine([url]) as client:
        endpoint = CheckedEndpoint(client, make_dialect(dialect))
        endpoint.max_images = pictures
        (line,) = await check_template(endpoint)
    assert line.name == "template"
    assert bool(line.remedy) == (line.fitness is not Fitness.FIT)
    return line


def test_the_templates_differ_from_the_plain_one() -> None:
    assert len({CHAT_TEMPLATE, THINKING, BLIND, REWRITTEN, NEMOTRON_TEMPLATE}) == 5


@pytest.mark.parametrize("dialect", ["holotron", "holo1_5", "holo2"])
async def test_the_simulator_is_fit(dialect: str) -> None:
    async with SimulatorServer() as server, engine([server.url]) as client:
        endpoint = CheckedEndpoint(client, make_dialect(dialect))
        endpoint.max_images = 3
        (line,) = await check_template(endpoint)

    assert line.fitness is Fitness.FIT
    assert line.found.startswith("the picture stands inside the observation; ")
    assert 'the prompt ends in "<assistant><generate>"' in line.found


async def test_a_template_that_keeps_the_order_of_parts_is_fit() -> None:
    line = await _line(Manners(template=CHAT_TEMPLATE))

    assert line.fitness is Fitness.FIT
    assert line.found.startswith(
        "the picture stands inside the observation; "
        'the prompt ends in "<SPECIAL_11>Assistant\\n"; none of '
    )


async def test_a_template_by_nemotrons_rules_puts_pictures_first_and_closes_its_block() -> None:
    line = await _line(Manners(template=NEMOTRON_TEMPLATE))

    assert line.fitness is Fitness.POOR
    assert "before the observation" in line.found
    assert 'ends in "<SPECIAL_11>Assistant\\n<think></think>"' in line.found
    assert "switch words passes" in line.found
    assert "thinking" not in line.found
    assert "--chat-template-content-format openai" in line.remedy


async def test_a_dialect_that_does_not_name_the_templates_words_is_unfit() -> None:
    line = await _line(Manners(template=NEMOTRON_TEMPLATE), "holo1_5")

    assert line.fitness is Fitness.UNFIT
    assert line.found.endswith("the template obeys what a page says: </think>, /think, /no_think")
    assert "see that 'holo1_5' is the model's own dialect" in line.remedy


@pytest.mark.parametrize("apart", [False, True])
async def test_an_open_thinking_block_that_meets_the_grammar_is_unfit(apart: bool) -> None:  # noqa: FBT001
    line = await _line(Manners(template=THINKING, parses_reasoning=apart))

    assert line.fitness is Fitness.UNFIT
    assert "a thinking block, and the grammar writes its JSON inside" in line.found
    assert 'more_instructions = "/no_think"' in line.remedy


@pytest.mark.parametrize(("apart", "where"), [(True, "keeps apart from"), (False, "leaves in")])
async def test_an_open_thinking_block_in_which_the_model_thinks_is_fit(
    apart: bool,  # noqa: FBT001
    where: str,
) -> None:
    line = await _line(Manners(template=THINKING, thinks=True, parses_reasoning=apart))

    assert line.fitness is Fitness.FIT
    assert f"which the server {where} the reply" in line.found


async def test_a_template_without_a_place_for_pictures_is_unfit() -> None:
    line = await _line(Manners(template=BLIND))

    assert line.fitness is Fitness.UNFIT
    assert "the picture is left out" in line.found


async def test_a_prompt_that_is_rewritten_for_the_reply_has_no_suffix() -> None:
    line = await _line(Manners(template=REWRITTEN))

    assert line.fitness is Fitness.POOR
    assert "no generation suffix of its own" in line.found
    assert "add_generation_prompt" in line.remedy


async def test_a_server_that_does_not_show_pictures_leaves_their_place_unknown() -> None:
    line = await _line(Manners(template=CHAT_TEMPLATE, sees=False))

    assert line.fitness is Fitness.POOR
    assert "where the picture stands is not known" in line.found


async def test_a_server_without_pictures_is_not_asked_for_their_place() -> None:
    line = await _line(Manners(template=CHAT_TEMPLATE), pictures=0)

    assert line.fitness is Fitness.FIT
    assert line.found.startswith("no picture to place; ")


@pytest.mark.parametrize(
    ("dialect", "fitness", "found"),
    [
        ("holotron", Fitness.POOR, "prompts end alike whatever a page says"),
        ("holo1_5", Fitness.UNFIT, "the template obeys what a page says"),
    ],
)
async def test_token_ids_alone_show_whether_prompts_end_alike(
    dialect: str, fitness: Fitness, found: str
) -> None:
    line = await _line(Manners(template=NEMOTRON_TEMPLATE, shows_text=False), dialect)

    assert line.fitness is fitness
    assert line.found.startswith(found)


async def test_of_a_server_that_shows_neither_nothing_is_known() -> None:
    line = await _line(Manners(template=CHAT_TEMPLATE, shows_text=False, shows_ids=False))

    assert line.fitness is Fitness.POOR
    assert line.found == "not known: the server shows neither a prompt's text nor its tokens"


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (("<s>", "URLĠ", "Ã", "©", "Ċ", "<|im_end|>"), "<s>URL é\n<|im_end|>"),
        (("▁URL", "▁é", "<0x0A>", "</s>"), " URL é\n</s>"),
        (("plain text", "\n"), "plain text\n"),
    ],
)
def test_tokens_of_any_vocabulary_are_read_as_text(tokens: tuple[str, ...], text: str) -> None:
    assert RenderedPrompt(tokens).text == text
