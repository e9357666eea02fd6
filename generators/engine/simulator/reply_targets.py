"""What a random reply points at and opens: a point of the picture or an address, by the names of its properties."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from generators.engine.simulator.coordinates import ImagePoint

_ACROSS = re.compile(r"(.*_)?x\d?")
_DOWN = re.compile(r"(.*_)?y\d?")
_PAIR = re.compile(r"(.*_)?(coordinate|point|position)")
_ADDRESS = re.compile(r"(.*_)?(url|uri|href)")
_KEYS = re.compile(r"(.*_)?keys?")


@dataclass(frozen=True)
class ReplyTargets:
    """ReplyTargets of a random reply."""

    draw_any_point: Callable[[Random], ImagePoint] | None = None
    """Draws a point of the picture; None where there is no picture."""
    point: ImagePoint | None = None
    """The point that was asked for, in the picture; None if none was."""
    address: str | None = None
    """The address to go to; None: any."""
    within_bounds: bool = True
    """Numbers keep within the bounds of the schema."""

    def draw_point(self, rng: Random) -> ImagePoint | None:
        """Return the point that was asked for, else any point of the picture, else None."""
        if self.point is not None:
            return self.point
        return self.draw_any_point(rng) if self.draw_any_point else None

    def fits_property(self, name: str) -> bool:
        """Return whether a property of that name can hold the address or else the point."""
        if self.address is not None:
            return is_address(name)
        return self.point is not None and (name in {"x", "y"} or is_pair(name))


def axis(name: str) -> str | None:
    """Return `x` or `y` if a property of that name is a coordinate."""
    if _ACROSS.fullmatch(name):
        return "x"
    return "y" if _DOWN.fullmatch(name) else None


def is_pair(name: str) -> bool:
    """Return whether a property of that name holds both coordinates of a point."""
    return _PAIR.fullmatch(name) is not None


def is_address(name: str) -> bool:
    """Return whether a property of that name holds a URL."""
    return _ADDRESS.fullmatch(name) is not None


def is_key(name: str) -> bool:
    """Return whether a property of that name holds keys of a keyboard."""
    return _KEYS.fullmatch(name) is not None
