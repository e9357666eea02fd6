"""Tasks of both applications, without the applications."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from stepmill_applications.__main__ import main
from stepmill_applications.application import Application
from stepmill_applications.application_task import CONTENTS, Move, draft
from stepmill_applications.fossil.contents import draw_content as draw_repository
from stepmill_applications.mediawiki.contents import draw_content as draw_wiki
from stepmill_applications.parts import APPLICATIONS

SEEDS = range(12)


@pytest.fixture(params=list(APPLICATIONS))
def application(request: pytest.FixtureRequest) -> Application:
    return APPLICATIONS[str(request.param)]


def test_each_application_has_a_dozen_templates_and_more(application: Application) -> None:
    assert len({task.template_id for task in application.draw_tasks(0)}) >= 12


def test_each_template_is_worded_in_two_ways_and_both_occur(application: Application) -> None:
    drawn = [task for seed in SEEDS for task in application.draw_tasks(seed)]
    for name in {task.template_id for task in drawn}:
        tasks = [task for task in drawn if task.template_id == name]
        rows = [task.row(site="a", origin="http://a.localhost") for task in tasks]
        used = {
            task.instructions.index(str(row["instruction"]))
            for task, row in zip(tasks, rows, strict=True)
        }

        assert all(len(set(task.instructions)) >= 2 for task in tasks)
        assert used == {0, 1}, name


def test_a_template_asks_for_something_else_with_another_seed(application: Application) -> None:
    drawn = [task for seed in SEEDS for task in application.draw_tasks(seed)]
    asked = Counter(
        (task.template_id, json.dumps(task.parameters, sort_keys=True)) for task in drawn
    )
    names = {task.template_id for task in drawn}

    for name in names:
        assert sum(template == name for template, _ in asked) >= len(SEEDS) / 3, name


def test_each_task_expects_something_and_its_reference_says_the_answer(
    application: Application,
) -> None:
    for task in (task for seed in SEEDS for task in application.draw_tasks(seed)):
        last = task.reference[-1]
        stated = task.expect.get("answer", {"equals": ""})

        assert task.expect
        assert last.do == "answer"
        assert stated == {"equals": last.text}


def test_no_answer_stands_in_its_question(application: Application) -> None:
    for task in (task for seed in SEEDS for task in application.draw_tasks(seed)):
        answer = task.reference[-1].text
        if answer and task.feasible:
            words = " ".join(task.instructions).replace("'Pier 3'", "").replace("?", " ").split()
            assert answer not in words, task


def test_the_tasks_of_a_seed_are_set_in_one_of_few_contents(application: Application) -> None:
    assert {task.content for task in application.draw_tasks(CONTENTS + 1)} == {1}


def test_only_a_task_that_cannot_be_done_is_answered_by_impossible(
    application: Application,
) -> None:
    for task in application.draw_tasks(0):
        assert (task.reference[-1].text == "impossible") == (not task.feasible)


def test_the_command_writes_the_rows_of_as_many_seeds_as_it_is_told(
    application: Application, tmp_path: Path
) -> None:
    file = tmp_path / "rows"
    assert main([application.name, "--seeds", "3", "--out", str(file)]) == 0
    rows = [json.loads(line) for line in file.read_text().splitlines()]

    assert [row["instruction"] for row in rows] == [
        task.row(site=application.name, origin=application.origin)["instruction"]
        for seed in range(3)
        for task in application.draw_tasks(seed)
    ]
    assert {row["start_url"] for row in rows} == {application.origin + application.start}
    assert {row["site"] for row in rows} == {application.name}


@given(seed=st.integers(min_value=0, max_value=2**63 - 1))
def test_names_are_unique_in_a_repository(seed: int) -> None:
    content = draw_repository(seed)

    assert content == draw_repository(seed)
    for names in (
        [ticket.title for ticket in content.tickets],
        [ticket.key for ticket in content.tickets],
        [page.name for page in content.pages],
        [thread.title for thread in content.threads],
    ):
        assert len(set(names)) == len(names)


@given(seed=st.integers(min_value=0, max_value=2**63 - 1))
def test_names_are_unique_in_a_wiki_and_links_lead_to_pages(seed: int) -> None:
    content = draw_wiki(seed)
    titles = [article.title for article in content.articles]
    linked = {
        value.strip("[]")
        for article in content.articles
        for value in article.facts.values()
        if value.startswith("[[")
    }

    assert content == draw_wiki(seed)
    assert len(set(titles)) == len(titles)
    assert linked <= set(titles)
    assert not set(content.watched) & set(content.spoilt)


@given(seed=st.integers(min_value=0, max_value=2**63 - 1))
def test_a_spoilt_ship_can_be_taken_back_to_what_is_so(seed: int) -> None:
    content = draw_wiki(seed)

    for ship in content.ships:
        good = ship.versions[-2 if ship.title in content.spoilt else -1].text
        assert all(f"* {name}: {value}" in good for name, value in ship.facts.items())
        assert (good == ship.text) == (ship.title not in content.spoilt)
        dates = [version.at for version in ship.versions]
        assert dates == sorted(set(dates))


@pytest.mark.parametrize(
    "stated",
    [
        {"do": "click"},
        {"do": "click", "label": "Edit", "selector": "a"},
        {"do": "click", "label": "Edit", "text": "x"},
        {"do": "type", "selector": "a"},
        {"do": "press", "text": "Tab", "label": "Edit"},
        {"do": "fly", "text": "home"},
        {"do": "open"},
    ],
    ids=str,
)
def test_a_move_that_nobody_could_make_is_refused(stated: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        Move.model_validate(stated)


def test_a_task_in_one_wording_is_refused() -> None:
    with pytest.raises(ValidationError, match="instructions"):
        draft("Only this", start="/", parameters={}, reference=(), replies="x")
