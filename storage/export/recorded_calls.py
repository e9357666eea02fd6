"""The calls of an episode as other programs read them: messages, pictures, and where their tokens are.

A row of `calls` names its system prompt by hash and its pictures by step. Here both are filled in; a
picture is a separate file that the message names, or stands in it.
"""

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from schemas.base import JsonObject
from schemas.episodes.call import Call
from schemas.episodes.episode import Episode, Step
from schemas.episodes.picture_tokens import PictureTokens, find_picture_tokens
from storage.export.chat import data_url
from storage.export.protocol import File, picture_path
from storage.export.registry import Pictures

ROLES = ("policy", "repair")
"""The roles of calls that the policy's own words come from."""


class RecordedCalls:
    """The policy's calls of one episode."""

    def __init__(self, episode: Episode, pictures: Pictures) -> None:
        self._episode = episode
        self._pictures = pictures
        self._prompts = {p.prompt_sha256: p.text for p in episode.prompts}
        self._named: set[int] = set()
        self.calls = [
            call
            for call in episode.calls
            if call.role in ROLES and isinstance(call.messages, list) and call.reply is not None
        ]
        """The calls whose messages and reply were kept."""

    def files(self) -> Iterator[File]:
        """Yield the pictures that messages have named so far."""
        for step in sorted(self._named):
            picture = self._episode.steps[step].screenshot.bytes
            yield File(picture_path(self._episode.episode_id, step), picture)

    def messages(self, call: Call) -> list[JsonObject]:
        """Return the messages of a call's prompt."""
        assert isinstance(call.messages, list)  # noqa: S101 - others were left out
        return [self._message(item) for item in call.messages if isinstance(item, dict)]

    def picture(self, step: Step) -> JsonObject:
        """Return the part of a message that shows a step's picture."""
        return {"type": "image_url", "image_url": {"url": self.url(step.step)}}

    def url(self, step: int) -> str:
        """Return where a step's picture is."""
        if self._pictures is Pictures.DATA:
            return data_url(self._episode.steps[step].screenshot.bytes)
        self._named.add(step)
        return picture_path(self._episode.episode_id, step)

    def place_pictures(self, call: Call) -> list[JsonValue]:
        """Return the pictures of a call's prompt in order, each with the range of its tokens."""
        shown = [*_shown_steps(call)]
        found = picture_tokens(call)
        ranges = found.ranges if found is not None else ((None, None),) * len(shown)
        return [
            {"step": step, "offset": offset, "length": length}
            for step, (offset, length) in zip(shown, ranges, strict=True)
        ]

    def _message(self, row: Mapping[str, JsonValue]) -> JsonObject:
        """Return a message of a row of `calls`, with its prompt and pictures filled in."""
        if "prompt_sha256" in row:
            text = self._prompts.get(str(row["prompt_sha256"]), "")
            return {"role": row["role"], "content": text}
        content = row.get("content")
        if not isinstance(content, list):
            return {"role": row["role"], "content": content}
        parts = [part for item in content if isinstance(item, dict) and (part := self._part(item))]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        if row["role"] == "assistant" or len(texts) == len(parts) == 1:
            return {"role": row["role"], "content": "".join(map(str, texts))}
        return {"role": row["role"], "content": [*parts]}

    def _part(self, item: Mapping[str, JsonValue]) -> JsonObject | None:
        if item.get("type") == "text":
            return {"type": "text", "text": item.get("text")}
        step = item.get("step")
        known = isinstance(step, int) and 0 <= step < len(self._episode.steps)
        return self.picture(self._episode.steps[step]) if known and isinstance(step, int) else None


def has_tokens(call: Call) -> bool:
    """Return whether an engine gave the tokens of a call's prompt and reply."""
    return bool(call.prompt_token_ids and call.completion_token_ids)


def picture_tokens(call: Call) -> PictureTokens | None:
    """Return the positions of a call's picture tokens; None if it has none or they cannot be found."""
    number = len([*_shown_steps(call)])
    prompt = call.prompt_token_ids or ()
    return find_picture_tokens(prompt, pictures=number, counted=call.image_tokens)


def _shown_steps(call: Call) -> Iterator[int]:
    """Yield the step of each picture in a call's messages."""
    for message in call.messages if isinstance(call.messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else ():
            step = part.get("step") if isinstance(part, dict) else None
            if isinstance(part, dict) and part.get("type") != "text" and isinstance(step, int):
                yield step
