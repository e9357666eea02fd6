"""The engine behind OpenAI's chat protocol: vLLM, SGLang, TensorRT-LLM, llama.cpp, a hosted API.

It owns the connections to its endpoints and nothing else: it starts and stops no server. A request
goes to the endpoint that the conversation belongs to, waits for its turn there, and is sent again
until a whole reply arrives, the server refuses it for good, or the time is over. A whole reply is
final, whatever it says. Requests go out as bytes and replies come back whole, not streamed:
reading a stream token by token would cost several times what all the rest of a request does, so the
time to the first token is known only where the server reports it.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from random import Random
from typing import Self

from generators.engine.client.discovery import discover, find_probe_path, merge_cards
from generators.engine.client.endpoint import Endpoint
from generators.engine.client.endpoint_health import EndpointHealth, Phase, ProbeTimings
from generators.engine.client.endpoint_pool import EndpointPool
from generators.engine.client.metrics import EngineMetrics, fetch_metrics
from generators.engine.client.rendered_prompt import RenderedPrompt, fetch_rendered_prompt
from generators.engine.client.request_body import RequestBody, ServerQuirks
from generators.engine.client.retried_request import Request
from generators.engine.client.retry_policy import RetryPolicy
from generators.engine.client.standstill import StandstillWatch
from generators.engine.client.transport import URLS_KEY, IncompleteResponse, Transport
from generators.engine.client.turns import EndpointLoad, Turns
from generators.engine.client.weights import WeightsWatch
from generators.engine.governor.governor import Governor
from generators.engine.governor.signals import CallFigures, Memory
from generators.engine.protocol import EngineCard, EnginePrompt, Reply, Sampling
from generators.engine.stopwatch import Stopwatch
from schemas.errors import FailureKind, NoEngine, RolloutFailure

LOG = logging.getLogger(__name__)

_TOKEN_ID_PRODUCTS = frozenset({"vllm", "sglang", "scripted"})
"""Products that take `return_token_ids`; others may refuse a field they do not know."""


class OpenAIEngine:
    """The engine over any OpenAI-compatible servers; an async context manager."""

    def __init__(
        self,
        urls: Sequence[str],
        *,
        model: str | None = None,
        keys: Mapping[str, str] | None = None,
        requests: int = 256,
        live_episodes: int | None = None,
        timeout_seconds: float = 1_800.0,
        wedged_seconds: float | None = None,
        discovery_seconds: float = 10.0,
        logprobs_mode: str | None = None,
        by_priority: bool = False,
        probe_timings: ProbeTimings | None = None,
        retry_policy: RetryPolicy | None = None,
        on_deadly_request: Callable[[], None] = lambda: None,
        follows_redirects: bool = True,
        weights_change: bool = False,
        named_by: str = URLS_KEY,
        seed: int = 0,
    ) -> None:
        """Make an engine of the servers at `urls`; nothing is sent before it is entered.

        `model` None takes the only one served. `keys` holds the API key of each URL; a URL
        that is not in it is sent none. At most `requests` requests are on their way to one endpoint
        at a time. `live_episodes` is the most episodes that may live at all endpoints together, of which a
        governor of each endpoint finds how many really may; None: any number. `timeout_seconds` bounds the wait
        for a reply, retries and restarts of the server included. A server of vLLM's that computes nothing for its
        requests for `wedged_seconds` is treated as gone; None: whoever runs it sees to that. `logprobs_mode` is how
        the servers are set to give log-probabilities (`raw` or `processed`), which no server reports.
        `by_priority` is whether the servers schedule requests by their priority; they are told to begin with the oldest
        episodes then. `on_deadly_request` is called when a request is given up because its server died of it.
        `follows_redirects` is whether a server may send a request to another address. `weights_change` is whether a
        trainer changes the servers' weights meanwhile: they are asked for the version then. `named_by` is what has
        the URLs, for messages to whoever can mend them there.
        """
        self._urls = tuple(dict.fromkeys(urls))
        self._model = model
        self._keys = dict(keys or {})
        self._requests = requests
        self._live_episodes = live_episodes
        self._timeout_seconds = timeout_seconds
        self._wedged_seconds = wedged_seconds
        self._discovery_seconds = discovery_seconds
        self._logprobs_mode = logprobs_mode
        self._by_priority = by_priority
        self._probe_timings = probe_timings or ProbeTimings()
        self._retry_policy = retry_policy or RetryPolicy()
        self._on_deadly_request = on_deadly_request
        self._follows_redirects = follows_redirects
        self._weights_change = weights_change
        self._named_by = named_by
        self._random = Random(seed)
        self._stack = AsyncExitStack()
        self._pool: EndpointPool | None = None
        self._card: EngineCard | None = None

    @property
    def card(self) -> EngineCard:
        """The servers' reports when the engine was opened."""
        if self._card is None:
            raise RuntimeError("the engine is not open")
        return self._card

    async def __aenter__(self) -> Self:
        """Discover the model of every endpoint.

        Raises:
            NoEngine: none answers, they disagree, or they do not serve the model.
        """
        async with AsyncExitStack() as stack:
            transports = [
                await stack.enter_async_context(
                    Transport(
                        url,
                        api_key=self._keys.get(url),
                        connect_seconds=self._discovery_seconds,
                        follows_redirects=self._follows_redirects,
                        named_by=self._named_by,
                    )
                )
                for url in self._urls
            ]
            results = await self._discover_all(transports)
            self._card = merge_cards(
                [card for card in results.values() if isinstance(card, EngineCard)]
            )
            endpoints = [
                await self._endpoint(transport, results[transport.name]) for transport in transports
            ]
            self._card = self._card.model_copy(
                update={"endpoints": tuple(endpoint.name for endpoint in endpoints)}
            )
            self._pool = await stack.enter_async_context(
                EndpointPool(
                    endpoints,
                    self._card,
                    self._probe_timings,
                    patience=self._timeout_seconds,
                    on_deadly_request=self._on_deadly_request,
                )
            )
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def reply(
        self,
        prompt: EnginePrompt,
        sampling: Sampling,
        *,
        session: str,
        stopwatch: Stopwatch | None = None,
    ) -> Reply:
        """Return the reply to `prompt`; see `Engine`.

        Raises:
            PromptTooLong: the prompt does not fit into the model's context.
            RolloutFailure: a server that replies to others refuses the request for good, dies of it, or
                gave no whole reply in time.
            NoEngine: no endpoint is left: each refuses every request, or has not answered within the
                allowed time.
        """
        pool = self._open_pool
        request = Request(
            RequestBody(prompt, sampling, model=self.card.model),
            pool,
            session=session,
            stopwatch=stopwatch,
            retry_policy=self._retry_policy,
            random=self._random,
            timeout_seconds=self._timeout_seconds,
        )
        try:
            return await self._reply(request)
        finally:
            request.settle()

    async def _reply(self, request: Request) -> Reply:
        """Return the reply to a request, which may go on after its time as long as that is not its fault."""
        pool = self._open_pool
        while True:
            deadline = request.deadline = asyncio.timeout(self._timeout_seconds)
            try:
                async with deadline:
                    return await request.run(logprobs_mode=self._logprobs_mode)
            except TimeoutError as error:
                if not deadline.expired():
                    raise
                if await request.may_go_on():
                    continue
                why = request.last_failure or pool.problems or "nothing came back"
                raise RolloutFailure(
                    FailureKind.ENGINE, f"no whole reply in {self._timeout_seconds:g} s: {why}"
                ) from error

    @contextlib.asynccontextmanager
    async def live(self, session: str) -> AsyncIterator[None]:
        """Let an episode live at an endpoint while the block runs, once there is room for it.

        `session` names its conversation; those of its roles begin with that and a slash.
        """
        async with self._open_pool.residents.live(session):
            yield

    def hear(self, reply: Reply, *, session: str, cacheable_tokens: int | None) -> None:
        """Learn how much of a reply's prompt its server's cache could have served.

        `cacheable_tokens` None: it is not known.
        """
        pool = self._open_pool
        endpoint = next((end for end in pool.endpoints if end.name == reply.endpoint), None)
        if endpoint is None:
            return
        known = None if cacheable_tokens is None else reply.cached_tokens
        call = CallFigures(
            episode=session,
            seconds=reply.total_ms / 1_000,
            prompt_tokens=reply.prompt_tokens,
            cached_tokens=known,
            cacheable_tokens=cacheable_tokens or 0,
        )
        if endpoint.turns.hear(call, asyncio.get_running_loop().time()):
            pool.residents.look()

    @property
    def loads(self) -> Mapping[str, EndpointLoad]:
        """How many live and ask at each endpoint now."""
        return {end.name: end.turns.load for end in self._open_pool.endpoints}

    def give_up(self, reason: str, *, url: str | None = None) -> None:
        """Stop asking the endpoint at `url`; None: every endpoint.

        Where none is left, every pending and every later request gets `NoEngine`.
        """
        pool = self._open_pool
        for own, endpoint in zip(self._urls, pool.endpoints, strict=True):
            if url in (None, own):
                pool.lose(endpoint, reason, abandons=True)

    def requests_under_way(self, url: str) -> int:
        """Return the number of requests that were sent to the endpoint at `url` and have no answer yet."""
        ends = zip(self._urls, self._open_pool.endpoints, strict=True)
        return sum(len(endpoint.timeouts) for own, endpoint in ends if own == url)

    async def metrics(self) -> dict[str, EngineMetrics | None]:
        """Return the metrics of each endpoint; None: it has none."""
        return {end.name: await fetch_metrics(end.transport) for end in self._open_pool.endpoints}

    async def render(self, prompt: EnginePrompt, *, suffix: bool = True) -> RenderedPrompt | None:
        """Return a prompt as the first endpoint's chat template and tokenizer make it; None: it does not show it.

        It ends in the generation suffix, which opens the reply, unless `suffix` is False.
        """
        body = RequestBody(prompt, Sampling(), model=self.card.model)
        transport = self._open_pool.endpoints[0].transport
        return await fetch_rendered_prompt(transport, body.encode_for_tokenizer(suffix=suffix))

    @property
    def _open_pool(self) -> EndpointPool:
        if self._pool is None:
            raise RuntimeError("the engine is not open")
        return self._pool

    async def _discover_all(self, transports: Sequence[Transport]) -> dict[str, EngineCard | str]:
        """Return each endpoint's card, or why it does not answer; at least one does."""
        if not transports:
            raise NoEngine(f"no engine to ask: {self._named_by} is empty")
        results: dict[str, EngineCard | str] = {}
        unfit: list[str] = []

        async def discover_one(transport: Transport) -> None:
            try:
                results[transport.name] = await discover(
                    transport, model=self._model, seconds=self._discovery_seconds
                )
            except IncompleteResponse as error:
                results[transport.name] = error.reason
            except NoEngine as error:
                unfit.append(str(error))

        async with asyncio.TaskGroup() as group:
            for transport in transports:
                group.create_task(discover_one(transport))
        if unfit:
            raise NoEngine("; ".join(sorted(unfit)))
        if not any(isinstance(card, EngineCard) for card in results.values()):
            tried = "; ".join(f"{name}: {reason}" for name, reason in results.items())
            raise NoEngine(f"no engine answers: {tried}; start one, or mend {self._named_by}")
        return results

    async def _endpoint(self, transport: Transport, result: EngineCard | str) -> Endpoint:
        endpoint = Endpoint(transport=transport, turns=self._turns(None))
        if self._wedged_seconds is not None:
            endpoint.standstill = StandstillWatch(transport, self._wedged_seconds)
        if self._weights_change:
            endpoint.weights = WeightsWatch(transport)
        endpoint.quirks = ServerQuirks(
            token_ids=self.card.product in _TOKEN_ID_PRODUCTS, by_priority=self._by_priority
        )
        if isinstance(result, str):
            LOG.warning(
                "%s does not answer and is left out until it does: %s", transport.name, result
            )
            now = asyncio.get_running_loop().time()
            endpoint.health = EndpointHealth(Phase.DEAD, failures=1, reason=result, dead_since=now)
        else:
            endpoint.probe_path = await find_probe_path(transport, seconds=self._discovery_seconds)
            told = await fetch_metrics(transport, seconds=self._discovery_seconds)
            endpoint.block_tokens = None if told is None else told.block_tokens
            memory = None if told is None else told.memory(self.card.context_tokens)
            endpoint.turns = self._turns(memory)
        return endpoint

    def _turns(self, memory: Memory | None) -> Turns:
        if self._live_episodes is None:
            return Turns(self._requests)
        ceiling = -(-self._live_episodes // len(self._urls))
        return Turns(self._requests, Governor(ceiling, memory))
