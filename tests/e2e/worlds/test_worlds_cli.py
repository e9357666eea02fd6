"""`stepmill worlds` with a browser, and in somebody's own."""

import signal
import subprocess
from pathlib import Path

import httpx
import pytest
from PIL import Image
from source_tree import ROOT
from support.runs.commands import STEPMILL, environment

from flows.cli.main import main
from flows.cli.worlds.sheet import TILE
from flows.terminal import ExitCode
from generators.worlds.drawing.draw import draw_whole


@pytest.mark.browser
def test_the_first_page_of_a_world_is_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "page.png"

    assert main(["worlds", "show", "shop/7", "--to", str(path)]) == ExitCode.DONE

    assert f"picture  {path}, 1024 × 768" in capsys.readouterr().out
    with Image.open(path) as picture:
        assert (picture.format, picture.size) == ("PNG", (1024, 768))
        assert len(picture.convert("RGB").getcolors(maxcolors=2**20) or ()) > 20


@pytest.mark.browser
def test_a_sheet_has_a_page_of_each_world(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sheet.png"

    assert main(["worlds", "sheet", "--to", str(path), "--count", "3"]) == ExitCode.DONE

    assert "3 worlds of" in capsys.readouterr().out
    with Image.open(path) as sheet:
        width = sheet.width // 3
        assert width >= TILE[0]
        pages = [sheet.crop((at * width, 20, at * width + TILE[0], 200)) for at in range(3)]
    assert len({page.tobytes() for page in pages}) == 3


def test_a_world_is_served_to_ones_own_browser_until_interrupted() -> None:
    world, rows = draw_whole("shop", 7)
    running = subprocess.Popen(
        [*STEPMILL, "worlds", "serve", "shop/7"],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    try:
        address = running.stdout.readline().strip()
        with httpx.Client(base_url=address, follow_redirects=True) as browser:
            assert world.title in browser.get("/").text
            view = world.views[0]
            row = f"/{view.entity}/{rows[view.entity][0]['id']}"
            assert browser.get(f"/{view.name}").status_code == httpx.codes.OK
            assert browser.get(row).status_code == httpx.codes.OK
            assert (
                browser.get(address.replace("127.0.0.1", "localhost")).text == browser.get("/").text
            )
    finally:
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (ExitCode.INTERRUPTED, "")
    assert world.title in err
