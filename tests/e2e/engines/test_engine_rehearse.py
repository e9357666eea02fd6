"""`stepmill engine rehearse`: what it finds at a server, and what it refuses before one is started."""

from pathlib import Path
from typing import Any

import pytest
from support.runs.commands import called

from generators.endpoint_check.rehearsal import check_files, check_memory
from generators.endpoint_check.result import CheckResult, Fitness
from schemas.configuration.sections import EngineKind, EngineSection

DETAILS = "--enable-prompt-tokens-details"


def rehearse(*settings: str, args: str = f"['{DETAILS}']") -> tuple[int, dict[str, Any], Any]:
    """Return the exit code, the lines by name, and the whole answer."""
    said = called(
        "engine",
        "rehearse",
        "--json",
        "--set=policy.name='model'",
        "--set=policy.dialect='holotron'",
        "--set=engine.kind='simulator'",
        f"--set=engine.args={args}",
        *(f"--set={one}" for one in settings),
    )
    answer: Any = said.answer
    return said.code, {line["name"]: line for line in answer["lines"]}, answer


def test_a_server_is_rehearsed_from_its_room_to_the_price() -> None:
    code, lines, answer = rehearse("engine.usd_per_hour=2.0")

    assert (code, answer["fit"]) == (0, True)
    assert [*lines] == [
        *("files", "room", "steps", "second step", "adjacent"),
        *("1 at once", "8 at once", "32 at once", "a thousand"),
    ]
    assert "of 1024×1024 px" not in lines["adjacent"]["found"]
    assert "1024×1024 px" in lines["steps"]["found"]
    assert lines["second step"]["fitness"] == "fit"
    estimate, rates = answer["estimate"], answer["rates"]
    assert [rate["at_once"] for rate in rates] == [1, 8, 32]
    best = max(
        (rate["prompt_tokens"] + rate["completion_tokens"]) / rate["seconds"] for rate in rates
    )
    assert estimate["steps_per_second"] == pytest.approx(best / estimate["tokens_per_step"])
    assert estimate["dollars"] == pytest.approx(2.0 * estimate["hours"])


def test_a_server_without_a_cache_gets_a_remedy() -> None:
    code, lines, _ = rehearse(args=f"['--no-prefix-cache', '{DETAILS}']")

    assert code == 0
    assert lines["second step"]["fitness"] == "poor"
    assert "--enable-prefix-caching" in lines["second step"]["remedy"]


def test_a_server_that_takes_one_picture_is_unfit() -> None:
    code, lines, answer = rehearse(args=f"['--max-pictures', '1', '{DETAILS}']")

    assert (code, answer["fit"], answer["estimate"]) == (1, False, None)
    assert [line for line in lines.values() if line["fitness"] == "unfit"]


def test_without_a_policy_that_asks_there_is_nothing_to_rehearse() -> None:
    said = called("engine", "rehearse", "--set=policy.name='teacher'")

    assert said.code == 2
    assert "no policy asks an engine" in said.err


VLLM = EngineSection(kind=EngineKind.VLLM, model="acme/not-here")


def test_files_that_are_not_there_are_fetched_first() -> None:
    found, folder = check_files(VLLM)

    assert (found.fitness, folder) == (Fitness.UNFIT, None)
    assert found.remedy == "hf download acme/not-here"


def test_a_folder_is_weighed(tmp_path: Path) -> None:
    section = VLLM.model_copy(update={"model": str(tmp_path)})
    assert check_files(section)[0].fitness is Fitness.POOR
    (tmp_path / "model.safetensors").write_bytes(bytes(1 << 20))

    found, folder = check_files(section)
    assert (found.fitness, folder) == (Fitness.FIT, tmp_path)


@pytest.mark.parametrize(
    ("cards", "fitness"),
    [((80.0,), Fitness.FIT), ((0.0005, 80.0), Fitness.UNFIT), ((), Fitness.POOR)],
)
def test_weights_leave_room_on_the_smallest_card(
    tmp_path: Path, cards: tuple[float, ...], fitness: Fitness
) -> None:
    (tmp_path / "model.safetensors").write_bytes(bytes(1 << 20))

    found: CheckResult = check_memory(tmp_path, cards, 0.9)
    assert found.fitness is fitness
