"""The prompt only grows: on token ids of a real tokenizer, and what is evicted leaves in blocks."""

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

import pytest
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from generators.engine.protocol import Message, Picture
from generators.policy.model.context_window import (
    BYTES_PER_TOKEN,
    NOTES,
    NOTES_PART,
    Budget,
    ContextWindow,
)
from schemas.errors import RolloutFailure

PICTURE_TOKENS = 20
SPECIAL = ("<|im_start|>", "<|im_end|>", "<image>")
SUFFIX = "<|im_start|>assistant\n"
ENDLESS = Budget(keep_images=1, slack_images=2, tokens=None)


@cache
def tokenizer() -> Tokenizer:
    """Return a byte-level BPE tokenizer, as the models' own are, trained on a little text."""
    made = Tokenizer(BPE())
    made.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=400,
        special_tokens=list(SPECIAL),
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([echo(n) + before(n) + after() for n in range(50)], trainer)
    return made


def ids(messages: Sequence[Message]) -> list[int]:
    """Return the prompt's token ids, the generation suffix included."""
    text = "".join(f"<|im_start|>{m.role.value}\n{_text(m)}<|im_end|>\n" for m in messages)
    return list(tokenizer().encode(text + SUFFIX).ids)


def _text(message: Message) -> str:
    return "".join(
        "<image>" * PICTURE_TOKENS + f"#{part.step}" if isinstance(part, Picture) else part
        for part in message.parts
    )


def before(step: int) -> str:
    return f"<observation step={step}>\n"


def after() -> str:
    return "\nurl: http://miniwob.localhost/ title: Ünïcode 漢字 👍\n</observation>"


def echo(step: int) -> str:
    return f'{{"note":null,"thought":"step {step}","tool_call":{{"tool_name":"click","x":{step}}}}}'


def picture(step: int) -> Picture:
    return Picture(jpeg=b"", step=step, width=10, height=10)


def run(steps: int, budget: Budget) -> Iterator[ContextWindow]:
    """Yield the window after each observation of an episode."""
    window = ContextWindow(
        "You act.", "Task: click.\n", image_placeholder="[evicted]", budget=budget
    )
    for step in range(steps):
        window.append_observation(
            before(step), picture(step), after(), picture_tokens=PICTURE_TOKENS
        )
        window.calibrate(len(ids(window.messages)))
        yield window
        window.append_reply(echo(step))


def shown(window: ContextWindow) -> list[int]:
    return [one.step for one in window.pictures]


def test_an_earlier_prompt_begins_the_next_one_within_a_segment() -> None:
    suffix = len(tokenizer().encode(SUFFIX).ids)
    last: tuple[int, list[int]] | None = None
    followed = 0
    for window in run(20, Budget(keep_images=3, slack_images=4, tokens=2_500)):
        now = ids(window.messages)
        if last is not None and last[0] == window.segment:
            assert now[: len(last[1]) - suffix] == last[1][:-suffix]
            followed += 1
        last = window.segment, now

    assert last is not None
    assert 0 < last[0] < 20
    assert followed == 19 - last[0]


def test_pictures_grow_to_keep_and_slack_and_fall_back_to_keep_at_once() -> None:
    seen = [(shown(window), window.segment) for window in run(8, ENDLESS)]

    assert [pictures for pictures, _ in seen] == [
        [0],
        [0, 1],
        [0, 1, 2],
        [3],
        [3, 4],
        [3, 4, 5],
        [6],
        [6, 7],
    ]
    assert [segment for _, segment in seen] == [0, 0, 0, 1, 1, 1, 2, 2]


def test_without_slack_the_window_slides_by_one() -> None:
    windows = run(5, Budget(keep_images=2, slack_images=0, tokens=None))

    assert [shown(window) for window in windows] == [[0], [0, 1], [1, 2], [2, 3], [3, 4]]


def test_an_evicted_picture_becomes_its_placeholder_and_nothing_else_is_rewritten() -> None:
    texts = [[_text(message) for message in window.messages] for window in run(4, ENDLESS)]
    image = "<image>" * PICTURE_TOKENS

    expected = [
        text.replace(f"{image}#{step}", "[evicted]")
        for text in texts[2]
        for step in [next((n for n in range(3) if f"{image}#{n}" in text), -1)]
    ]
    assert texts[3][: len(expected)] == expected
    assert f"{image}#3" in texts[3][-1]


def test_where_text_fills_the_budget_the_oldest_steps_leave_in_one_block() -> None:
    limit = 900
    lengths, steps, segments = [], [], []
    for window in run(40, Budget(keep_images=1, slack_images=2, tokens=limit)):
        lengths.append(len(ids(window.messages)))
        steps.append(sum(message.role.value == "user" for message in window.messages))
        segments.append(window.segment)
        assert "Task: click." in _text(window.messages[1])
        assert [m.role.value for m in window.messages[1:]] == ["user", "assistant"] * (
            steps[-1] - 1
        ) + ["user"]
    drops = [(a, b) for a, b in itertools.pairwise(steps) if b < a]

    assert max(lengths) <= limit
    assert drops
    assert all(b <= a // 2 + 2 for a, b in drops)
    assert segments == sorted(segments)


def noted(note: str, *, limit: int) -> Iterator[list[str]]:
    """Yield the task's message in each prompt of an episode that notes something at every step."""
    budget = Budget(keep_images=1, slack_images=2, tokens=limit)
    window = ContextWindow("You act.", "Task: click.\n", image_placeholder="[]", budget=budget)
    for step in range(40):
        window.append_observation(before(step), picture(step), after(), picture_tokens=20)
        window.calibrate(len(ids(window.messages)))
        yield _text(window.messages[1]).split("<observation", maxsplit=1)[0].splitlines()
        window.append_reply(echo(step), f"{note} {step}")


def test_the_notes_of_dropped_steps_stay_behind_the_task() -> None:
    first, *_, last = noted("rate", limit=2_000)

    assert first == ["Task: click."]
    assert last[:3] == ["Task: click.", NOTES, "rate 0"]
    assert last[2:] == [*(f"rate {step}" for step in range(len(last) - 3)), ""]


def test_too_many_notes_lose_the_oldest_and_leave_room_for_the_picture() -> None:
    *_, last = noted("a long note " * 40, limit=2_000)

    assert 0 < len(last) - 3 < 5
    assert len("\n".join(last)) < 2_000 * BYTES_PER_TOKEN / NOTES_PART + 50


def test_an_observation_that_cannot_fit_is_a_failure_that_says_so() -> None:
    window = ContextWindow(
        "s", "t", image_placeholder="g", budget=Budget(keep_images=1, slack_images=0, tokens=50)
    )

    with pytest.raises(RolloutFailure, match="the prompt may have 50"):
        window.append_observation("", picture(0), "", picture_tokens=100)


def test_a_count_that_the_engine_gives_corrects_the_estimate() -> None:
    budget = Budget(keep_images=1, slack_images=9, tokens=400)
    guessed = ContextWindow("s", "t", image_placeholder="g", budget=budget)
    counted = ContextWindow("s", "t", image_placeholder="g", budget=budget)
    for step in range(3):
        for window in (guessed, counted):
            window.append_observation("", picture(step), "", picture_tokens=90)
            window.append_reply("e")
        counted.calibrate(10)

    assert shown(guessed) == [0, 1, 2]
    counted.calibrate(600)
    counted.append_observation("", picture(3), "", picture_tokens=90)
    guessed.calibrate(150)
    guessed.append_observation("", picture(3), "", picture_tokens=90)

    assert shown(counted) == [3]
    assert shown(guessed) == [0, 1, 2, 3]


def test_what_is_told_of_a_reply_is_appended_and_written_again_after_an_eviction() -> None:
    window = ContextWindow("s", "t", image_placeholder="[evicted]", budget=Budget(1, 0, None))
    window.append_observation("", picture(0), "", picture_tokens=1)
    window.append_reply("answer")
    before = window.messages
    window.append_user_text("no")
    window.append_reply("click")

    assert window.messages[: len(before)] == before
    assert [m.parts for m in window.messages[len(before) :]] == [("no",), ("click",)]
    assert window.segment == 0

    window.append_observation("", picture(1), "", picture_tokens=1)

    said = [(m.role.value, _text(m)) for m in window.messages[1:-1]]
    expected = [("user", "t[evicted]"), ("assistant", "answer"), ("user", "no")]
    assert said == [*expected, ("assistant", "click")]
    assert window.segment == 1


def test_what_is_told_may_push_out_older_steps_too() -> None:
    window = ContextWindow(
        "s", "t", image_placeholder="g", budget=Budget(keep_images=1, slack_images=5, tokens=200)
    )
    for step in range(2):
        window.append_observation("", picture(step), "", picture_tokens=40)
        window.append_reply("e")
    window.append_user_text("why " * 50)

    assert shown(window) == [1]
    assert window.segment == 1
    assert _text(window.messages[-1]) == "why " * 50
