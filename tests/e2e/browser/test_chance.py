"""What a page draws by chance follows from the seed of its visit, and repeats nothing within one."""

import json
import re
from typing import Any

import pytest
from support.browsers.html_site import ORIGIN, browsing, spec

from generators.browser.chromium import Chromium
from schemas.episodes.action import Action, Click, Reload

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.usefixtures("one_browser"),
]

DRAWN = """<script>
const drawn = { random: Math.random(), id: crypto.randomUUID(),
  bytes: [...crypto.getRandomValues(new Uint8Array(8))] };
if (self !== top) parent.postMessage(drawn, '*');
else { window.all = [drawn]; addEventListener('message', (event) => all.push(event.data)); }
</script>"""
FRAMED = f"{DRAWN}<iframe src='/frame'></iframe><iframe src='/frame'></iframe>"
OPENS = """<body style='margin:0'><a href='/opened' target='_blank' style='font-size:40px'>open</a>
<script>window.all = []; new BroadcastChannel('all').onmessage = (event) => all.push(event.data)</script>"""
OPENED = "<script>new BroadcastChannel('all').postMessage(Math.random())</script>"
PAGES = {"/": DRAWN, "/framed": FRAMED, "/frame": DRAWN, "/opens": OPENS, "/opened": OPENED}


async def draw(
    chromium: Chromium, chance: str | None, path: str = "/", *actions: Action
) -> list[Any]:
    """What a page, its frames and windows have drawn, and what each load of it has after an action."""
    drawn = list[Any]()
    settings = spec().model_copy(update={"chance": chance})
    async with chromium.session(settings) as session:
        await session.open(ORIGIN + path)
        drawn.append(await session.evaluate("all"))
        for action in actions:
            await session.act(action)
            drawn.append(await session.evaluate("all"))
    return drawn


async def test_equal_visits_draw_alike_and_others_do_not() -> None:
    async with browsing(PAGES) as (chromium, _):
        one, again = [await draw(chromium, "7", "/", Reload(), Reload()) for _ in range(2)]
        other = await draw(chromium, "8", "/", Reload(), Reload())

    assert one == again
    said = [json.dumps(load) for load in (*one, *other)]
    assert len(set(said)) == 6, "each load of each visit draws for itself"


async def test_a_page_and_its_frames_draw_differently() -> None:
    async with browsing(PAGES) as (chromium, _):
        one, again = [await draw(chromium, "7", "/framed") for _ in range(2)]

    (drawn,) = one
    assert len(drawn) == 3
    assert len({each["id"] for each in drawn}) == 3
    assert sorted(drawn, key=json.dumps) == sorted(again[0], key=json.dumps)


async def test_a_window_that_a_page_opens_draws_by_the_same_seed() -> None:
    async with browsing(PAGES) as (chromium, _):
        one, again = [await draw(chromium, "7", "/opens", Click(x=20, y=20)) for _ in range(2)]
        other = await draw(chromium, "8", "/opens", Click(x=20, y=20))

    assert len(one[-1]) == 1
    assert one == again
    assert one != other


async def test_without_a_seed_the_browser_draws() -> None:
    async with browsing(PAGES) as (chromium, _):
        assert await draw(chromium, None) != await draw(chromium, None)


USES = """(() => {
  const thrown = (use) => { try { use(); return null; } catch (error) { return error.name; } };
  const whole = new Uint8Array(12), part = whole.subarray(4, 8);
  const numbers = Array.from({ length: 20000 }, Math.random);
  return {
    id: crypto.randomUUID(), same: crypto.getRandomValues(part) === part,
    outside: [...whole.subarray(0, 4), ...whole.subarray(8)].every((byte) => byte === 0),
    inside: part.some((byte) => byte !== 0),
    big: crypto.getRandomValues(new BigUint64Array(1))[0] > 0n,
    floats: thrown(() => crypto.getRandomValues(new Float32Array(1))),
    much: thrown(() => crypto.getRandomValues(new Uint8Array(65537))),
    stranger: thrown(() => Crypto.prototype.randomUUID.call({})),
    least: Math.min(...numbers), most: Math.max(...numbers), distinct: new Set(numbers).size,
    mean: numbers.reduce((sum, one) => sum + one) / numbers.length,
    shares: Array.from({ length: 10 }, (_, at) => numbers.filter((one) => Math.floor(one * 10) === at).length),
  };
})()"""


async def test_what_is_drawn_has_the_form_that_a_page_expects() -> None:
    async with browsing(PAGES) as (chromium, _):
        settings = spec().model_copy(update={"chance": "7"})
        async with chromium.session(settings) as session:
            await session.open(ORIGIN + "/")
            found: Any = await session.evaluate(USES)

    version_4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert re.fullmatch(version_4, found["id"])
    assert [found[key] for key in ("same", "outside", "inside", "big")] == [True] * 4
    assert (found["floats"], found["much"]) == ("TypeMismatchError", "QuotaExceededError")
    assert found["stranger"] == "TypeError"
    assert 0 <= found["least"] < 0.001
    assert 0.999 < found["most"] < 1
    assert found["distinct"] == 20_000
    assert abs(found["mean"] - 0.5) < 0.01
    assert all(1_800 < share < 2_200 for share in found["shares"])
