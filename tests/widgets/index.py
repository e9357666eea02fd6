"""What each package itself lists as its components, read from the files that it ships."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from widgets.site import INSTALLED


def components(package: str) -> list[str]:
    """Return the names of a package's components, in order."""
    return sorted(set(_READERS[package](INSTALLED / package)))


def version(package: str) -> str:
    """Return the installed version of a package."""
    found: str = json.loads((INSTALLED / package / "package.json").read_text("utf-8"))["version"]
    return found


def _of_manifest(package: Path) -> list[str]:
    manifest = json.loads((package / "dist/custom-elements.json").read_text("utf-8"))
    declared = [one for module in manifest["modules"] for one in module.get("declarations", [])]
    return [one["tagName"] for one in declared if one.get("customElement")]


def _lines(file: str, pattern: str) -> Callable[[Path], list[str]]:
    """Return what reads the names that a pattern finds in a file of the package."""
    return lambda package: re.findall(pattern, (package / file).read_text("utf-8"), re.MULTILINE)


def _of_entry_points(package: Path) -> list[str]:
    exports = json.loads((package / "package.json").read_text("utf-8"))["exports"]
    return [found[1] for path in exports if (found := re.fullmatch(r"\./([a-z][a-z-]*)", path))]


_READERS: dict[str, Callable[[Path], list[str]]] = {
    "@angular/material": _of_entry_points,
    "@mui/material": _lines("index.d.ts", r"^export \{ default as ([A-Z]\w+) \}"),
    "@shoelace-style/shoelace": _of_manifest,
    "antd": _lines("es/index.d.ts", r"^export \{ default as (\w+) \}"),
    "quasar": _lines("src/components.js", r"^export \{ default as (\w+) \}"),
    "vuetify": _lines("lib/components/index.js", r'^export \* from "\./(\w+)/'),
}
