from collections import Counter
from pathlib import Path

import pytest

from flows.job.config_loader import Sources, load, parse_value
from flows.job.plan import count_by_policy
from flows.job.validate import validate
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import RowKind
from schemas.errors import BadConfig


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.toml"
    path.write_text('[run]\nname = "file"\nseed = 1\n[browser]\nsessions = 2\n', encoding="utf-8")
    return path


def test_nothing_given_is_the_defaults() -> None:
    assert load(Sources(), {}) == RunConfig()


def test_each_source_goes_over_the_one_before(file: Path) -> None:
    environ = {"STEPMILL_RUN__NAME": "environment", "STEPMILL_RUN__SEED": "2"}
    settings = ("run.name=flag",)

    from_file = load(Sources(config=str(file)), {})
    from_environment = load(Sources(config=str(file)), environ)
    from_flags = load(Sources(config=str(file), settings=settings), environ)
    from_run = load(Sources(config=str(file), settings=("run.url=x",), run="y"), environ)

    assert (from_file.run.name, from_file.run.seed) == ("file", 1)
    assert (from_environment.run.name, from_environment.run.seed) == ("environment", 2)
    assert (from_flags.run.name, from_flags.run.seed) == ("flag", 2)
    assert from_flags.browser.sessions == 2
    assert from_run.run.url == "y"


def test_a_later_flag_goes_over_an_earlier_one() -> None:
    config = load(Sources(settings=("run.seed=1", "run.seed=2")), {})

    assert config.run.seed == 2


def test_a_list_replaces_the_list() -> None:
    config = load(Sources(settings=('tasks.include=["click-*"]',)), {})

    assert config.tasks.include == ("click-*",)


def test_a_site_that_is_named_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('[sites]\nshop = "shop.toml"\nshop = "other.toml"\n')

    with pytest.raises(BadConfig) as refused:
        load(Sources(config=str(path)), {})

    assert str(refused.value).startswith(f"{path}: invalid TOML: Cannot overwrite a value")
    assert "line 3" in str(refused.value)


def test_only_names_with_two_underscores_are_keys() -> None:
    environ = {"STEPMILL_CHROMIUM": "/usr/bin/x", "STEPMILL_CHAOS_ROUNDS": "3"}

    assert load(Sources(), environ) == RunConfig()


def test_a_key_below_a_key_can_be_set() -> None:
    config = load(Sources(), {"STEPMILL_ACCEPT__MIN_SCORES__REPLAY": "0.5"})

    assert config.accept.min_scores == {"replay": 0.5}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("0.5", 0.5),
        ("true", True),
        ('"4"', "4"),
        ("[1, 2]", [1, 2]),
        ("runs/demo", "runs/demo"),
        ("", ""),
        ("two words", "two words"),
        ("1\nother = 2", "1\nother = 2"),
        ("[1", "[1"),
    ],
)
def test_a_value_is_read_as_toml_and_else_taken_as_text(text: str, value: object) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize(
    ("settings", "environ", "told"),
    [
        (
            ("browser.sesions=3",),
            {},
            ["--set browser.sesions=3", "did you mean 'browser.sessions'"],
        ),
        (("browser.sessions=many",), {}, ["--set", "browser.sessions", "'many'", "integer"]),
        (("browser.sessions=0",), {}, ["browser.sessions", "0", "greater than or equal to 1"]),
        (("tasks.seeds=[4, 0]",), {}, ["tasks.seeds", "larger than the last"]),
        (("browser=3",), {}, ["--set browser=3", "browser = 3"]),
        (("run.seed",), {}, ["--set run.seed", "KEY=VALUE"]),
        (("=3",), {}, ["--set =3", "expected a key as section.key"]),
        (("run..seed=3",), {}, ["run..seed", "expected a key as section.key"]),
        ((), {"STEPMILL_RUN__SEDE": "1"}, ["environment variable STEPMILL_RUN__SEDE", "run.seed"]),
        ((), {"STEPMILL_RUN__SEED": "-1"}, ["environment variable STEPMILL_RUN__SEED", "-1"]),
        (('policies=[{name="tea cher"}]',), {}, ["policies.0.name", "tea cher", "pattern"]),
    ],
)
def test_a_mistake_names_its_source_key_value_and_rule(
    settings: tuple[str, ...], environ: dict[str, str], told: list[str]
) -> None:
    with pytest.raises(BadConfig) as refused:
        load(Sources(settings=settings), environ)

    for part in told:
        assert part in str(refused.value)


def test_every_mistake_is_told_at_once(file: Path) -> None:
    file.write_text("[run]\nsede = 1\n[browser]\nsessions = -1\n", encoding="utf-8")

    with pytest.raises(BadConfig) as refused:
        load(Sources(config=str(file)), {})

    assert str(refused.value).count(str(file)) == 2


def test_a_mistake_in_the_syntax_comes_with_its_line(file: Path) -> None:
    file.write_text("[run]\nseed = 1\nname = \n", encoding="utf-8")

    with pytest.raises(BadConfig, match=r"run\.toml: invalid TOML: .*line 3"):
        load(Sources(config=str(file)), {})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"nowhere\.toml: cannot be read: No such file"):
        load(Sources(config=str(tmp_path / "nowhere.toml")), {})


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="cannot be read: Is a directory"):
        load(Sources(config=str(tmp_path)), {})


def test_a_file_that_is_no_text_is_named(file: Path) -> None:
    file.write_bytes(b"[run]\nname = '\xff'\n")

    with pytest.raises(BadConfig, match="is not UTF-8"):
        load(Sources(config=str(file)), {})


def test_a_configuration_that_ships_is_found_by_its_name_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = load(Sources(config="configs/smoke.toml"), {})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "smoke").mkdir()

    assert load(Sources(config="smoke"), {}) == there


def test_a_file_of_ones_own_goes_before_one_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("smoke").write_text("[run]\nseed = 7\n", encoding="utf-8")

    assert load(Sources(config="smoke"), {}).run.seed == 7


@pytest.mark.parametrize("name", ["smke", "a\0b", ""])
def test_a_name_that_is_no_file_and_does_not_ship_is_refused(name: str) -> None:
    with pytest.raises(BadConfig, match=r"there is no such file, and no .* there are .*smoke"):
        load(Sources(config=name), {})


@pytest.mark.parametrize("name", sorted(path.name for path in Path("configs").glob("*.toml")))
def test_every_configuration_that_ships_is_sound(name: str) -> None:
    load(Sources(config=str(Path("configs") / name)), {})


def test_the_demo_is_as_large_as_it_promises() -> None:
    config = load(Sources(config="configs/demo.toml"), {})
    tasks = validate(config).tasks

    assert len({task.template_id for task in tasks}) >= 60
    assert config.tasks.attempts >= 2
    assert len(tasks) * config.tasks.attempts >= 150
    assert Counter(task.site for task in tasks)["worlds"] >= 16
    assert set(count_by_policy(config, tasks)) == {"teacher", "clumsy"}
    assert (
        config.publish.include_rejected
    )  # without failures no pairs, and little that is not wanted
    assert {RowKind.PREFERENCE, RowKind.KTO} <= {*config.publish.training_rows}
    assert config.browser.sessions == 16
