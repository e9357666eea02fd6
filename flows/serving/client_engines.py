"""The engines of clients: asked by the program's own policy, at addresses that the configuration allows.

An engine is opened for the first episode that asks it with a model and a sampling, which checks that it takes what every
episode will ask, and stays open while episodes come. The one that has been idle for longest goes when there are many.
One that is lost is forgotten, so that the next episode opens it anew: the engine of one client that dies ends the
server for nobody else.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urlsplit

from flows.resources.engines import PolicyRuntime, open_policies
from generators.policy.protocol import Decision, Policy, PolicyCard, PolicyInput
from schemas.base import Record, canonical_json
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineKind, PolicySection
from schemas.errors import BadConfig, FailureKind, NoEngine, RolloutFailure

MAX_OPEN = 16
"""How many engines are open; more only while episodes ask each of them."""

IDLE_SECONDS = 900.0
"""How long an engine that no episode asks stays open."""

_PATH = re.compile(r"(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?")
"""A path to an API, in which no part begins with a dot."""


class EngineRefused(ValueError):
    """An address is not one at which a client's engine may be; the text says what is allowed."""


class ClientEngine(Record):
    """The engine of a client, and how it is asked."""

    endpoint: str
    """The address of its API."""
    model: str | None = None
    """The model's name; None: the only one served."""
    policy: PolicySection
    """The dialect and the sampling."""

    @cached_property
    def key(self) -> str:
        """What tells it from any other."""
        return canonical_json(self.model_dump(mode="json"))


def check_endpoint(endpoint: str, allowed: Sequence[str]) -> str:
    """Return the address of an engine, if it is at one of the `allowed` origins; one without a port allows any port.

    Raises:
        EngineRefused: it is not, or it is no plain address.
    """
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        raise EngineRefused("endpoint: expected an address as http://127.0.0.1:8000/v1") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or endpoint != endpoint.strip():
        raise EngineRefused("endpoint: expected an address as http://127.0.0.1:8000/v1")
    if "@" in parts.netloc or parts.query or parts.fragment or not _PATH.fullmatch(parts.path):
        raise EngineRefused(
            "endpoint: expected scheme, host, port and a plain path alone, as http://127.0.0.1:8000/v1"
        )
    for origin in map(urlsplit, allowed):
        if (origin.scheme, origin.hostname) == (parts.scheme, parts.hostname) and (
            origin.port in (None, port)
        ):
            return endpoint.rstrip("/")
    raise EngineRefused(
        f"endpoint: {parts.scheme}://{parts.netloc} is none of the addresses at which engines may be (seats.engines): "
        f"{', '.join(allowed) or 'there is none'}"
    )


@dataclass(slots=True, eq=False)
class _Open:
    """An engine that is open, or opens."""

    runtime: "asyncio.Future[PolicyRuntime]"
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    users: int = 0
    idle_since: float = 0.0
    owner: "asyncio.Task[None] | None" = None
    expiry: asyncio.TimerHandle | None = None


class ClientEngines:
    """The open engines of one server's clients."""

    def __init__(self, config: RunConfig) -> None:
        self._config = config
        self._open: dict[str, _Open] = {}
        self._owners = set[asyncio.Task[None]]()

    @contextlib.asynccontextmanager
    async def hold(self, engine: ClientEngine) -> AsyncIterator[PolicyRuntime]:
        """Keep an engine open while the block runs.

        Raises:
            NoEngine: it is none, or refuses what an episode would ask.
            BadConfig: no engine can be asked so.
        """
        entry = self._open.get(engine.key) or self._begin(engine)
        entry.users += 1
        if entry.expiry is not None:
            entry.expiry.cancel()
        try:
            yield await asyncio.shield(entry.runtime)
        finally:
            entry.users -= 1
            self._rest(engine.key, entry)

    def forget(self, engine: ClientEngine) -> None:
        """Open an engine anew for the next episode, because it was lost."""
        self._drop(engine.key)

    def _drop(self, key: str) -> None:
        if entry := self._open.pop(key, None):
            self._close_if_idle(entry)

    async def close(self) -> None:
        """Close them all; no episode asks any."""
        for entry in self._open.values():
            entry.closing.set()
        self._open.clear()
        if self._owners:
            await asyncio.wait(tuple(self._owners))

    def _begin(self, engine: ClientEngine) -> _Open:
        idle = [key for key, entry in self._open.items() if not entry.users]
        if len(self._open) >= MAX_OPEN and idle:
            self._drop(min(idle, key=lambda key: self._open[key].idle_since))
        entry = self._open[engine.key] = _Open(asyncio.get_running_loop().create_future())
        entry.owner = asyncio.create_task(self._own(engine, entry))
        self._owners.add(entry.owner)
        entry.owner.add_done_callback(self._owners.discard)
        return entry

    async def _own(self, engine: ClientEngine, entry: _Open) -> None:
        """Hold an engine from its opening to its close, in one task, as its connections ask."""
        try:
            async with open_policies(_config_of(self._config, engine), of_client=True) as runtime:
                entry.runtime.set_result(runtime)
                await entry.closing.wait()
        except (NoEngine, BadConfig) as error:
            if self._open.get(engine.key) is entry:
                del self._open[engine.key]
            if not entry.runtime.done():
                entry.runtime.set_exception(error)
                entry.runtime.exception()  # who waits for it gets it; perhaps nobody does any more

    def _rest(self, key: str, entry: _Open) -> None:
        """Note that an episode asks an engine no more."""
        loop = asyncio.get_running_loop()
        if self._open.get(key) is not entry:
            self._close_if_idle(entry)
        elif not entry.users:
            entry.idle_since = loop.time()
            entry.expiry = loop.call_later(IDLE_SECONDS, self._expire, key, entry)

    def _expire(self, key: str, entry: _Open) -> None:
        if self._open.get(key) is entry and not entry.users:
            self._drop(key)

    @staticmethod
    def _close_if_idle(entry: _Open) -> None:
        if not entry.users:
            entry.closing.set()


def _config_of(config: RunConfig, engine: ClientEngine) -> RunConfig:
    """Return the configuration of a run with the client's engine and policy."""
    section = config.engine.model_copy(
        update={
            "kind": EngineKind.OPENAI,
            "urls": (engine.endpoint,),
            "model": engine.model,
            "usd_per_hour": None,
            "usd_per_million": None,
            "gpus": None,
            "replicas": 1,
        }
    )
    return config.model_copy(update={"engine": section, "policy": engine.policy, "policies": ()})


class ClientPolicy:
    """A policy that asks a client's engine; where that is lost, the episode fails, and not the server."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.lost = False
        """Whether the engine is lost."""

    @property
    def card(self) -> PolicyCard:
        """The columns of an episode that describe the policy."""
        return self._policy.card

    async def act(self, turn: PolicyInput) -> Decision:
        """Ask the model for an action.

        Raises:
            RolloutFailure: the engine gives no reply, or is lost.
        """
        try:
            return await self._policy.act(turn)
        except NoEngine as error:
            self.lost = True
            raise RolloutFailure(FailureKind.ENGINE, str(error), again=False) from error
