"""The contact sheet holds the first and the final picture of one episode of each template."""

from pathlib import Path

import pytest
from PIL import Image
from support.browsers.scripted_rollouts import (
    RUNNING,
    WON,
    attempt_it,
    clicks,
    pages,
    scripted_task,
)
from support.browsers.scripted_session import ScriptedSessions

from flows.cli.tasks.sheet import COLUMNS, SIZE, ContactSheet, check_picture_path
from schemas.errors import Unwritable


async def test_each_template_is_on_it_once(tmp_path: Path) -> None:
    episode = await attempt_it(ScriptedSessions(pages(RUNNING, WON)), clicks(1))
    sheet, task = ContactSheet(), scripted_task()
    for name in ("a", "b", "a"):
        sheet.add(task.model_copy(update={"template_id": name}), episode)
    sheet.add(task, episode.model_copy(update={"steps": ()}))
    path = tmp_path / "sheet.png"

    sheet.save(path)

    with Image.open(path) as picture:
        width = picture.width // COLUMNS
        drawn = [
            len(set(picture.crop((at * width, 20, at * width + SIZE[0], SIZE[1])).tobytes())) > 1
            for at in range(3)
        ]
    assert drawn == [True, True, False]


@pytest.mark.parametrize("cut", [0, 2, 300])
async def test_a_picture_that_is_missing_or_cut_is_an_empty_frame(tmp_path: Path, cut: int) -> None:
    episode = await attempt_it(ScriptedSessions(pages(RUNNING, WON)), clicks(1))
    first, *steps, last = episode.steps
    torn = last.screenshot.model_copy(update={"bytes": last.screenshot.bytes[:cut]})
    last = last.model_copy(update={"screenshot": torn})
    sheet, path = ContactSheet(), tmp_path / "sheet.png"

    sheet.add(scripted_task(), episode.model_copy(update={"steps": (first, *steps, last)}))
    sheet.save(path)

    with Image.open(path) as picture:
        colours = picture.crop((SIZE[0], 14, picture.width // COLUMNS, 14 + SIZE[1])).getcolors()
    assert (255, 0, 0) in {colour for _, colour in colours or ()}


def test_where_no_picture_can_be_saved_is_said_before_any_work(tmp_path: Path) -> None:
    assert check_picture_path("--to", tmp_path / "a.PNG") == tmp_path / "a.PNG"
    with pytest.raises(Unwritable, match=r"--sheet .*a\.gif: pictures are written as"):
        check_picture_path("--sheet", tmp_path / "a.gif")
    with pytest.raises(Unwritable, match="no file can be written there"):
        check_picture_path("--sheet", tmp_path / "none" / "a.png")
