"""A configuration: what is refused and how it is said, which layer wins, what decides a run."""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from schemas.configuration.config import Layer, RunConfig, config_keys, identity, resolve
from schemas.configuration.picture_sizes import (
    MODEL_PICTURE_SIDE,
    MODEL_VIEWPORT,
    PICTURE_SIDE,
    VIEWPORT,
)
from schemas.configuration.sections import ENGINE_POLICIES
from schemas.errors import BadConfig

CONTRACT_KEYS = {
    "run": {"url", "name", "seed"},
    "tasks": {"source", "include", "exclude", "seeds", "attempts", "unit_size"},
    "policy": {"name", "dialect", "temperature", "keep_images", "slack_images"},
    "policies": {"share"},
    "engine": {"kind", "urls", "model", "usd_per_hour", "args"},
    "browser": {
        "sessions",
        "viewport",
        "device_scale_factor",
        "processes",
        "picture_side",
        "margin",
    },
    "limits": {"live_episodes", "steps", "seconds", "tokens", "stuck_steps", "drain_seconds"},
    "verify": {"verifiers"},
    "accept": {"passed", "min_reward", "min_scores"},
    "storage": {"endpoint_url", "region", "shard_mb"},
    "publish": {"to", "include_rejected", "private"},
}
"""The sections and keys that users' files may rely on."""


def _read(toml: str, *, name: str = "demo.toml") -> tuple[str, Layer]:
    return name, tomllib.loads(toml)


def _refusal(*layers: tuple[str, Layer]) -> str:
    with pytest.raises(BadConfig) as caught:
        resolve(layers)
    return str(caught.value)


def _dotted(table: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    out: dict[str, object] = {}
    for key, value in table.items():
        nested = isinstance(value, Mapping) and key not in {"min_scores", "dialect_options"}
        out |= _dotted(value, f"{prefix}{key}.") if nested else {f"{prefix}{key}": value}
    return out


DEFAULTS = _dotted(RunConfig().model_dump(mode="json"))


def test_every_promised_key_exists() -> None:
    promised = {f"{section}.{key}" for section, keys in CONTRACT_KEYS.items() for key in keys}

    assert promised - set(config_keys()) == set()


def test_every_key_has_a_default() -> None:
    assert resolve([]) == RunConfig()


@pytest.mark.parametrize("name", sorted(ENGINE_POLICIES))
def test_a_model_looks_through_a_viewport_on_its_tile_grid(name: str) -> None:
    asked = resolve([("file", {"policy": {"name": name}})])
    mixed = resolve([("file", {"policies": [{"name": "teacher"}, {"name": name}]})])
    told = resolve([("file", {"policy": {"name": name}, "browser": {"viewport": [640, 480]}})])

    for config in (asked, mixed):
        assert config.fixed_viewport(None) == MODEL_VIEWPORT
        assert config.picture_side == MODEL_PICTURE_SIDE
    assert told.fixed_viewport(None) == told.fixed_viewport((160, 210)) == (640, 480)
    assert resolve([]).fixed_viewport(None) == VIEWPORT
    assert resolve([]).fixed_viewport((160, 210)) is None
    assert resolve([]).picture_side == PICTURE_SIDE


def test_only_the_keys_in_effect_are_identity() -> None:
    sizes = {"viewport": [640, 480], "device_scale_factor": 1.0}
    fixed = resolve([("file", {"browser": sizes | {"margin": 0.5, "picture_side": [300, 400]}})])
    scaled = resolve([("file", {"browser": {"device_scale_factor": 2.0}})])

    def keys(config: RunConfig) -> dict[str, object]:
        return {
            key.removeprefix("browser."): value
            for key, value in identity(config).items()
            if key.startswith("browser.")
        }

    assert keys(fixed) == sizes
    assert keys(resolve([("file", {"browser": {"viewport": [640, 480]}})])) == sizes
    assert keys(scaled).keys() == {"device_scale_factor", "margin"}
    assert keys(resolve([])).keys() == {"picture_side", "margin"}


def test_where_a_role_is_served_is_no_part_of_the_identity() -> None:
    first, second = (
        resolve([("file", {"policy": {"localizer": {"urls": [url]}}})]) for url in ("a", "b")
    )

    assert identity(first) == identity(second)


def test_the_resolved_defaults_are_a_configuration_that_resolves_to_itself() -> None:
    dump = RunConfig().model_dump(mode="json", exclude_none=True)

    assert resolve([("run.json", dump)]) == RunConfig()


@pytest.mark.parametrize("section", CONTRACT_KEYS)
def test_an_unknown_key_is_refused_in_every_section(section: str) -> None:
    wrong: object = {"no_such_key": 1}

    message = _refusal(("demo.toml", {section: [wrong] if section == "policies" else wrong}))

    assert message.startswith("demo.toml: unknown key")
    assert "no_such_key" in message


@pytest.mark.parametrize(
    ("toml", "meant"),
    [
        ("[tasks]\nattemps = 2", "tasks.attempts"),
        ("[tsks]\nattempts = 2", "tasks"),
        ("attempts = 2", "tasks.attempts"),
        ("[limits]\ndrain_second = 2", "limits.drain_seconds"),
        ("[[policies]]\nnme = 'teacher'", "policies.name"),
        ("[browser]\nview_port = [1, 2]", "browser.viewport"),
        ("[run]\nSeed = 1", "run.seed"),
    ],
)
def test_an_unknown_key_is_told_its_nearest(toml: str, meant: str) -> None:
    assert f"did you mean '{meant}'?" in _refusal(_read(toml))


def test_a_key_that_is_like_nothing_is_told_what_there_is() -> None:
    assert "known here: url, name, seed" in _refusal(_read("[run]\nqqq = 1"))
    assert "known here: run, sites, tasks, policy" in _refusal(_read("zzzz = 1"))


def _wrong_types() -> Iterator[tuple[str, object]]:
    """Yield each key that has a default with a value of every type that it does not take."""
    values: list[object] = ["text", 1.5, True, 7, [{"a": 1}], {"a": {"b": 1}}]
    for key, default in DEFAULTS.items():
        if default is None or key == "policies":
            continue
        of_dict = (dict,) if key == "policy.dialect_options" else ()
        taken = {float: (float, int), dict: of_dict}.get(type(default), (type(default),))
        for value in values:
            if type(value) not in taken or isinstance(value, list):
                yield key, value


@pytest.mark.parametrize(("key", "value"), list(_wrong_types()))
def test_a_value_of_the_wrong_type_is_refused_with_its_key(key: str, value: object) -> None:
    section, _, name = key.partition(".")

    message = _refusal(("--set", {section: {name: value}}))

    assert message.startswith(f"--set: {key}")


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[run]\nurl = ''", "run.url"),
        ("[run]\nseed = -1", "run.seed = -1"),
        ("[run]\nseed = 9223372036854775808", "run.seed"),
        ("[tasks]\nsource = ''", "tasks.source"),
        ("[tasks]\nattempts = 0", "tasks.attempts = 0"),
        ("[tasks]\nunit_size = 0", "tasks.unit_size = 0"),
        ("[tasks]\nseeds = [5, 1]", "tasks.seeds = [5, 1]: the first seed"),
        ("[tasks]\nseeds = [1]", "tasks.seeds.1 is missing"),
        ("[tasks]\nseeds = [1, 2, 3]", "tasks.seeds = [1, 2, 3]: has too many items"),
        ("[tasks]\nseeds = [0, 9223372036854775808]", "tasks.seeds.1"),
        ("[policy]\nname = 'tea cher'", "policy.name = 'tea cher'"),
        ("[policy]\ntemperature = 2.1", "policy.temperature = 2.1"),
        ("[policy]\ntemperature = nan", "policy.temperature = nan"),
        ("[policy]\nkeep_images = 0", "policy.keep_images = 0"),
        ("[policy]\nslack_images = -1", "policy.slack_images = -1"),
        ("[[policies]]\nshare = 0.0", "policies.0.share = 0.0"),
        ("[engine]\nkind = 'gpt'", "engine.kind = 'gpt'"),
        ("[engine]\nusd_per_hour = -1.0", "engine.usd_per_hour = -1.0"),
        ("[engine]\ngpus = 0", "engine.gpus = 0"),
        ("[engine]\nreplicas = 0", "engine.replicas = 0: should be a number from 1 to 256, or"),
        ("[engine]\nreplicas = -1", "engine.replicas = -1: should be a number from 1 to 256, or"),
        ("[engine]\nreplicas = 257", "engine.replicas = 257: should be"),
        ("[engine]\nreplicas = 2.0", "engine.replicas = 2.0: should be"),
        ("[engine]\nreplicas = true", "engine.replicas = True: should be"),
        ("[engine]\nreplicas = 'cards'", "engine.replicas = 'cards': should be"),
        ("[browser]\nsessions = 0", "browser.sessions = 0"),
        ("[browser]\nviewport = [10, 400]", "browser.viewport.0 = 10"),
        (
            "[browser]\npicture_side = [400, 300]",
            "browser.picture_side = [400, 300]: the least side",
        ),
        ("[browser]\ndevice_scale_factor = 0.0", "browser.device_scale_factor = 0.0"),
        ("[browser]\nprocesses = 0", "browser.processes = 0"),
        ("[limits]\nlive_episodes = 0", "limits.live_episodes = 0"),
        ("[limits]\nsteps = 0", "limits.steps = 0"),
        ("[limits]\nseconds = 0.0", "limits.seconds = 0.0"),
        ("[limits]\nseconds = inf", "limits.seconds = inf"),
        ("[limits]\ntokens = 0", "limits.tokens = 0"),
        ("[limits]\nstuck_steps = 1", "limits.stuck_steps = 1"),
        ("[limits]\ndrain_seconds = -1.0", "limits.drain_seconds = -1.0"),
        ("[limits]\ndollars = 0", "limits.dollars = 0"),
        ("[limits]\ndollars = -1.0", "limits.dollars = -1.0"),
        ("[limits]\ndollars = nan", "limits.dollars = nan"),
        ("[limits]\nhours = 0.0", "limits.hours = 0.0"),
        ("[limits]\nhours = inf", "limits.hours = inf"),
        ("[limits]\naccepted = 0", "limits.accepted = 0"),
        ("[accept]\nmin_reward = nan", "accept.min_reward = nan"),
        ("[accept]\nmin_scores = {judge = 1.5}", "accept.min_scores.judge = 1.5"),
        ("[storage]\nshard_mb = 0", "storage.shard_mb = 0"),
        ("run = 3", "run = 3: should be a table"),
        ("policies = 3", "policies = 3: should be a list"),
    ],
)
def test_a_value_out_of_range_is_refused_with_its_key_and_value(toml: str, said: str) -> None:
    assert f"demo.toml: {said}" in _refusal(_read(toml))


def test_every_mistake_is_named_at_once() -> None:
    message = _refusal(
        _read("[run]\nsed = 1\n[tasks]\nattempts = 0"), ("--set", {"browser": {"sessions": 0}})
    )

    assert [line.split(":")[0] for line in message.splitlines()] == [
        "demo.toml",
        "demo.toml",
        "--set",
    ]


def test_a_text_that_is_no_unicode_is_refused() -> None:
    assert "not valid Unicode" in _refusal(("--set", {"run": {"name": "\udc80"}}))


def test_a_later_layer_wins_key_by_key() -> None:
    config = resolve(
        [
            _read("[run]\nurl = 'a'\nname = 'a'\nseed = 1"),
            ("environment", {"run": {"url": "b", "name": "b"}}),
            ("--set", {"run": {"url": "c"}}),
        ]
    )

    assert (config.run.url, config.run.name, config.run.seed) == ("c", "b", 1)


def test_a_list_replaces_the_list() -> None:
    config = resolve(
        [_read("[tasks]\ninclude = ['a', 'b']"), ("--set", {"tasks": {"include": ["c"]}})]
    )

    assert config.tasks.include == ("c",)


def test_a_table_of_scores_is_merged_by_verifier() -> None:
    config = resolve(
        [
            _read("[accept.min_scores]\njudge = 0.5\nreplay = 0.9"),
            ("--set", {"accept": {"min_scores": {"judge": 0.7}}}),
        ]
    )

    assert config.accept.min_scores == {"judge": 0.7, "replay": 0.9}


def test_the_message_names_the_layer_that_set_the_value() -> None:
    message = _refusal(
        _read("[tasks]\nattempts = 2"), ("STEPMILL_TASKS__ATTEMPTS", {"tasks": {"attempts": 0}})
    )

    assert message.startswith("STEPMILL_TASKS__ATTEMPTS: tasks.attempts = 0")


def test_layers_are_left_as_they_were() -> None:
    layer: dict[str, Any] = {"run": {"seed": 1}}

    resolve([("a", layer), ("b", {"run": {"seed": 2}})])

    assert layer == {"run": {"seed": 1}}


def test_policies_replace_the_policy_when_there_are_any() -> None:
    one = resolve([_read("[policy]\nname = 'clumsy'")])
    two = resolve([_read("[policy]\nname = 'clumsy'\n[[policies]]\nname = 'teacher'")])

    assert [section.name for section in one.mix] == ["clumsy"]
    assert [section.name for section in two.mix] == ["teacher"]
