"""Which skill does which family of pages that ask for a steady hand or a good eye.

Dragging, drawing, marking, colours and shapes, games, and pages that change by themselves.
"""

from generators.policy.teacher import drawing
from generators.policy.teacher.plan import Skill

HAND_FAMILIES: dict[str, Skill] = {
    "bisect-angle": drawing.bisect_angle,
    "circle-center": drawing.mark_centre,
    "draw-line": drawing.draw_line,
    "find-midpoint": drawing.mark_midpoint,
    "grid-coordinate": drawing.click_coordinate,
    "right-angle": drawing.make_right_angle,
}
"""Skills by family."""
