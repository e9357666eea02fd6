from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from support.episodes.factories import RUN_ID, make_task

from flows.job.config_loader import Sources, load
from flows.job.plan import count_by_policy, draw_policy, plan_units
from schemas.configuration.config import RunConfig
from schemas.tasks.task import Task


def _config(*settings: str) -> RunConfig:
    return load(Sources(settings=settings), {})


def _tasks(count: int) -> list[Task]:
    return [make_task(seed=seed) for seed in range(count)]


def test_planning_twice_gives_the_same_units() -> None:
    config = _config("tasks.unit_size=3")

    assert plan_units(config, _tasks(10), run_id=RUN_ID) == plan_units(
        config, _tasks(10), run_id=RUN_ID
    )


@settings(max_examples=25)
@given(count=st.integers(1, 40), attempts=st.integers(1, 5), size=st.integers(1, 20))
def test_every_attempt_is_in_exactly_one_unit(count: int, attempts: int, size: int) -> None:
    config = _config(f"tasks.attempts={attempts}", f"tasks.unit_size={size}")
    tasks = _tasks(count)

    plan = plan_units(config, tasks, run_id=RUN_ID)

    planned = [(one.task.task_id, one.attempt) for unit in plan for one in unit.attempts]
    wanted = [(task.task_id, attempt) for task in tasks for attempt in range(attempts)]
    assert planned == wanted
    assert len({one.episode_id for unit in plan for one in unit.attempts}) == len(wanted)
    assert len({unit.unit_id for unit in plan}) == len(plan)


@settings(max_examples=25)
@given(attempts=st.integers(1, 30), size=st.integers(1, 20))
def test_a_task_is_never_cut_in_two(attempts: int, size: int) -> None:
    config = _config(f"tasks.attempts={attempts}", f"tasks.unit_size={size}")

    plan = plan_units(config, _tasks(7), run_id=RUN_ID)

    assert all(len(unit.attempts) == len(unit.tasks) * attempts for unit in plan)
    assert all(len(unit.attempts) <= max(size, attempts) for unit in plan)


@settings(max_examples=25)
@given(counts=st.tuples(st.integers(1, 9), st.integers(1, 9)), size=st.integers(1, 8))
def test_without_the_tasks_of_a_site_the_units_of_the_others_are_the_same(
    counts: tuple[int, int], size: int
) -> None:
    config = _config(f"tasks.unit_size={size}")
    others = _tasks(counts[0])
    own = [task.model_copy(update={"site": "fossil"}) for task in _tasks(counts[1])]

    both = plan_units(config, [*own, *others], run_id=RUN_ID)

    without = plan_units(config, others, run_id=RUN_ID)
    assert tuple(unit for unit in both if unit.tasks[0].site != "fossil") == without


def test_another_run_has_other_ids_and_the_same_policies() -> None:
    config = _config('policies=[{name="teacher"}, {name="clumsy"}]')

    one = plan_units(config, _tasks(20), run_id=RUN_ID)
    other = plan_units(config, _tasks(20), run_id="b" * 32)

    assert not {unit.unit_id for unit in one} & {unit.unit_id for unit in other}
    assert [a.policy for unit in one for a in unit.attempts] == [
        a.policy for unit in other for a in unit.attempts
    ]


def test_policies_are_drawn_in_proportion_to_their_shares() -> None:
    config = _config('policies=[{name="teacher", share=3}, {name="clumsy", share=1}]')

    drawn = count_by_policy(config, _tasks(1_000))

    assert drawn.keys() == {"teacher", "clumsy"}
    assert 700 < drawn["teacher"] < 800


def test_one_policy_gets_everything() -> None:
    assert count_by_policy(_config("policy.name=clumsy"), _tasks(10)) == {"clumsy": 10}


def test_attempts_at_one_task_draw_for_themselves() -> None:
    config = _config('policies=[{name="teacher"}, {name="clumsy"}]')
    [task] = _tasks(1)

    drawn = Counter(draw_policy(config, task, attempt).name for attempt in range(100))

    assert min(drawn.values()) > 30


def test_attempts_at_one_task_are_spread_over_the_shares() -> None:
    """Two halves make one attempt each of two, and of a power of two every share makes its part."""
    equal = _config('policies=[{name="teacher"}, {name="clumsy"}]')
    uneven = _config('policies=[{name="teacher", share=3}, {name="clumsy"}]')
    for task in _tasks(30):
        two = [draw_policy(equal, task, attempt).name for attempt in range(2)]
        eight = Counter(draw_policy(uneven, task, attempt).name for attempt in range(8))

        assert sorted(two) == ["clumsy", "teacher"]
        assert eight == {"teacher": 6, "clumsy": 2}


def test_each_policy_makes_the_first_attempt_as_often_as_its_share_says() -> None:
    mix = _config('policies=[{name="teacher", share=3}, {name="clumsy"}]')
    first = Counter(draw_policy(mix, task, 0).name for task in _tasks(400))

    assert 260 < first["teacher"] < 340


def test_another_seed_draws_otherwise() -> None:
    mix = 'policies=[{name="teacher"}, {name="clumsy"}]'
    tasks = _tasks(50)

    one = [draw_policy(_config(mix), task, 0) for task in tasks]
    other = [draw_policy(_config(mix, "run.seed=1"), task, 0) for task in tasks]

    assert one != other
