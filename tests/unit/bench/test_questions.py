"""What a reader is asked: paths drawn from the product, and questions whose answers are there."""

from pathlib import Path

import pytest

from bench.measuring.questions import (
    OF_WORLDS,
    PATHS,
    Question,
    draw_paths,
    main,
    read_questions,
    wrong_answers,
)
from bench.measuring.source import ROOT, is_of_worlds


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder, count in {"flows": 40, "plugins/shop": 10, "generators/worlds": 30}.items():
        (tmp_path / folder).mkdir(parents=True)
        for name in ("__init__", *(f"m{number}" for number in range(count))):
            (tmp_path / folder / f"{name}.py").write_text(f'"""Says {name}.\n\nMore."""\n')
    return tmp_path


def test_25_paths_are_drawn_8_of_them_of_worlds(root: Path) -> None:
    drawn = draw_paths(root)

    assert len(set(drawn)) == PATHS == 25
    assert sum(is_of_worlds(path, root) for path in drawn) == OF_WORLDS == 8
    assert all(path.stem != "__init__" for path in drawn)


def test_the_draw_is_the_same_every_time_and_another_by_another_seed(root: Path) -> None:
    assert draw_paths(root) == draw_paths(root)
    assert set(draw_paths(root)) != set(draw_paths(root, "another"))


def test_a_new_module_moves_at_most_one_path_out_of_the_draw(root: Path) -> None:
    before = set(draw_paths(root))

    (root / "flows/new.py").write_text("")

    assert len(before - set(draw_paths(root))) <= 1


def test_the_docstrings_are_shown_on_request_alone(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["paths"], root)
    assert "Says" not in capsys.readouterr().out

    main(["sheet"], root)
    shown = capsys.readouterr().out
    assert shown.count("    Says m") == PATHS
    assert "More" not in shown


def test_there_are_12_questions_whose_answers_are_shown_on_request_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len({question.ask for question in read_questions()}) == 12

    main(["questions"])
    assert ".py" not in capsys.readouterr().out

    main(["answers"])
    shown = capsys.readouterr().out
    assert all(answer in shown for question in read_questions() for answer in question.answers)


def test_every_answer_is_in_the_code() -> None:
    assert wrong_answers(read_questions(), ROOT) == []
    assert all(question.answers for question in read_questions())


def test_an_answer_that_is_not_in_the_code_is_named(root: Path) -> None:
    (root / "flows/m0.py").write_text("def begin(): pass\nend = begin()\n")
    answers = ("flows/m0.py: begin", "flows/m0.py: end", "flows/m0.py: stop", "flows/gone.py: end")

    wrong = wrong_answers([Question("when it begins", answers)], root)

    assert wrong == ["flows/m0.py: stop", "flows/gone.py: end"]
