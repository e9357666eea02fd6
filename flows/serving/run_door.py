"""The run door: a client names a task and its engine, and gets the episode that came of it, with exact tokens.

`POST /run` plays a whole episode with this program's own policy at the client's engine, in any dialect, and answers
with its reward, what failed, and OpenEnv's `TrainingTrace`. The pictures that the trace names stand beside it, each
once.
"""

import asyncio
from collections import defaultdict
from collections.abc import Coroutine
from typing import Annotated

from aiohttp import web
from pydantic import Field, ValidationError
from pydantic_core import to_json

from flows.job.plan import PlannedAttempt
from flows.serving.asked_groups import AskedGroups, OtherTask
from flows.serving.client_engines import (
    ClientEngine,
    ClientEngines,
    ClientPolicy,
    EngineRefused,
    check_endpoint,
)
from flows.serving.episode_answer import answer_of, trace_answer, weights_answer
from flows.serving.seating import AskedGroup, Seats
from flows.serving.tokens import CLIENT
from flows.serving.versions import VersionLine
from generators.policy.model.try_account import Account
from generators.policy.protocol import Policy
from generators.seats.actions import mistakes_in
from schemas.base import JsonObject, Record
from schemas.configuration.sections import LogprobsMode, PolicyName, PolicySection
from schemas.episodes.call import versions_of
from schemas.episodes.episode import Episode
from schemas.episodes.viewport import Viewport
from schemas.errors import BadConfig, NoEngine, NotFound
from schemas.tasks.selector import Selector
from schemas.tasks.task import Task

PATH = "/run"
"""Where the door is."""

LOOK_SECONDS = 0.25
"""Between two looks whether a client is still there."""

_Name = Annotated[str, Field(min_length=1, max_length=200)]


class RunSampling(Record):
    """How the client's engine draws the tokens of a reply."""

    temperature: float = Field(default=1.0, ge=0, le=2)
    """0: the likeliest token each time."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Nucleus; None: the server's default."""
    max_tokens: int = Field(default=1_024, ge=16, le=1_000_000)
    """The longest reply, tokens."""
    logprobs: LogprobsMode = LogprobsMode.RAW
    """The kind of log-probabilities that the server returns, as vLLM's `--logprobs-mode` sets it."""


class RunTask(Selector):
    """The task that a client wants played."""

    group: _Name | None = None
    """A name for attempts that belong together, all at one task; None: the task's own group."""
    group_size: int | None = Field(default=None, ge=1, le=10_000)
    """How many attempts belong to it; None: not told."""


class RunRequest(Record):
    """The body of a request to the run door."""

    task: RunTask = RunTask()
    """The task; what is left out is drawn."""
    endpoint: Annotated[str, Field(max_length=1_000)]
    """The address of the client's engine, as `http://127.0.0.1:8000/v1`."""
    model: _Name | None = None
    """The model's name there; None: the only one served."""
    sampling: RunSampling = RunSampling()
    """How its tokens are drawn."""
    dialect: _Name | None = None
    """How the model is prompted and its replies are read; None: as configured (`policy.dialect`)."""
    weights_version: _Name | None = None
    """The version of the weights that the engine has now; None: not told."""
    pictures: bool = True
    """Whether the answer has the pictures that its trace names."""


class BadRequest(ValueError):
    """A request is refused; the text says what is wrong."""


def read_run(body: bytes) -> RunRequest:
    """Return what a client asks for.

    Raises:
        BadRequest: it is no request.
    """
    try:
        return RunRequest.model_validate_json(body)
    except ValidationError as error:
        raise BadRequest("; ".join(mistakes_in(error))) from None


class RunDoor:
    """Answers requests to play an episode."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats
        self.engines = ClientEngines(seats.config)
        """The engines of its clients."""
        self._versions: defaultdict[str, VersionLine] = defaultdict(VersionLine)
        self._groups = AskedGroups(seats.desk)

    async def run(self, client: str, asked: RunRequest) -> JsonObject:
        """Play an episode, and return what came of it.

        Raises:
            EngineRefused: the endpoint is at no allowed address.
            OtherTask: the group is that of another task.
            BadRequest: a group has a size and no name.
            NoEngine: it is no engine, or refuses what an episode would ask.
            BadConfig: the dialect is none in which an engine can be asked.
            BadTasks: there is no such task.
            Busy: no seat was free in time.
            NoSeat: the server ends.
        """
        engine = ClientEngine(
            endpoint=check_endpoint(asked.endpoint, self._seats.config.seats.engines),
            model=asked.model,
            policy=policy_of(asked, self._seats.config.policy),
        )
        line = self._versions[client]
        line.note([asked.weights_version])
        group = _group_of(client, asked.task)
        task = await self._task(group, asked.task)
        policies: list[ClientPolicy] = []
        async with self.engines.hold(engine) as runtime:

            def make_policy(
                planned: PlannedAttempt, account: Account, viewport: Viewport
            ) -> Policy:
                policy = runtime.policies.make(
                    engine.policy,
                    seed=planned.seed,
                    task=planned.task,
                    account=account,
                    viewport=viewport,
                )
                account.told_version = asked.weights_version
                policies.append(ClientPolicy(policy))
                return policies[-1]

            episode = await self._seats.play(
                client,
                task,
                make_policy,
                group=group,
                live=lambda planned: runtime.live(engine.policy, planned.seed),
            )
            if any(policy.lost for policy in policies):
                self.engines.forget(engine)
        return self._answer(task, episode, asked, line)

    def _answer(
        self, task: Task, episode: Episode, asked: RunRequest, line: VersionLine
    ) -> JsonObject:
        """Return what a client is told of an episode."""
        versions, allowed = versions_of(episode.calls), self._seats.config.seats.max_staleness
        line.note(versions)
        weights, stale = weights_answer(versions, line, allowed)
        learnt = episode.trainable and not stale
        return {
            **answer_of(task, episode),
            "group": {
                "id": episode.group_id,
                "name": asked.task.group,
                "size": asked.task.group_size,
            },
            "weights": weights,
            **trace_answer(episode, learnt=learnt, pictures=asked.pictures),
        }

    async def _task(self, group: AskedGroup | None, asked: RunTask) -> Task:
        """Return the task of a request."""
        selector = Selector(**asked.model_dump(exclude={"group", "group_size"}))
        if group is not None:
            return await self._groups.task(group.name, selector)
        return await self._seats.desk.draw(selector)


def _group_of(client: str, asked: RunTask) -> AskedGroup | None:
    if asked.group is not None:
        return AskedGroup(f"{client}/{asked.group}", asked.group_size)
    if asked.group_size is not None:
        raise BadRequest("task.group_size: is the size of a named group; name it (task.group)")
    return None


def policy_of(asked: RunRequest, configured: PolicySection) -> PolicySection:
    """Return the policy that a request asks for; what it leaves open is as configured."""
    sampling = asked.sampling
    ours = asked.dialect in (None, configured.dialect)
    return PolicySection(
        name=PolicyName.MODEL.value,
        dialect=asked.dialect or configured.dialect,
        dialect_options=configured.dialect_options if ours else {},
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        logprobs=sampling.logprobs,
        context_tokens=configured.context_tokens,
        keep_images=configured.keep_images,
        slack_images=configured.slack_images,
    )


def add_routes(app: web.Application, seats: Seats) -> None:
    """Add the door to an application."""
    door = RunDoor(seats)

    async def run(request: web.Request) -> web.Response:
        try:
            asked = read_run(await request.read())
            answer = await _while_there(request, door.run(request[CLIENT], asked))
        except (BadRequest, OtherTask, EngineRefused, BadConfig, NotFound) as error:
            return web.json_response({"error": str(error)}, status=400)
        except NoEngine as error:
            return web.json_response({"error": f"endpoint: {error}"}, status=502)
        return web.Response(body=to_json(answer), content_type="application/json")

    async def close(_: web.Application) -> None:
        await door.engines.close()

    app.router.add_post(PATH, run)
    app.on_cleanup.append(close)


async def _while_there(request: web.Request, work: Coroutine[None, None, JsonObject]) -> JsonObject:
    """Return what the work returns, unless the client goes, which ends it."""
    working = asyncio.create_task(work)
    try:
        while not working.done():
            await asyncio.wait([working], timeout=LOOK_SECONDS)
            if request.transport is None or request.transport.is_closing():
                raise ConnectionResetError("the client went")
        return working.result()
    finally:
        working.cancel()
        await asyncio.wait([working])
