"""A run of two versions to be published again and again, in a process that may be killed.

Its pictures are of a size that makes the upload of a file of steps take several parts.
"""

import asyncio
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from PIL import Image
from support.episodes.factories import Unit, commit_whole_unit, make_run, make_verdict
from support.runs.chaos import fork
from support.runs.commands import Said
from support.runs.kill_at import Doom
from support.runs.locations import Place
from support.runs.small_runs import PART_BYTES

from schemas.base import sha256_hex
from schemas.configuration.sections import AcceptSection, StorageSection
from schemas.episodes.episode import Episode, Step, steps_sha256
from schemas.episodes.observation import Screenshot
from schemas.verdicts.verdict import Status
from storage.lake.lake import Lake
from storage.objects.protocol import ObjectStore
from storage.objects.urls import open_store

WIDTH, HEIGHT = 900, 700
"""Of pictures that nothing compresses: nearly two megabytes each."""

Objects = Mapping[str, bytes]
"""What lies somewhere, by key."""


@dataclass(frozen=True)
class Shelf:
    """A run of two versions in a folder, and a place to publish it to, again and again."""

    base: Path
    """Where the run lies."""
    to: str
    """Where the dataset is to lie."""

    def publish(self, version: int = 2, **fate: object) -> Said:
        """Publish a version in a process of its own."""
        argv = ("publish", str(self.base / "run"), f"--to={self.to}", f"--version={version}")
        environ = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        doom = {"argv": (*argv, "--no-prefect", "--json"), "base": self.base, "environ": environ}
        return fork(Doom.model_validate({**doom, "part_bytes": PART_BYTES, **fate}))

    def publish_wholly(self, version: int = 2) -> Sequence[str]:
        """Publish a version that nothing happens to; return the names of all events."""
        trace = self.base / "trace"
        said = self.publish(version, trace=trace)
        assert said.code == 0, said.err
        return trace.read_text().splitlines()

    def lay(self, objects: Objects) -> None:
        """Have these objects lie there, and no others."""
        asyncio.run(_lay(open_store(self.to, StorageSection()), objects))

    def objects(self) -> Objects:
        """Return what lies there."""
        return Place(self.to).objects()


async def _lay(store: ObjectStore, objects: Objects) -> None:
    await store.delete([item.key async for item in store.list()])
    for key, data in objects.items():
        await store.put(key, data)


async def make_two_versions(place: Path) -> None:
    """Make a run whose second version has more rows than the first, and other verdicts."""
    run = await make_run(place)
    lake = run.lake()
    large = _with_large_pictures(run.unit(0, tasks=1))
    await _commit(lake, large)
    await lake.seal()
    await _commit(lake, run.unit(10, tasks=1))
    doubt = make_verdict(large.episodes[0], verifier="replay", round_=1, status=Status.FAILED)
    await lake.commit_verdicts(
        large.unit_id, verifier="replay", version="1", round_=1, verdicts=[doubt]
    )
    await lake.seal()
    await lake.close()


async def _commit(lake: Lake, unit: Unit) -> None:
    await commit_whole_unit(lake, unit.unit_id, tasks=unit.tasks, episodes=unit.episodes)
    for name in AcceptSection().passed:
        verdicts = [make_verdict(episode, verifier=name) for episode in unit.episodes]
        await lake.commit_verdicts(
            unit.unit_id, verifier=name, version="1", round_=0, verdicts=verdicts
        )


def _with_large_pictures(unit: Unit) -> Unit:
    random = Random(1)
    return unit._replace(episodes=[_enlarged(episode, random) for episode in unit.episodes])


def _enlarged(episode: Episode, random: Random) -> Episode:
    steps = tuple(_with_noise(step, random) for step in episode.steps)
    return episode.model_copy(update={"steps": steps, "content_sha256": steps_sha256(steps)})


def _with_noise(step: Step, random: Random) -> Step:
    out = io.BytesIO()
    Image.frombytes("RGB", (WIDTH, HEIGHT), random.randbytes(3 * WIDTH * HEIGHT)).save(out, "PNG")
    data = out.getvalue()
    return step.model_copy(
        update={
            "screenshot": Screenshot(bytes=data, path=step.screenshot.path),
            "screenshot_sha256": sha256_hex(data),
            "width": WIDTH,
            "height": HEIGHT,
        }
    )
