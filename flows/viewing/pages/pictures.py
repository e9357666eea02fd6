"""The pictures of steps, as they were recorded, or small for lists."""

import asyncio
import io

import pyarrow.compute as pc
from aiohttp import web
from PIL import Image, UnidentifiedImageError

from flows.viewing.page import place_of
from flows.viewing.shown import Shown
from schemas.errors import NotFound

SMALL = (480, 480)
"""The largest size of a small picture, px."""

_AGE = "private, max-age=86400, immutable"


async def show(request: web.Request) -> web.Response:
    """Answer with a picture: `/PLACE/pictures/EPISODE/STEP`, where STEP may be `last`; `?small` for a small one.

    Raises:
        NotFound: there is no such picture.
        web.HTTPUnprocessableEntity: it does not decode.
    """
    _, place = place_of(request)
    id_, step = request.match_info["episode"], request.match_info["step"]
    data = await asyncio.to_thread(read_picture, place, id_, step)
    kind = "image/png" if data.startswith(b"\x89PNG") else "image/jpeg"
    if "small" in request.query:
        try:
            data, kind = await asyncio.to_thread(_shrink, data), "image/jpeg"
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError):
            raise web.HTTPUnprocessableEntity(text="the picture does not decode") from None
    return web.Response(body=data, content_type=kind, headers={"Cache-Control": _AGE})


def read_picture(place: Shown, id_: str, step: str) -> bytes:
    """Return the bytes of a step's picture; this blocks.

    Raises:
        NotFound: there is no such episode or step, or it has no picture.
        Damaged: its rows cannot be read.
    """
    lookup = place.lookup
    at = lookup.numbers.get(id_)
    if at is None:
        raise NotFound(f"there is no episode {id_}")
    head = lookup.heads.slice(at, 1).to_pylist()[0]
    number = head["n_steps"] if step == "last" else int(step) if step.isdecimal() else -1
    where = pc.field("step") == number
    rows = lookup.places.rows("steps", id_, head["unit"], ("step", "screenshot"), where)
    if not rows and step == "last":
        where = pc.field("step") == max(0, number - 1)  # one that broke may lack its last picture
        rows = lookup.places.rows("steps", id_, head["unit"], ("step", "screenshot"), where)
    data = (rows[0]["screenshot"] or {}).get("bytes") if rows else None
    if not data:
        raise NotFound(f"episode {id_} has no picture of step {step}")
    return bytes(data)


def _shrink(data: bytes) -> bytes:
    with Image.open(io.BytesIO(data)) as picture:
        picture.draft("RGB", SMALL)
        small = picture.convert("RGB")
    small.thumbnail(SMALL)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=80)
    return out.getvalue()
