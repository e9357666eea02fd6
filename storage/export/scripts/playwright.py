"""The format `playwright`: an episode as a test that is run, in Python and in TypeScript."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from typing_extensions import override

from schemas.base import JsonObject
from schemas.episodes.action import Answer, NoAction
from schemas.episodes.episode import Episode
from schemas.page_facts import PageFacts
from schemas.tasks.task import Task
from schemas.worlds.world import SITE
from storage.export.protocol import File, Format, FormatCounts, FullEpisode, Piece
from storage.export.scripts.acts import Unwritable
from storage.export.scripts.end_state import checks_of
from storage.export.scripts.python import python
from storage.export.scripts.statements import (
    PAGE,
    Call,
    Check,
    Context,
    Do,
    Note,
    Script,
    Statement,
)
from storage.export.scripts.steps import StepWriter
from storage.export.scripts.typescript import typescript

_MAX_NAME = 60


class PlaywrightScripts(Format):
    """Writes the tests of each episode."""

    name = "playwright"

    @property
    @override
    def options(self) -> JsonObject:
        return {}

    @override
    def pieces(self, source: FullEpisode, counts: FormatCounts) -> Iterator[Piece]:
        own = Counter[str]()
        try:
            script = make_script(source, own)
        except Unwritable as error:
            counts[f"without_{error}"] += 1
            return
        counts.update(own)
        counts["scripts"] += 1
        folder = source.acceptance.split
        yield File(f"{folder}/test_{script.name}.py", python(script).encode())
        yield File(f"{folder}/{script.name}.spec.ts", typescript(script).encode())


def make_script(source: FullEpisode, counts: Counter[str]) -> Script:
    """Return the script of an episode, and count its clicks by what they name.

    Raises:
        Unwritable: an action has no call that does it, or something went wrong on the site on purpose.
    """
    episode, task = source.episode, source.task
    if task.fault is not None:
        raise Unwritable("fault")
    parts = urlsplit(episode.start_url)
    files = {one.name: one for one in task.files or ()}
    writer = StepWriter(f"{parts.scheme}://{parts.netloc}", episode.start_url, files, counts)
    return Script(
        name=_name(task, episode),
        goal=episode.instruction,
        answer=episode.answer or None,
        served_by=_server(task),
        origin=writer.origin,
        context=_context(episode),
        statements=tuple(_statements(source, writer)),
    )


def _statements(source: FullEpisode, writer: StepWriter) -> Iterator[Statement]:
    """Yield the statements of an episode, those of each action after a comment with its number."""
    steps = source.episode.steps
    end = writer.address(steps[-1].page.url)
    checks = checks_of(steps, source.task.expect, end)
    yield Do((*PAGE, Call("goto", (writer.address(source.episode.start_url),))))
    for number, step in enumerate(steps[:-1]):
        yield from checks.get(step.step, ())
        if isinstance(step.action, Answer | NoAction):
            continue
        done = list(writer.write(steps, number))
        if done:
            yield Note(f"Step {step.step}: {step.action.type}")
            yield from done
    yield Note("The end")
    yield Check(PAGE, Call("to_have_url", (end,)))
    yield from checks.get(steps[-1].step, ())


def _name(task: Task, episode: Episode) -> str:
    slug = re.sub(r"[^a-z0-9]+", "_", task.template_id.lower()).strip("_")[:_MAX_NAME]
    return f"{slug or 'task'}_{episode.episode_id[:12]}"


def _server(task: Task) -> str | None:
    """Return the command that serves a task's site; None: no command does."""
    match task.parameters:
        case {"family": str() as family, "world": int() as world} if task.site == SITE:
            is_word = re.fullmatch("[a-z_]+", family)
            return f"stepmill worlds serve {family}/{world}" if is_word else None
        case _:
            return None


def _context(episode: Episode) -> Context:
    session = episode.capsule.get("session")
    told = session.get("page") if isinstance(session, Mapping) else None
    facts = PageFacts.model_validate(told or {})
    return Context(
        width=episode.viewport_width,
        height=episode.viewport_height,
        locale=facts.locale or "en-US",
        time_zone=facts.time_zone or "UTC",
        is_dark=facts.colour_scheme == "dark",
        moves_little=facts.reduced_motion is not False,
        clock_ms=episode.clock_ms,
    )
