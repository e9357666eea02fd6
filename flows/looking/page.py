"""Pages that need nothing else: one file with its style and pictures in it, and no script.

The content-security policy of a page lets nothing but that style and pictures in the page itself be used, so no page asks
anybody for anything. All text is escaped by the template engine; foreign text passes the filter `visible` first, which
shows control and direction characters.
"""

import base64
import hashlib
import io
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from PIL import Image

from storage.publish.card.escape import visible

_TEMPLATES = Path(__file__).parent / "templates"
_QUALITY = 80


def render(template: str, **values: object) -> str:
    """Return the page of a template with some values."""
    style = (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        _environment()
        .get_template(template)
        .render(
            style=Markup(style),  # noqa: S704 - a file of this program
            policy=f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'",
            **values,
        )
    )


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["visible"] = visible
    return made


def jpeg_address(picture: Image.Image) -> str:
    """Return the address of a picture that stands in the page itself, as a JPEG."""
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=_QUALITY)
    return _address("image/jpeg", out.getvalue())


def svg_address(drawing: bytes) -> str:
    """Return the address of a drawing that stands in the page itself; as a picture it can do nothing."""
    return _address("image/svg+xml", drawing)


def _address(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
