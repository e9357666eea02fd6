"""What the project adds to Wagtail: its map of a form's headings is not shown.

Which of them are in sight is told to the page at some moment, which differs between equal visits.
"""

from wagtail import hooks


@hooks.register("insert_global_admin_css")
def hide_map() -> str:
    """Return the style."""
    return "<style>.w-minimap { visibility: hidden; }</style>"
