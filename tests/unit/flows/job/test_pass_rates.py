"""How often tasks were solved: which attempts count, figures worked by hand, and two runs compared."""

import pytest
from support.episodes.factories import make_episode, make_task, make_verdict

from flows.job.pass_rates import (
    TaskAttempts,
    compare_runs,
    count_attempts,
    pass_rates,
)
from flows.job.report_lines import comparison_lines, pass_rate_lines
from flows.job.summary import TaskKind
from schemas.configuration.sections import AcceptSection
from schemas.proportion import wilson
from schemas.verdicts.verdict import Status, Verdict

RULE = AcceptSection(passed=("outcome", "novelty"))


def tried(
    task: str, passed: int, attempts: int, policy: str = "model", site: str = "shop"
) -> TaskAttempts:
    """Return attempts at a task, named after its template and a number as `a1`."""
    return TaskAttempts(task, TaskKind(site, task[0]), policy, attempts, passed)


def counted(verdict: Verdict | None, failure_kind: str | None = None) -> tuple[TaskAttempts, ...]:
    row = {"episode_id": "e", "task_id": "t", "policy": "model", "failure_kind": failure_kind}
    return count_attempts(
        [row], {"t": TaskKind("shop", "t")}, {"e": [verdict]} if verdict else {}, RULE
    )


def judged(status: Status, reward: float | None = 1.0) -> Verdict:
    found = make_verdict(make_episode(make_task()), status=status)
    return found.model_copy(update={"evidence": {"reward": reward, "done": True}})


def test_an_attempt_passes_where_the_site_says_so_whatever_other_verifiers_say() -> None:
    assert counted(judged(Status.PASSED)) == (tried("t", 1, 1),)
    assert counted(judged(Status.FAILED, 0.0))[0].passed == 0


def test_a_reward_below_the_threshold_is_no_success() -> None:
    assert counted(judged(Status.PASSED, 0.5))[0].passed == 0


@pytest.mark.parametrize(
    "verdict", [None, judged(Status.UNSUPPORTED, None), judged(Status.ERROR, None)]
)
def test_an_attempt_that_no_site_judged_does_not_count(verdict: Verdict | None) -> None:
    assert counted(verdict) == ()


@pytest.mark.parametrize("kind", ["browser", "page", "clock", "site", "engine", "internal"])
def test_a_failure_that_is_not_the_policys_does_not_count(kind: str) -> None:
    assert counted(judged(Status.FAILED, 0.0), kind) == ()


def test_a_failure_of_the_policy_counts() -> None:
    assert counted(judged(Status.FAILED, 0.0), "policy")[0].attempts == 1


def test_figures_are_means_over_tasks_worked_by_hand() -> None:
    rates = pass_rates([tried("a1", 1, 4), tried("a2", 4, 4), tried("b1", 0, 4)], k=2)
    total, worst, best = rates
    assert [rate.template for rate in rates] == [None, "b", "a"]
    assert (best.tasks, best.attempts) == (2, 8)
    assert best.pass_1.value == pytest.approx(0.625)  # (1/4 + 4/4) / 2
    assert best.pass_k is not None
    assert best.pass_k.value == pytest.approx(0.75)  # (1 - 3/6 + 1) / 2
    assert (worst.pass_1.low, worst.pass_1.high) == wilson(0, 1)
    assert (total.tasks, total.attempts) == (3, 12)
    assert total.pass_1.value == pytest.approx(1.25 / 3)
    assert total.pass_k is not None
    assert total.pass_k.value == pytest.approx(0.5)


def test_k_is_the_most_attempts_a_policy_made_and_tasks_with_fewer_are_left_out_of_it() -> None:
    rates = pass_rates([tried("a1", 1, 4), tried("a2", 0, 3), tried("a1", 1, 1, "teacher")])
    model, teacher = (rate for rate in rates if rate.template is None)
    assert (model.policy, model.k, model.tasks, model.tasks_k) == ("model", 4, 2, 1)
    assert model.pass_k is not None
    assert model.pass_k.value == 1
    assert (teacher.policy, teacher.k, teacher.tasks_k) == ("teacher", 1, 1)


def test_no_task_with_k_attempts_has_no_pass_at_k() -> None:
    rates = pass_rates([tried("a1", 1, 2)], k=3)
    assert [(rate.pass_k, rate.tasks_k) for rate in rates] == [(None, 0)] * 2
    assert any("no task has 3 attempts" in line for line in pass_rate_lines(rates))


def test_tasks_of_two_runs_are_paired_by_template() -> None:
    first = [tried("a1", 0, 1), tried("a2", 1, 1), tried("a3", 1, 1), tried("b1", 1, 1)]
    second = [tried("a1", 1, 2), tried("a2", 2, 2), tried("a4", 0, 2), tried("c1", 1, 2)]
    total, a, b, c = compare_runs(first, second)
    assert (a.template, a.shared, a.only_first, a.only_second) == (
        "a",
        ("a1", "a2"),
        ("a3",),
        ("a4",),
    )
    assert a.first is not None
    assert a.second is not None
    assert a.difference is not None
    assert (a.first.value, a.second.value, a.difference.value) == (0.5, 0.75, 0.25)
    assert a.difference.low < 0.25 < a.difference.high
    assert (b.template, b.shared, b.only_first, b.second, b.difference) == (
        "b",
        (),
        ("b1",),
        None,
        None,
    )
    assert (c.template, c.only_second, c.first) == ("c", ("c1",), None)
    assert total.template is None
    assert total.shared == ("a1", "a2")
    assert (total.only_first, total.only_second) == (("a3", "b1"), ("a4", "c1"))


def test_a_template_of_which_no_task_is_in_both_is_compared_as_two_samples() -> None:
    first = [tried(f"a{n}", n < 8, 1) for n in range(10)]
    second = [tried(f"a{n}", n < 15, 1) for n in range(10, 20)]
    _, a = compare_runs(first, second)
    assert a.shared == ()
    assert a.difference is not None
    assert a.difference.value == pytest.approx(0.5 - 0.8)
    # Newcombe: √((0.5 - l)² + (u - 0.8)²) below and √((u - 0.5)² + (0.8 - l)²) above
    (low1, high1), (low2, high2) = wilson(8, 10), wilson(5, 10)
    assert a.difference.low == pytest.approx(-0.3 - ((0.5 - low2) ** 2 + (high1 - 0.8) ** 2) ** 0.5)
    assert a.difference.high == pytest.approx(
        -0.3 + ((high2 - 0.5) ** 2 + (0.8 - low1) ** 2) ** 0.5
    )


def test_attempts_of_all_policies_at_a_task_are_one_share() -> None:
    first = [tried("a1", 1, 1, "teacher"), tried("a1", 0, 3)]
    _, a = compare_runs(first, first)
    assert a.first is not None
    assert a.first.value == 0.25


def test_a_run_compared_with_itself_differs_by_nothing() -> None:
    run = [tried(f"a{n}", n % 2, 1) for n in range(20)]
    for one in compare_runs(run, run):
        assert one.difference is not None
        assert one.difference.value == 0
        assert one.difference.low < 0 < one.difference.high


def test_nothing_that_counts_is_said_by_no_table() -> None:
    assert list(pass_rate_lines(pass_rates([]))) == []
    (total,) = compare_runs([], [])
    assert (total.first, total.second, total.difference) == (None, None, None)


def test_figures_for_people_have_percent_and_an_interval() -> None:
    lines = list(pass_rate_lines(pass_rates([tried("a1", 1, 4), tried("a2", 4, 4)], k=2)))
    assert lines[2].split()[:5] == ["template", "policy", "tasks", "attempts", "pass@1"]
    assert lines[2].split()[5:] == ["95", "%", "pass@k", "95", "%"]
    assert lines[3].split("  ")[0] == "all"
    assert "62.5 %  14 to 94" in lines[3]
    assert "@2 75.0 %" in lines[3]
    once = list(pass_rate_lines(pass_rates([tried("a1", 1, 1)])))
    assert "pass@k" not in once[2]


def test_a_comparison_for_people_names_the_runs_and_tasks_of_one_alone() -> None:
    first = [tried(f"a{n}", 0, 1) for n in range(6)]
    lines = list(comparison_lines(compare_runs(first, [tried("a0", 1, 1)]), "runs/a", "runs/b"))
    assert lines[:2] == ["A        runs/a", "B        runs/b"]
    (row,) = (line for line in lines if line.startswith("a  "))
    assert row.split()[:8] == ["a", "1", "5", "0", "0.0", "%", "100.0", "%"]
    assert "+100.0 %" in row
    assert lines[-1] == "only A   a: task a1, a2, a3 and 2 more (--json has all)"


def test_two_sites_with_a_template_of_one_name_are_two_figures() -> None:
    run = [tried("a1", 1, 1), tried("a2", 0, 1, site="wiki")]
    rates = [rate for rate in pass_rates(run) if rate.template is not None]
    assert [(rate.site, rate.template, rate.pass_1.value) for rate in rates] == [
        ("wiki", "a", 0),
        ("shop", "a", 1),
    ]
    found = compare_runs(run, run)
    assert [(one.site, one.template, one.shared) for one in found] == [
        (None, None, ("a1", "a2")),
        ("shop", "a", ("a1",)),
        ("wiki", "a", ("a2",)),
    ]


def test_sites_are_named_where_there_are_several() -> None:
    run = [tried("a1", 1, 1), tried("a2", 0, 1, site="wiki")]
    shown = [*pass_rate_lines(pass_rates(run)), *comparison_lines(compare_runs(run, []), "A", "B")]
    heads = [line for line in shown if line.startswith("site")]
    assert [head.split()[:2] for head in heads] == [["site", "template"]] * 2
    starts = [line.split()[:2] for line in shown if line.startswith(("shop", "wiki", "all"))]
    assert starts[1:3] == [["wiki", "a"], ["shop", "a"]]
    assert starts[4:] == [["shop", "a"], ["wiki", "a"]]
    assert shown[-1] == "only A   wiki  a: task a2"
