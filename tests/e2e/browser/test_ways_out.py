"""No page gets out: every way that is heard where nothing holds a page back is silent in a run's browser.

The ways are gone in a network namespace, in which a raw socket hears every packet, at two levels: the
browser in another namespace of its own, and flags and gateway alone. Where the machine allows no
namespaces they are gone on its own loopback, where canaries hear what is sent to them and nothing is sent abroad.
"""

import psutil
import pytest
from effort import THOROUGH
from sites.hostile.ways_out import WAYS
from support.browsers.ways_out_run import Heard, Mode, listen, own_network

pytestmark = [pytest.mark.browser, pytest.mark.timeout(0 if THOROUGH else 300)]

OWN = bool(own_network())

FLAGS_ALONE = bool(own_network(last=True))

SIX = {"loopback-of-six", "abroad-by-six"}
"""They need IPv6."""

DATAGRAMS = {name for name, way in WAYS.items() if way.datagrams}

TRIED = {
    name for name, way in WAYS.items() if (OWN or not way.abroad) and (THOROUGH or not way.long)
}

networked = pytest.mark.skipif(
    not OWN, reason="no network namespace may be made here: only canaries on loopback hear"
)

LEVELS = [
    pytest.param(Mode.CONTAINED, marks=[pytest.mark.full] if FLAGS_ALONE else []),
    pytest.param(
        Mode.FLAGS,
        marks=pytest.mark.skipif(not FLAGS_ALONE, reason="no user namespace may be made here"),
    ),
]
"""How the browser is held back. Where it may have no namespace, both are the same.

Where flags and gateway can be tried alone, `make test` tries no more: a namespace with nothing in it is silent.
"""


@pytest.fixture(scope="module")
def control() -> Heard:
    """What is heard where nothing holds a page back."""
    return listen(Mode.CONTROL, own=OWN, single=THOROUGH)


@pytest.fixture(scope="module", params=LEVELS)
def contained(request: pytest.FixtureRequest) -> Heard:
    """What is heard of the browser of runs, at a level."""
    mode: Mode = request.param
    heard = listen(mode, own=OWN, single=THOROUGH)
    assert not (heard.enclosed and mode is Mode.FLAGS)
    return heard


@pytest.mark.full
def test_every_way_is_heard_where_nothing_holds_a_page_back(control: Heard) -> None:
    linked = any(name != "lo" for name in psutil.net_if_addrs())
    silent = TRIED - control.loud - SIX - (set() if OWN or linked else DATAGRAMS)

    assert len(control.loud) >= 160
    assert silent == set()
    assert control.raw is OWN


def test_no_way_is_heard_of_the_browser_of_runs(contained: Heard) -> None:
    assert contained.ways.keys() == TRIED
    assert contained.loud == set()
    assert contained.quiet_pages == [], "a page did not even ask"


@networked
def test_no_other_packet_leaves_the_browser_of_runs(contained: Heard) -> None:
    assert contained.raw
    assert contained.unattributed == []


@pytest.mark.full
@pytest.mark.parametrize("own", [own for own in (False, True) if OWN or not own])
def test_no_way_is_heard_of_pages_whose_time_is_real(*, own: bool) -> None:
    heard = listen(Mode.CONTAINED_REAL, own=own, single=True)

    assert heard.loud == set()
    assert heard.unattributed == []
