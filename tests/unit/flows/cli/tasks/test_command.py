"""`stepmill tasks` without a browser: lists, and what is refused before anything is started."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.inputs.offered_application import MISSING as NOT_INSTALLED
from support.inputs.offered_application import Harbour

from flows.checks.tasks import TaskGates
from flows.cli.main import main
from flows.cli.tasks.check import _gate_lines
from flows.cli.tasks.show import find_task
from flows.job.config_loader import Sources, load
from flows.terminal import ExitCode
from generators.sites.gates import Gate
from generators.sites.miniwob import template_paths
from schemas.errors import BadTasks
from schemas.tasks.task import MAX_SEED


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
    assert head.split() == ["template", "split", "tags", "goal"]
    assert click.startswith("click-test-2  train  clicking")
    assert click.endswith("Click button ONE.")
    assert hover.startswith("hover-shape   train  hovering seeing time  Keep the mouse")
    assert blank == ""
    assert note.startswith("hover-shape: Cannot be done")
    assert total.startswith("2 templates of miniwob")


def test_globs_and_tags_narrow_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    listed = as_json(["list", "click-*", "--tag", "searching", "--tag", "hovering"], capsys)
    assert [item["template"] for item in _items(listed, "templates")] == ["click-menu"]


def test_a_list_shows_splits_and_is_narrowed_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    listed = as_json(["list", "--split", "test", "enter-*", "text-transform"], capsys)

    assert {(item["template"], item["split"]) for item in _items(listed, "templates")} == {
        (name, "test")
        for name in ("enter-text", "enter-text-2", "enter-text-dynamic", "text-transform")
    }
    assert tasks("list", "click-tab") == 0
    head, line, *_ = capsys.readouterr().out.splitlines()
    assert (head.split()[:2], line.split()[:2]) == (["template", "split"], ["click-tab", "train"])
    assert tasks("list", "click-tab", "--split", "test") == 2
    assert "none of these templates has the split 'test'" in capsys.readouterr().err


def test_the_tasks_of_a_file_are_listed_by_split(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.jsonl"
    rows = (("click-tab", "validation"), ("text-transform", ""), ("click-link", ""))
    lines = (
        json.dumps({"site": "miniwob", "template_id": name, "seed": 1, "split": split})
        for name, split in rows
    )
    path.write_text("\n".join(lines))

    def listed(split: str) -> list[object]:
        said = as_json(["list", "--source", str(path), "--split", split], capsys)
        return [item["template"] for item in _items(said, "tasks")]

    assert listed("validation") == ["click-tab"]
    assert listed("test") == ["text-transform"]
    assert listed("train") == ["click-link"]


def test_a_task_file_is_listed_by_its_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"site": "miniwob", "template_id": "click-test", "seed": 7}\n')
    (item,) = _items(as_json(["list", "--source", str(path)], capsys), "tasks")
    assert (item["template"], item["seed"], item["tags"]) == ("click-test", 7, ["clicking"])
    assert tasks("list", "--source", str(path)) == 0
    assert str(item["task_id"]) in capsys.readouterr().out


LIVE = '{"web_name": "Shop", "id": "Shop--0", "ques": "Find a kettle.", "web": "https://x.com/"}'
GOOD = '{"site": "miniwob", "template_id": "click-test", "seed": 7}'


def validated(path: Path, text: str, *flags: str) -> int:
    path.write_text(text)
    return tasks("validate", str(path), *flags)


def test_a_good_file_is_counted_by_site_and_template(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    assert validated(path, f"{GOOD}\n{GOOD.replace('7', '8')}\n") == ExitCode.DONE
    head, row, blank, total = capsys.readouterr().out.splitlines()
    assert head.split() == ["site", "template", "tasks"]
    assert row.split() == ["miniwob", "click-test", "2"]
    assert blank == ""
    assert total == f"{path}: tasks 2, templates 1, sites 1, mistakes 0"


def test_every_defect_of_a_file_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    text = "\n".join([GOOD, *["{}"] * 30, GOOD])
    assert validated(path, text) == ExitCode.REFUSED
    lines = capsys.readouterr().out.splitlines()
    assert lines[:30] == [f"{path}: line {number}: site is missing" for number in range(2, 32)]
    assert lines[30].startswith(f"{path}: line 32: is the same task as line 1: delete one")
    assert lines[-1].endswith("tasks 1, templates 1, sites 1, mistakes 31")


def test_rows_of_a_benchmark_that_give_no_task_are_named_and_leave_the_file_usable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "WebVoyager_data.jsonl"
    text = f"{LIVE}\n{LIVE.replace('https://x.com/', 'x.com')}\n"
    assert validated(path, text) == ExitCode.SHORT
    shown = capsys.readouterr().out
    assert f"{path}: line 2: web = 'x.com': expected an http or https address" in shown
    assert "refused  1 tasks of live cannot be attempted: live origins are not supported" in shown
    assert "unmapped 1 rows give no task" in shown
    assert validated(path, LIVE, "--json") == ExitCode.DONE
    answer = json.loads(capsys.readouterr().out)
    assert (answer["format"], answer["tasks"], answer["unmapped"]) == ("webvoyager", 1, [])
    assert "not supported" in answer["templates"][0]["refusal"]


def test_an_empty_file_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validated(tmp_path / "mine.jsonl", "\n") == ExitCode.REFUSED
    assert "mine.jsonl: holds no task" in capsys.readouterr().out


def test_tasks_that_cannot_be_attempted_are_listed_with_a_mark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "WebVoyager_data.jsonl"
    path.write_text(f"{LIVE}\n{LIVE}\n")
    (item,) = _items(as_json(["list", "--source", str(path)], capsys), "tasks")
    assert "not supported" in str(item["refusal"])
    assert tasks("list", "--source", str(path)) == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[0].split() == [
        "task_id",
        "mark",
        "template",
        "seed",
        "split",
        "tags",
        "goal",
    ]
    assert " refused " in shown
    assert "1 of them cannot be attempted: live origins are not supported yet" in shown
    assert "1 rows give no task; `stepmill tasks validate" in shown


SHOP = """
origin = "http://shop.localhost"

[start]
url = "http://127.0.0.1:8000"

[reset]
request = { path = "/reset" }

[state]
request = { method = "GET", path = "/state" }
"""
HARBOUR = """
origin = "http://harbour.localhost"

[start]
command = ["{python}", "-m", "generators.sites.installable", "serve", "harbour"]

[state]
sqlite = "{folder}/harbour.db"
"""
ORDER = {"template_id": "order", "start_url": "/", "expect": {"answer": "5"}}


@pytest.fixture
def run_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a run with a shop, and with harbour, which is not installed; a task of each is in `two.jsonl`."""
    Harbour(tmp_path, monkeypatch)
    (tmp_path / "shop.toml").write_text(SHOP)
    (tmp_path / "harbour.toml").write_text(HARBOUR)
    rows = [ordered("shop"), ordered("harbour")]
    (tmp_path / "two.jsonl").write_text("\n".join(rows))
    text = "".join(f'{name} = "{tmp_path}/{name}.toml"\n' for name in ("shop", "harbour"))
    (tmp_path / "run.toml").write_text(
        f'[sites]\n{text}[tasks]\nsources = ["{tmp_path}/two.jsonl"]\n'
    )
    return str(tmp_path / "run.toml")


def ordered(site: str) -> str:
    return json.dumps(ORDER | {"site": site, "instruction": f"Order of {site}."})


def test_a_file_is_read_with_the_sites_of_a_run_and_a_row_of_no_site_of_it_is_named(
    tmp_path: Path, run_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, known = tmp_path / "mine.jsonl", f"--config={run_file}"
    text = "\n".join(map(ordered, ("shop", "shpo", "harbour", "shop")))
    assert validated(path, text, known) == ExitCode.REFUSED
    unknown, twice, *_, refused, total = capsys.readouterr().out.splitlines()
    there = "there are: miniwob, worlds, live, shop, harbour"
    assert unknown == f"{path}: line 2: unknown site 'shpo' ({there}); did you mean 'shop'?"
    assert twice == (
        f"{path}: line 4: is the same task as line 1: delete one; tasks.attempts says how often each is "
        "attempted"
    )
    assert refused == f"refused  1 tasks of harbour cannot be attempted: {NOT_INSTALLED}"
    assert total.endswith("tasks 2, templates 2, sites 2, mistakes 2")

    assert validated(path, ordered("shop"), known) == ExitCode.DONE
    capsys.readouterr()
    assert validated(path, ordered("shop")) == ExitCode.REFUSED
    assert "unknown site 'shop' (there are: miniwob, worlds, live)" in capsys.readouterr().out


def test_the_tasks_of_a_run_are_listed_with_a_mark_where_they_wait(
    tmp_path: Path, run_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = _items(as_json(["list", "--config", run_file], capsys), "tasks")
    assert [(item["site"], item["refusal"]) for item in listed] == [
        ("shop", None),
        ("harbour", NOT_INSTALLED),
    ]
    other = tmp_path / "other.jsonl"
    other.write_text(ordered("harbour"))
    assert tasks("list", "--config", run_file, "--source", str(other)) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].split()[1:3] == ["refused", "order"]
    assert shown[-2:] == [
        f"1 tasks in {other}",
        f"1 of them cannot be attempted: {NOT_INSTALLED}",
    ]


def test_a_task_of_a_file_is_found_by_its_template_seed_or_id(
    tmp_path: Path, run_file: str
) -> None:
    rows = [json.loads(ordered("shop")) | {"seed": seed, "start_url": "/buy"} for seed in (4, 5)]
    (tmp_path / "two.jsonl").write_text("\n".join(map(json.dumps, rows)))
    config = load(Sources(config=run_file), {})

    first = find_task(config, "order", seed=None)
    assert (first.site, first.seed, first.start_url) == ("shop", 4, "http://shop.localhost/buy")
    assert find_task(config, "order", seed=5).seed == 5
    assert find_task(config, first.task_id, seed=None) == first
    assert find_task(config, "click-test", seed=None).site == "miniwob"
    with pytest.raises(BadTasks, match=r"no task of 'order' with seed 9 \(there are: 4, 5\)"):
        find_task(config, "order", seed=9)
    with pytest.raises(BadTasks, match=r"no template or task 'odrer'; did you mean 'order'\?"):
        find_task(config, "odrer", seed=None)


def test_a_task_of_an_application_that_is_not_installed_is_not_shown(
    tmp_path: Path, run_file: str
) -> None:
    (tmp_path / "two.jsonl").write_text(ordered("harbour"))

    with pytest.raises(BadTasks, match="tasks of harbour cannot be attempted: "):
        find_task(load(Sources(config=run_file), {}), "order", seed=None)


def _items(listed: dict[str, object], key: str) -> list[dict[str, object]]:
    items = listed[key]
    assert isinstance(items, list)
    return items


REFUSALS = {
    "'clikc-*' matches no template": "list clikc-*",
    "none.toml: cannot be read: No such file": "list --config none.toml",
    "none.toml: cannot be read: No such": "validate nowhere.jsonl --config none.toml",
    "(there are: clicking, typing": "list --tag typin",
    "did you mean 'typing' or 'trying'?": "list --tag typin",
    "none of these templates": "list click-test --tag typing",
    "'none.jsonl' is no such file": "list --source none.jsonl",
    "nowhere.jsonl: cannot be read: No such file": "validate nowhere.jsonl",
    "'apps' is no such file": "list --source apps",
    "did you mean 'click-test'": "show clik-test",
    f"--seed: expected a whole number from 0 to {MAX_SEED}, got '-1'": "show click-test --seed=-1",
    "--to x.gif: pictures are written as .jpg": "show click-test --to x.gif",
    "--to none/x.png: no file can be written": "show click-test --to none/x.png",
    "did you mean 'browser.viewport'?": "show click-test --set browser.viewprt=1",
    "/none is not an executable file": "show click-test --to x.png",
    "tasks.include: 'clikc-*' matches no": "check --include clikc-*",
    "leaves no template": "check --exclude *",
    "policy.name: there is no policy 'taecher'; did you mean 'teacher'?": "check --policy taecher",
    "policy.name: there is no policy 'modle'": "show click-test --set policy.name=modle",
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


def test_a_gate_that_was_not_tried_is_said_and_is_no_failure() -> None:
    untried = ((Gate.NEAR_MISSES, "a probe judges"),)
    held = TaskGates(task_id="1", template="add", seed=1, failing=(), untried=untried)

    assert list(_gate_lines([held])) == [
        "",
        "add 1: near_misses: was not tried: a probe judges",
        "1 of 1 tasks pass all gates",
    ]
