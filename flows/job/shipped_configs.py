"""The configurations that ship, by name: `--config demo` finds one from any folder, `stepmill init demo` copies it.

The wheel has them in the package, a checkout beside it.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from schemas.errors import BadConfig
from schemas.nearest import did_you_mean

_PLACES = (Path(__file__).parents[1] / "configs", Path(__file__).parents[2] / "configs")

_NAME_BYTES = 255
"""The longest name of a file."""


def shipped_configs() -> Mapping[str, Path]:
    """Return the files of the configurations that ship, by name."""
    place = next(filter(Path.is_dir, _PLACES))
    return {path.stem: path for path in sorted(place.glob("*.toml"))}


def shipped_config(name: str) -> Path:
    """Return the file of the configuration that ships under `name`.

    Raises:
        BadConfig: none does; the error names those that do.
    """
    shipped = shipped_configs()
    if name not in shipped:
        hint = did_you_mean(name, shipped, count=1)
        raise BadConfig(
            f"no configuration ships as '{name}'{hint}; there are {', '.join(sorted(shipped))}"
        )
    return shipped[name]


def find_config(given: str) -> str:
    """Return the path of a configuration: `given`, or where that is a bare name and no file, what ships under it.

    Raises:
        BadConfig: it is a bare name, and neither a file nor the name of one that ships.
    """
    is_name = not {"/", "."} & {*given}
    if not is_name or (os.path.lexists(given) and not Path(given).is_dir()):
        return given
    try:
        return str(shipped_config(given))
    except BadConfig as error:
        if os.path.lexists(given) or len(os.fsencode(given)) > _NAME_BYTES:
            return given  # whoever opens it says what is wrong with it
        raise BadConfig(f"{given}: there is no such file, and {error}") from None
