"""Which skill does which family of pages that ask for a steady hand or a good eye.

Dragging, drawing, marking, colours and shapes, games, and pages that change by themselves.
"""

from generators.policy.teacher import dragging, drawing, shapes, sliding
from generators.policy.teacher.plan import Skill

HAND_FAMILIES: dict[str, Skill] = {
    "bisect-angle": drawing.bisect_angle,
    "circle-center": drawing.mark_centre,
    "click-shape": shapes.click_shape,
    "count-shape": shapes.count_shapes,
    "drag-box": dragging.drag_into,
    "drag-circle": dragging.drag_somewhat,
    "drag-items": dragging.drag_item,
    "drag-items-grid": dragging.drag_item,
    "drag-shapes": shapes.sort_shapes,
    "drag-shapes-2": shapes.sort_shapes,
    "drag-single-shape": dragging.drag_somewhat,
    "drag-sort-numbers": dragging.sort_numbers,
    "draw-line": drawing.draw_line,
    "find-midpoint": drawing.mark_midpoint,
    "grid-coordinate": drawing.click_coordinate,
    "form-sequence": sliding.slide_and_tick,
    "identify-shape": shapes.name_shape,
    "resize-textarea": dragging.resize,
    "use-slider": sliding.set_slider,
    "use-slider-2": sliding.set_sliders,
    "right-angle": drawing.make_right_angle,
}
"""Skills by family."""
