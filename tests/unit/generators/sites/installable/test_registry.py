"""Which site needs which application, told by the command that starts it, and which package has it."""

from pathlib import Path

import pytest
from support.inputs.offered_application import DISTRIBUTION, MISSING, Harbour
from support.inputs.offered_parts import installed, offer

from generators.sites.installable import registry
from generators.sites.installable.registry import (
    PACKAGE_OF,
    SERVE,
    find_application,
    find_installation,
    needed_application,
    what_is_missing,
)
from schemas.configuration.application_parts import Start
from schemas.errors import BadConfig, NotFound

START = Start(command=(*SERVE, "harbour", "--port", "{port}"))


@pytest.fixture
def harbour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Harbour:
    return Harbour(tmp_path, monkeypatch)


def test_what_a_package_offers_is_missing_until_it_is_installed(harbour: Harbour) -> None:
    assert what_is_missing(START) == MISSING
    harbour.install()
    assert what_is_missing(START) is None
    harbour.remove()
    assert what_is_missing(START) == MISSING


def test_installing_says_what_is_done_and_gives_what_is_found_from_then_on(
    harbour: Harbour, tmp_path: Path
) -> None:
    del harbour
    environ, said = {"XDG_DATA_HOME": str(tmp_path)}, list[str]()
    assert find_installation("harbour", environ) is None

    made = find_application("harbour", environ).install(said.append)

    assert said == ["harbour: digging"]
    found = find_installation("harbour", environ)
    assert found is not None
    folder = tmp_path / "stepmill/applications/harbour"
    assert (made.version, made.folder) == (found.version, found.folder) == ("7", folder)


@pytest.mark.parametrize(
    "start",
    [
        Start(command=("python3", "harbour")),
        Start(command=(*SERVE[:-1], "tasks", "harbour")),
        Start(command=SERVE),
        Start(command=("env", *SERVE, "harbour")),
        Start(url="http://127.0.0.1:8000"),
    ],
    ids=["own", "other verb", "no name", "wrapped", "runs already"],
)
def test_nothing_is_known_of_what_a_site_of_the_users_own_needs(
    start: Start, harbour: Harbour
) -> None:
    del harbour
    assert needed_application(start) is None
    assert what_is_missing(start) is None


def test_an_application_that_no_package_offers_is_missing_with_those_that_are_offered(
    harbour: Harbour,
) -> None:
    del harbour
    missing = what_is_missing(Start(command=(*SERVE, "harbor")))

    assert missing is not None
    assert "there is no application 'harbor'; did you mean 'harbour'?; there are " in missing


@pytest.mark.parametrize("name", PACKAGE_OF)
def test_one_of_this_repository_is_missing_with_the_package_that_has_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry.APPLICATIONS, "plugin", lambda _: None)
    missing = what_is_missing(Start(command=(*SERVE, name)))

    assert missing == (
        f"{name} comes with the package stepmill-applications, which is not installed: "
        "pip install ./plugins/applications, in Stepmill's repository"
    )
    with pytest.raises(NotFound, match="comes with the package stepmill-applications"):
        find_application(name, {})


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise OSError('no harbour')", "its import fails: OSError: no harbour"),
        ("class Harbour:\n  stepmill_api = 1", "it is not made: TypeError: "),
        (
            "class Harbour:\n  stepmill_api = 1\n  def __init__(self, machine): pass",
            "it is not looked for: AttributeError: ",
        ),
    ],
)
def test_a_broken_package_is_named_and_nothing_is_said_to_be_missing(
    code: str, said: str, tmp_path: Path
) -> None:
    part = {"stepmill.applications:harbour": "broken_harbour:Harbour"}
    offer(tmp_path, DISTRIBUTION, part, modules={"broken_harbour": code})

    with installed(tmp_path), pytest.raises(BadConfig) as refused:
        what_is_missing(START)
    told = str(refused.value)
    assert told.startswith(f"the application 'harbour' of {DISTRIBUTION} 1.0 (broken_harbour:")
    assert said in told
