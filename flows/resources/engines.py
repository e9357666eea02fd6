"""The engines of a run: started or borrowed, checked, and closed at the end.

A run owns a vLLM or a simulator that it started and borrows any other. The caller gets a
policy factory, because nothing else in a run asks an engine. Where no policy asks one, nothing is
started.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from flows.resources.engine_config_check import simulator_command
from flows.terminal import print_note
from generators.engine.client.endpoint_keys import VLLM_KEY_VARIABLE, endpoint_keys
from generators.engine.protocol import Engine
from generators.engine.simulator.server import SimulatorServer
from generators.engine.vllm.command import trusted_code
from generators.engine.vllm.supervisor import VllmServer
from generators.policy.factory import PolicyFactory, QueueReply
from generators.policy.model.setup import EngineKey, EngineSet, preflight
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineKind, LogprobsMode
from schemas.errors import NoEngine

if TYPE_CHECKING:
    from generators.engine.client.client import OpenAIEngine

LOG = logging.getLogger(__name__)


class PolicyRuntime:
    """The policies of a run, and the vLLM that the run started for them, if any."""

    def __init__(
        self, policies: PolicyFactory, own: "tuple[VllmServer, OpenAIEngine] | None" = None
    ) -> None:
        """`own` is the vLLM that the run started, with its client; None if it started none."""
        self.policies = policies
        """Makes the policy of every episode."""
        self._own = own

    async def wait_until_given_up(self) -> str:
        """Wait until the run's own vLLM is given up, and return why; without one, wait for ever.

        From then on, waiting for its reply raises `NoEngine`.
        """
        if self._own is None:
            await asyncio.Event().wait()
            raise AssertionError  # pragma: no cover - the event is never set
        vllm, engine = self._own
        try:
            await vllm.wait_given_up()
        except NoEngine as error:
            engine.give_up(str(error))
            return str(error)


@contextlib.asynccontextmanager
async def open_policies(config: RunConfig) -> AsyncIterator[PolicyRuntime]:
    """Start or find the engines that the run's policies ask, and make the policy factory.

    Raises:
        NoEngine: an engine does not start, does not answer, or refuses what the policies ask.
        BadConfig: an engine's context cannot hold a prompt.
    """
    async with AsyncExitStack() as stack:
        if not config.uses_engine:
            yield PolicyRuntime(PolicyFactory(config))
            return
        vllm: VllmServer | None = None
        if config.engine.kind is EngineKind.VLLM:
            if (code := trusted_code(config.engine)) and config.engine.revision is None:
                LOG.warning("vLLM executes code beside its own: %s", code)
            vllm = await stack.enter_async_context(VllmServer(config.engine, report=print_note))
        main, queue_reply = await _main_engine(config, stack, vllm)
        roles = [role for section in config.mix for role in (section.localizer, section.validator)]
        others: dict[EngineKey, Engine] = {
            (urls, model): await stack.enter_async_context(
                _client(config, urls, model, keys=_keys(config, urls))
            )
            for urls, model in {(role.urls, role.model) for role in roles if role and role.urls}
        }
        policies = PolicyFactory(config, EngineSet(main, others), queue_reply=queue_reply)
        for model in policies.models:
            await preflight(model)
        yield PolicyRuntime(policies, None if vllm is None else (vllm, main))


async def _main_engine(
    config: RunConfig, stack: AsyncExitStack, vllm: VllmServer | None
) -> "tuple[OpenAIEngine, QueueReply | None]":
    engine = config.engine
    if engine.kind is EngineKind.SIMULATOR:
        command = simulator_command(engine)
        server = await stack.enter_async_context(
            SimulatorServer(command.options, faults=command.faults)
        )
        client = _client(config, (server.url,), command.options.model)
        queue_reply = server.queue_reply if command.options.puppet else None
        return await stack.enter_async_context(client), queue_reply
    if vllm is not None:
        own = os.environ.get(VLLM_KEY_VARIABLE)
        client = _client(config, (vllm.url,), None, keys={vllm.url: own} if own else {})
    else:
        client = _client(config, engine.urls, engine.model, keys=_keys(config, engine.urls))
    return await stack.enter_async_context(client), None


def _keys(config: RunConfig, urls: Sequence[str]) -> Mapping[str, str]:
    return endpoint_keys(urls, os.environ, main=config.engine.urls)


def _client(
    config: RunConfig,
    urls: Sequence[str],
    model: str | None,
    *,
    keys: Mapping[str, str] | None = None,
) -> "OpenAIEngine":
    from generators.engine.client.client import OpenAIEngine  # noqa: PLC0415 - half a second, and only for engines

    modes = {section.logprobs for section in config.mix if section.logprobs is not None}
    mode: LogprobsMode | None = next(iter(modes), None)
    return OpenAIEngine(
        urls,
        model=model,
        keys=keys,
        requests=config.engine.requests,
        timeout_seconds=config.engine.patience_seconds,
        logprobs_mode=mode.value if mode else None,
        seed=config.run.seed,
    )
