"""Reads the sources of a configuration: a TOML file, the environment and flags, in that order.

Each source becomes a named layer of plain tables, and `schemas.configuration.config.resolve` puts them
over the defaults and over each other. Errors name the layer: the file, the environment variable or the
flag. This module does not interpret the keys.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from flows.job.shipped_configs import find_config
from registries.entry_points import Group
from registries.registry import check_known
from schemas.base import Record
from schemas.configuration.config import Layer, RunConfig, resolve
from schemas.configuration.sections import PolicyName
from schemas.errors import BadConfig
from schemas.redaction import redact

PREFIX = "STEPMILL_"
"""The prefix of environment variables that set keys; `__` stands for each dot."""

_DOT = "__"
_MAX_BYTES = 4 * 2**20


class Sources(Record):
    """The sources of a command's configuration; small and plain, so they can be Prefect parameters."""

    config: str | None = None
    """A TOML file, or the name of one that ships; None: the defaults."""
    settings: tuple[str, ...] = ()
    """`KEY=VALUE` each, over the file and the environment."""
    run: str | None = None
    """The run's URL, over everything; None: as configured."""


def load(
    sources: Sources,
    environ: Mapping[str, str],
    *below: tuple[str, Layer],
    over: Mapping[str, JsonValue] | None = None,
) -> RunConfig:
    """Return the configuration that `sources` and the environment give, over layers `below` them.

    `over` are the values of keys as `browser.sessions`, over everything; None: none.

    Raises:
        BadConfig: naming the source, the key, the value and the rule.
    """
    return resolve([*below, *layers(sources, environ, over)])


def layers(
    sources: Sources, environ: Mapping[str, str], over: Mapping[str, JsonValue] | None = None
) -> Iterator[tuple[str, Layer]]:
    """Yield every layer over the defaults with its name, the strongest last.

    Raises:
        BadConfig: a source cannot be read.
    """
    for name, layer in _plain_layers(sources, environ):
        yield from _read_sites(name, layer)
    for key, value in (over or {}).items():
        where = f"the setting '{redact(key)}'"
        yield from _read_sites(where, _nest(key.split("."), value, where=where))


def _plain_layers(sources: Sources, environ: Mapping[str, str]) -> Iterator[tuple[str, Layer]]:
    """Yield the layers, in which applications are still the names of their files."""
    if sources.config is not None:
        yield sources.config, read_file(find_config(sources.config))
    for name in sorted(environ):
        key = name.removeprefix(PREFIX)
        if key != name and _DOT in key:
            where = f"environment variable {name}"
            yield where, _layer_of(key.lower().split(_DOT), environ[name], where=where)
    for setting in sources.settings:
        key, equals, text = setting.partition("=")
        where = f"--set {redact(setting)}"
        if not equals:
            raise BadConfig(f"{where}: expected KEY=VALUE, as in --set browser.sessions=4")
        yield where, _layer_of([part.strip() for part in key.split(".")], text, where=where)
    if sources.run is not None:
        yield "--run", {"run": {"url": sources.run}}


def _read_sites(name: str, layer: Layer) -> Iterator[tuple[str, Layer]]:
    """Yield a layer without the applications that it names, and each application's file as one more.

    Raises:
        BadConfig: a file cannot be read.
    """
    sites = layer.get("sites")
    files = (
        {site: path for site, path in sites.items() if isinstance(path, str)}
        if isinstance(sites, Mapping)
        else {}
    )
    if not isinstance(sites, Mapping) or not files:
        yield name, layer
        return
    rest = {site: table for site, table in sites.items() if site not in files}
    yield name, {**{key: value for key, value in layer.items() if key != "sites"}, "sites": rest}
    for site, path in files.items():
        table = read_file(path)
        if "home" in table:
            raise BadConfig(f"{path}: unknown key 'home'")
        home = str(Path(path).resolve().parent)
        yield path, {"sites": {site: {**table, "home": home}}}


def read_file(path: str) -> Layer:
    """Return the tables of a TOML file.

    Raises:
        BadConfig: it cannot be read; a mistake in its syntax comes with its line.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise BadConfig(
                f"{path}: expected a configuration of at most {_MAX_BYTES:,} bytes, got a larger file"
            )
        return _tables(data.decode())
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{path}: invalid TOML: {error}") from None
    except UnicodeDecodeError as error:
        raise BadConfig(f"{path}: invalid TOML: byte {error.start} is not UTF-8") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadConfig(f"{path}: cannot be read: {reason}") from None


def _tables(text: str) -> dict[str, JsonValue]:
    """Return the tables of a TOML text.

    Raises:
        TOMLDecodeError: the text is not valid TOML.
        ValueError: it is valid, but nested too deep or with a number too long.
    """
    try:
        tables: dict[str, JsonValue] = tomllib.loads(text)
    except RecursionError:
        raise ValueError("brackets are nested too deep in each other") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # Python reads no decimal number beyond a limit of its own
        raise ValueError("a number has too many digits") from None
    return tables


def _layer_of(parts: Sequence[str], text: str, *, where: str) -> Layer:
    try:
        return _nest(parts, parse_value(text), where=where)
    except ValueError as error:
        raise BadConfig(f"{where}: cannot be read: {error}") from None


def _nest(parts: Sequence[str], value: JsonValue, *, where: str) -> Layer:
    """Return the layer with a value at a key of these parts."""
    if not all(parts):
        raise BadConfig(f"{where}: expected a key as section.key, got '{'.'.join(parts)}'")
    layer: dict[str, JsonValue] = {parts[-1]: value}
    for part in reversed(parts[:-1]):
        layer = {part: layer}
    return layer


def parse_value(text: str) -> JsonValue:
    """Return `text` as a TOML value; the text itself if it is not one.

    Raises:
        ValueError: it is a value, but nested too deep or with a number too long.
    """
    try:
        table = _tables(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return table["value"] if table.keys() == {"value"} else text


def check_policy_names(config: RunConfig) -> None:
    """Refuse policies that neither ship nor come from a plug-in, for commands that make none.

    Raises:
        NotFound: with the nearest name there is.
    """
    for section in config.mix:
        check_known(Group.POLICIES, section.name, PolicyName, key="policy.name")
