"""`docs/configuration.md`: it explains every key there is and every key that `configs/` uses.

Where a key takes effect is held against the code: the module that the page names reads an attribute
of the key's name, and reads it from the key's section.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from configuration_keys import (
    OPTIONS,
    READ_IN,
    READ_NOWHERE,
    UNITS,
    in_identity,
    leaves,
    modules,
    tables,
    unit,
)
from source_tree import PACKAGES, ROOT
from source_tree import modules as sources

from generators.policy.dialects.registry import DEFAULT, DIALECTS
from schemas.configuration.config import RunConfig, config_keys, resolve
from schemas.configuration.seats_section import SeatClient
from schemas.configuration.sections import PriceSection, RoleSection

PAGE = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
FREE = ("accept.min_scores", "seats.clients", "sites")
"""Tables whose keys are names of the user's choice."""

IDENTITY = (
    *("run.seed", "tasks.*", "sites", "policies", "engine.model", "engine.args"),
    *(
        "browser.viewport",
        "browser.viewports",
        "browser.device_scale_factor",
        "browser.picture_side",
        "browser.margin",
    ),
    r"policy\.(?!(localizer|validator)\.urls).*",
    r"limits\.(?!drain_seconds|live_episodes|dollars|hours|accepted).*",
)
"""What users may rely on to be a run's identity."""


@cache
def _explained() -> dict[str, str]:
    """Return what the page says of each key, by its dotted name."""
    entries = re.findall(r"^### (.*\n(?:(?!##).*\n)*)", PAGE, re.MULTILINE)
    return {
        name: text for text in entries for name in re.findall(r"`([^`]+)`", text.splitlines()[0])
    }


def _there_are() -> set[str]:
    """Return every key there is, those of `policies` as `policy`'s."""
    keys = {re.sub(r"^policies\.", "policy.", key) for key in config_keys() if "." in key}
    keys |= {"policies", "sites"}
    for role in ("policy.localizer", "policy.validator"):
        keys |= {f"{role}.{key}" for key in RoleSection.model_fields}
    keys |= {f"engine.usd_per_million.{key}" for key in PriceSection.model_fields}
    keys |= {f"seats.clients.{key}" for key in SeatClient.model_fields}
    return keys | {f"{OPTIONS}.{key}" for kind in DIALECTS.values() for key in kind.model_fields}


def _unexplained(table: Mapping[str, object]) -> set[str]:
    """Return the keys of a configuration's tables that the page does not explain."""
    return {
        key
        for key in leaves(table)
        if key not in _explained() and not any(key.startswith(f"{name}.") for name in FREE)
    }


def test_every_key_there_is_is_on_the_page_and_no_other() -> None:
    assert set(_explained()) == _there_are()


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.toml")), ids=lambda p: p.name)
def test_every_key_that_a_shipped_configuration_uses_is_explained(path: Path) -> None:
    assert _unexplained(tomllib.loads(path.read_text(encoding="utf-8"))) == set()


@pytest.mark.parametrize(
    ("toml", "unexplained"),
    [
        ("[limits]\nsteps = 2\nstep = 2", {"limits.step"}),
        ("[[policies]]\nname = 'model'\nnme = 1", {"policy.nme"}),
        ("[policies.x]\ny = 1", {"policies.x.y"}),
        ("[policy.dialect_options]\nleave_in = []", {"policy.dialect_options.leave_in"}),
        ("[policy.localizer]\nurl = ''", {"policy.localizer.url"}),
        ("[accept.min_scores]\nreplay = 0.9", set()),
        ("[accept.max_scores]\nreplay = 0.9", {"accept.max_scores.replay"}),
    ],
)
def test_a_key_that_the_page_does_not_explain_is_found(toml: str, unexplained: set[str]) -> None:
    assert _unexplained(tomllib.loads(toml)) == unexplained


@pytest.mark.parametrize("toml", re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
def test_the_configurations_on_the_page_are_taken_as_they_are(toml: str) -> None:
    assert resolve([("the page", tomllib.loads(toml))]) != RunConfig()


def test_the_example_of_a_value_is_one_that_the_key_takes() -> None:
    examples = {
        name: found[1]
        for name, text in _explained().items()
        if (found := re.search(r"\bas `([\[{\"][^`]*)`", text)) and name != "policy.script"
    }

    assert len(examples) > 10
    for name, value in examples.items():
        assert resolve([("the page", tomllib.loads(f"{name} = {value}"))]) != RunConfig(), name


def test_no_two_headings_have_the_same_anchor() -> None:
    headings = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    anchors = [re.sub(r"[^\w -]", "", heading).lower() for heading in headings]

    assert len(set(anchors)) == len(anchors)


def test_every_entry_has_a_meaning_and_all_its_facts() -> None:
    for name, text in _explained().items():
        heading, blank, meaning, *_ = text.splitlines()
        rows = [line for line in text.splitlines() if line.startswith("|")]
        value, _, default, identity, effect = (cell.strip() for cell in rows[-1].split(" | "))
        assert (blank, len(rows)) == ("", 3), heading
        assert len(meaning.split()) >= 3, f"{name}: {meaning}"
        assert all((value.strip("| "), default, identity, effect.strip("| "))), (
            f"{name}: {rows[-1]}"
        )
        assert identity in ("yes", "no", "in part"), name


def test_the_page_says_yes_for_what_users_may_rely_on_to_be_identity() -> None:
    said = {key for key, text in _explained().items() if re.search(r"\| yes \|[^|]*\|\n", text)}
    promised = {key for key in _there_are() if any(re.fullmatch(one, key) for one in IDENTITY)}

    assert said == promised - {"policy.localizer", "policy.validator"}
    assert in_identity("policy.localizer") == in_identity("policy.validator") == "in part"


@pytest.mark.parametrize(("module", "key"), [(m, k) for m, keys in READ_IN.items() for k in keys])
def test_a_key_is_read_in_the_module_where_the_page_says_it_takes_effect(
    module: str, key: str
) -> None:
    assert _reads((ROOT / module).read_text(encoding="utf-8"), key)


def _reads(code: str, key: str) -> bool:
    """Say whether `code` reads an attribute of the key's name and knows the table it is in."""
    table, _, field = key.rpartition(".")
    nodes = list(ast.walk(ast.parse(code)))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    imported = {
        alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    of_table = [key.kind for names, keys in tables().items() if table in names for key in keys]
    kinds = [*of_table, *DIALECTS.values()] if table == OPTIONS else of_table
    records = {base.__name__ for kind in kinds for base in kind.__mro__} - {"Record"}
    known = not table or table.rpartition(".")[2] in attributes or bool(imported & records)
    return field in attributes and known


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("x = config.limits.steps", True),
        ("from schemas.configuration.sections import LimitsSection\nx = section.steps", True),
        ("from schemas.configuration.sections import TasksSection\nx = section.steps", False),
        ("x = config.limits.seconds", False),
        ("'config.limits.steps'", False),
    ],
)
def test_a_module_that_does_not_read_a_key_is_found(code: str, *, reads: bool) -> None:
    assert _reads(code, "limits.steps") is reads


@pytest.mark.parametrize("key", READ_NOWHERE)
def test_a_key_that_the_page_says_no_module_reads_is_read_by_none(key: str) -> None:
    assert [path for path, tree in sources(*PACKAGES) if key in set(_chains(tree))] == []


def _chains(tree: ast.Module) -> Iterator[str]:
    """Yield the last two names of every attribute: what it is read of, and its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute | ast.Name):
            yield ".".join(ast.unparse(node).split(".")[-2:])


@pytest.mark.parametrize("code", ["title = self._config.run.name", "title = run.name"])
def test_the_search_for_readers_finds_them(code: str) -> None:
    assert "run.name" in _chains(ast.parse(code))


def test_units_and_modules_are_listed_for_keys_that_exist_alone() -> None:
    listed = {key for mapping in (READ_IN, UNITS) for keys in mapping.values() for key in keys}

    assert (listed | set(READ_NOWHERE)) - _there_are() == set()


def test_a_key_without_a_module_or_a_number_without_a_unit_is_not_written() -> None:
    with pytest.raises(LookupError, match=r"no module that reads limits\.nothing"):
        modules("limits.nothing")
    with pytest.raises(LookupError, match=r"does not list the number limits\.nothing"):
        unit("limits.nothing", "integer from 1 to 2")
    assert unit("limits.nothing", "list of strings") == ""


def test_the_default_dialect_is_the_one_that_is_explained() -> None:
    assert f"None: `{DEFAULT}`." in _explained()["policy.dialect"]


def test_the_readme_leads_to_the_page() -> None:
    assert "(docs/configuration.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
