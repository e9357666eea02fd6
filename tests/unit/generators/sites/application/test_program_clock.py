"""The time of an application's server, which stands still where its file says so."""

from datetime import datetime, timedelta, timezone

import pytest
from support.servers.ledger_site import ledger, ledger_task, mounted, serving, visiting

from generators.sites.application import program_clock as frozen_clock
from generators.sites.application.site import ApplicationSite
from generators.sites.gateway import Gateway
from schemas.errors import BadConfig


async def test_the_time_of_a_server_stands_still_at_the_instant_that_is_stated() -> None:
    at = datetime(2026, 1, 15, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    application = ledger("clock", clock={"at": at, "freeze_server": True})
    async with serving(application) as (site, gateway):
        times = [await time_in(site, gateway) for _ in range(2)]

    assert times == [1_768_471_200_000_000_000] * 2


async def test_the_time_of_a_server_that_is_not_frozen_goes_on() -> None:
    application = ledger("clock", clock={"at": "2026-01-15T10:00:00Z"})
    async with serving(application) as (site, gateway):
        assert await time_in(site, gateway) < await time_in(site, gateway)


async def time_in(site: ApplicationSite, gateway: Gateway) -> int:
    """What time it is for the server of a visit, ns since 1970."""
    async with visiting(site, gateway, ledger_task()) as (_, problem, _):
        state = (await site.state(problem)).value
    assert isinstance(state, dict)
    assert isinstance(state["now"], int)
    return state["now"]


async def test_a_clock_that_nothing_can_stop_is_refused_before_any_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(frozen_clock, "PLACES", ())
    application = ledger(clock={"at": "2026-01-15T10:00:00Z", "freeze_server": True})
    said = "^sites.ledger: clock.freeze_server needs libfaketime, which is not installed: install "
    async with Gateway() as gateway:
        with pytest.raises(BadConfig, match=said):
            await mounted(gateway, application).__aenter__()
