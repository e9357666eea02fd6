"""An application that is made of nothing, for tests of what is done with any."""

from stepmill_applications.application import Application


def harbour(**changes: object) -> Application:
    stated: dict[str, object] = {
        "name": "harbour",
        "package": "harbour",
        "resolved": ("harbour",),
        "bare": ("harbour-extra",),
        "families": ("harbour",),
        "parts": ("usr/bin/harbour",),
        "making": 1,
        "draw_content": None,
        "state": "state",
        "start": "/",
        "cookies": (),
        "draw_tasks": None,
        "make_base": None,
        "make": None,
        "command": None,
    }
    return Application(**{**stated, **changes})  # type: ignore[arg-type]
