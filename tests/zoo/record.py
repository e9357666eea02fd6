"""Records what plain Chromium with a window shows on the pages of the zoo, in real time and at a person's pace.

    python -m zoo.record [NAME ...]    # in tests/; all pages without names; needs `chromium` and `Xvfb`

Nobody's virtual time and scripts are in it, and no flag but that which hides scroll bars, as screenshots do. Whoever adds a page records it once, looks at its pictures, and
keeps what was recorded: a page on which we are wrong stays.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any

from aiohttp import web
from PIL import Image
from playwright.async_api import BrowserContext, Dialog, Page, async_playwright

from zoo import servers
from zoo import zoo as houses
from zoo.zoo import LOOK, VIEWPORT, Animal

PACE_SECONDS = 1.5
"""How long a person looks after each step."""

MAX_STEP_SECONDS = 60

QUALITY = 60

PLACE = """(path) => {
  let root = document; let element = null; let dx = 0; let dy = 0;
  for (const part of path.split(' >> ')) {
    element = root.querySelector(part);
    if (!element) throw new Error('nothing at ' + part);
    const next = element.shadowRoot || element.contentDocument;
    if (element.tagName === 'IFRAME' && next && part !== path.split(' >> ').at(-1)) {
      const box = element.getBoundingClientRect();
      dx += box.left + element.clientLeft; dy += box.top + element.clientTop;
    }
    root = next || element;
  }
  const box = element.getBoundingClientRect();
  return [dx + box.left + box.width / 2, dy + box.top + box.height / 2];
}"""
"""Where the middle of a place is."""


class Person:
    """Does the steps of a page in a window."""

    def __init__(self, animal: Animal, context: BrowserContext, page: Page) -> None:
        self.animal, self.context, self.page = animal, context, page
        self.dialog: Dialog | None = None
        self.downloads: list[str] = []
        context.on("page", self._follow)
        self._attend(page)

    def _attend(self, page: Page) -> None:
        page.on("dialog", self._keep)
        page.on("download", lambda one: self.downloads.append(one.suggested_filename))
        page.on("close", self._leave)

    def _leave(self, page: Page) -> None:
        if page is self.page and self.context.pages:
            self.page = self.context.pages[-1]

    def _follow(self, page: Page) -> None:
        self.page = page
        self._attend(page)

    def _keep(self, dialog: Dialog) -> None:
        self.dialog = dialog

    async def point(self, place: Any) -> tuple[float, float]:
        """Return the middle of a place."""
        x, y = place if isinstance(place, list) else await self.page.evaluate(PLACE, place)
        return x, y

    async def do(self, step: dict[str, Any]) -> None:
        """Do one step; one that makes the page ask something ends as soon as it asks."""
        doing = asyncio.ensure_future(self._do(step))
        for _ in range(MAX_STEP_SECONDS * 10):
            done, _ = await asyncio.wait({doing}, timeout=0.1)
            if done:
                break
            if self.dialog is not None and "answer" not in step:
                return
        await doing

    async def _do(self, step: dict[str, Any]) -> None:
        match step:
            case {"upload": name, "into": place}:
                async with self.page.expect_file_chooser() as chooser:
                    await self.page.mouse.click(*await self.point(place))
                body = self.animal.uploads[name].encode()
                given: Any = {"name": name, "mimeType": "text/plain", "buffer": body}
                await (await chooser.value).set_files(given)
            case {"choose": label, "of": place}:
                await self.page.locator(place).select_option(label=label)
            case {"wait": ms}:
                await asyncio.sleep(ms / 1_000)
            case {"back": _}:
                await self.page.go_back()
            case {"answer": said}:
                await self._answer(said)
            case {"tab": number}:
                await self._turn_to(self.context.pages[number], close=step.get("close", False))
            case _:
                await self._use(step)

    async def _use(self, step: dict[str, Any]) -> None:
        """Use the mouse or the keyboard."""
        mouse, keyboard = self.page.mouse, self.page.keyboard
        match step:
            case {"click": place}:
                x, y = await self.point(place)
                count, button = step.get("count", 1), step.get("button", "left")
                await mouse.click(x, y, click_count=count, button=button)
            case {"hover": place}:
                await mouse.move(*await self.point(place))
            case {"type": text}:
                if "into" in step:
                    await mouse.click(*await self.point(step["into"]))
                if step.get("over"):
                    await keyboard.press("Control+a")
                await keyboard.type(text)
            case {"key": key}:
                await keyboard.press(key)
            case {"drag": place, "to": to}:
                await mouse.move(*await self.point(place))
                await mouse.down()
                x, y = await self.point(to)
                await mouse.move(x - 3, y - 3, steps=8)
                await mouse.move(x, y, steps=3)
                await mouse.up()
            case {"scroll": ticks}:
                await mouse.move(*await self.point(step.get("over", [250, 200])))
                await mouse.wheel(0, ticks)

    async def _answer(self, said: str) -> None:
        if self.dialog is None:
            raise RuntimeError("the page asks nothing")
        dialog, self.dialog = self.dialog, None
        if said == "dismiss":
            await dialog.dismiss()
        else:
            await dialog.accept(dialog.default_value if said == "accept" else said)

    async def _turn_to(self, page: Page, *, close: bool) -> None:
        if close:
            await page.close()
            page = self.context.pages[-1]
        else:
            await page.bring_to_front()
        self.page = page

    async def look(self) -> dict[str, Any]:
        """Return what is seen; while a dialog is open, only what it asks."""
        if self.dialog is not None:
            return {"dialog": [self.dialog.type, self.dialog.message]}
        seen: dict[str, Any] = await self.page.evaluate(LOOK)
        return seen | {"tabs": len(self.context.pages), "downloads": self.downloads[:]}


async def record(animal: Animal, context: BrowserContext, origin: str) -> None:
    """Record one page."""
    for old in animal.folder.glob("*.jpg"):
        old.unlink()
    servers.forget()
    page = await context.new_page()
    person = Person(animal, context, page)
    looks = []
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(page.goto(origin + animal.path, wait_until="commit"), 5)
    for number, step in enumerate(({"wait": 0}, *animal.steps)):
        try:
            await person.do(step)
        except Exception as error:
            raise RuntimeError(f"{animal.name}, step {number}: {step}") from error
        await asyncio.sleep(PACE_SECONDS)
        looks.append(await person.look())
        if person.dialog is None:
            shot = await person.page.screenshot(type="png")
            picture = Image.open(BytesIO(shot)).convert("RGB")
            picture.save(animal.picture(number), quality=QUALITY)
    told = json.dumps(looks, indent=1, ensure_ascii=False)
    animal.record.write_text(told + "\n", "utf-8")
    sys.stdout.write(f"{animal.name} {json.dumps(looks[-1], ensure_ascii=False)[:160]}\n")


@contextlib.asynccontextmanager
async def served(animal: Animal) -> AsyncIterator[str]:
    """Serve one page on a port of its own."""
    runner = web.ServerRunner(web.Server(lambda request: houses.answer(animal, request)))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, shutdown_timeout=0.1)
    await site.start()
    try:
        yield f"http://localhost:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def main(names: list[str]) -> None:
    """Record the pages of these names, or all."""
    display = f":{os.getpid() % 30_000 + 100}"
    screen = await asyncio.create_subprocess_exec(
        "Xvfb", display, "-screen", "0", "1024x768x24", stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path="/usr/bin/chromium",
                headless=False,
                args=["--no-sandbox", "--hide-scrollbars"],
                env={**os.environ, "DISPLAY": display},
            )
            for animal in houses.zoo():
                if names and animal.name not in names:
                    continue
                width, height = VIEWPORT
                async with served(animal) as origin:
                    context = await browser.new_context(
                        viewport={"width": width, "height": height},
                        locale="en-US",
                        timezone_id="UTC",
                    )
                    try:
                        await record(animal, context, origin)
                    finally:
                        await context.close()
            await browser.close()
    finally:
        screen.terminate()
        await screen.wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
