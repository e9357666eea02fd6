"""Puts thoughts that a model rewrote into episodes that are exported; the run itself is not changed."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from schemas.base import sha256_hex
from schemas.episodes.episode import Step, ThoughtSource
from schemas.episodes.rewritten_thought import RewrittenThought
from schemas.errors import BadConfig
from schemas.verdicts.full_episode import FullEpisode

Key = tuple[str, int]
"""An episode's id and a step."""


class Thoughts:
    """The rewritten thoughts of a file."""

    def __init__(self, path: Path) -> None:
        """Read a file.

        Raises:
            BadConfig: it cannot be read, is no such file, or has two thoughts of one step.
        """
        try:
            data = path.read_bytes()
            told = [RewrittenThought.model_validate_json(line) for line in data.splitlines()]
        except OSError as error:
            raise BadConfig(f"--thoughts {path}: {error.strerror}") from None
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise BadConfig(f"--thoughts {path}: {where}: {first['msg']}") from None
        self._path = path
        self._told: Mapping[Key, RewrittenThought] = {
            (one.episode_id, one.step): one for one in told
        }
        self.sha256 = sha256_hex(data)
        """The hash of the file."""
        if len(self._told) < len(told):
            raise BadConfig(f"--thoughts {path}: a step has two thoughts")

    def within(self, sources: Iterable[FullEpisode]) -> Iterator[FullEpisode]:
        """Yield episodes with the thoughts of the file in place of their own.

        Raises:
            BadConfig: a thought is of a step that thinks something else.
        """
        for source in sources:
            steps = tuple(
                self._rewrite(source.episode.episode_id, one) for one in source.episode.steps
            )
            episode = source.episode.model_copy(update={"steps": steps})
            yield dataclasses.replace(source, episode=episode)

    def _rewrite(self, episode_id: str, step: Step) -> Step:
        told = self._told.get((episode_id, step.step))
        if told is None:
            return step
        if told.instead_of != step.thought:
            where = f"step {step.step} of episode {episode_id}"
            raise BadConfig(f"--thoughts {self._path}: {where} does not think what is rewritten")
        changed = {"thought": told.thought, "thought_source": ThoughtSource.REWRITTEN}
        return step.model_copy(update=changed)
