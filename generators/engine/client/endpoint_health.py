"""The choice of a conversation's endpoint, and the state machine of an endpoint's health.

Everything here is a pure function of past events and of the time that is passed in; it calls no server and
reads no clock. The rules:

1. A conversation's endpoint is the one whose hash with it is the highest (rendezvous hashing). So it stays
   where its prefix is cached, and the loss of one endpoint moves only that endpoint's conversations.
2. An endpoint is suspect as soon as a request fails there, and gets no more. It is probed at once: if it
   answers, it is live again.
3. If it does not answer, it is dead, and probed again after pauses that double up to a limit.
4. A dead endpoint that answers again recovers over a ramp: a conversation may ask it once the elapsed share
   of the ramp exceeds the conversation's own number in [0, 1), its hash with the endpoint. So conversations
   return one by one and not in a burst. The ramp is long if other endpoints are live, and short if all
   conversations wait for this one.
5. A live endpoint is probed too while requests wait for it. When several probes in a row fail, it hangs or
   its host is gone, and its requests are abandoned.
   One that answers its probes and computes nothing for its requests is gone at once: it comes back when it
   computes again.
6. An endpoint that fails every request for good, even a small one, is lost: it gets no more requests or
   probes. One that has been dead for longer than callers wait counts as lost, and may come back.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from schemas.backoff import Backoff

_PROBES = Backoff(first_seconds=0.5, max_seconds=10.0)


class Phase(StrEnum):
    """Whether an endpoint gets requests."""

    LIVE = "live"
    """It gets requests."""
    SUSPECT = "suspect"
    """A request failed there; it is being probed and gets no requests."""
    DEAD = "dead"
    """It does not answer; it is probed now and then and gets no requests."""
    RECOVERING = "recovering"
    """It answers again; its conversations return one by one."""
    LOST = "lost"
    """It refuses or breaks on every request; it is not asked again."""


@dataclass(frozen=True)
class ProbeTimings:
    """The times in the rules of this module, in seconds."""

    probe_backoff: Backoff = _PROBES
    """Pauses between the probes of a dead endpoint."""
    probe_interval: float = 15.0
    """Pause between two probes of a live endpoint that requests wait for."""
    probe_timeout: float = 20.0
    """A probe that takes longer has failed."""
    failures: int = 3
    """Failed probes in a row after which a live endpoint is dead and its requests are abandoned."""
    ramp: float = 30.0
    """Time in which a recovered endpoint gets all its conversations back, seconds."""
    ramp_alone: float = 2.0
    """The same where no other endpoint is live."""


@dataclass(frozen=True)
class EndpointHealth:
    """The health of one endpoint."""

    phase: Phase = Phase.LIVE
    """Whether it gets requests."""
    failures: int = 0
    """Failed probes in a row."""
    recovered_at: float | None = None
    """When it last answered again after it was dead; None: never."""
    dead_since: float | None = None
    """When a probe first found it dead; None: it is not."""
    reason: str = ""
    """The last problem; empty: none."""

    @property
    def is_live(self) -> bool:
        """Whether it gets requests, if only those of some conversations."""
        return self.phase in {Phase.LIVE, Phase.RECOVERING}

    def after_answer(self) -> "EndpointHealth":
        """Return the health after a whole answer, which counts as a good probe of a live endpoint."""
        return replace(self, failures=0) if self.is_live and self.failures else self

    def after_failure(self, reason: str) -> "EndpointHealth":
        """Return the health after a request failed there."""
        if self.phase in {Phase.DEAD, Phase.SUSPECT, Phase.LOST}:
            return self
        return replace(self, phase=Phase.SUSPECT, reason=reason)

    def after_loss(self, reason: str) -> "EndpointHealth":
        """Return the health after a small request failed as all others do."""
        return replace(self, phase=Phase.LOST, reason=reason)

    def after_probe(
        self, problem: str | None, *, now: float, timings: ProbeTimings
    ) -> "EndpointHealth":
        """Return the health after a probe that found `problem`, or none."""
        if self.phase is Phase.LOST:
            return self
        if problem is None:
            revived = self.phase is Phase.DEAD
            phase = Phase.RECOVERING if revived or self.is_recovering(now, timings) else Phase.LIVE
            return EndpointHealth(phase, recovered_at=now if revived else self.recovered_at)
        failures = self.failures + 1
        dead = self.phase in {Phase.SUSPECT, Phase.DEAD} or failures >= timings.failures
        since = now if self.dead_since is None else self.dead_since
        return replace(
            self,
            phase=Phase.DEAD if dead else self.phase,
            failures=failures,
            reason=problem,
            dead_since=since if dead else None,
        )

    def after_standstill(
        self, reason: str, *, now: float, timings: ProbeTimings
    ) -> "EndpointHealth":
        """Return the health after it computed nothing for its requests: as if its probes had failed."""
        if self.phase is Phase.LOST:
            return self
        return replace(
            self,
            phase=Phase.DEAD,
            failures=max(self.failures, timings.failures),
            reason=reason,
            dead_since=now if self.dead_since is None else self.dead_since,
        )

    def is_recovering(self, now: float, timings: ProbeTimings) -> bool:
        """Return whether it was dead until recently."""
        return self.recovered_at is not None and now - self.recovered_at < timings.ramp

    def is_gone(self, timings: ProbeTimings) -> bool:
        """Return whether its waiting requests will never be answered."""
        return self.failures >= timings.failures

    def lost_at(self, patience: float) -> float:
        """Return the time from which it counts as lost to callers that wait for `patience` seconds."""
        if self.phase is Phase.LOST:
            return -math.inf
        return math.inf if self.dead_since is None else self.dead_since + patience

    def next_probe(self, timings: ProbeTimings, *, has_requests: bool) -> float | None:
        """Return the seconds until the next probe; None: not before the next event."""
        if self.phase is Phase.LOST:
            return None
        if self.phase is Phase.SUSPECT:
            return 0.0
        if self.phase is Phase.DEAD:
            return timings.probe_backoff.pause(max(self.failures, 1))
        return timings.probe_interval if has_requests else None


def rendezvous_weight(endpoint: str, session: str) -> float:
    """Return the number in [0, 1) that belongs to a conversation and an endpoint."""
    digest = hashlib.blake2b(f"{endpoint}\n{session}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big") / 2**56


def choose_endpoint(
    endpoints: Mapping[str, EndpointHealth],
    session: str,
    *,
    now: float,
    timings: ProbeTimings,
    avoid: frozenset[str] = frozenset(),
) -> str | None:
    """Return the endpoint that a conversation asks now; None: it has to wait.

    An endpoint in `avoid` is asked only where no other can be.
    """
    candidates = _candidates(endpoints, session, now=now, ramp=timings.ramp)
    candidates = candidates or _candidates(endpoints, session, now=now, ramp=timings.ramp_alone)
    return max(
        candidates - avoid or candidates,
        key=lambda name: rendezvous_weight(name, session),
        default=None,
    )


def _candidates(
    endpoints: Mapping[str, EndpointHealth], session: str, *, now: float, ramp: float
) -> set[str]:
    """Return the endpoints that a conversation may ask, with recovering ones back over `ramp`."""
    return {
        name
        for name, health in endpoints.items()
        if health.phase is Phase.LIVE
        or (
            health.phase is Phase.RECOVERING
            and now - (health.recovered_at or 0.0)
            # Not the weight that chooses: it is high for exactly those that choose the endpoint.
            >= rendezvous_weight(f"{name} again", session) * ramp
        )
    }
