"""A run in memory, to be published, whose pictures are as large as real ones.

It uses the tests' factories of episodes, so `tests/` must be on the path.
"""

from collections.abc import Callable
from random import Random

from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.memory_run import RULE, TEST, TRAIN, VALIDATION, MemoryRun, later

from schemas.base import sha256_hex
from schemas.episodes.episode import Episode, Step, steps_sha256
from schemas.episodes.observation import Screenshot

EPISODES = 80
UNIT = 4
STEPS = 9
TEMPLATES = (TRAIN, TRAIN, TRAIN, VALIDATION, TRAIN, TEST, TRAIN, TRAIN, TRAIN, TRAIN)

Painter = Callable[[Random], bytes]
"""Makes a picture."""


def noise(random: Random) -> bytes:
    """Return random bytes of a picture's size, in no format: like a picture they do not compress, and are cheaper."""
    return b"noise" + random.randbytes(random.randint(60_000, 160_000))


def make(
    *,
    episodes: int = EPISODES,
    replaced: frozenset[int] = frozenset(),
    paint: Painter = noise,
    first: int = 0,
) -> tuple[MemoryRun, list[Episode]]:
    """Return a run and its episodes; those in `replaced` have other pictures under the same ids.

    Runs with other `first` units have other episodes.
    """
    run, every = MemoryRun(), list[Episode]()
    for unit in range(first, first + episodes // UNIT):
        template = TEMPLATES[unit % len(TEMPLATES)]
        tasks = [make_task(unit * 100 + place, template=template) for place in range(UNIT)]
        _, rolled = make_unit(tasks, n_steps=STEPS)
        committed = [
            later(_with_pictures(episode, paint, salt=int(unit * UNIT + place in replaced)), unit)
            for place, episode in enumerate(rolled)
        ]
        run.commit(tasks, committed)
        run.judge([make_verdict(e, verifier=name) for e in committed for name in RULE.passed])
        every += committed
    return run, every


def _with_pictures(episode: Episode, paint: Painter, *, salt: int) -> Episode:
    """Return an episode whose pictures and lists of elements are as large as real ones."""
    random = Random(f"{episode.episode_id} {salt}")
    steps = tuple(_with_picture(step, paint, random) for step in episode.steps)
    update = {"steps": steps, "content_sha256": steps_sha256(steps)}
    return episode.model_copy(update=update)


def _with_picture(step: Step, paint: Painter, random: Random) -> Step:
    picture = paint(random)
    element = step.elements[0]
    elements = tuple(
        element.model_copy(update={"name": random.randbytes(12).hex(), "bbox": (n, n, 80.0, 20.0)})
        for n in map(float, range(25))
    )
    return step.model_copy(
        update={
            "screenshot": Screenshot(bytes=picture, path=step.screenshot.path),
            "screenshot_sha256": sha256_hex(picture),
            "elements": elements,
        }
    )
