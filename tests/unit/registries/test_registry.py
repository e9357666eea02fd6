"""What a name comes to, and why it comes to nothing."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.offered_parts import installed, offer

from registries.entry_points import Group, find_plugins
from registries.registry import STEPMILL_API, Registry, callable_part, plugin_errors
from schemas.errors import BadConfig, NotFound

PART = f"class Part:\n    stepmill_api = {STEPMILL_API}\n"


def built_in() -> str:
    return "built in"


@pytest.fixture
def registry() -> Registry[Callable[..., object]]:
    return Registry[Callable[..., object]](
        Group.VERIFIERS, {"outcome": built_in, "replay": built_in}, adapt=callable_part
    )


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder in which distributions are installed."""
    with installed(tmp_path):
        yield tmp_path


def verifiers(**places: str) -> dict[str, str]:
    return {f"stepmill.verifiers:{name}": place for name, place in places.items()}


def why(registry: Registry[Callable[..., object]], name: str) -> str:
    with pytest.raises(BadConfig) as refused:
        registry.get(name)
    said = str(refused.value)
    assert "\n" not in said
    return said


def test_a_part_that_ships_is_found_by_its_name(registry: Registry[Callable[..., object]]) -> None:
    assert registry.get("outcome") is built_in
    assert registry.plugin("outcome") is None


def test_a_part_of_a_plugin_is_found_by_its_name(
    registry: Registry[Callable[..., object]], place: Path
) -> None:
    offer(place, "far-away", verifiers(short="far:Part"), modules={"far": PART})

    assert registry.names == ("outcome", "replay", "short")
    assert registry.get("short").__name__ == "Part"
    plugin = registry.plugin("short")
    assert plugin is not None
    assert plugin.origin == "far-away 1.0"
    assert registry.problem(plugin) == ""


def test_the_module_may_say_the_api_for_all_its_parts(
    registry: Registry[Callable[..., object]], place: Path
) -> None:
    code = f"stepmill_api = {STEPMILL_API}\ndef make(*_): return 3\n"
    offer(place, "far-away", verifiers(short="far_function:make"), modules={"far_function": code})

    assert registry.get("short")() == 3


def test_what_another_group_offers_is_no_part(
    registry: Registry[Callable[..., object]], place: Path
) -> None:
    offer(place, "far-away", {"stepmill.formats:short": "far:Part"}, modules={"far": PART})

    assert "short" not in registry.names


def test_an_unknown_name_is_refused_with_the_nearest(
    registry: Registry[Callable[..., object]], place: Path
) -> None:
    offer(place, "far-away", verifiers(short="far:Part"), modules={"far": PART})

    with pytest.raises(NotFound) as refused:
        registry.get("shart", key="verify.verifiers")
    assert str(refused.value) == (
        "verify.verifiers: there is no verifier 'shart'; did you mean 'short'?; "
        "there are outcome, replay, short"
    )


def test_where_there_is_no_part_of_a_kind_the_refusal_says_so() -> None:
    with pytest.raises(NotFound) as refused:
        Registry[Callable[..., object]](Group.PROBES, {}, adapt=callable_part).get("a")
    assert str(refused.value) == "there is no probe 'a'; no package with one is installed"


def test_no_plugin_is_imported_before_it_is_asked_for(
    registry: Registry[Callable[..., object]], place: Path
) -> None:
    offer(place, "far-away", verifiers(short="far:Part"), modules={"far": PART})

    assert registry.get("outcome") is built_in
    assert find_plugins(Group.VERIFIERS)
    assert "far" not in sys.modules


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise RuntimeError('no licence\\nat all')", "fails: RuntimeError: no licence"),
        ("import nothing_of_this_name", "fails: ModuleNotFoundError: No module named"),
        ("import sys; sys.exit(3)", "its import fails: it ends the program"),
        ("x = (", "fails: SyntaxError"),
        ("Other = 3", "fails: AttributeError: module 'far' has no attribute 'Part'"),
        ("class Part: pass", "does not say for which API"),
        ("class Part: stepmill_api = None", "does not say for which API"),
        (
            "class Part: stepmill_api = 2",
            "is written for API 2, and this Stepmill has API 1: install a newer Stepmill, or the version",
        ),
        (
            "class Part: stepmill_api = 0",
            "is written for API 0, and this Stepmill has API 1: install the version",
        ),
        ("class Part: stepmill_api = True", "is written for API True"),
        ("class Part: stepmill_api = '1'", "is written for API '1'"),
        ("stepmill_api = 1\nPart = 3", "is no verifier: a class or a function is expected"),
    ],
)
def test_a_broken_plugin_is_named_in_one_line_and_stops_nothing_else(
    code: str, said: str, registry: Registry[Callable[..., object]], place: Path
) -> None:
    offer(place, "far-away", verifiers(short="far:Part"), modules={"far": code})

    told = why(registry, "short")
    assert told.startswith("the verifier 'short' of far-away 1.0 (far:Part) ")
    assert said in told
    assert registry.get("outcome") is built_in
    (plugin,) = find_plugins(Group.VERIFIERS)
    assert registry.problem(plugin) == told


def test_a_plugin_that_takes_a_built_in_name_is_refused_with_it(
    registry: Registry[Callable[..., object]], place: Path
) -> None:
    offer(place, "far-away", verifiers(outcome="far:Part"), modules={"far": PART})

    told = why(registry, "outcome")
    assert "of far-away 1.0 (far:Part) takes the name of a built-in verifier: rename" in told
    assert "far" not in sys.modules
    assert registry.get("replay") is built_in


def test_a_name_that_two_distributions_offer_is_refused(
    registry: Registry[Callable[..., object]], place: Path
) -> None:
    offer(place, "far-away", verifiers(short="far:Part"), modules={"far": PART})
    offer(place, "further", verifiers(short="further:Part"), version="2", modules={"further": PART})

    told = why(registry, "short")
    assert "far-away 1.0" in told
    assert "further 2" in told
    assert told.endswith("uninstall one of them")


def test_a_name_that_no_configuration_can_give_is_refused(
    registry: Registry[Callable[..., object]], place: Path
) -> None:
    offer(place, "far-away", verifiers(**{"a b": "far:Part"}), modules={"far": PART})

    assert "has no name that a configuration can give" in why(registry, "a b")


def test_what_a_plugin_raises_while_it_is_made_is_a_refusal() -> None:
    said = r"^it cannot be used: it is not made: KeyError: 'a'$"
    with pytest.raises(BadConfig, match=said), plugin_errors("it", "it is not made"):
        raise KeyError("a")


@given(st.text(max_size=20))
def test_any_text_is_a_name_or_refused(name: str) -> None:
    registry = Registry[Callable[..., object]](Group.SITES, {"a": built_in}, adapt=callable_part)

    if name == "a":
        assert registry.get(name) is built_in
    else:
        with pytest.raises(NotFound):
            registry.get(name)


def test_every_group_has_a_word_for_its_parts() -> None:
    nouns = ["site", "application", "policy", "verifier", "dialect", "format", "probe"]
    assert [group.noun for group in Group] == nouns
