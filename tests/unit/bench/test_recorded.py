"""Prompts of a run are recorded, and asked again by the client of runs, each as an episode of its own."""

import io
import json
from pathlib import Path

import pytest
from PIL import Image
from support.episodes.recorded_calls import asked, episode_of, said, user

from bench.recorded import recording
from bench.recorded.__main__ import Phase, play, read_phase
from bench.recorded.player import Episode
from bench.recorded.recording import MIN_STEPS, PICTURE, Recording, Turn
from generators.engine.protocol import Picture, Role
from generators.engine.simulator.options import SimulatorOptions
from generators.engine.simulator.server import SimulatorServer

SIDE = 256
STEPS = MIN_STEPS


def _recording() -> Recording:
    steps: list[list[Turn]] = []
    turns: list[Turn] = []
    for step in range(STEPS):
        turns = [*turns, (Role.USER, [f"step {step}", {PICTURE: step}])]
        steps.append(turns)
        turns = [*turns, (Role.ASSISTANT, [f"I click {step}"])]
    jpeg = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE), "navy").save(jpeg, "JPEG")
    return Recording("You see pages.", [steps], [jpeg.getvalue()])


def _episode(name: str) -> Episode:
    found = _recording()
    return Episode(name, found.episodes[0], found, as_words=True)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    found = _recording()
    recording.write(found, tmp_path / "prompts.zip")
    again = recording.read(tmp_path / "prompts.zip")

    assert (again.system, again.steps, again.pictures) == ("You see pages.", STEPS, found.pictures)
    assert json.dumps(again.episodes) == json.dumps(found.episodes)


def test_a_recording_has_the_prompts_that_were_sent() -> None:
    calls = [asked([user(0), *[said("so")] * number], "so", step=number) for number in range(STEPS)]
    found = recording.record([episode_of(*calls[:1]), episode_of(*calls)])

    assert [len(step) for step in found.episodes[0]] == [1 + number for number in range(STEPS)]
    assert found.pictures


def test_a_run_of_short_episodes_is_refused() -> None:
    with pytest.raises(ValueError, match="no episode has 8 steps"):
        recording.record([episode_of(asked([user(0)], "so"))])


def test_two_episodes_share_the_instructions_alone_and_keep_their_pictures() -> None:
    one, other = _episode("1"), _episode("2")
    first, second, others = one.prompt(0), one.prompt(1), other.prompt(0)
    shown = [part for message in second.messages for part in message.parts]
    pictures = [part for part in shown if isinstance(part, Picture)]

    assert first.messages[0] == others.messages[0]
    assert first.messages[1] != others.messages[1]
    assert second.messages[: len(first.messages)] == first.messages
    assert len({picture.content for picture in pictures}) == len(pictures) == 2


def test_a_prompt_has_the_replies_of_the_server() -> None:
    episode = _episode("1")
    before = episode.prompt(1).messages[2]
    episode.answered(0, "~abc~def")

    assert episode.prompt(1).messages[2].parts == ("~abc~def",)
    assert before.parts != ("~abc~def",)


def test_a_text_is_a_token_of_the_cards_model_for_four_characters() -> None:
    (text,) = _episode("1").prompt(0).messages[0].parts

    assert isinstance(text, str)
    assert len(text) == 4 * -(-len("You see pages.") // 4)
    assert text.count("~") * 4 == len(text)


@pytest.mark.parametrize(
    ("text", "phase"),
    [
        ("64:35:30", Phase(64, 35, 30, governed=False)),
        ("governed:128:1:2", Phase(128, 1, 2, governed=True)),
    ],
)
def test_a_phase_is_read(text: str, phase: Phase) -> None:
    assert read_phase(text) == phase


async def test_the_sums_of_both_ways_of_playing_are_the_servers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    phases = [Phase(3, 0.0, 5.0, governed=False), Phase(3, 0.0, 5.0, governed=True)]
    async with SimulatorServer(SimulatorOptions(prompt_tokens_details=True)) as server:
        held = await play(f"{server.url}/v1", _recording(), phases, seed=1, as_words=True)
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert held
    assert [row["phase"] for row in rows] == ["3 sessions", "governed 3"]
    for row in rows:
        assert row["sums"]["prompt_tokens"][0] > 0
        assert all(ours == theirs for ours, theirs in row["sums"].values())
    assert rows[1]["limits"][0][2] == 3
