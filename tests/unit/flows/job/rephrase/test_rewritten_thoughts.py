"""A thought that a model rewrote is kept only if it leaves out nothing that is quoted, and `seen` finds all of it in sight."""

import dataclasses
from collections.abc import Mapping

import pytest
from support.episodes.factories import make_episode
from support.episodes.seen_episodes import BUTTON, GOAL, TASK, look
from support.runs.exports import told_of
from support.servers.engine_servers import engine

from flows.job.rewritten_thoughts import MAX_CHARS, Rewriting, rewrite_thoughts
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer
from schemas.episodes.action import Answer, Click, NoAction
from schemas.episodes.episode import Episode, ThoughtSource
from schemas.tasks.expectation import Expectation

CLICK = Click(x=BUTTON[0] + 5, y=BUTTON[1] + 5)
OWN = 'I press "Submit", and the form is sent.'
NEW = 'The form is ready: "Submit" sends it.'


def _episode(source: ThoughtSource = ThoughtSource.TEMPLATE) -> Episode:
    steps = (
        look(do=CLICK, thought=OWN, source=source),
        look("Sent as 4711", do=Answer(text="4711"), thought='It says "Sent as 4711".'),
        look(do=NoAction()),
    )
    numbered = tuple(step.model_copy(update={"step": number}) for number, step in enumerate(steps))
    whole = make_episode()
    return whole.model_copy(update={"steps": numbered, "instruction": GOAL, "n_steps": 2})


async def _rewritten(replies: Mapping[int, str], episode: Episode | None = None) -> Rewriting:
    task = TASK.model_copy(update={"expect": Expectation(answer="4711")})
    told = dataclasses.replace(told_of(episode or _episode()), task=task)
    async with (
        SimulatorServer(SimulatorOptions(puppet=True)) as server,
        engine([server.url]) as client,
    ):
        for step, text in replies.items():
            server.queue_reply(f"{told.episode.episode_id}/{step}", text)
        return await rewrite_thoughts(client, [told])


async def test_a_thought_in_other_words_is_kept_with_its_writer() -> None:
    done = await _rewritten({0: NEW, 1: ""})
    (kept,) = done.kept
    assert (kept.step, kept.thought, kept.by, kept.instead_of) == (0, NEW, "scripted", OWN)
    assert done.refused == {"it says nothing": 1}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (" ", "it says nothing"),
        (OWN.upper(), "it is the same thought"),
        ('"Submit".', "it says too little"),
        (f"{NEW} {'And so on. ' * 60}", f"it has more than {MAX_CHARS} characters"),
        ("The form is ready, so I send it.", "it leaves out what the thought names"),
        ('The form is ready: "Send" sends it.', "it leaves out what the thought names"),
        (f'{NEW} Then comes "Thank you".', "not all that it needs was in sight"),
        (f"{NEW} The answer will be 4711.", "it says the answer"),
    ],
)
async def test_a_thought_that_says_something_else_is_not_kept(text: str, why: str) -> None:
    done = await _rewritten({0: text, 1: ""})
    assert done.kept == []
    assert done.refused[why] >= 1


async def test_a_thought_of_a_model_is_left_alone() -> None:
    done = await _rewritten({1: ""}, _episode(ThoughtSource.POLICY))
    assert done == Rewriting([], done.refused)
    assert done.refused.total() == 1


async def test_no_episodes_give_no_thoughts() -> None:
    async with SimulatorServer() as server, engine([server.url]) as client:
        done = await rewrite_thoughts(client, [])
    assert done == Rewriting([], done.refused)
    assert not done.refused
