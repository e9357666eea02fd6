"""The engines of a run: started or borrowed, checked, and closed at the end.

A run owns a vLLM or a simulator that it started and borrows any other. The caller gets a
policy factory, because nothing else in a run asks an engine. Where no policy asks one, nothing is
started.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from flows.resources.engine_config_check import simulator_command
from flows.terminal import print_note
from generators.engine.client.endpoint_keys import VLLM_KEY_VARIABLE, endpoint_keys
from generators.engine.client.pricing import Meter
from generators.engine.protocol import Engine
from generators.engine.simulator.server import SimulatorServer
from generators.engine.vllm.command import schedules_by_priority, trusted_code
from generators.engine.vllm.gpus import gpus_per_server
from generators.engine.vllm.replicas import VllmReplicas
from generators.policy.factory import PolicyFactory, QueueReply
from generators.policy.model.model_call import engine_label
from generators.policy.model.setup import EngineKey, EngineSet, preflight
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineKind, LogprobsMode, PolicySection
from storage.engine_limits import EndpointLimits

if TYPE_CHECKING:
    from generators.engine.client.client import OpenAIEngine

LOG = logging.getLogger(__name__)


class PolicyRuntime:
    """The policies of a run, and the vLLM servers that the run started for them, if any."""

    def __init__(
        self,
        policies: PolicyFactory,
        engine: "OpenAIEngine | None" = None,
        vllm: VllmReplicas | None = None,
    ) -> None:
        """`engine` is the one that policies ask, None if none does; `vllm` are the servers that the run started, None if none."""
        self.policies = policies
        """Makes the policy of every episode."""
        self._engine, self._vllm = engine, vllm

    @contextlib.asynccontextmanager
    async def live(self, section: PolicySection, session: str) -> AsyncIterator[None]:
        """Let an episode whose policy asks the engine live there while the block runs, once there is room for it.

        `session` names its conversation, as in `PolicyFactory.make`.
        """
        async with AsyncExitStack() as stack:
            if self._engine is not None and self.policies.asks_engine(section):
                await stack.enter_async_context(self._engine.live(session))
            yield

    def limits(self) -> tuple[EndpointLimits, ...]:
        """Return how many episodes may live at each endpoint of the engine now; empty without one."""
        if self._engine is None:
            return ()
        card = self._engine.card
        return tuple(
            EndpointLimits(
                engine=engine_label(card, name),
                live=load.live,
                live_limit=load.live_limit,
                parked=load.parked,
                requests=load.under_way,
                request_limit=load.request_limit,
                because=load.because,
            )
            for name, load in self._engine.loads.items()
        )

    async def wait_until_given_up(self) -> str:
        """Wait until all of the run's own servers are given up, and return why; without one, wait for ever.

        A server that is given up gets no more requests. From then on, waiting for a reply raises `NoEngine`.
        """
        if self._vllm is None or self._engine is None:
            await asyncio.Event().wait()
            raise AssertionError  # pragma: no cover - the event is never set
        engine = self._engine
        return await self._vllm.wait_given_up(lambda url, why: engine.give_up(why, url=url))


@contextlib.asynccontextmanager
async def open_policies(
    config: RunConfig, meter: Meter | None = None, *, of_client: bool = False
) -> AsyncIterator[PolicyRuntime]:
    """Start or find the engines that the run's policies ask, and make the policy factory.

    `meter` counts what they cost; None: one that nobody reads. `of_client` is whether a client of seats named the
    engine: such a server may send no request elsewhere, and gets no key but one for its own host.

    Raises:
        NoEngine: an engine does not start, does not answer, or refuses what the policies ask; or this machine has
            too few GPUs for the replicas.
        BadConfig: an engine's context cannot hold a prompt.
    """
    meter = meter or Meter(config.engine)
    async with AsyncExitStack() as stack:
        if not config.uses_engine:
            yield PolicyRuntime(PolicyFactory(config))
            return
        vllm: VllmReplicas | None = None
        if config.engine.kind is EngineKind.VLLM:
            vllm = await _start_vllm(config, stack, meter)
        main, queue_reply = await _main_engine(config, stack, vllm, meter, of_client=of_client)
        if vllm is not None:
            vllm.count_requests(main.requests_under_way)
        roles = [role for section in config.mix for role in (section.localizer, section.validator)]
        others: dict[EngineKey, Engine] = {
            (urls, model): await stack.enter_async_context(
                _client(config, urls, model, keys=_keys(config, urls), borrowed=True)
            )
            for urls, model in {(role.urls, role.model) for role in roles if role and role.urls}
        }
        elsewhere = {url for urls, _ in others for url in urls} - {*config.engine.urls}
        meter.other_gpus += len(elsewhere)
        policies = PolicyFactory(config, EngineSet(main, others, meter), queue_reply=queue_reply)
        for model in policies.models:
            await preflight(model)
        yield PolicyRuntime(policies, main, vllm)


@contextlib.asynccontextmanager
async def open_engine(config: RunConfig) -> "AsyncIterator[OpenAIEngine]":
    """Start or find the main engine of a run, for questions that are no run's.

    Raises:
        NoEngine: it does not start, or does not answer.
    """
    async with AsyncExitStack() as stack:
        vllm: VllmReplicas | None = None
        if config.engine.kind is EngineKind.VLLM:
            vllm = await _start_vllm(config, stack, Meter())
        engine, _ = await _main_engine(config, stack, vllm, Meter())
        yield engine


async def _start_vllm(config: RunConfig, stack: AsyncExitStack, meter: Meter) -> VllmReplicas:
    """Start the run's own servers; `meter` counts from their start to their end.

    Raises:
        NoEngine: there are too few GPUs for them, or none starts.
    """
    engine = config.engine
    if (code := trusted_code(engine)) and engine.revision is None:
        LOG.warning("vLLM executes code beside its own: %s", code)
    servers = VllmReplicas(engine, report=print_note)
    stack.enter_context(meter.run_servers(servers.count * gpus_per_server(engine)))
    return await stack.enter_async_context(servers)


async def _main_engine(
    config: RunConfig,
    stack: AsyncExitStack,
    vllm: VllmReplicas | None,
    meter: Meter,
    *,
    of_client: bool = False,
) -> "tuple[OpenAIEngine, QueueReply | None]":
    engine = config.engine
    if engine.kind is EngineKind.SIMULATOR:
        command = simulator_command(engine)
        stack.enter_context(meter.run_servers(gpus_per_server(engine)))
        server = await stack.enter_async_context(
            SimulatorServer(command.options, faults=command.faults)
        )
        client = _client(
            config,
            (server.url,),
            command.options.model,
            governed=True,
            by_priority=command.options.by_priority,
        )
        queue_reply = server.queue_reply if command.options.puppet else None
        return await stack.enter_async_context(client), queue_reply
    if vllm is not None:
        own = os.environ.get(VLLM_KEY_VARIABLE)
        keys = dict.fromkeys(vllm.urls, own) if own else {}
        client = _client(
            config,
            vllm.urls,
            None,
            keys=keys,
            governed=True,
            by_priority=schedules_by_priority(engine.args),
            on_deadly_request=vllm.forgive_deaths,
        )
    else:
        meter.other_gpus = len(set(engine.urls)) * gpus_per_server(engine)
        main = () if of_client else engine.urls
        keys = endpoint_keys(engine.urls, os.environ, main=main)
        client = _client(
            config,
            engine.urls,
            engine.model,
            keys=keys,
            governed=True,
            borrowed=True,
            of_client=of_client,
        )
    return await stack.enter_async_context(client), None


def most_live(config: RunConfig) -> int:
    """Return how many episodes of a run may live at a time at most."""
    return config.limits.live_episodes or config.browser.sessions * config.browser.processes


def _keys(config: RunConfig, urls: Sequence[str]) -> Mapping[str, str]:
    return endpoint_keys(urls, os.environ, main=config.engine.urls)


def _client(
    config: RunConfig,
    urls: Sequence[str],
    model: str | None,
    *,
    keys: Mapping[str, str] | None = None,
    governed: bool = False,
    borrowed: bool = False,
    by_priority: bool = False,
    of_client: bool = False,
    on_deadly_request: Callable[[], None] = lambda: None,
) -> "OpenAIEngine":
    """Return the client of an engine; `governed` is whether episodes live at it."""
    # Half a second, and only for engines.
    from generators.engine.client.client import OpenAIEngine  # noqa: PLC0415
    from generators.engine.client.transport import URLS_KEY  # noqa: PLC0415

    modes = {section.logprobs for section in config.mix if section.logprobs is not None}
    mode: LogprobsMode | None = next(iter(modes), None)
    return OpenAIEngine(
        urls,
        model=model,
        keys=keys,
        requests=config.engine.requests,
        live_episodes=most_live(config) if governed else None,
        timeout_seconds=config.engine.patience_seconds,
        # The supervisor of a vLLM of our own ends it when it stands still: its requests are asked again then.
        wedged_seconds=config.engine.wedged_seconds if borrowed else None,
        logprobs_mode=mode.value if mode else None,
        by_priority=by_priority,
        on_deadly_request=on_deadly_request,
        follows_redirects=not of_client,
        weights_change=of_client,
        named_by="the request's endpoint" if of_client else URLS_KEY,
        seed=config.run.seed,
    )
