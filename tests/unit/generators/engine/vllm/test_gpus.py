"""How many GPUs a server takes, and which ones this machine has for it."""

from pathlib import Path

import pytest
from support.engines.gpu_programs import nvidia_smi

from generators.engine.vllm.gpus import (
    check_replicas,
    gpus_per_server,
    list_gpus,
    place_replicas,
)
from schemas.configuration.sections import EngineKind, EngineSection
from schemas.errors import BadConfig, NoEngine


def vllm(*args: str, **keys: object) -> EngineSection:
    return EngineSection.model_validate(
        {"kind": EngineKind.VLLM, "model": "m", "args": args, **keys}
    )


@pytest.mark.parametrize(
    ("args", "gpus"),
    [
        ((), 1),
        (("--max-model-len", "2"), 1),
        (("--tensor-parallel-size", "2"), 2),
        (("--tensor_parallel_size=2",), 2),
        (("-tp", "2", "--pipeline-parallel-size=3"), 6),
        (("-tp=4", "-pp", "2", "-dp", "2"), 16),
    ],
)
def test_a_server_has_the_gpus_that_its_arguments_take(args: tuple[str, ...], gpus: int) -> None:
    assert gpus_per_server(vllm(*args)) == gpus
    assert gpus_per_server(vllm(*args, gpus=gpus)) == gpus


def test_only_a_vllm_of_our_own_is_asked_for_its_arguments() -> None:
    section = EngineSection(kind=EngineKind.OPENAI, args=("-tp", "2"))

    assert gpus_per_server(section) == 1
    assert gpus_per_server(section.model_copy(update={"gpus": 8})) == 8


@pytest.mark.parametrize("size", ["two", "0", "-1", "", "1.5", "²"])
def test_a_size_that_is_no_number_is_refused(size: str) -> None:
    with pytest.raises(BadConfig, match=r"engine\.args: -tp .*expected a number of GPUs from 1"):
        gpus_per_server(vllm("-tp", size))


def test_a_number_that_contradicts_the_arguments_is_refused() -> None:
    with pytest.raises(BadConfig, match=r"engine\.gpus = 4: .* take 2; leave one of the two out"):
        gpus_per_server(vllm("-tp", "2", gpus=4))


def test_the_gpus_are_those_that_the_user_names(tmp_path: Path) -> None:
    path = nvidia_smi(tmp_path, gpus=8)

    assert list_gpus({"PATH": path, "CUDA_VISIBLE_DEVICES": "3, 5"}) == ["3", "5"]
    assert list_gpus({"PATH": path}) == [str(number) for number in range(8)]


@pytest.mark.parametrize("visible", ["", " , ", "-1"])
def test_a_user_who_names_no_gpu_is_told_so(tmp_path: Path, visible: str) -> None:
    with pytest.raises(NoEngine, match="which names no GPU"):
        list_gpus({"PATH": nvidia_smi(tmp_path, gpus=8), "CUDA_VISIBLE_DEVICES": visible})


def test_without_the_program_the_drivers_folders_are_counted(tmp_path: Path) -> None:
    for name in ("0000:01:00.0", "0000:02:00.0"):
        (tmp_path / "gpus" / name).mkdir(parents=True)

    assert list_gpus({"PATH": ""}, driver_folder=tmp_path / "gpus") == ["0", "1"]


@pytest.mark.parametrize(
    ("fails", "why"),
    [
        ("no devices were found", r"nvidia-smi fails with code 9 \(no devices were found\)"),
        ("", "nvidia-smi lists none"),
        (None, "there is no nvidia-smi on PATH"),
    ],
)
def test_a_machine_without_gpus_says_where_was_looked(
    tmp_path: Path, fails: str | None, why: str
) -> None:
    path = str(tmp_path) if fails is None else nvidia_smi(tmp_path, fails=fails)

    with pytest.raises(NoEngine, match=why):
        list_gpus({"PATH": path}, driver_folder=tmp_path / "none")


def test_replicas_share_the_gpus_out(tmp_path: Path) -> None:
    environ = {"PATH": nvidia_smi(tmp_path, gpus=5)}

    assert place_replicas(vllm(), {"PATH": ""}) == [None]
    assert place_replicas(vllm(replicas=2), environ) == ["0", "1"]
    assert place_replicas(vllm("-tp", "2", replicas=2), environ) == ["0,1", "2,3"]
    assert place_replicas(vllm("-tp", "2", replicas="gpus"), environ) == ["0,1", "2,3"]
    assert place_replicas(vllm(replicas="gpus"), environ) == ["0", "1", "2", "3", "4"]
    named = environ | {"CUDA_VISIBLE_DEVICES": "7,2"}
    assert place_replicas(vllm(replicas="gpus"), named) == ["7", "2"]


@pytest.mark.parametrize(
    ("args", "replicas", "words"),
    [
        ((), 3, "3 of 1 GPUs each take 3, and there are 2; ask for at most 2"),
        (("-tp", "2"), 2, "2 of 2 GPUs each take 4, and there are 2; ask for at most 1"),
        (("-tp", "4"), "gpus", "1 of 4 GPUs each take 4, and there are 2; ask for at most 0"),
    ],
)
def test_more_replicas_than_there_are_gpus_for_are_refused(
    tmp_path: Path, args: tuple[str, ...], replicas: object, words: str
) -> None:
    with pytest.raises(NoEngine, match=words):
        place_replicas(vllm(*args, replicas=replicas), {"PATH": nvidia_smi(tmp_path, gpus=2)})


@pytest.mark.parametrize("kind", ["openai", "simulator", "none"])
@pytest.mark.parametrize("replicas", [2, "gpus"])
def test_only_a_vllm_of_our_own_has_replicas(kind: str, replicas: object) -> None:
    section = EngineSection.model_validate({"kind": EngineKind(kind), "replicas": replicas})

    with pytest.raises(BadConfig, match=rf"engine\.replicas = .*: '{kind}' starts no vLLM"):
        check_replicas(section)


def test_what_every_replica_has_of_its_own_is_not_given_to_all() -> None:
    with pytest.raises(BadConfig, match=r"leave --port out of engine\.args"):
        check_replicas(vllm("--port", "8000", replicas=2))
    with pytest.raises(BadConfig, match=r"leave CUDA_VISIBLE_DEVICES out of engine\.command"):
        check_replicas(vllm(replicas=2, command=("env", "CUDA_VISIBLE_DEVICES=1", "vllm")))
    check_replicas(vllm("--port", "8000"))
