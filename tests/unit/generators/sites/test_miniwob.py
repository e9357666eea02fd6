"""What the site asks of a page and makes of its answers; the pages' own part has tests on real pages."""

import json
import mimetypes
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from pydantic import JsonValue
from support.browsers.scripted_session import Page, ScriptedSession
from support.browsers.visits import visit_to
from support.episodes.factories import make_task

from generators.browser.protocol import ClockSpec
from generators.sites import miniwob
from generators.sites.gateway import Gateway
from generators.sites.miniwob import (
    AREA,
    HANDLERS,
    THRESHOLDS,
    MiniWob,
    pages_root,
    site_version,
    start_url,
)
from generators.sites.miniwob_catalogue import catalogue
from generators.sites.own_code import own_code_policy
from generators.sites.protocol import Outcome, Problem, Visit
from schemas.episodes.action import Action, Wait
from schemas.episodes.observation import Effect
from schemas.errors import FailureKind, RolloutFailure
from schemas.truncation import GOAL_BYTES

VISIT = Visit(
    start_url="http://miniwob.localhost/miniwob/click-test.html",
    allowed_origins=("http://miniwob.localhost",),
    clock=None,
    seed="9007199254740993",
)
PROBLEM = Problem(goal="Do it.", nonce="0123")


class Answering(ScriptedSession):
    """A session whose page gives these answers in turn, the last one for ever."""

    def __init__(self, answers: Sequence[JsonValue]) -> None:
        spec = VISIT.session_spec(viewport_width=500, viewport_height=400)
        super().__init__([Page(colour=(0, 0, 0))], spec)
        self._answers = list(answers)
        self.asked: list[str] = []
        """Expressions, actions and waits for the page to settle, in their order."""

    async def evaluate(self, expression: str) -> JsonValue:
        self.asked.append(expression)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    async def settle(self) -> None:
        self.asked.append("settle")

    async def act(self, action: Action) -> Effect:
        assert isinstance(action, Wait)
        self.asked.append(f"wait {action.ms}")
        return Effect(act_ms=0.0)


@pytest.fixture
def site() -> MiniWob:
    return MiniWob(Gateway())


async def test_a_visit_leads_to_the_tasks_page_alone_in_virtual_time(site: MiniWob) -> None:
    task = make_task(2**53 + 1).model_copy(update={"parameters": {"level": 2}})

    assert await visit_to(site, task) == Visit(
        start_url="http://miniwob.localhost/miniwob/click-test.html",
        allowed_origins=("http://miniwob.localhost",),
        allowed_paths=("/miniwob/click-test.html",),
        clock=ClockSpec(),
        seed="9007199254740993",
        parameters={"level": 2},
        bare=True,
    )


async def test_a_flights_frame_is_below_its_own_folder(site: MiniWob) -> None:
    task = make_task(template="flight.Alaska")

    assert (await visit_to(site, task)).allowed_paths == ("/flight/Alaska/",)
    assert start_url("flight.Alaska") == "http://miniwob.localhost/flight/Alaska/wrapper.html"


async def test_a_template_that_is_none_is_refused_by_name(site: MiniWob) -> None:
    with pytest.raises(RolloutFailure, match="no template 'no-such'") as caught:
        await visit_to(site, make_task(template="no-such"))

    assert caught.value.kind is FailureKind.SITE
    assert not site.has_template("no-such")
    with pytest.raises(KeyError, match="no-such"):
        start_url("no-such")


def test_the_site_says_whose_pages_it_serves(site: MiniWob) -> None:
    assert (site.name, site.repeatable, site.version) == ("miniwob", True, "1.1.0")
    assert site_version() == "1.1.0"


def test_only_templates_with_a_continuous_score_have_a_threshold_and_it_is_near_1(
    site: MiniWob,
) -> None:
    """The reasons say what a perfect answer gets; a threshold is never a way around the task."""
    assert {name: one.reward for name, one in THRESHOLDS.items()} == {
        "bisect-angle": 0.95,
        "chase-circle": 0.96,
        "circle-center": 0.97,
        "find-midpoint": 0.97,
        "right-angle": 0.96,
    }
    assert site.threshold("circle-center") is THRESHOLDS["circle-center"]
    assert site.threshold("click-test") is None


@pytest.mark.parametrize(
    ("template", "area"),
    [("click-test", AREA), ("flight.Alaska", catalogue()["flight.Alaska"].area), ("no-such", AREA)],
)
def test_a_page_has_the_area_of_its_entry_or_of_most(
    site: MiniWob, template: str, area: tuple[int, int]
) -> None:
    assert site.area(template) == area


@pytest.mark.parametrize("bare", [False, True])
async def test_the_page_is_begun_once_with_the_seed_as_text_and_the_visits_own_nonce(
    site: MiniWob, *, bare: bool
) -> None:
    session = Answering(["Click it.", True])

    problem = await site.begin(VISIT.model_copy(update={"bare": bare}), session)

    begun, *rest = session.asked
    words = re.search(r"\n\}\n\)\(([^\n]*)\)$", begun)
    assert words is not None, begun
    settings = {"bare": bare, "left": "left", "timerMs": 2**31 - 1}
    assert json.loads(f"[{words[1]}]") == [VISIT.seed, problem.nonce, settings]
    assert problem.goal == "Click it."
    assert re.fullmatch("[0-9a-f]{32}", problem.nonce)
    assert rest == ["settle", "WOB_TASK_READY"]


async def test_two_visits_have_two_nonces(site: MiniWob) -> None:
    problems = [await site.begin(VISIT, Answering(["Click it.", True])) for _ in range(2)]

    assert problems[0].nonce != problems[1].nonce


async def test_a_long_goal_is_cut(site: MiniWob) -> None:
    problem = await site.begin(VISIT, Answering(["x" * (GOAL_BYTES + 1), True]))

    assert len(problem.goal.encode()) <= GOAL_BYTES


@pytest.mark.parametrize("answer", [None, 1, ["Click it."], {"utterance": "Click it."}])
async def test_a_goal_that_is_not_text_is_a_page_failure(site: MiniWob, answer: JsonValue) -> None:
    with pytest.raises(RolloutFailure, match="goal is not text") as caught:
        await site.begin(VISIT, Answering([answer, True]))

    assert caught.value.kind is FailureKind.PAGE


async def test_a_page_is_waited_for_until_it_is_ready(site: MiniWob) -> None:
    session = Answering(["Click it.", False, False, True])

    await site.begin(VISIT, session)

    ready, wait = "WOB_TASK_READY", f"wait {miniwob.READY_MS}"
    assert session.asked[2:] == [ready, wait, ready, wait, ready]


async def test_a_page_that_never_is_ready_is_a_page_failure(site: MiniWob) -> None:
    session = Answering(["Click it.", False])

    with pytest.raises(RolloutFailure, match="not ready after 20 s") as caught:
        await site.begin(VISIT, session)

    assert caught.value.kind is FailureKind.PAGE
    assert session.asked.count("WOB_TASK_READY") == miniwob.READY_WAITS


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ([0, False], Outcome(reward=0.0, done=False)),
        ([1, True], Outcome(reward=1.0, done=True)),
        ([-1, True], Outcome(reward=-1.0, done=True)),
        ([0.5, True], Outcome(reward=0.5, done=True)),
        ("left", Outcome(reward=-1.0, done=True)),
    ],
)
async def test_what_a_page_may_say_of_the_problem(
    site: MiniWob, answer: JsonValue, outcome: Outcome
) -> None:
    session = Answering([answer])

    found = await site.outcome(PROBLEM, session)

    assert found == outcome
    assert isinstance(found.reward, float)
    assert session.asked == [
        '((nonce, left) => typeof stepmillProblem === "function" ? stepmillProblem(nonce) : left)("0123", "left")'
    ]


@pytest.mark.parametrize(
    "answer",
    [
        *([1.01, True], [-1.01, True], [2, True], [True, True], [False, False], ["1", True]),
        *([1, 1], [1, None], [None, True], [1], [1, True, 1], [], None, 1, "won", {"reward": 1}),
    ],
    ids=repr,
)
async def test_what_no_page_of_the_site_says_is_a_page_failure(
    site: MiniWob, answer: JsonValue
) -> None:
    with pytest.raises(RolloutFailure, match=re.escape(repr(answer))) as caught:
        await site.outcome(PROBLEM, Answering([answer]))

    assert caught.value.kind is FailureKind.PAGE


async def test_a_page_that_does_not_answer_is_a_page_failure(site: MiniWob) -> None:
    class Gone(Answering):
        async def evaluate(self, expression: str) -> JsonValue:
            raise ConnectionError(expression)

    with pytest.raises(RolloutFailure, match="reading the outcome: ConnectionError") as caught:
        await site.outcome(PROBLEM, Gone([None]))

    assert caught.value.kind is FailureKind.PAGE


@asynccontextmanager
async def served(path: str, *, times: int = 1) -> AsyncIterator[Sequence[aiohttp.ClientResponse]]:
    """Ask the site for a path so many times."""
    async with Gateway() as gateway, aiohttp.ClientSession() as client:
        MiniWob(gateway)
        headers = {"Host": miniwob.HOST}
        url = f"http://127.0.0.1:{gateway.port}{path}"
        answers = [await client.get(url, headers=headers) for _ in range(times)]
        yield answers


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/miniwob/click-test.html", "text/html; charset=utf-8"),
        ("/core/core.js", "text/javascript; charset=utf-8"),
        ("/core/jquery-ui/images/ui-icons_444444_256x240.png", "image/png"),
    ],
)
async def test_files_are_served_as_they_are(path: str, kind: str) -> None:
    async with served(path, times=2) as answers:
        for answer in answers:
            assert answer.status == 200
            assert answer.headers["Content-Type"] == kind
            assert answer.headers["Cache-Control"] == "max-age=3600"
            assert await answer.read() == (pages_root() / path.lstrip("/")).read_bytes()


@pytest.mark.parametrize("path", ["/no-such.html", "/", "/miniwob", "/%2e%2e/__init__.py"])
async def test_what_is_no_file_of_the_pages_is_not_found(path: str) -> None:
    async with served(path) as (answer,):
        assert (answer.status, await answer.text()) == (404, f"no {answer.url.path}")


@pytest.mark.parametrize(
    ("path", "evaluates"),
    [("/miniwob/click-test.html", False), ("/miniwob/use-colorwheel.html", True)],
)
async def test_a_page_may_run_its_own_code_and_what_the_sites_scripts_write(
    path: str, *, evaluates: bool
) -> None:
    document = (pages_root() / path.lstrip("/")).read_text(encoding="utf-8")

    async with served(path) as (answer,):
        policy = answer.headers["Content-Security-Policy"]

    assert policy == own_code_policy(document, handlers=HANDLERS, evaluates=evaluates)
    assert ("'unsafe-eval'" in policy) is evaluates


@pytest.mark.parametrize("path", ["/core/core.js", "/core/core.css"])
async def test_what_is_no_page_has_no_policy(path: str) -> None:
    async with served(path) as (answer,):
        assert answer.status == 200
        assert "Content-Security-Policy" not in answer.headers


async def test_a_file_is_read_once_whatever_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two looks at a page are looks at the same one, and no byte of a file stops it."""
    monkeypatch.setattr(miniwob, "pages_root", lambda: tmp_path)
    (tmp_path / "X.html").write_bytes(b"<p>\xff")
    async with Gateway() as gateway, aiohttp.ClientSession() as client:
        MiniWob(gateway)
        for _ in range(2):
            url = f"http://127.0.0.1:{gateway.port}/X.html"
            answer = await client.get(url, headers={"Host": miniwob.HOST})
            assert (answer.status, await answer.read()) == (200, b"<p>\xff")
            (tmp_path / "X.html").write_bytes(b"another")


@pytest.mark.parametrize(
    ("guessed", "kind"),
    [
        ("application/javascript", "application/javascript; charset=utf-8"),
        (None, "application/octet-stream"),
    ],
)
async def test_a_machines_own_table_of_kinds_is_followed(
    monkeypatch: pytest.MonkeyPatch, guessed: str | None, kind: str
) -> None:
    monkeypatch.setattr(mimetypes, "guess_type", lambda _: (guessed, None))

    async with served("/core/core.js") as (answer,):
        assert answer.headers["Content-Type"] == kind
