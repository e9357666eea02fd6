"""The card and the manifest: what they say, and what hostile names cannot make of them."""

import json
import re
from collections.abc import Collection
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from conftest import Golden
from markdown_it import MarkdownIt
from markdown_it.token import Token
from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.memory_run import (
    RULE,
    TRAIN,
    MemoryRun,
    commit_unit,
    make_run_file,
    published,
    small_run,
)

from schemas.configuration.sections import AcceptSection
from schemas.errors import Damaged
from schemas.verdicts.verdict import Status
from storage.publish.card.yields import MAX_TEMPLATES
from storage.publish.plan.manifest import read_manifest


def _card(run: MemoryRun, to: Path, *, name: str = "a run") -> str:
    """Publish and return the card."""
    published(run.seal(), to, run_file=make_run_file(name=name))
    return (to / "README.md").read_text()


def _front(card: str) -> dict[str, object]:
    _, front, _ = card.split("---\n", 2)
    read = yaml.safe_load(front)
    assert isinstance(read, dict)
    return read


def _steady(text: str) -> str:
    """Return `text` without what changes with the Parquet library's version."""
    text = re.sub(r"[0-9a-f]{16}\.parquet", "HASH.parquet", text)
    text = re.sub(r'"(sha256|recipe)": "[0-9a-f]+"', r'"\1": "HASH"', text)
    return re.sub(r'("bytes": |num_bytes: |(?:download|dataset)_size: )\d+', r"\1N", text)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run's dataset."""
    to: Path = tmp_path_factory.mktemp("small") / "dataset"
    _card(small_run(), to)
    return to


def test_the_card_and_the_manifest_say_what_others_rely_on(small: Path, golden: Golden) -> None:
    golden("published/README.md", _steady((small / "README.md").read_text()))
    golden("published/manifest.json", _steady((small / "manifest.json").read_text()))


def test_the_card_names_every_data_file_and_nothing_else(small: Path) -> None:
    front = _front((small / "README.md").read_text())

    named = [
        path
        for config in front["configs"]  # type: ignore[attr-defined] # read from YAML
        for split in config["data_files"]
        for path in ([split["path"]] if isinstance(split["path"], str) else split["path"])
    ]
    there = [p.relative_to(small).as_posix() for p in small.rglob("*.parquet")]
    assert sorted(named) == sorted(there)


def test_a_split_without_rows_has_no_file_and_no_entry(tmp_path: Path) -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN)
    front = _front(_card(run, tmp_path))

    splits = {
        split["split"]
        for config in front["configs"]  # type: ignore[attr-defined] # read from YAML
        for split in config["data_files"]
    }
    assert splits == {"train"}
    assert not list(tmp_path.rglob("validation-*"))


def test_the_card_gives_the_counts_that_are_there(small: Path) -> None:
    front = _front((small / "README.md").read_text())

    for info in front["dataset_info"]:  # type: ignore[attr-defined] # read from YAML
        for split in info["splits"]:
            paths = list((small / "data" / info["config_name"]).glob(f"{split['name']}-*"))
            assert split["num_examples"] == sum(pq.read_metadata(p).num_rows for p in paths)
            assert split["num_bytes"] == sum(path.stat().st_size for path in paths)


def _many(count: int, *, lost: Collection[str] = (), **same: object) -> MemoryRun:
    """Return a run of so many templates, whose tasks have something in common; `lost` are not accepted."""
    run = MemoryRun()
    tasks = [
        make_task(number, template=f"t{number}").model_copy(update=same) for number in range(count)
    ]
    _, episodes = make_unit(tasks, n_steps=0)
    run.commit(tasks, episodes)
    made = [one for task, one in zip(tasks, episodes, strict=True) if task.template_id not in lost]
    run.judge([make_verdict(one, verifier=name) for one in made for name in RULE.passed])
    return run


@pytest.mark.parametrize(
    "run",
    [_many(1), _many(60, start_url="http://miniwob.localhost/one.html")],
    ids=["one template", "all of a page"],
)
def test_a_run_of_one_group_is_all_train_and_the_card_says_so(
    tmp_path: Path, run: MemoryRun
) -> None:
    card = _card(run, tmp_path)

    assert "1 group, 1 in train, 0 in validation, 0 in test." in card
    assert "everything is in train, and nothing is held out." in card
    assert {path.name.partition("-")[0] for path in tmp_path.rglob("*.parquet")} == {"train"}


def test_small_splits_with_too_few_groups_are_said_to_be_too_small(tmp_path: Path) -> None:
    asked = {f"t{number}": "train" for number in range(45)}
    run = _many(45)
    run.splits |= asked | {"t3": "test", "t7": "validation"}

    card = _card(run, tmp_path)

    other = _many(45)
    other.splits |= asked | dict.fromkeys(("t3", "t5", "t6"), "test")
    other.splits |= dict.fromkeys(("t7", "t8", "t9"), "validation")

    assert "45 groups, 43 in train, 1 in validation, 1 in test." in card
    assert "less than a twentieth of the groups: too little to conclude from." in card
    assert "too little to conclude" not in _card(other, tmp_path / "other")


def test_groups_without_a_trajectory_count_for_no_split(tmp_path: Path) -> None:
    run = _many(40)
    whole = _card(run, tmp_path / "whole")
    lost = next(template for template, split in run.splits.items() if split == "test")

    card = _card(_many(40, lost={lost}), tmp_path / "lost")

    assert "40 groups, 35 in train, 3 in validation, 2 in test." in whole
    assert "too little to conclude" not in whole
    assert "40 groups, 35 in train, 3 in validation, 2 in test." in card
    assert "Those with trajectories here are 39: 35 in train, 3 in validation, 1 in test." in card
    assert "too little to conclude from." in card


def test_templates_that_are_not_where_the_registry_says_are_counted(tmp_path: Path) -> None:
    run = MemoryRun()
    commit_unit(run, 1, "click-tab")
    plain = _card(run, tmp_path / "plain")
    run.splits["click-tab"] = "test"

    assert "in another split than the registry says" not in plain
    assert "1 template is in another split than the registry says" in _card(run, tmp_path / "moved")


def test_nothing_accepted_still_makes_a_card(tmp_path: Path) -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, rejects=[0, 1, 2, 3])
    card = _card(run, tmp_path)

    configs = [c["config_name"] for c in _front(card)["configs"]]  # type: ignore[attr-defined] # read from YAML
    assert configs == ["tasks", "attempts", "results", "verdicts"]
    assert 'load_dataset("' in card
    assert "4 episodes 0 were accepted and 4 rejected" in card


def test_the_worst_templates_come_first_and_the_list_ends(tmp_path: Path) -> None:
    run = MemoryRun()
    tasks = [make_task(n, template=f"template-{n:03d}") for n in range(MAX_TEMPLATES + 2)]
    _, episodes = make_unit(tasks, n_steps=0)
    run.commit(tasks, episodes)
    run.judge(
        [
            make_verdict(
                episode, verifier=verifier, status=Status.PASSED if place else Status.FAILED
            )
            for place, episode in enumerate(episodes)
            for verifier in RULE.passed
        ]
    )
    card = _card(run, tmp_path)

    rows = re.findall(
        r"^\| template-(\d+) \| train .*\| (\d+%|unknown) \| .* \|$", card, re.MULTILINE
    )
    assert rows[0] == ("000", "0%")
    assert {share for _, share in rows[1:]} == {"100%"}
    assert len(rows) == MAX_TEMPLATES
    assert "| the other 2, which did no worse | | 2 | 2 | 0 | 0 | 100% | 34% to 100% |" in card
    whole = f"{MAX_TEMPLATES + 2:,}"
    assert (
        f"| all {whole} | | {whole} | {MAX_TEMPLATES + 1:,} | 1 | 0 | 100% | 99% to 100% |" in card
    )


_HOSTILE = "x|y`\n---\n# h <img src=x onerror=alert(1)> [a](http://e.example) \u202e ]]> ${{ }}"


def _inert(card: str) -> list[Token]:
    """Return the card's page, in which nothing foreign is more than text."""
    page = MarkdownIt("gfm-like", {"linkify": False}).parse(card.split("---\n", 2)[2])
    kinds = {child.type for token in page for child in token.children or []}
    assert kinds <= {"text", "text_special", "code_inline", "softbreak", "image"}
    assert "html_block" not in {token.type for token in page}
    return page


def test_hostile_names_are_shown_and_do_nothing(tmp_path: Path) -> None:
    run = MemoryRun()
    commit_unit(run, 1, _HOSTILE, tasks=1, attempts=1)
    to = tmp_path / 'a "folder" with `ticks`'
    card = _card(run, to, name=_HOSTILE)

    front = _front(card)
    assert str(front["pretty_name"]).startswith("x|y` --- # h <img")
    page = _inert(card)
    images = [c for token in page for c in token.children or [] if c.type == "image"]
    assert [image.attrs["src"] for image in images] == [
        "plots/filmstrip.png",
        "plots/pages.png",
        "plots/yield.svg",
        "plots/length.svg",
    ]
    headings = [page[n + 1].content for n, t in enumerate(page) if t.type == "heading_open"]
    assert len(headings) == 13 + len(front["configs"])  # type: ignore[arg-type] # read from YAML
    yields = [
        row
        for row in card.splitlines()
        if row.endswith("| train | 1 | 1 | 0 | 0 | 100% | 21% to 100% |")
    ]
    assert len(yields) == 1


def test_hostile_rows_are_published_as_they_are(tmp_path: Path) -> None:
    run = MemoryRun()
    task = make_task(instruction=_HOSTILE)
    _, [episode] = make_unit([task])
    run.commit([task], [episode])
    run.judge([make_verdict(episode, verifier=verifier) for verifier in RULE.passed])
    card = _card(run, tmp_path)

    [path] = tmp_path.glob("data/trajectories/*.parquet")
    assert pq.read_table(path)["instruction"].to_pylist() == [_HOSTILE]
    page = _inert(card)
    shown = [child.content for token in page for child in token.children or []]
    assert any("<img" in text or "onerror" in text for text in shown)


def test_the_manifest_says_run_version_and_counts(small: Path) -> None:
    manifest = read_manifest((small / "manifest.json").read_bytes(), "here")
    assert manifest.version == 1
    assert AcceptSection.model_validate(manifest.rule) == RULE
    assert manifest.counts.model_dump() == {
        "episodes": 12,
        "accepted": 10,
        "rejected": 2,
        "unjudged": 0,
        "trajectories": 10,
        "steps": 30,
        "tasks": 6,
        "attempts": 12,
        "results": 6,
        "verdicts": 12 * len(RULE.passed),
    }
    assert [file.path for file in manifest.files] == sorted(file.path for file in manifest.files)


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", json.dumps({"kind": "another"}).encode()])
def test_what_is_no_manifest_is_named(data: bytes) -> None:
    with pytest.raises(Damaged, match=r"there/manifest\.json: is not a manifest of a dataset"):
        read_manifest(data, "there/manifest.json")
