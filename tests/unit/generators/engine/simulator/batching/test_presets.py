"""Servers by name."""

from importlib.resources import files
from pathlib import Path
from unittest.mock import patch

import pytest
from pydantic import ValidationError

from generators.engine.simulator.batching import presets
from generators.engine.simulator.batching.presets import ServerPreset, StateRule, read_presets

NAMES = ("holotron-fp32", "holotron-fp32-8192", "holotron-fp16", "holotron-uncached")
TABLE = files(presets.__package__).joinpath("presets.toml").read_text("utf-8")


def _read(text: str, folder: Path) -> dict[str, ServerPreset]:
    (folder / "presets.toml").write_text(text, "utf-8")
    with patch.object(presets, "files", lambda _package: folder):
        return read_presets.__wrapped__()


@pytest.mark.parametrize("name", NAMES)
def test_each_server_loads(name: str) -> None:
    preset = read_presets()[name]

    assert preset.blocks > preset.state_blocks
    assert preset.caches == (preset.rule is not StateRule.NONE)


def test_there_are_no_others() -> None:
    assert {*read_presets()} == {*NAMES}


def test_a_server_like_another_has_its_figures_but_those_that_it_names() -> None:
    base, like = read_presets()["holotron-fp32"], read_presets()["holotron-fp16"]

    assert like == base.model_copy(update={"blocks": like.blocks, "block_tokens": 672})


def test_likeness_may_have_several_steps(tmp_path: Path) -> None:
    text = f'{TABLE}\n[third]\nlike = "holotron-fp16"\nblocks = 99\n'
    found = _read(text, tmp_path)

    assert found["third"] == found["holotron-fp16"].model_copy(update={"blocks": 99})


@pytest.mark.parametrize(
    "line", ["colour = 1", "blocks = 0", 'rule = "sometimes"', "iteration_seconds = -1.0"]
)
def test_a_key_or_figure_that_cannot_be_is_refused(line: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=line.split(" ", maxsplit=1)[0]):
        _read(f'{TABLE}\n[third]\nlike = "holotron-fp16"\n{line}\n', tmp_path)
