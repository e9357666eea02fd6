"""What the script of widgets does to fields, in the tree of a page that runs none."""

from collections.abc import Sequence

from generators.browser.protocol import Node

_LISTING = {"combobox", "tags"}
"""Widgets that list what holds the words which are typed into them."""


def draw_removals(root: Node) -> None:
    """Give each field of tags the buttons that take what it holds away."""
    for field in list(root.walk()):
        said = field.attrs.get("data-remove", "")
        for option in _options(field) if said else ():
            option.attrs["title"] = said.format(tag=option.text)
            option.shown = "selected" in option.attrs or "data-drop" in field.attrs


def write(field: Node, text: str) -> None:
    """Type a text in place of what a field holds; what a combobox lists for it comes into sight."""
    if field.attrs.get("data-widget") in _LISTING:
        for option in _options(field):
            option.shown = text.casefold() in option.text.casefold() and bool(option.text.strip())
        return
    assert field.tag in {"input", "textarea"}, f"nothing can be typed into {field}"
    field.attrs["value"] = field.text = text


def drop(path: Sequence[Node], text: str) -> bool:
    """Drag a choice into a box with a text; return whether the last of the path is one."""
    field = path[-2]
    if field.attrs.get("data-drop") != text:
        return False
    select_option(_options(field), path[-1])
    return True


def press(slider: Node, key: str, *, right_to_left: bool) -> None:
    """Press a key while a slider has the focus, on a page of a direction."""
    least, most = int(slider.attrs["min"]), int(slider.attrs["max"])
    value = int(slider.attrs["value"])
    way = -1 if right_to_left else 1
    moved = {"Home": least, "End": most, "ArrowLeft": value - way, "ArrowRight": value + way}[key]
    slider.attrs["value"] = str(min(most, max(least, moved)))


def click_widget(node: Node, path: Sequence[Node]) -> bool:
    """Click what a script answers; return whether one does."""
    above = path[-2]
    if node.tag == "option" and above.attrs.get("data-widget") in _LISTING:
        if "multiple" in above.attrs:
            if "selected" in node.attrs:
                del node.attrs["selected"]
            else:
                node.attrs["selected"] = ""
        else:
            select_option(_options(above), node)
        keeps = "multiple" in above.attrs  # what is chosen stays in sight, with its button
        for option in _options(above):
            option.shown = keeps and "selected" in option.attrs
        return True
    if "data-step" in node.attrs:
        (field,) = [one for one in above.children if one.tag == "input"]
        moved = int(field.attrs["value"]) + int(node.attrs["data-step"])
        bounds = int(field.attrs["data-least"]), int(field.attrs["data-most"])
        field.attrs["value"] = str(min(bounds[1], max(bounds[0], moved)))
        return True
    return False


def select_option(options: Sequence[Node], chosen: Node) -> None:
    """Choose one option of a list."""
    for option in options:
        option.attrs.pop("selected", None)
    chosen.attrs["selected"] = ""


def _options(field: Node) -> list[Node]:
    return [node for node in field.walk() if node.tag == "option"]
