"""The kits, and what counts as operated in each: `kits/NAME.toml`, written before anything of the kit is run.

    kit = "Shoelace"
    package = "@shoelace-style/shoelace"        # whose index of components is the denominator
    index = "the elements of its manifest"      # in words; `index.py` reads it
    space = "antd"                              # for React: the global name of what has the kit's components
    boot = "html"                               # what makes a page of a component's source: `site.py`
    styles, scripts, modules = [...]            # built files of packages, loaded in this order
    bundles = ["mui.js"]                        # scripts of `boot`, which esbuild bundles with packages
    masks = [...]                               # what differs between equal visits, as an application's masks

    [inert]                                     # what cannot be acted on, by the reason
    "shows what it is given" = ["sl-avatar"]

    [component.sl-switch]
    page = "<sl-switch>Dark mode</sl-switch>"   # the source of its page, in the kit's own language
    data = { on = false }                       # the page's own values, for kits that bind them
    act = [{ click = "sl-switch" }]             # ordinary actions; a step has one of the keys of `STEPS`
    state = "$('sl-switch').checked"            # what is read back; without it, what the component said last
    want = true                                 # what it is then, and was not before
    goal = [{ click = "Dark mode" }]            # what the generic skills are told, in the words of the page
    fails = "why the actions do not operate it"
    beyond = "why the generic skills do not"

A place is `=Words`, the last text of the page that is these words, or a CSS selector, with ` >> ` between the host
of a shadow root and what is in it.
"""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import JsonValue

FOLDER = Path(__file__).with_name("kits")

SAID = "events.at(-1) ?? null"
"""What a component said last, which its page passes to `said`."""

STEPS = {
    "click": "a place; `count` and `button` as for a mouse",
    "hover": "a place",
    "type": "text, into what has the focus, or `into` a place; `over`: what is there is replaced",
    "key": "a key or a chord, as `Enter` or `Control+a`",
    "drag": "a place; `to` another, or `by` pixels across and down",
    "scroll": "pixels, down or, if negative, up; `over` a place",
    "upload": "a file's name, into the field `into` a place",
    "wait": "milliseconds",
}
"""What a person does, by the key of a step."""

GOALS = {
    "click": "what is so called",
    "type": "a text, `into` the field of a name",
    "choose": "an option, `of` the list of a name",
    "date": "a date as its field has it, `of` the field of a name",
    "slide": "the slider of a name, `steps` from its beginning",
    "press": "a key",
    "drag": "what is so called, `to` something else",
    "upload": "a file's name, `into` the field of a name",
}
"""What the generic skills are told, by the key of a goal."""


@dataclass(frozen=True)
class Component:
    """A component that can be acted on."""

    name: str
    page: str
    act: tuple[dict[str, Any], ...]
    want: JsonValue
    state: str = SAID
    data: dict[str, Any] = field(default_factory=dict)
    goal: tuple[dict[str, Any], ...] = ()
    fails: str | None = None
    beyond: str | None = None


@dataclass(frozen=True)
class Kit:
    """A kit and its components."""

    name: str
    """The name of its file."""
    kit: str
    package: str
    index: str
    boot: str
    component: dict[str, Component]
    inert: dict[str, tuple[str, ...]]
    space: str = ""
    """The global name under which a kit for React has its components."""
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    bundles: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()

    def names(self) -> list[str]:
        """Return the names of all its components, in order."""
        return sorted([*self.component, *(name for names in self.inert.values() for name in names)])


def read(path: Path) -> Kit:
    """Return the kit whose file this is.

    Raises:
        ValueError: a step or a goal is none, or a name is there twice.
    """
    said = tomllib.loads(path.read_text("utf-8"))
    components = {
        name: Component(
            name=name, **one | {key: tuple(one.get(key, ())) for key in ("act", "goal")}
        )
        for name, one in said.pop("component").items()
    }
    for one in components.values():
        _check(path.stem, one)
    kit = Kit(
        name=path.stem,
        component=components,
        **{key: _frozen(value) for key, value in said.items()},
    )
    twice = {name for name in kit.names() if kit.names().count(name) > 1}
    if twice:
        raise ValueError(f"{path.stem}: there twice: {', '.join(sorted(twice))}")
    return kit


@cache
def kits() -> dict[str, Kit]:
    """Return all kits by the names of their files."""
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.toml"))}


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check(kit: str, component: Component) -> None:
    for known, given in ((STEPS, component.act), (GOALS, component.goal)):
        for step in given:
            if len(known.keys() & step.keys()) != 1:
                what = ", ".join(known)
                raise ValueError(f"{kit}: {component.name}: one of {what} is needed, got {step}")
