"""A prompt that is too long after all: its window evicts a block, and asks once more."""

from collections.abc import Sequence

import pytest
from support.runs.commands import SECONDS
from support.servers.engine_servers import engine
from support.servers.stub_engine import clicked, configured, history, seen

from generators.engine.client.client import OpenAIEngine
from generators.engine.protocol import PromptTooLong
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from generators.policy.model.policy import ModelPolicy
from generators.policy.model.setup import EngineSet, ModelConfigs
from generators.policy.model.try_account import Account
from generators.policy.protocol import PolicyInput
from schemas.configuration.sections import PolicyName, PolicySection
from schemas.episodes.action import Action
from schemas.episodes.call import Call

SECTION = PolicySection(name=PolicyName.MODEL, keep_images=2, slack_images=2)
STEPS, SESSION = 9, "e1"
GARBLED = "I would click the button. " * 8


async def _act(
    server: SimulatorServer,
    client: OpenAIEngine,
    account: Account,
    steps: int,
    garbled: int | None,
) -> None:
    """Take some steps of one episode, by a policy that does not know how long the context is.

    The first reply of step `garbled` cannot be read.
    """
    client._card = client.card.model_copy(update={"context_tokens": None})
    models = ModelConfigs(configured(SECTION), EngineSet(client)).of(SECTION)
    policy = ModelPolicy(models.model, account, budget=models.budget, session=SESSION)
    done: list[Action] = []
    for number in range(steps):
        if number == garbled:
            server.queue_reply(SESSION, GARBLED)
        server.queue_reply(SESSION, clicked(number, number))
        decision = await policy.act(PolicyInput("Click it.", history(done), seen(number)))
        done.append(decision.action)


async def _calls(
    context_tokens: int, steps: int = STEPS, *, garbled: int | None = None
) -> tuple[Sequence[Call], int]:
    """Return the calls of an episode, and the requests that were refused."""
    options = SimulatorOptions(puppet=True, context_tokens=context_tokens)
    account = Account()
    async with SimulatorServer(options) as server, engine([server.url]) as client:
        client._timeout_seconds = SECONDS
        await _act(server, client, account, steps, garbled)
        return account.calls, server.request_log.outcomes["refused"]


@pytest.mark.parametrize("step", [1, 4, 7])
async def test_a_context_that_is_64_tokens_too_small_costs_a_block_and_no_step(step: int) -> None:
    endless, none = await _calls(1_000_000)
    longest = endless[step].prompt_tokens
    assert longest is not None
    assert none == 0

    calls, refused = await _calls(longest + SECTION.max_tokens - 64, steps=step + 1)

    assert refused == 1
    assert [call.step for call in calls] == list(range(step + 1))
    before, last = calls[-2:]
    assert last.segment == before.segment + 1
    assert (last.prompt_tokens or 0) <= longest - 64
    assert last.image_steps[-1] == step
    assert [call.segment for call in calls[:-1]] == [call.segment for call in endless[:step]]


async def test_a_second_refusal_is_the_episodes_failure() -> None:
    (first,), _ = await _calls(1_000_000, steps=1)

    with pytest.raises(PromptTooLong, match="maximum context length"):
        await _calls((first.prompt_tokens or 0) + SECTION.max_tokens - 64, steps=1)


@pytest.mark.parametrize("step", [1, 4, 7])
async def test_a_repair_turn_in_a_context_that_is_64_tokens_too_small_costs_a_block_and_no_step(
    step: int,
) -> None:
    endless, _ = await _calls(1_000_000, steps=step + 1, garbled=step)
    asked, repair = endless[-2:]
    assert (repair.role, repair.step, repair.segment) == ("repair", step, asked.segment)
    longest = repair.prompt_tokens or 0
    assert (asked.prompt_tokens or 0) < longest - 64, "only the repair turn is too long"

    context = longest + SECTION.max_tokens - 64
    calls, refused = await _calls(context, steps=step + 2, garbled=step)

    assert refused == 1
    asked, repair, after = calls[-3:]
    assert [call.role for call in (asked, repair, after)] == ["policy", "repair", "policy"]
    assert repair.segment == asked.segment + 1
    assert (repair.prompt_tokens or 0) <= longest - 64
    assert repair.image_steps[-1] == step
    assert after.step == step + 1
    assert [call.step for call in calls if call.role == "policy"] == list(range(step + 2))
