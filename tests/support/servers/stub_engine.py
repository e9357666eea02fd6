"""An engine whose replies a test writes down, and what a policy needs to ask it."""

import io
import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image
from pydantic import JsonValue
from support.episodes.factories import make_screenshot, make_step

from generators.engine.protocol import EngineCard, EnginePrompt, Picture, Reply, Sampling
from generators.engine.stopwatch import Stopwatch
from schemas.configuration.browser_section import BrowserSection
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import (
    EngineKind,
    EngineSection,
    PolicySection,
)
from schemas.episodes.action import Action
from schemas.episodes.call import StructuredMode
from schemas.episodes.episode import Step
from schemas.episodes.observation import Observation, PageState
from schemas.errors import FailureKind, RolloutFailure

SESSION = "e1"
"""The session of the episode under test."""

SIDE = 100
"""Of the square viewport and its pictures, px: `holotron` sends them as they are."""

ENGINE = EngineSection(kind=EngineKind.OPENAI, urls=("http://127.0.0.1:1/v1",))


@dataclass(frozen=True)
class Asked:
    """One request."""

    prompt: EnginePrompt
    sampling: Sampling
    session: str

    @property
    def texts(self) -> list[str]:
        """What each message says, a picture as its step and size."""
        return [
            "".join(
                f"[{part.step}: {part.width}×{part.height}]" if isinstance(part, Picture) else part
                for part in message.parts
            )
            for message in self.prompt.messages
        ]

    @property
    def pictures(self) -> list[Picture]:
        """In order."""
        return [p for m in self.prompt.messages for p in m.parts if isinstance(p, Picture)]


class WrittenEngine:
    """An `Engine` that says what was written down, conversation by conversation."""

    def __init__(
        self, name: str = "written", *, context_tokens: int | None = None, bound: bool = False
    ) -> None:
        """With `bound` replies say that they were made to follow their schema, if there is one."""
        self.card = EngineCard(model=name, product="written", context_tokens=context_tokens)
        self._bound = bound
        self.heard: list[tuple[Reply, str, int | None]] = []
        self.asked: list[Asked] = []
        self._said: dict[str, deque[Reply | RolloutFailure]] = {}

    def says(self, *replies: str | Reply | RolloutFailure, session: str = SESSION) -> None:
        """Write down what is said next in a conversation; an end without words is a failure."""
        queue = self._said.setdefault(session, deque())
        queue.extend(self.reply_of(r) if isinstance(r, str) else r for r in replies)

    def reply_of(self, text: str, *, finish_reason: str | None = "stop") -> Reply:
        """Return a whole reply."""
        return Reply(
            text=text,
            finish_reason=finish_reason,
            endpoint="http://written",
            model=self.card.model,
            prompt_tokens=100,
            completion_tokens=10,
            total_ms=0.0,
        )

    def hear(self, reply: Reply, *, session: str, cacheable_tokens: int | None) -> None:
        """Note what the cache could have served."""
        self.heard.append((reply, session, cacheable_tokens))

    async def reply(
        self,
        prompt: EnginePrompt,
        sampling: Sampling,
        *,
        session: str,
        stopwatch: Stopwatch | None = None,
    ) -> Reply:
        """Return the next reply that was written down for the conversation."""
        del stopwatch
        self.asked.append(Asked(prompt, sampling, session))
        queue = self._said.get(session)
        if not queue:
            raise RolloutFailure(FailureKind.ENGINE, f"nobody wrote what is said in {session}")
        said = queue.popleft()
        if isinstance(said, RolloutFailure):
            raise said
        if not self._bound or prompt.reply_schema is None:
            return said
        return said.model_copy(update={"structured_mode": StructuredMode.JSON_SCHEMA})


def called(tool: str, *, thought: str = "I see.", **arguments: JsonValue) -> str:
    """Return a reply in the `holotron` dialect."""
    call = {"tool_name": tool, **arguments}
    return json.dumps({"note": None, "thought": thought, "tool_call": call})


def clicked(x: int, y: int, *, element: str = "the button") -> str:
    """Return a click in the `holotron` dialect, in thousandths."""
    return called("click", element=element, x=x, y=y, button="left", count=1)


def configured(*sections: PolicySection) -> RunConfig:
    """Return a configuration whose policies ask, looking through a small viewport."""
    browser = BrowserSection(viewport=(SIDE, SIDE))
    return RunConfig(policies=sections, engine=ENGINE, browser=browser)


def seen(number: int) -> Observation:
    """Return a look at the page before step `number`."""
    return Observation(
        screenshot=make_screenshot(number, width=SIDE, height=SIDE),
        width=SIDE,
        height=SIDE,
        page=PageState(url="http://miniwob.localhost/", title="T", scroll_x=0, scroll_y=0),
        observe_ms=1.0,
    )


def history(actions: Sequence[Action]) -> list[Step]:
    """Return the steps that took these actions."""
    return [
        make_step(n, picture=n, action=action).model_copy(
            update={"screenshot": seen(n).screenshot, "width": SIDE, "height": SIDE}
        )
        for n, action in enumerate(actions)
    ]


def size_of(picture: Picture) -> tuple[int, int]:
    """Return the size that the bytes of a picture really have."""
    with Image.open(io.BytesIO(picture.jpeg)) as image:
        return image.size
