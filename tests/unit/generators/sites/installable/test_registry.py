"""Which site needs which application, told by the command that starts it."""

import pytest
from source_tree import ROOT

from flows.job.config_loader import Sources, load
from generators.sites.installable import registry
from generators.sites.installable.application import SYSTEM, Installed
from generators.sites.installable.registry import APPLICATIONS, SERVE, what_is_missing
from schemas.configuration.application import Start


@pytest.fixture
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_installed", lambda *_: None)


@pytest.mark.usefixtures("_nothing_installed")
def test_each_site_that_ships_needs_the_application_of_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    sites = load(Sources(config="configs/apps.toml"), {}).sites
    assert sites.keys() == APPLICATIONS.keys()
    for name, site in sites.items():
        missing = f"{name} is not installed: stepmill sites install {name}"
        assert what_is_missing(site.start) == missing


def test_nothing_is_missing_of_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_installed", lambda *_: Installed(tree=SYSTEM, version="1"))
    assert what_is_missing(Start(command=(*SERVE, "fossil", "--port", "{port}"))) is None


@pytest.mark.usefixtures("_nothing_installed")
@pytest.mark.parametrize(
    "start",
    [
        Start(command=("python3", "fossil")),
        Start(command=(*SERVE[:-1], "tasks", "fossil")),
        Start(command=(*SERVE, "gitea")),
        Start(command=SERVE),
        Start(command=("env", *SERVE, "fossil")),
        Start(url="http://127.0.0.1:8000"),
    ],
    ids=["own", "other verb", "unknown", "no name", "wrapped", "runs already"],
)
def test_nothing_is_known_of_what_a_site_of_the_users_own_needs(start: Start) -> None:
    assert what_is_missing(start) is None
