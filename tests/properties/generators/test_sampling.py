"""A sample is exactly as large as was asked, even over sites and templates, and decided by its seed alone."""

from collections import Counter
from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from generators.tasks.sampling import Stratum, draw_tasks
from generators.tasks.site_offers import SiteOffer, Template, make_template_task
from schemas.tasks.task import MAX_SEED, Task

EVERYTHING = range(MAX_SEED + 1)
SEEDS = st.integers(0, MAX_SEED)
WORLDS = st.dictionaries(
    st.sampled_from("abcd"),
    st.dictionaries(
        st.sampled_from("uvwxyz"),
        st.one_of(st.integers(0, 6), st.just(MAX_SEED)),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=4,
)
"""How many tasks each template of each site has."""

World = dict[str, dict[str, int]]


def strata(world: World) -> list[Stratum]:
    return [
        stratum(site, template, size, offer)
        for site, templates in world.items()
        for offer in [
            SiteOffer(site, "1", {name: Template("http://x.test/") for name in templates})
        ]
        for template, size in templates.items()
    ]


def stratum(site: str, template: str, size: int, offer: SiteOffer) -> Stratum:
    """Return a stratum of which half, where that is not too many, are a file's tasks."""
    others = size // 2 if size < MAX_SEED else 0
    tasks = [
        make_template_task(offer, template, seed=seed, source=site, parameters={"a": 1})
        for seed in range(others)
    ]
    return Stratum(offer, template, range(size - others), {}, tuple(tasks))


def drawn(among: Sequence[Stratum], count: int, seed: int = 0) -> list[Task]:
    return list(draw_tasks(among, count=count, seed=seed))


def check_even(given_: dict[str, int], there_are: dict[str, int]) -> None:
    """Whoever has tasks left gave at least as many as anyone else but one."""
    largest = max(given_.values(), default=0)
    for name, count in given_.items():
        assert count <= there_are[name]
        assert count == there_are[name] or count >= largest - 1


@given(WORLDS, st.integers(1, 60), SEEDS)
def test_a_sample_is_as_large_as_asked_or_all_there_are_and_repeats_nothing(
    world: World, count: int, seed: int
) -> None:
    tasks = drawn(strata(world), count, seed)
    total = sum(sum(sizes.values()) for sizes in world.values())
    assert len(tasks) == min(count, total)
    assert len({task.task_id for task in tasks}) == len(tasks)


@given(WORLDS, st.integers(1, 60), SEEDS)
def test_a_sample_is_even_over_sites_and_over_the_templates_of_each(
    world: World, count: int, seed: int
) -> None:
    tasks = drawn(strata(world), count, seed)
    by_site = Counter(task.site for task in tasks)
    check_even(
        {site: by_site[site] for site in world},
        {site: sum(sizes.values()) for site, sizes in world.items()},
    )
    for site, sizes in world.items():
        by_template = Counter(task.template_id for task in tasks if task.site == site)
        check_even({name: by_template[name] for name in sizes}, sizes)


@given(WORLDS, st.integers(1, 40), SEEDS, st.randoms())
def test_a_sample_does_not_depend_on_the_order_of_what_it_is_drawn_from(
    world: World, count: int, seed: int, random: Random
) -> None:
    there_are = strata(world)
    shuffled = random.sample(there_are, len(there_are))
    one, other = drawn(there_are, count, seed), drawn(shuffled, count, seed)
    assert {task.task_id for task in one} == {task.task_id for task in other}


@given(WORLDS, st.integers(1, 30), st.integers(1, 30), SEEDS)
def test_a_larger_sample_holds_every_task_of_a_smaller_one(
    world: World, count: int, more: int, seed: int
) -> None:
    small, large = drawn(strata(world), count, seed), drawn(strata(world), count + more, seed)
    assert {task.task_id for task in small} <= {task.task_id for task in large}


def test_another_seed_draws_other_tasks() -> None:
    world = {"a": {"u": MAX_SEED, "v": MAX_SEED}}
    one, other = drawn(strata(world), 20, 1), drawn(strata(world), 20, 2)
    assert {task.task_id for task in one}.isdisjoint(task.task_id for task in other)


def test_what_a_seed_draws_is_promised() -> None:
    tasks = drawn(strata({"a": {"u": 10, "v": 3}, "b": {"u": MAX_SEED}}), 6, 7)
    named = sorted((task.site, task.template_id, task.seed, *task.parameters) for task in tasks)
    assert named == PROMISED


def test_every_seed_there_is_can_be_drawn_from() -> None:
    offer = SiteOffer("a", "1", {"u": Template("http://x.test/")})
    tasks = drawn([Stratum(offer, "u", EVERYTHING, {}, ())], 50)
    assert len({task.seed for task in tasks}) == 50
    assert max(task.seed for task in tasks) > MAX_SEED // 2


PROMISED: list[tuple[object, ...]] = [
    ("a", "u", 3),
    ("a", "v", 0),
    ("a", "v", 0, "a"),
    ("b", "u", 1558736253000790696),
    ("b", "u", 4754592631161381522),
    ("b", "u", 8868515981207883462),
]
"""What a run of the same seed draws with any version of Python, on any machine."""
