"""The checkpoints that this project makes: their bytes repeat, their parts agree."""

import json
import struct
from pathlib import Path
from random import Random

import pytest
from pydantic import JsonValue
from support.checkpoints.__main__ import main
from support.checkpoints.checkpoint import config, write_checkpoint
from support.checkpoints.nemotron_template import NEMOTRON_TEMPLATE
from support.checkpoints.rendering import render
from support.checkpoints.shape import HOLOTRON, TINY
from support.checkpoints.tokenizer import SPECIAL, byte_id, tokenizer
from support.checkpoints.weights import bfloat16, drawn, tensors
from support.runs.commands import contents
from tokenizers import Tokenizer

SMALL = TINY.model_copy(update={"vision": TINY.vision.model_copy(update={"depth": 1})})
"""Written in no time."""


def _head(path: Path) -> dict[str, dict[str, JsonValue]]:
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    head: dict[str, dict[str, JsonValue]] = json.loads(data[8 : 8 + length])
    return head


def _number(data: bytes) -> float:
    (value,) = struct.unpack("<f", b"\0\0" + data)
    assert isinstance(value, float)
    return value


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_checkpoint(tmp_path / name, SMALL, seed=seed)

    first, again, other = (contents(tmp_path / name) for name in "abc")

    assert first == again
    assert {name for name in first if first[name] != other[name]} == {"model.safetensors"}


def test_a_weights_file_holds_every_tensor_once_and_nothing_beside(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, SMALL, seed=0)
    path = tmp_path / "model.safetensors"
    length = struct.unpack("<Q", path.read_bytes()[:8])[0]

    head = _head(path)
    del head["__metadata__"]

    places = [head[tensor.name]["data_offsets"] for tensor in tensors(SMALL)]
    assert len(head) == len(places)
    ends = [0]
    for place in places:
        assert isinstance(place, list)
        assert place[0] == ends[-1]
        assert isinstance(place[1], int)
        ends.append(place[1])
    assert path.stat().st_size == 8 + length + ends[-1]
    assert length % 8 == 0


def test_drawn_weights_are_small_and_of_either_sign() -> None:
    data = drawn(Random(0), 2_000)

    values = [_number(data[at : at + 2]) for at in range(0, len(data), 2)]

    assert all(1 / 64 <= abs(value) < 1 / 32 for value in values)
    assert 900 < sum(value < 0 for value in values) < 1_100
    assert len({abs(value) for value in values}) == 128


def test_what_ends_something_answers_to_what_all_tokens_have_in_common() -> None:
    embeddings, answers = list(tensors(TINY))[:2]
    row = 2 * TINY.hidden

    common, head = embeddings.data(Random(0)), answers.data(Random(0))

    assert {common[at : at + 2] for at in range(0, len(common), row)} == {bfloat16(4.0)}
    ending = [n for n in range(TINY.vocabulary) if _number(head[n * row : n * row + 2])]
    assert ending == [SPECIAL.index("<SPECIAL_12>"), byte_id('"')]
    assert common[2:row] == drawn(Random(0), TINY.hidden, 0.5)[2:]


@pytest.mark.parametrize("value", [0.0, 1.0, -2.5, 0.015625])
def test_a_constant_weight_is_what_was_meant(value: float) -> None:
    assert _number(bfloat16(value)) == value


def test_the_tiny_model_is_tiny() -> None:
    assert 20_000_000 < sum(tensor.size for tensor in tensors(TINY)) < 24_000_000
    assert TINY.vision.tile_tokens == 16


def test_the_other_one_has_the_sizes_of_holotron() -> None:
    layers = HOLOTRON.layers

    assert [len(layers), *map(layers.count, "M-*")] == [62, 28, 28, 6]
    assert HOLOTRON.vision.tile_tokens == 256
    assert HOLOTRON.mamba_channels == 12_288
    weights = sum(tensor.size for tensor in tensors(HOLOTRON))
    assert 12.0e9 < weights < 13.5e9


def test_a_checkpoint_without_weights_has_everything_else(tmp_path: Path) -> None:
    assert main(["holotron", str(tmp_path / "h")]) == 0
    assert main(["tiny", str(tmp_path / "t")]) == 0

    without, whole = contents(tmp_path / "h"), contents(tmp_path / "t")

    assert whole.keys() - without.keys() == {"model.safetensors"}
    assert json.loads(without["config.json"]) == config(HOLOTRON)


@pytest.mark.parametrize("text", ["plain", "é 😀 \u202e\0", "line\nbreak\ttab", "\xad"])
@pytest.mark.parametrize("vocabulary", [TINY.vocabulary, 1_000])
def test_any_text_goes_in_a_token_a_byte_and_comes_out(text: str, vocabulary: int) -> None:
    made = Tokenizer.from_str(json.dumps(tokenizer(vocabulary)))

    tokens = made.encode(text)

    assert len(tokens.ids) == len(text.encode())
    assert made.decode(tokens.ids) == text
    assert made.get_vocab_size() == vocabulary


def test_special_tokens_are_one_token_each() -> None:
    made = Tokenizer.from_str(json.dumps(tokenizer(TINY.vocabulary)))

    assert made.encode("".join(SPECIAL)).ids == list(range(len(SPECIAL)))


def test_a_folder_that_cannot_be_made_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")

    assert main(["tiny", str(tmp_path / "file" / "model")]) == 2
    assert "file/model: cannot be written: Not a directory" in capsys.readouterr().err


def _told(*texts: str, kind: str = "user", suffix: bool = True) -> str:
    """Return what Nemotron's template makes of a system message and these."""
    messages: list[dict[str, JsonValue]] = [{"role": "system", "content": " You act. "}]
    messages += [{"role": kind, "content": text} for text in texts]
    return render(messages, NEMOTRON_TEMPLATE, suffix=suffix)


@pytest.mark.parametrize(
    ("texts", "ending"),
    [
        (("Go.",), "<think></think>"),
        (("/think", "Go."), "<think>\n"),
        (("/think", "/no_think"), "<think></think>"),
        (("/no_think", "see /thinkpads"), "<think>\n"),
        (("it ends in </think>",), "<think></think>"),
    ],
)
def test_the_last_switch_word_of_a_message_decides_how_the_prompt_ends(
    texts: tuple[str, ...], ending: str
) -> None:
    assert _told(*texts).endswith(f"<SPECIAL_11>Assistant\n{ending}")


def test_switch_words_are_removed_and_earlier_thinking_is_dropped() -> None:
    assert _told("a /think b</think> /no_think", suffix=False) == (
        "<s><SPECIAL_10>System\nYou act.\n<SPECIAL_11>User\na  b</think>\n"
    )
    assert _told("<think>x</think>\n{} /think", kind="assistant", suffix=False).endswith(
        "<SPECIAL_11>Assistant\n{}\n<SPECIAL_12>\n"
    )


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (("a", None, "b"), "<image>\nab"),
        (("a", None, "b", None), "<image 1><image> <image 2><image>\nab"),
        (("a <image> b", None), "a <image> b"),
    ],
)
def test_pictures_come_before_the_text_of_their_message(
    parts: tuple[str | None, ...], shown: str
) -> None:
    content: list[JsonValue] = [
        {"type": "image"} if part is None else {"type": "text", "text": part} for part in parts
    ]

    said = render([{"role": "user", "content": content}], NEMOTRON_TEMPLATE, suffix=False)

    assert said == f"<s><SPECIAL_10>System\n\n<SPECIAL_11>User\n{shown}\n"
