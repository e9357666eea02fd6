"""The harness: it shows the model each page, hands its reply to a seat, and leaves the end in the trace.

The loop runs in verifiers' own process. Every call of the model goes through the endpoint that verifiers hands over, so its
trace has each of them, with tokens where its client records them. A server's run door would ask that endpoint by itself,
but probes it first, and probes would stand in the trace.
"""

import json
from typing import Any

import aiohttp
import verifiers.v1 as vf
from pydantic import Field
from verifiers.v1.errors import SandboxError
from verifiers.v1.runtimes import ProgramResult

from stepmill_seats.taskset import END
from stepmill_trainers.door import AsyncSeat, Refused

SYSTEM = """\
You operate a web browser through its picture. Each reply holds one action as JSON, after a sentence of reasoning if you
like. Points are CSS px from the top left of the page. The actions:
{"type": "click", "x": 80, "y": 48}
{"type": "type", "text": "Ada", "x": 80, "y": 48, "overwrite": true, "enter": false}   x and y may be left out
{"type": "key", "key": "Control+a"}
{"type": "scroll", "direction": "down", "amount": 300}
{"type": "drag", "x": 10, "y": 10, "to_x": 90, "to_y": 10}
{"type": "select", "x": 80, "y": 48, "option": "Blue"}
{"type": "hover", "x": 80, "y": 48}
{"type": "wait", "ms": 500}
{"type": "answer", "text": "42"}   ends the episode; the text is what was asked for, or empty"""

EARLIER = "(an earlier picture)"
"""What stands for a picture that is no longer shown."""

Json = dict[str, Any]


class SeatsHarnessConfig(vf.HarnessConfig):
    """Where the seats are, and how the model is shown pages."""

    base_url: str | None = None
    """The address of `stepmill serve`; None: that of the environment variable `STEPMILL_URL`. Its token is in
    `STEPMILL_TOKEN`."""
    dialect: str | None = None
    """The dialect of the model's replies, which the server reads; None: JSON, as the harness's own prompt asks for."""
    pictures: bool = True
    """Whether the model is shown pictures."""
    elements: bool = False
    """Whether it is told the page's elements as text."""
    keep_images: int = Field(3, ge=1)
    """How many pictures it is shown; earlier ones are left out."""
    max_unreadable: int = Field(3, ge=1)
    """How many replies in a row may be unreadable."""


class SeatsHarness(vf.Harness[SeatsHarnessConfig]):
    """Plays a task in a seat."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(  # noqa: PLR0917 - as verifiers calls it
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: Any,  # noqa: ARG002 - the seat is elsewhere
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],  # noqa: ARG002 - none are taken
        data: vf.TaskData,
    ) -> ProgramResult:
        """Play the episode to its end.

        Raises:
            SandboxError: the server cannot be reached or has no seat, or something else than the policy failed.
        """
        asked = dict(getattr(data, "asked", None) or {})
        seat = AsyncSeat(self.config.base_url)
        try:
            async with aiohttp.ClientSession() as http:
                model = _Model(http, endpoint, secret, ctx.model)
                system = data.system_prompt or (None if self.config.dialect else SYSTEM)
                episode = _Episode(self.config, seat, model, system)
                result = await episode.play(asked, trace)
        except (OSError, Refused) as error:
            raise SandboxError(f"stepmill serve: {error}") from error
        finally:
            await seat.close()
        about = {key: value for key, value in result["metadata"].items() if key != "lease"}
        trace.info[END] = {**about, "steps": result["observation"]["step"]}
        if about.get("failure_kind") not in (None, "policy"):
            raise SandboxError(f"{about['failure_kind']}: {about.get('failure_message')}")
        if model.failure is not None and trace.stop_condition is None:
            return ProgramResult(1, "", model.failure)
        return ProgramResult(0, "", "")


class _Model:
    """The model at verifiers' endpoint."""

    def __init__(self, http: aiohttp.ClientSession, endpoint: str, secret: str, name: str) -> None:
        self._http, self._url = http, f"{endpoint.rstrip('/')}/chat/completions"
        self._headers, self._name = {"Authorization": f"Bearer {secret}"}, name
        self.failure: str | None = None
        """Why the last call had no reply; None: it had one."""

    async def reply(self, messages: list[Json]) -> str | None:
        """Return the model's reply; None: there is none, as when verifiers ends the rollout."""
        body = {"model": self._name, "messages": messages}
        async with self._http.post(self._url, json=body, headers=self._headers) as response:
            if not response.ok:
                self.failure = f"{response.status}: {(await response.text())[:2000]}"
                return None
            answer = await response.json()
        return answer["choices"][0]["message"].get("content") or ""


class _Episode:
    """One episode, and the conversation about it."""

    def __init__(
        self, config: SeatsHarnessConfig, seat: AsyncSeat, model: _Model, system: str | None
    ) -> None:
        self._config, self._seat, self._model = config, seat, model
        self._messages: list[Json] = [] if not system else [{"role": "system", "content": system}]

    async def play(self, asked: Json, trace: vf.Trace) -> Json:
        """Return the last result."""
        config, unread = self._config, 0
        result = await self._seat.reset(
            **asked, elements=config.elements, picture=config.pictures, policy="verifiers"
        )
        self._show(result["observation"])
        while not result["done"]:
            goes_on = unread < config.max_unreadable
            reply = await self._model.reply(self._messages) if goes_on else None
            if reply is None:  # the site says what the page as it is deserves
                trace.info["stopped"] = "no reply" if goes_on else "unreadable replies"
                return await self._seat.step({"action": {"type": "answer"}})
            self._messages.append({"role": "assistant", "content": reply})
            try:
                message = self._message(reply)
                result = await self._seat.step({**message, "step": result["observation"]["step"]})
            except (ValueError, Refused) as error:
                if isinstance(error, Refused) and error.code != "VALIDATION_ERROR":
                    raise
                unread += 1
                self._messages.append({"role": "user", "content": f"Not carried out: {error}"})
                continue
            unread = 0
            self._show(result["observation"])
        return result

    def _message(self, reply: str) -> Json:
        if self._config.dialect is not None:
            return {"reply": reply, "dialect": self._config.dialect}
        return {"action": action_of(reply), "thought": reply}

    def _show(self, told: Json) -> None:
        words = [told["instruction"]] if told["step"] == 0 else []
        if told.get("action_error"):
            words.append(f"Not carried out: {told['action_error']}")
        if told.get("result_text"):
            words.append(told["result_text"])
        words += told.get("elements") or []
        parts: list[Json] = [{"type": "text", "text": "\n".join(words) or "The page now:"}]
        if told.get("screenshot"):
            url = f"data:{told['media_type']};base64,{told['screenshot']}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
        self._messages.append({"role": "user", "content": parts})
        self._forget()

    def _forget(self) -> None:
        """Leave earlier pictures out."""
        shown = [
            (message["content"], index)
            for message in self._messages
            if isinstance(message["content"], list)
            for index, part in enumerate(message["content"])
            if part["type"] == "image_url"
        ]
        for content, index in shown[: -self._config.keep_images]:
            content[index] = {"type": "text", "text": EARLIER}


def action_of(reply: str) -> Json:
    """Return the last action that a reply has as JSON.

    Raises:
        ValueError: it has none.
    """
    decoder, at, found = json.JSONDecoder(), 0, None
    while (at := reply.find("{", at)) >= 0:
        try:
            value, at = decoder.raw_decode(reply, at)
        except (json.JSONDecodeError, RecursionError):
            at += 1
            continue
        if isinstance(value, dict) and "type" in value:
            found = value
    if found is None:
        raise ValueError(
            'the reply has no action as JSON, such as {"type": "click", "x": 80, "y": 48}'
        )
    return found
