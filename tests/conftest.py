"""What every test stands on: an environment without the user's own settings, and golden files."""

import asyncio
import gc
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest
import pytest_asyncio
from effort import THOROUGH
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from support.episodes.factories import MadeRun
    from support.runs.library import RunLibrary
    from support.servers.seaweedfs import Weed

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"

# The same examples every time, so that a gate fails for the change at hand or not at all;
# `HYPOTHESIS_PROFILE=explore` looks for new ones. A shared machine has no honest deadline.
settings.register_profile(
    "gate",
    deadline=None,
    derandomize=True,
    max_examples=100 if THOROUGH else 50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", deadline=None, max_examples=1_000)
# The Hub's client reads where tokens are kept, and caches, when it is imported.
os.environ["HF_HOME"] = str(ROOT / ".pytest_cache" / "hf")
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"

# Whom this machine trusts beside others is its user's setting, and so is who colours what it
# prints: several tools do where `CI` is set, whatever `NO_COLOR` says.
for _name in (
    "AWS_CA_BUNDLE",
    "SSL_CERT_FILE",
    "CI",
    "GITHUB_ACTIONS",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
):
    os.environ.pop(_name, None)

_GIVEN = frozenset(os.environ)
"""The variables that were there before any test."""

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))

Golden = Callable[[str, str], None]
"""Compares a text with the golden file of a name."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew-golden", action="store_true", help="write the golden files instead of comparing"
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector, which need not look at what stays to the end either."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what `make test-full` alone has the time for."""
    if THOROUGH:
        return
    full = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=full)
    left_out = set(full)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the configuration of whoever runs the tests out of them."""
    for name in os.environ:
        if name.startswith("STEPMILL_") and "__" in name:
            monkeypatch.delenv(name)
    for name in ("HF_TOKEN", "HF_TOKEN_PATH", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _prefect_set_up_anew() -> Iterator[None]:
    """Take back what a command that ran in this process told Prefect, so that no test inherits it."""
    _forget_prefect()
    yield
    _forget_prefect()


def _forget_prefect() -> None:
    for name in set(os.environ) - _GIVEN:
        if name.startswith("PREFECT_"):
            del os.environ[name]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare a text with what outsiders rely on; renewing that is a deliberate act."""
    renew: bool = request.config.getoption("--renew-golden")

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if renew:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"no golden file {name}: `make golden` writes it"
        assert text == path.read_text(encoding="utf-8"), (
            f"{name} changed, and others rely on it. If that is meant, say so in changes/ "
            "and accept it with `make golden`."
        )

    return compare


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of this test run that all its workers share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


class CopyRun(Protocol):
    """Puts a finished run into a folder."""

    def __call__(self, place: Path, *, units: int = 2) -> "MadeRun":
        """Return the run of so many units, copied to `place`."""


@pytest.fixture(scope="session")
def copy_run(tmp_path_factory: pytest.TempPathFactory) -> CopyRun:
    """Return what copies a finished run, which is made once: nothing in it tells where it is."""
    from support.episodes.factories import make_whole_run  # noqa: PLC0415 - loads what few tests need

    from storage.objects.local import LocalStore  # noqa: PLC0415 - the same

    @cache
    def made(units: int) -> "MadeRun":
        place = tmp_path_factory.mktemp("whole") / "run"
        return asyncio.run(make_whole_run(place, units=units))

    def copy(place: Path, *, units: int = 2) -> "MadeRun":
        run = made(units)
        shutil.copytree(run.folder, place, copy_function=shutil.copyfile)
        return replace(run, place=place, store=LocalStore(place), units=list(run.units))

    return copy


@pytest.fixture(scope="session")
def run_library(shared_folder: Path) -> "RunLibrary":
    """The finished runs of real browsers that tests look at, each made once for all workers."""
    from support.runs.library import RunLibrary  # noqa: PLC0415 - loads what few tests need

    return RunLibrary(shared_folder)


@pytest.fixture(scope="session")
def weed(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Weed]":
    """A real S3 server of this machine, started once."""
    from support.servers.seaweedfs import Weed  # noqa: PLC0415 - loads AWS's client, which few tests need

    server = Weed(tmp_path_factory.mktemp("weed"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def bucket_url(weed: "Weed", monkeypatch: pytest.MonkeyPatch) -> str:
    """A place in a bucket where nobody wrote; its credentials are in the standard places."""
    for name, value in weed.environment.items():
        monkeypatch.setenv(name, value)
    return weed.place()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def one_browser() -> AsyncIterator[None]:
    """Start one browser for all tests of a worker that ask for it, in the session's event loop."""
    from support.browsers.one_browser import shared_browser  # noqa: PLC0415 - loads a browser, which few tests need

    async with shared_browser():
        yield
