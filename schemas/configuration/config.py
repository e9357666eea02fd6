"""One run's configuration: its sections, how layers are merged, and which keys are its identity.

A configuration is a TOML file over the defaults of the sections. `resolve` merges layers of plain tables
and validates the result once, before any work, so that the error names every wrong key, its value and
the rule. `identity` returns the keys that decide a run's episodes: a run can be resumed only with the
same identity; all other keys may change in between.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from typing import Annotated, Any

from pydantic import Field, JsonValue, ValidationError, field_validator

from schemas.base import Record
from schemas.configuration.application import Application
from schemas.configuration.browser_section import BrowserSection
from schemas.configuration.picture_sizes import (
    MODEL_PICTURE_SIDE,
    MODEL_VIEWPORT,
    PICTURE_SIDE,
    VIEWPORT,
)
from schemas.configuration.seats_section import SeatsSection
from schemas.configuration.sections import (
    ENGINE_POLICIES,
    SEEDS,
    AcceptSection,
    EngineKind,
    EngineSection,
    LimitsSection,
    PolicyName,
    PolicySection,
    PublishSection,
    RunSection,
    StorageSection,
    TasksSection,
    VerifySection,
)
from schemas.configuration.select_section import SelectSection
from schemas.errors import BadConfig
from schemas.nearest import nearest
from schemas.redaction import redact
from schemas.tasks.task import MAX_SEED

Layer = Mapping[str, Any]
"""Nested plain tables, as TOML gives them."""

SiteName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
"""The name of a site: small letters, digits, `-` and `_`, at most 40."""

_MAX_MISTAKES = 10
_MAX_DEPTH = 16
_MAX_BITS = 1024
_MAX_CHARS = 100_000
_MAX_VALUES = 20_000


class RunConfig(Record):
    """Every key of a run, resolved."""

    run: RunSection = RunSection()
    sites: dict[SiteName, Application] = Field(default_factory=dict)
    """Applications as sites, by the names that tasks give them: each the path of the file that describes it,
    as `shop = "shop.toml"`."""
    tasks: TasksSection = TasksSection()
    policy: PolicySection = PolicySection()
    policies: tuple[PolicySection, ...] = ()
    """Several policies instead of `policy`: each is a table `[[policies]]` with the same keys, and
    every attempt gets one of them, drawn by their shares."""
    engine: EngineSection = EngineSection()
    browser: BrowserSection = BrowserSection()
    limits: LimitsSection = LimitsSection()
    verify: VerifySection = VerifySection()
    accept: AcceptSection = AcceptSection()
    storage: StorageSection = StorageSection()
    select: SelectSection = SelectSection()
    publish: PublishSection = PublishSection()
    seats: SeatsSection = SeatsSection()

    @field_validator("sites")
    @classmethod
    def _check_origins(cls, sites: dict[str, Application]) -> dict[str, Application]:
        origins: dict[str, str] = {}
        for name, site in sites.items():
            other = origins.setdefault(site.origin, name)
            if other != name:
                raise ValueError(f"{other} and {name} have the same origin, {site.origin}")
        return sites

    @property
    def mix(self) -> tuple[PolicySection, ...]:
        """The policies the run draws from: `policies`, or `policy` alone."""
        return self.policies or (self.policy,)

    @property
    def uses_engine(self) -> bool:
        """Whether a policy of the run calls an engine."""
        return any(self.asks_engine(section) for section in self.mix)

    def asks_engine(self, section: PolicySection) -> bool:
        """Return whether a policy of the run calls an engine; that of a plug-in does if the run has one."""
        if section.name in set(PolicyName):
            return section.name in ENGINE_POLICIES
        return self.engine.kind is not EngineKind.NONE

    @property
    def picture_side(self) -> tuple[int, int]:
        """The longer side of a drawn picture, px: minimum and maximum."""
        usual = MODEL_PICTURE_SIDE if self.uses_engine else PICTURE_SIDE
        return self.browser.picture_side or usual

    def fixed_viewport(self, area: tuple[int, int] | None) -> tuple[int, int] | None:
        """Width and height of a viewport that is not drawn, CSS px; None: it is drawn around `area`.

        `area` is the task's own; None: it has none, and its viewport is fixed.
        """
        if self.browser.viewport is not None or area is not None:
            return self.browser.viewport
        return MODEL_VIEWPORT if self.uses_engine else VIEWPORT


def resolve(layers: Sequence[tuple[str, Layer]]) -> RunConfig:
    """Return the configuration that results from `layers`, later ones over earlier ones.

    Each layer comes with its name, for messages. Tables are merged key by key; any other value (a list
    too) replaces the earlier one. A value must have its key's type: no text is converted to a number or
    a boolean.

    Raises:
        BadConfig: with the layer, the key, the value and the rule.
    """
    merged: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for name, layer in layers:
        _check_values(layer, name)
        _merge(merged, layer, name=name, origin=origin, path=())
    try:
        # As JSON, because strict validation takes a list for a tuple only there.
        text = json.dumps(merged, default=datetime.isoformat)
        return RunConfig.model_validate_json(text, strict=True)
    except ValidationError as error:
        raise BadConfig(*_explain(error, origin)) from None


def _check_values(layer: Layer, name: str) -> None:
    """Refuse values of TOML that no key can have, before other code recurses into them or prints them.

    Raises:
        BadConfig: with the layer, the key and the rule.
    """
    todo: list[tuple[tuple[str, ...], object]] = [((), layer)]
    seen = 0
    while todo:
        path, value = todo.pop()
        seen += 1
        if seen + len(todo) > _MAX_VALUES:
            raise BadConfig(f"{name}: more than {_MAX_VALUES:,} values")
        key = ".".join(path[:_MAX_DEPTH])
        if len(path) > _MAX_DEPTH:
            raise BadConfig(f"{name}: {key}: more than {_MAX_DEPTH} tables or lists in each other")
        if max(map(len, (*path[-1:], value if isinstance(value, str) else ""))) > _MAX_CHARS:
            raise BadConfig(f"{name}: {key}: a text of more than {_MAX_CHARS:,} characters")
        if isinstance(value, Mapping):
            todo += [((*path, str(part)), item) for part, item in value.items()]
        elif isinstance(value, list):
            todo += [((*path, str(part)), item) for part, item in enumerate(value)]
        elif isinstance(value, datetime) and path[:1] == ("sites",):
            continue
        elif isinstance(value, date | time):
            shown = value.isoformat()
            raise BadConfig(
                f"{name}: {key} = {shown}: no key is a date or a time; put text in quotes"
            )
        elif isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise BadConfig(f"{name}: {key}: a number has too many digits")


def _merge(
    base: dict[str, Any], layer: Layer, *, name: str, origin: dict[str, str], path: tuple[str, ...]
) -> None:
    for key, value in layer.items():
        key_path = (*path, key)
        if path == ("sites",):
            base[key] = value  # an application is described by one file, never by two
        elif isinstance(value, Mapping):
            below = base.get(key)
            base[key] = dict(below) if isinstance(below, Mapping) else {}
            _merge(base[key], value, name=name, origin=origin, path=key_path)
        else:
            base[key] = value
        origin[".".join(key_path)] = name


def _explain(error: ValidationError, origin: Mapping[str, str]) -> list[str]:
    """Return one line for each mistake: the layer, the key, the value and the rule."""
    lines: list[str] = []
    mistakes = error.errors(include_url=False)
    for item in mistakes[:_MAX_MISTAKES]:
        if item["type"] == "json_invalid":
            return ["the configuration holds a text that is not valid Unicode"]
        keys = tuple(str(part) for part in item["loc"])
        where = next(
            (origin[key] for n in range(len(keys), 0, -1) if (key := ".".join(keys[:n])) in origin),
            "the configuration",
        )
        dotted = ".".join(keys)
        if item["type"] == "extra_forbidden":
            lines.append(f"{where}: unknown key '{dotted}'; {_nearest(keys)}")
        elif item["type"] == "missing":
            lines.append(f"{where}: {dotted} is missing")
        else:
            rule = _RULES.get(item["type"]) or item["msg"].removeprefix("Value error, ")
            whole = isinstance(
                item["input"], Mapping
            )  # the rule names its key; others may be secret
            value = "" if whole else f" = {item['input']!r}"
            lines.append(f"{where}: {dotted}{value}: {rule}")
    if more := len(mistakes) - len(lines):
        lines.append(f"and {more:,} more mistakes")
    return [redact(line) for line in lines]


_RULES = {
    "model_type": "should be a table",
    "dict_type": "should be a table",
    "tuple_type": "should be a list",
    "too_long": "has too many items",
}
"""Pydantic's rules in TOML's words."""


REMOVED = frozenset({"scale"})
"""Tables of earlier versions' configurations that had no effect; an old `run.json` still has them."""


def config_keys(record: type[Record] = RunConfig, prefix: str = "") -> Iterator[str]:
    """Yield every dotted key of a configuration."""
    for name, field in record.model_fields.items():
        kind = field.annotation
        yield prefix + name
        if isinstance(kind, type) and issubclass(kind, Record):
            yield from config_keys(kind, f"{prefix}{name}.")
        elif name == "policies":
            yield from config_keys(PolicySection, f"{prefix}{name}.")


def _nearest(keys: Sequence[str]) -> str:
    """Return a hint for an unknown key: the nearest known one, else all that are known there."""
    if keys[0] in REMOVED:
        return f"no version reads [{keys[0]}] any more: delete it"
    named = [key for key in keys if not key.isdigit()] or list(keys)
    *tables, last = named
    table = "".join(f"{name}." for name in tables)
    siblings = [key for key in config_keys() if key.startswith(table)]
    for candidates in (siblings, list(config_keys())):
        by_last = {key.rpartition(".")[2]: key for key in reversed(candidates)}
        if near := nearest(last, by_last, count=1):
            return f"did you mean '{by_last[near[0]]}'?"
    own = [key.removeprefix(table) for key in siblings]
    return f"known here: {', '.join(key for key in own if '.' not in key)}"


def seed_range(tasks: TasksSection) -> tuple[int, int]:
    """Return the first and the last seed of each template."""
    return tasks.seeds or (SEEDS if tasks.sample is None else (0, MAX_SEED))


_NOT_LIMITS_IDENTITY = {"drain_seconds", "live_episodes", "dollars", "hours", "accepted"}
_NOT_POLICY_IDENTITY = {"localizer": {"urls"}, "validator": {"urls"}}


def _policy_identity(section: PolicySection) -> dict[str, JsonValue]:
    """Return the keys of a policy that decide its actions; runs of earlier versions have no `options`."""
    dump: dict[str, JsonValue] = section.model_dump(mode="json", exclude=_NOT_POLICY_IDENTITY)
    if section.name == PolicyName.REFERENCE:  # as runs of earlier versions call it
        dump["name"] = PolicyName.SCRIPTED.value
    return dump if section.options else {k: v for k, v in dump.items() if k != "options"}


def identity(config: RunConfig) -> dict[str, JsonValue]:
    """Return the dotted keys that decide a run's episodes, with their values.

    Only these must be the same when a run is resumed.
    """
    dump = config.model_dump(mode="json")
    out: dict[str, JsonValue] = {"run.seed": dump["run"]["seed"]}
    out |= {f"tasks.{key}": value for key, value in dump["tasks"].items()}
    out |= {f"sites.{name}": site.identity for name, site in sorted(config.sites.items())}
    out["tasks.seeds"] = list(seed_range(config.tasks))
    out["policies"] = [_policy_identity(section) for section in config.mix]
    out |= {f"engine.{key}": dump["engine"][key] for key in ("model", "args")}
    if config.tasks.faults == 0:  # as in runs of earlier versions, which had none
        out.pop("tasks.faults", None)
    if config.engine.revision is not None:  # runs of earlier versions have none
        out["engine.revision"] = config.engine.revision
    out |= {f"browser.{key}": value for key, value in _picture_identity(config).items()}
    out |= {
        f"limits.{key}": value
        for key, value in dump["limits"].items()
        if key not in _NOT_LIMITS_IDENTITY
    }
    return out


def _picture_identity(config: RunConfig) -> dict[str, JsonValue]:
    """Return the keys that decide how large pages and pictures are: those in effect, and no other."""
    browser = config.browser
    if browser.viewport is not None:
        scale = browser.device_scale_factor or 1.0
        return {"viewport": list(browser.viewport), "device_scale_factor": scale}
    out: dict[str, JsonValue] = {"margin": browser.margin}
    if browser.viewports is not None:  # runs of earlier versions have none
        out["viewports"] = [list(each) for each in browser.viewports]
    if browser.device_scale_factor is not None:
        return out | {"device_scale_factor": browser.device_scale_factor}
    return out | {"picture_side": list(config.picture_side)}
