"""OpenEnv's client class for Stepmill's seats, with typed actions and observations.

async with StepmillEnv("http://127.0.0.1:8321") as env:
    result = await env.reset(name="click-button", seed=3)
    result = await env.step(SeatAction(action={"type": "click", "x": 80, "y": 48}))
"""

import base64
import io
from typing import Any, Self

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.types import Action, Observation, State
from PIL import Image
from pydantic import ConfigDict, Field

from stepmill_trainers.door import headers_of, url_of

Json = dict[str, Any]


class SeatAction(Action):
    """What a client says about one step: either an action or a reply."""

    action: Json | None = None
    """An action, as `{"type": "click", "x": 80, "y": 48}`; points are CSS px. None: `reply` has it."""
    reply: str | None = None
    """A model's reply in the words of `dialect`; None: `action` has it."""
    dialect: str | None = None
    """The dialect of `reply`; None: that of the server."""
    thought: str | None = None
    """Why the action was chosen; None: not told."""
    note: str | None = None
    """What was written down for later; None: nothing."""
    step: int | None = None
    """The number of the action, from 0, with which it may be repeated safely; None: the next one."""
    call: Json | None = None
    """The call of the engine that led to it: token ids, log-probabilities, weights version; None: not told."""

    @classmethod
    def click(cls, x: float, y: float, **more: Any) -> Self:
        """Return a click."""
        return cls(action={"type": "click", "x": x, "y": y, **more})

    @classmethod
    def type_text(cls, text: str, **more: Any) -> Self:
        """Return text that is typed, at `x` and `y` or into what has the focus."""
        return cls(action={"type": "type", "text": text, **more})

    @classmethod
    def answer(cls, text: str = "") -> Self:
        """Return the answer, which ends the episode."""
        return cls(action={"type": "answer", "text": text})


class SeatObservation(Observation):
    """What a client is shown."""

    model_config = ConfigDict(extra="ignore")

    instruction: str = ""
    """The goal."""
    step: int = 0
    """The number of the next action."""
    screenshot: str | None = None
    """The picture in base64; None: there is no page, or it was not asked for."""
    media_type: str | None = None
    """`image/jpeg` or `image/png`; None: there is no picture."""
    width: int | None = None
    """px of the picture; None: there is no page."""
    height: int | None = None
    """px of the picture; None: there is no page."""
    viewport: tuple[int, int] | None = None
    """Width and height in CSS px, in which actions point."""
    url: str | None = None
    """The page's address; None: there is no page."""
    title: str | None = None
    """The page's title; None: there is no page."""
    tabs: list[str] = Field(default_factory=list)
    """The titles of the tabs; empty where there is only one."""
    elements: list[str] | None = None
    """The page's elements, a line each; None: not asked for."""
    action_error: str | None = None
    """Why the last action was not carried out; None: it was."""
    result_text: str | None = None
    """What the page said in dialogs; None: nothing."""

    @property
    def picture(self) -> Image.Image | None:
        """The picture; None: there is none."""
        if self.screenshot is None:
            return None
        return Image.open(io.BytesIO(base64.b64decode(self.screenshot))).convert("RGB")

    @property
    def failure_kind(self) -> str | None:
        """What failed; None: nothing did. A failure has no reward, which is not a reward of 0."""
        return self.metadata.get("failure_kind")


class SeatState(State):
    """The episode."""

    lease: str | None = None
    """The id of the lease, with which a client whose connection broke returns; None: there is no task yet."""
    done: bool = False
    """Whether the episode is over."""
    task: Json | None = None
    """The task: its id, template, seed and split; None: there is none yet."""


class StepmillEnv(EnvClient[SeatAction, SeatObservation, SeatState]):
    """A seat."""

    def __init__(
        self, base_url: str | None = None, *, token: str | None = None, **kwargs: Any
    ) -> None:
        """`base_url` and `token` are those of the environment (`STEPMILL_URL`, `STEPMILL_TOKEN`) where they are None."""
        headers = dict(kwargs.pop("headers", None) or {})
        if token is not None or "Authorization" not in headers:
            headers |= headers_of(token)
        super().__init__(base_url=url_of(base_url), headers=headers, **kwargs)

    def _step_payload(self, action: SeatAction) -> Json:
        return action.model_dump(mode="json", exclude_none=True, exclude={"metadata"})

    def _parse_result(self, payload: Json) -> StepResult[SeatObservation]:
        told, reward, done = payload["observation"], payload.get("reward"), payload["done"]
        seen = SeatObservation.model_validate({**told, "reward": reward, "done": done})
        return StepResult(
            observation=seen, reward=reward, done=done, metadata=payload.get("metadata")
        )

    def _parse_state(self, payload: Json) -> SeatState:
        return SeatState.model_validate(payload)
