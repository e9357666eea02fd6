"""Whatever a page says, through whichever entry: records and tables hold it, within its bound.

The texts hold halves of surrogate pairs, controls and NUL, and are repeated, up to a megabyte.
"""

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa
import pyarrow.parquet as pq
from effort import THOROUGH
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue
from support.browsers.scripted_rollouts import LIMITS, pages
from support.browsers.scripted_session import ScriptedSession
from support.episodes.factories import make_task
from support.inputs.strategies import ODD_TEXT
from support.runs.unit_rows import unit_rows
from support.stores.memory_store import MemoryStore

from generators.browser import untrusted_text
from generators.browser.protocol import Node, SessionSpec
from generators.policy.protocol import Decision, PolicyCard, PolicyInput
from generators.rollout.episode_recorder import Attempt
from generators.rollout.rollout import rollout
from generators.sites.gateway import Gateway
from generators.sites.miniwob import MiniWob
from schemas.episodes.action import Action, Answer, TypeText
from schemas.episodes.episode import Episode, PolicyKind, StopReason, ThoughtSource
from schemas.episodes.observation import DialogKind, Effect, Observation, OpenDialog
from schemas.errors import FailureKind, RolloutFailure
from schemas.tables.tables import Row, arrow_schema, episode_from_rows
from schemas.truncation import (
    DIALOG_BYTES,
    GOAL_BYTES,
    LABEL_BYTES,
    MESSAGE_BYTES,
    TITLE_BYTES,
    URL_BYTES,
    truncate,
)
from storage.spool import Spool

MOST: dict[str, int] = {
    "instruction": GOAL_BYTES,
    "url": URL_BYTES,
    "title": TITLE_BYTES,
    "focus": LABEL_BYTES,
    "result_text": DIALOG_BYTES,
    "action_error": MESSAGE_BYTES,
    "failure_message": MESSAGE_BYTES,
    "target_tag": LABEL_BYTES,
    "target_role": LABEL_BYTES,
    "target_name": LABEL_BYTES,
    "target_text": LABEL_BYTES,
    "target_frame": URL_BYTES,
    "text": GOAL_BYTES,
    "thought": GOAL_BYTES,
}
"""The most bytes of each column that holds a page's words, here those a policy quotes too."""

PIECES = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(
    [*ODD_TEXT, "\ud83d", "\ude00", "half \ud83d", "\ude00\ud83d", "x\ud800", "\U0001f600"]
)
"""Any text JavaScript can hold."""

WORDS = st.builds(
    lambda piece, times, end: piece * times + end,
    PIECES,
    st.sampled_from([1, 1, 1, 150, 3_000, 30_000]),
    PIECES,
)


@dataclass(frozen=True, slots=True)
class Said:
    """All that one page says."""

    goal: str
    url: str
    title: str
    focus: str | None
    label: str
    frame: str | None
    refusal: str | None
    dialogs: list[str]
    thrown: str | None
    """What the page throws when it is asked for the outcome a second time; None: nothing."""


SAID = st.builds(
    Said,
    goal=WORDS,
    url=WORDS,
    title=WORDS,
    focus=st.none() | WORDS,
    label=WORDS,
    frame=st.none() | WORDS,
    refusal=st.none() | WORDS,
    dialogs=st.lists(WORDS, max_size=3),
    thrown=st.none() | WORDS,
)


def asked(said: Said) -> list[OpenDialog]:
    """Return the dialogs of a page, as a browser's session makes them."""
    return [
        untrusted_text.dialog(DialogKind.PROMPT, title=words, message=words, text=words)
        for words in said.dialogs
    ]


class TalkativeSession(ScriptedSession):
    """A session whose page says what it likes; it enters by the functions that Chromium's uses."""

    def __init__(self, said: Said, spec: SessionSpec) -> None:
        super().__init__(pages(None), spec)
        self._said = said
        self._asked = 0

    @property
    def _element(self) -> dict[str, object]:
        label = self._said.label
        return {
            **dict.fromkeys(("tag", "role", "name", "text"), label),
            "bbox": [0, 0, 1, 1],
            "visible": 1,
            "frame": self._said.frame,
        }

    async def observe(self) -> Observation:
        seen, said = await super().observe(), self._said
        state = {
            **{name: getattr(said, name) for name in ("url", "title", "focus")},
            "form": said.label,
            "dom": said.label,
            "scrollX": 0,
            "scrollY": 0,
        }
        more = {"value": said.label, "interactive": True, "covered": False}
        return Observation(
            **{name: value for name, value in seen if name not in ("page", "elements")},
            page=untrusted_text.page_state(state, tab=1, tabs=[said.title, said.label]).model_copy(
                update={"dialog": next(iter(asked(said)), None)}
            ),
            elements=untrusted_text.elements([self._element | more]),
        )

    async def act(self, action: Action) -> Effect:
        del action
        said = self._said
        return Effect(
            error=None if said.refusal is None else truncate(said.refusal, MESSAGE_BYTES),
            result_text=untrusted_text.result_text(said.dialogs),
            target=untrusted_text.target(self._element),
            act_ms=0.0,
        )

    async def read(self) -> Node:
        words = self._said.label
        root = {
            **dict.fromkeys(("tag", "text", "own_text", "value", "selected"), words),
            "attrs": {words: words},
            "style": 0,
            "words": [[words, [0] * 4]],
            "box": [0] * 4,
            "point": None,
            "scroll": None,
            "inner": [0, 0],
            "shown": True,
            "checked": None,
            "focused": False,
            "children": [],
        }
        return untrusted_text.document({"root": root, "styles": [{"position": words}]})

    async def evaluate(self, expression: str) -> JsonValue:
        if "getUtterance" in expression:
            return self._said.goal
        if "typeof stepmillProblem" not in expression:
            return True
        self._asked += 1
        if self._asked > 1 and self._said.thrown is not None:
            raise RolloutFailure(FailureKind.PAGE, f"the page threw: {self._said.thrown}")
        return [0, False]


class Talkative:
    """Hands out sessions with one page."""

    version = "scripted"

    def __init__(self, said: Said) -> None:
        self._said = said

    @contextlib.asynccontextmanager
    async def session(self, spec: SessionSpec) -> AsyncIterator[TalkativeSession]:
        yield TalkativeSession(self._said, spec)


class Quoting:
    """A privileged policy that types, and thinks, what it reads."""

    card = PolicyCard(name="quoting", kind=PolicyKind.SCRIPTED, privileged=True)

    async def act(self, turn: PolicyInput) -> Decision:
        assert turn.reader is not None
        root = await turn.reader.read()
        action = Answer(text=root.text) if turn.history else TypeText(text=root.value or "")
        quoted = [*root.attrs, *root.attrs.values(), *(word for word, _ in root.words)]
        thought = max(quoted, key=lambda text: len(text.encode()))
        return Decision(action=action, thought=thought, thought_source=ThoughtSource.TEMPLATE)


async def recorded(said: Said) -> Episode:
    """Return the episode that a talkative page leaves in the spool."""
    task = make_task(instruction="")
    attempt = Attempt(
        run_id="run",
        unit_id="unit",
        task=task,
        attempt=0,
        viewport_width=100,
        viewport_height=80,
        device_scale_factor=1.0,
        code_version="test",
    )
    episode = await rollout(
        attempt,
        site=MiniWob(Gateway()),
        sessions=Talkative(said),
        make_policy=lambda _: Quoting(),
        limits=LIMITS,
    )
    spool = Spool(MemoryStore())
    assert await spool.put(episode)
    read = await spool.get(episode.unit_id, episode.episode_id)
    assert read == episode
    return read


def through_parquet(table: str, rows: Sequence[Row]) -> list[Row]:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=arrow_schema(table)), out)
    return pq.read_table(io.BytesIO(out.getvalue())).to_pylist()


def every(text: str, *, thrown: str | None = None) -> Said:
    """Return a page that says `text` wherever it can."""
    return Said(text, text, text, text, text, text, text, [text, text], thrown)


@given(said=SAID)
@example(said=every("half \ud83d"))
@example(said=every("half \ud83d", thrown="half \ud83d"))
@example(said=every("\0"))
@example(said=every("\U0001f600" * 300_000 + "\ud83d"))
@settings(max_examples=40 if THOROUGH else 12)
def test_whatever_a_page_says_becomes_rows_within_their_bounds(said: Said) -> None:
    episode = asyncio.run(recorded(said))
    rows = {table: through_parquet(table, made) for table, made in unit_rows([], [episode]).items()}

    assert episode.failure_kind == (None if said.thrown is None else "page"), (
        episode.failure_message,
        asdict(said),
    )
    assert episode.stop_reason is (
        StopReason.ANSWERED if said.thrown is None else StopReason.FAILED
    )
    for dialog in asked(said):
        assert len(dialog.message.encode()) <= DIALOG_BYTES
        assert len((dialog.text or "").encode()) <= DIALOG_BYTES
        assert len(dialog.title.encode()) <= TITLE_BYTES
    read = episode_from_rows(
        rows["episodes"][0],
        rows["steps"],
        observations=rows["observations"],
        calls=rows["calls"],
        prompts=rows["prompts"],
    )
    assert read == episode
    for table in ("episodes", "steps"):
        for row in rows[table]:
            for name in MOST.keys() & row.keys():
                assert len((row[name] or "").encode()) <= MOST[name], name
    for step in episode.steps:
        for element in step.elements:
            labels = (element.role, element.name, element.tag, element.text, element.value or "")
            assert all(len(label.encode()) <= LABEL_BYTES for label in labels)
            assert len((element.frame or "").encode()) <= URL_BYTES


@given(text=WORDS, most=st.sampled_from(sorted(set(MOST.values()))))
@settings(max_examples=100)
def test_cutting_again_changes_nothing(text: str, most: int) -> None:
    once = truncate(text, most)

    assert truncate(once, most) == once
    assert len(once.encode()) <= most


@given(text=WORDS, most=st.sampled_from(sorted(set(MOST.values()))))
@settings(max_examples=100)
def test_what_is_kept_is_how_the_text_begins_and_the_mark_counts_the_rest(
    text: str, most: int
) -> None:
    whole = truncate(text, 10**9)
    kept, dots, mark = truncate(text, most).rpartition("…[cut: ")

    if len(whole.encode()) <= most:
        assert truncate(text, most) == whole
    else:
        assert dots
        assert whole.startswith(kept)
        missing = int(mark.partition(" ")[0].replace(",", ""))
        assert len(kept.encode()) + missing == len(whole.encode())
