"""`stepmill replay`: execute one episode again, and show where it agrees and where it differs."""

import os
from collections.abc import Iterator

from flows import signals
from flows.cli.parser import Arguments
from flows.job.config_loader import Sources
from flows.job.stored_run import open_stored_run
from flows.resources.browsers import open_browsers
from flows.terminal import ExitCode, log_to_stderr, print_lines, print_result
from generators.verify.replay import ReplayResult, StepReplay, replay
from schemas.base import canonical_json
from schemas.episodes.episode import Episode


def run(args: Arguments) -> int:
    """Run the command and return its exit code."""
    log_to_stderr()
    episode, replayed = signals.run(_replay(args))
    if args.json:
        print_result(
            {
                "run": args.run,
                "episode_id": episode.episode_id,
                "reproduced": replayed.reproduced,
                "score": replayed.score,
                **replayed.model_dump(mode="json"),
            }
        )
    else:
        print_lines(_lines(episode, replayed))
    return ExitCode.DONE if replayed.reproduced else ExitCode.SHORT


async def _replay(args: Arguments) -> tuple[Episode, ReplayResult]:
    stored = await open_stored_run(args.run, Sources(), os.environ)
    try:
        task, episode = await stored.lake.episode(args.episode)
    finally:
        await stored.lake.close()
    async with open_browsers(stored.config.sites, needed={task.site}) as browsers:
        return episode, await replay(
            task, episode, sites=browsers.sites, sessions=browsers.sessions
        )


def _unequal(step: StepReplay) -> str:
    return (
        f"another picture ({step.picture_cells:.2%} of its cells, {step.picture_levels:.1f} levels)"
    )


def _lines(episode: Episode, replayed: ReplayResult) -> Iterator[str]:
    yield f"episode  {episode.episode_id}  ({episode.policy}: {episode.instruction})"
    for step in replayed.steps:
        agrees = "parts" if step.differs else "agrees"
        picture = "same picture" if step.picture_equal else _unequal(step)
        action = canonical_json(episode.steps[step.step].action.model_dump(mode="json"))
        yield f"step {step.step:>3}  {agrees}, {picture}  {action}"
        for difference in step.differs:
            yield f"          {difference}"
    word = "reproduced" if replayed.reproduced else "not reproduced"
    yield f"{word}: {replayed.because}"
