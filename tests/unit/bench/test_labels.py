"""How labels are compared with readers', and how steps are drawn for them."""

import json
from pathlib import Path
from random import Random

import pytest
from support.episodes.factories import make_episode, make_task

from bench.labels import Labelled, choose, kappa, place, score, shares
from bench.measuring.label_sheets import action_words
from schemas.verdicts.step_label import Label


def test_kappa_leaves_out_what_chance_makes_equal() -> None:
    assert kappa(["a", "b", "a", "b"], ["a", "b", "a", "b"]) == 1.0
    assert kappa(["a", "a", "b", "b"], ["a", "b", "a", "b"]) == 0.0
    assert kappa(["a", "a"], ["a", "a"]) == 1.0
    assert kappa(["a", "b"], ["b", "a"]) == -1.0


def test_precision_and_recall_are_of_each_label() -> None:
    ours = ["mistake", "mistake", "on_path", "on_path"]
    found = shares(ours, ["mistake", "on_path", "on_path", "on_path"])

    assert found["mistake"] == {"steps": 1, "precision": 0.5, "recall": 1.0}
    assert found["on_path"] == {"steps": 3, "precision": 1.0, "recall": 0.667}
    assert found["recovery"] == {"steps": 0, "precision": None, "recall": None}


def _labelled(number: int, labels: list[Label]) -> Labelled:
    episode = make_episode(make_task(), attempt=number)
    return Labelled("a run", make_task(), episode, dict(enumerate(labels)))


def test_steps_are_drawn_as_evenly_of_each_label_as_there_are_and_none_twice() -> None:
    many = [_labelled(n, [Label.ON_PATH, Label.ON_PATH, Label.MISTAKE]) for n in range(9)]
    first = choose(many, count=8, random=Random("a"), without=frozenset())
    taken = [(one, step) for one, steps in first for step in steps]
    known = frozenset(place(*each) for each in taken)
    then = choose(many, count=8, random=Random("a"), without=known)

    assert sum(one.labels[step] is Label.MISTAKE for one, step in taken) == 4
    assert len(known) == 8
    assert not known & {place(one, step) for one, steps in then for step in steps}


def test_the_words_of_an_action_say_nothing_of_thoughts() -> None:
    step = make_episode(make_task()).steps[0]
    told = step.model_copy(update={"thought": "SECRET", "injected_mistake": "typo"})

    assert "SECRET" not in action_words(told)
    assert "typo" not in action_words(told)


def test_only_where_readers_agree_our_labels_are_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"id": str(n), "place": str(n), "label": "on_path"} for n in range(3)]
    files = {
        "set": {"steps": rows},
        "one": {"0": "on_path", "1": "mistake", "2": "mistake"},
        "other": {"0": "on_path", "1": "on_path", "2": "mistake"},
    }
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value))
    score(tmp_path / "set", [tmp_path / "one", tmp_path / "other"], [], keep=None)
    differing, told = capsys.readouterr().out.splitlines()

    figures = json.loads(told)
    assert differing == "2: readers mistake, we on_path"
    assert (figures["steps"], figures["agreed"]) == (3, 2)
    assert figures["labels"]["on_path"] == {"steps": 1, "precision": 0.5, "recall": 1.0}
