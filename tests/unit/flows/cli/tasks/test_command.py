"""`stepmill tasks` without a browser: lists, and what is refused before anything is started."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from flows.cli.main import main
from flows.terminal import ExitCode
from generators.sites.miniwob import template_paths
from schemas.task import MAX_SEED


def tasks(*argv: str) -> int:
    return main(["tasks", *argv])


def as_json(argv: Sequence[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert tasks(*argv, "--json") == 0
    shown = capsys.readouterr()
    assert shown.out.count("\n") == 1
    assert shown.err == ""
    value: dict[str, object] = json.loads(shown.out)
    return value


def test_every_template_is_listed_with_its_seeds_tags_and_goal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    listed = as_json(["list"], capsys)["templates"]
    assert isinstance(listed, list)
    assert [item["template"] for item in listed] == list(template_paths())
    (click_test,) = (item for item in listed if item["template"] == "click-test")
    assert click_test["seeds"] == [0, MAX_SEED]
    assert click_test["tags"] == ["clicking"]
    assert click_test["goal"] == "Click the button."


def test_a_list_for_people_is_one_line_a_template_and_tells_what_is_odd(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert tasks("list", "hover-*", "click-test-2") == 0
    head, click, hover, blank, note, total = capsys.readouterr().out.splitlines()
    assert head.split() == ["template", "tags", "goal"]
    assert click.startswith("click-test-2  clicking")
    assert click.endswith("Click button ONE.")
    assert hover.startswith("hover-shape   hovering seeing time  Keep the mouse")
    assert blank == ""
    assert note.startswith("hover-shape: Cannot be done")
    assert total.startswith("2 templates of miniwob")


def test_globs_and_tags_narrow_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    listed = as_json(["list", "click-*", "--tag", "searching", "--tag", "hovering"], capsys)
    assert [item["template"] for item in _items(listed, "templates")] == ["click-menu"]


def test_a_task_file_is_listed_by_its_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"site": "miniwob", "template_id": "click-test", "seed": 7}\n')
    (item,) = _items(as_json(["list", "--source", str(path)], capsys), "tasks")
    assert (item["template"], item["seed"], item["tags"]) == ("click-test", 7, ["clicking"])
    assert tasks("list", "--source", str(path)) == 0
    assert str(item["task_id"]) in capsys.readouterr().out


def _items(listed: dict[str, object], key: str) -> list[dict[str, object]]:
    items = listed[key]
    assert isinstance(items, list)
    return items


REFUSALS = {
    "'clikc-*' matches no template": "list clikc-*",
    "(there are: clicking, typing": "list --tag typin",
    "did you mean 'typing' or 'trying'?": "list --tag typin",
    "none of these templates": "list click-test --tag typing",
    "'none.jsonl' is no such file": "list --source none.jsonl",
    "no apps site": "list --source apps",
    "did you mean 'click-test'": "show clik-test",
    f"--seed: expected a whole number from 0 to {MAX_SEED}, got '-1'": "show click-test --seed=-1",
    "--to x.gif: pictures are written as .jpg": "show click-test --to x.gif",
    "--to none/x.png: no file can be written": "show click-test --to none/x.png",
    "did you mean 'browser.viewport'?": "show click-test --set browser.viewprt=1",
    "/none is not an executable file": "show click-test --to x.png",
    "tasks.include: 'clikc-*' matches no": "check --include clikc-*",
    "leaves no template": "check --exclude *",
    "--policy taecher: policy.name = 'taecher'": "check --policy taecher",
    "needs an engine": "check --policy model",
    "--sessions 5000: browser.sessions = 5000": "check --sessions 5000",
    f"--seeds: expected a whole number from 1 to {MAX_SEED}, got '0'": "check --seeds 0",
    f"--seeds: expected a whole number from 1 to {MAX_SEED}, got '1.5'": "check --seeds 1.5",
    f"got '{2**63}'": f"check --seeds {2**63}",
    f"got '{'9' * 30}'": f"check --seeds {'9' * 30}",
    "split them over several runs": f"check --seeds {2**62}",
    "--seeds, --first-seed: tasks.seeds": f"check --first-seed {MAX_SEED}",
    "none.toml: cannot be read": "check --config none.toml",
    "not an executable file": "check --seeds 1",
    "invalid choice: 'chekc'": "chekc",
}
"""What is said, and what was asked for."""


@pytest.mark.parametrize(("named", "asked"), REFUSALS.items())
def test_bad_input_is_refused_and_nothing_is_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    named: str,
    asked: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPMILL_CHROMIUM", str(tmp_path / "none"))
    try:
        code: object = tasks(*asked.split())
    except SystemExit as end:
        code = end.code
    shown = capsys.readouterr()
    assert code == ExitCode.REFUSED
    assert named in shown.err
    assert shown.out == ""
    assert list(tmp_path.iterdir()) == []
