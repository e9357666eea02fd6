"""The name of the element under an action's point, for model families that want it in words."""

from collections.abc import Iterable

from schemas.action import Action, target_point
from schemas.observation import Box, Element


def element_name(action: Action, elements: Iterable[Element]) -> str | None:
    """Return the name of the smallest element under an action's point; None without one."""
    point = target_point(action)
    if point is None:
        return None
    under = [
        (element.bbox[2] * element.bbox[3], element.name)
        for element in elements
        if element.name and _holds(element.bbox, point)
    ]
    return min(under)[1] if under else None


def _holds(box: Box, point: tuple[float, float]) -> bool:
    left, top, width, height = box
    return left <= point[0] < left + width and top <= point[1] < top + height
