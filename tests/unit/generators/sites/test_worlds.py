"""The site of worlds behind a gateway, and without a browser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from support.servers.ledger_site import Hands, ledger, mounted
from support.worlds.made_world import SHOP, shop_rows, shop_task

from generators.sites.gateway import Gateway
from generators.sites.protocol import Judge, Outcome, Problem, Visit
from generators.sites.worlds import WorldsSite
from generators.worlds.state.database import Rows
from schemas.errors import BadTasks, FailureKind, RolloutFailure
from schemas.tasks.task import Task
from schemas.worlds.world import World

OTHER = SHOP.model_copy(update={"host": "quay-supplies.localhost", "seed": 1})


def world_of(task: Task) -> tuple[World, Rows]:
    return (OTHER if task.parameters["world"] == 1 else SHOP), shop_rows()


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[WorldsSite, Gateway]]:
    async with Gateway() as gateway:
        yield WorldsSite(gateway, world_of), gateway


@asynccontextmanager
async def visiting(
    site: WorldsSite, gateway: Gateway, world: World = SHOP, start: str = "/"
) -> AsyncIterator[tuple[Visit, Problem, Hands]]:
    """Open a visit whose start page was loaded and whose problem has begun."""
    task = shop_task(world).model_copy(update={"start_url": world.origin + start})
    async with site.open(task) as visit:
        hands = Hands(gateway, visit, world.host)
        await hands.ask("GET", start)
        yield visit, await site.begin(visit, hands), hands  # type: ignore[arg-type]


async def answered(site: WorldsSite, problem: Problem, hands: Hands, text: str = "") -> Outcome:
    return await site.outcome(problem, hands, answer=text)  # type: ignore[arg-type]


async def test_a_task_of_a_world_is_judged_by_its_state_when_the_policy_answers() -> None:
    async with serving() as (site, gateway), visiting(site, gateway) as (visit, problem, hands):
        state = await site.state(problem)
        await hands.ask("POST", "/purchase/1/do/pack")
        going_on = await site.outcome(problem, hands)  # type: ignore[arg-type]
        end = await answered(site, problem, hands)

        assert gateway.refused.counts() == ()
    assert problem.goal == "Mark the order A-1040 as packed."
    assert (site.name, site.judge, site.repeatable) == ("worlds", Judge.SERVER, True)
    assert state.value == shop_rows()
    assert state.keys == {"product": "id", "customer": "id", "purchase": "id"}
    assert (going_on.reward, going_on.done) == (0.0, False)
    assert (end.reward, end.done) == (1.0, True), end.because
    assert visit.allowed_origins == ("http://harbour-supplies.localhost",)
    assert visit.clock is not None
    assert visit.clock.start_ms == 1_773_052_200_000
    assert "sign_in" not in visit.model_dump(mode="json")


@pytest.mark.parametrize("paths", [(), ("/purchase/2/do/ship",), ("/purchase/1/do/pack", "/customer/8/delete")])  # fmt: skip
async def test_anything_else_than_what_is_expected_is_not_rewarded(paths: tuple[str, ...]) -> None:
    async with serving() as (site, gateway), visiting(site, gateway) as (_, problem, hands):
        for path in paths:
            status, _, _ = await hands.ask("POST", path)
            assert status == 303
        end = await answered(site, problem, hands)

    assert (end.reward, end.done) == (0.0, True)


async def test_a_german_world_has_a_german_browser() -> None:
    german = SHOP.model_copy(update={"locale": "de_DE"})
    async with Gateway() as gateway:
        site = WorldsSite(gateway, lambda _: (german, shop_rows()))
        async with site.open(shop_task(german)) as visit:
            spec = visit.session_spec(viewport_width=500, viewport_height=400)

    assert visit.page.locale == spec.page.locale == "de-DE"
    assert visit.model_dump(mode="json")["page"]["locale"] == "de-DE"


async def test_visits_of_one_world_and_of_others_do_not_see_one_another() -> None:
    async with (
        serving() as (site, gateway),
        visiting(site, gateway) as (_, one, hands),
        visiting(site, gateway) as (_, two, _),
        visiting(site, gateway, OTHER) as (_, three, others_hands),
    ):
        await hands.ask("POST", "/purchase/1/do/pack")
        await others_hands.ask("POST", "/customer/8/delete")
        states = [(await site.state(problem)).value for problem in (one, two, three)]

    assert states[1] == shop_rows()
    assert len({str(state) for state in states}) == 3


async def test_the_same_visit_begins_alike_whatever_was_done_before() -> None:
    async with serving() as (site, gateway):
        for _ in range(2):
            async with visiting(site, gateway) as (_, problem, hands):
                assert (await site.state(problem)).value == shop_rows()
                await hands.ask("POST", "/purchase/1/do/pack")


async def test_pages_forms_and_queries_go_through_as_they_were_sent() -> None:
    async with serving() as (site, gateway), visiting(site, gateway) as (_, problem, hands):
        _, page, headers = await hands.ask("GET", "/products?q=Lamp%2C%20o&sort=-price")
        status, _, sent = await hands.ask(
            "POST",
            "/customer/new",
            name="Zoë & Co",
            email="a+b@c.org",
            city="",
            joined="2026-01-02",
        )
        tables = (await site.state(problem)).value
        style, _, style_headers = await hands.ask("GET", "/_/style.css")

    assert "Lamp, oak" in page
    assert "Lamp, small" not in page
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert (status, sent["Location"]) == (303, "/customer/9")
    assert isinstance(tables, dict)
    assert tables["customer"][8] == {  # type: ignore[index]
        "id": 9,
        "name": "Zoë & Co",
        "email": "a+b@c.org",
        "city": "",
        "joined": "2026-01-02",
    }
    assert (style, style_headers["Content-Type"]) == (200, "text/css; charset=utf-8")


async def test_a_form_that_is_too_large_is_refused() -> None:
    async with serving() as (site, gateway), visiting(site, gateway) as (_, problem, hands):
        async with aiohttp.ClientSession(cookies=hands.cookies) as http:
            answer = await http.post(
                f"http://127.0.0.1:{gateway.port}/customer/new",
                headers={"Host": SHOP.host},
                data=b"name=" + b"a" * 1_000_000,
            )
            assert answer.status == 413
        assert (await site.state(problem)).value == shop_rows()


async def test_a_session_without_a_visit_reaches_no_world() -> None:
    async with serving() as (site, gateway):
        async with visiting(site, gateway) as (_, problem, hands):
            pass
        status, text, _ = await hands.ask("GET", "/")
        with pytest.raises(RolloutFailure, match="the visit has ended"):
            await site.state(problem)

    assert (status, text) == (403, "this session has no visit here")


async def test_a_start_page_that_is_not_there_is_the_sites_failure() -> None:
    async with serving() as (site, gateway):
        with pytest.raises(RolloutFailure, match="the start page /none answered 404") as caught:
            async with visiting(site, gateway, start="/none"):
                pass

    assert caught.value.kind is FailureKind.SITE


async def test_a_host_of_another_site_stays_with_that_site() -> None:
    world = SHOP.model_copy(update={"host": "ledger.localhost"})
    async with Gateway() as gateway:
        mounted(gateway, ledger())
        site = WorldsSite(gateway, lambda _: (world, shop_rows()))
        with pytest.raises(RolloutFailure, match=r"another site has the host ledger\.localhost"):
            async with site.open(shop_task(world)):
                pass


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (shop_task().model_copy(update={"expect": None}), "the task expects nothing"),
        (
            shop_task().model_copy(update={"start_url": "http://shop.localhost/"}),
            "starts at http://shop.localhost/, and its world is at http://harbour-supplies.localhost",
        ),
        (shop_task().model_copy(update={"parameters": {}}), "making the world: KeyError"),
    ],
)
async def test_a_task_that_no_world_can_serve_is_the_sites_failure(
    task: Task, message: str
) -> None:
    async with serving() as (site, _):
        with pytest.raises(RolloutFailure, match=message) as caught:
            async with site.open(task):
                pass

    assert caught.value.kind is FailureKind.SITE


async def test_a_world_that_is_refused_fails_the_attempt_and_not_the_run() -> None:
    def refuse(_: Task) -> tuple[World, Rows]:
        raise BadTasks("there is no family 'none'")

    with pytest.raises(RolloutFailure, match="there is no family 'none'"):
        async with WorldsSite(Gateway(), refuse).open(shop_task()):
            pass
