"""Draws tasks of a world from a seed, evenly over the kinds that the world supports.

The same world, rows, seed and count give the same tasks in every process.
"""

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from random import Random

from generators.sites.gates import leak_gates
from generators.tasks.resolver.agreement import agrees
from generators.tasks.resolver.resolve import Resolver
from generators.tasks.resolver.words import languages as readable
from generators.tasks.worlds.faults import with_fault
from generators.tasks.worlds.ground.grammar import (
    Grammar,
    grammar,
    languages,
    spread,
)
from generators.tasks.worlds.ground.results import with_results
from generators.tasks.worlds.ground.task import IMPOSSIBLE, Draft, WorldTask, measure, to_task
from generators.tasks.worlds.ground.task_kind import TaskKind
from generators.tasks.worlds.ground.wording import Goal, word
from generators.tasks.worlds.ground.world_rows import MIN_SIBLINGS, Setting
from generators.tasks.worlds.kinds import KINDS
from generators.tasks.worlds.kinds.permissions import oversteps
from generators.tasks.worlds.leaks import constraint_in_answer, shortcut_that_pays
from generators.tasks.worlds.references.grounds import with_grounds
from generators.tasks.worlds.references.manners import in_manner
from generators.tasks.worlds.references.sheets import from_home, with_ways_out
from generators.tasks.worlds.references.steps import Steps, around_noise, open_untold_lists
from generators.tasks.worlds.references.thoughts import think
from generators.worlds.drawing.draw import draw_whole, has_pattern
from generators.worlds.state.database import Rows
from schemas.errors import BadTasks
from schemas.tasks.expectation import Matches
from schemas.tasks.reference import MAX_STEPS, Purpose
from schemas.tasks.selector import Difficulty as Asked
from schemas.tasks.task import Task
from schemas.worlds.world import SITE, World

_WORLDS = 20
"""Maximum number of worlds tried for a kind and seed."""

_FURTHER = 2**40
"""The distance between the seeds of these worlds, larger than seeds in use."""

_WORDINGS = 4
"""Maximum number of goals that are worded for a draft until the resolver reads one as its task."""

_CHOICE = 12
"""The number of a world's first tasks among which the one nearest to what is asked for is taken."""

_TRIES = 90
"""Maximum number of consecutive draws without a new task before a kind counts as exhausted."""


def draw_tasks(world: World, rows: Rows, seed: int, count: int) -> list[WorldTask]:
    """Return tasks of a world with different goals; fewer than `count` if the world has no more.

    Kinds take turns, in random order.
    """
    setting, name = Setting(world, rows), world.sha256
    order = Random(f"kinds {name} {seed}").sample(sorted(KINDS), len(KINDS))
    turns = deque(_tasks(setting, KINDS[kind], seed, name) for kind in order)
    drawn: list[WorldTask] = []
    while turns and len(drawn) < count:
        tasks = turns.popleft()
        task = next(tasks, None)
        if task is not None:
            drawn.append(task)
            turns.append(tasks)
    return drawn


def kinds_of(family: str) -> list[str]:
    """Return the kinds of tasks that worlds of a shipped family can have."""
    kinds = KINDS.values()
    return [one.name for one in kinds if one.needs is None or has_pattern(family, one.needs)]


def draw_task(
    template_id: str,
    seed: int,
    faults: float = 0.0,
    difficulty: Asked | None = None,
    *,
    as_worded: bool = False,
) -> Task:
    """Return a kind's first task in the world of a seed, or in a further world if that has no such task.

    `template_id` is the family and the kind, as `shop/find`; `faults` is the share of tasks whose site has a fault.
    `difficulty` is what is asked for: of a world's first tasks the nearest is taken, and its parameters record it.
    `as_worded` takes goals that the resolver does not read, as a measure of it needs them.

    Raises:
        BadTasks: none of the worlds tried has such a task.
    """
    family, kind = template_id.split("/")
    for attempt in range(_WORLDS):
        rows = None if difficulty is None else difficulty.rows
        world, setting = _world_and_setting(family, seed + attempt * _FURTHER, rows)
        tasks = _tasks(
            setting,
            KINDS[kind],
            seed,
            world.sha256,
            as_worded=as_worded,
            any_siblings=difficulty is not None and difficulty.distractors is not None,
        )
        task = _nearest(tasks, difficulty)
        if task is None:
            continue
        chance = Random(f"fault {template_id} {seed}")
        wanted = None if difficulty is None else difficulty.faults
        if chance.random() < (faults if wanted is None else wanted):
            task = with_fault(setting, task, chance)
        return to_task(world, task)
    raise BadTasks(
        f"worlds: none of {_WORLDS} worlds of the family '{family}' has a task of the kind '{kind}' for seed "
        f"{seed}: leave {template_id} out by tasks.exclude"
    )


def _nearest(tasks: Iterator[WorldTask], asked: Asked | None) -> WorldTask | None:
    """Return the first task, or of the first ones that with the distractors and steps asked for; None: there is none."""
    if asked is None:
        return next(tasks, None)
    is_measured = asked.distractors is not None or asked.steps is not None
    among = islice(tasks, _CHOICE if is_measured else 1)
    found = min(among, key=lambda one: _distance(one, asked), default=None)
    return None if found is None else found.model_copy(update={"asked": asked})


def _distance(task: WorldTask, asked: Asked) -> float:
    """Return how far a task is from what is asked for, in parts of it."""
    steps = task.difficulty.actions if task.difficulty is not None else 0
    pairs = ((asked.distractors, task.distractors or 0), (asked.steps, steps))
    return sum(abs(has - wanted) / max(1, wanted) for wanted, has in pairs if wanted is not None)


def is_in_further_world(task: Task) -> bool:
    """Return whether a task is set in another world than its seed's, because that has no task of its kind."""
    return task.site == SITE and task.parameters.get("world") != task.seed


@lru_cache(maxsize=64)  # a world's tasks are of many kinds
def _world_and_setting(family: str, seed: int, count: int | None) -> tuple[World, Setting]:
    world, rows = draw_whole(family, seed, count)
    return world, Setting(world, rows)


def _tasks(
    setting: Setting,
    kind: TaskKind,
    seed: int,
    name: str,
    *,
    as_worded: bool = False,
    any_siblings: bool = False,
) -> Iterator[WorldTask]:
    """Yield tasks of a kind; `name` seeds the draws.

    Tasks with few distractors are skipped until a third of the consecutive draws have failed, unless any number of
    them will do.
    """
    if setting.world.language not in languages():
        return
    goals: set[str] = set()
    number = failed = 0
    while failed < _TRIES:
        stream = f"{kind.name} {name} {seed} {number}"
        random = Random(stream)
        number, failed = number + 1, failed + 1
        draft = kind.draw(setting, random)
        if draft is None or oversteps(setting, draft):
            continue
        style = Random(f"style {stream}")
        worded = _word_readably(
            setting, draft, kind, seed, random=random, style=style, stream=stream
        )
        task = next((one for one in worded if as_worded or has_one_reading(setting, one)), None)
        if task is None:
            continue
        goal = f"{task.expect.model_dump_json()} {draft.reference}"
        is_easy = task.distractors is not None and task.distractors < MIN_SIBLINGS
        if is_easy and not any_siblings and failed < _TRIES // 3:
            continue
        if goal not in goals and is_earned(setting, task):
            failed = 0
            goals.add(goal)
            yield task


@lru_cache(maxsize=64)
def _resolver(setting: Setting) -> Resolver:
    return Resolver(setting.world, setting.rows)


def _word_readably(
    setting: Setting,
    draft: Draft,
    kind: TaskKind,
    seed: int,
    *,
    random: Random,
    style: Random,
    stream: str,
) -> Iterator[WorldTask]:
    """Yield the task of a draft with its goal, then with others in other words."""
    for number in range(_WORDINGS):
        words = random if number == 0 else Random(f"words {number} {stream}")
        task = _word_task(setting, draft, kind, seed, random=words, style=style)
        if task is not None:
            yield task


def has_one_reading(setting: Setting, task: WorldTask) -> bool:
    """Return whether the resolver, who knows the goal and the world alone, understands the task that is meant.

    Goals in a language that it does not read are taken as they are.
    """
    if setting.world.language.value not in readable():
        return True
    read = _resolver(setting).read(task.instruction)
    return agrees(read, task.expect, setting.world)


def is_earned(setting: Setting, task: WorldTask) -> bool:
    """Return whether a task neither reveals its answer nor rewards a shortcut."""
    given_away = leak_gates(to_task(setting.world, task), start_words(setting.world))
    return (
        next(given_away, None) is None
        and not constraint_in_answer(setting, task)
        and not shortcut_that_pays(setting, task)
    )


def _word_task(
    setting: Setting, draft: Draft, kind: TaskKind, seed: int, *, random: Random, style: Random
) -> WorldTask | None:
    """Return the task of a draft, its reference in a manner that `style` draws; None: it is too long, or has no words."""
    worded = KINDS[draft.like] if draft.like else kind
    rules = grammar(setting.world.language)
    goal = word(setting, worded, draft.words, random, rules=rules)
    if goal is None:
        return None
    draft = _with_reply(draft, goal, rules, random) if draft.expect.answer == IMPOSSIBLE else draft
    plan = around_noise(setting, _way(setting, draft.reference))
    steps = in_manner(setting, draft.reference, goal=goal, words=draft.words, random=style)
    steps = with_grounds(setting, steps, goal=goal, words=draft.words)
    way = around_noise(setting, _way(setting, steps))
    if len(way) > MAX_STEPS:
        return None
    return WorldTask(
        kind=kind.name,
        seed=seed,
        instruction=goal.text,
        told=goal.told,
        masked=goal.masked,
        manners=goal.manners,
        expect=with_results(setting, draft.expect, draft.reference),
        reference=think(open_untold_lists(way, goal.told), goal.told, draft.answer_kind, random),
        difficulty=measure(plan, draft.expect, goal.told, _places(setting)),
        answer_kind=draft.answer_kind,
        distractors=setting.alike(draft.words.values()) if draft.near is None else draft.near,
    )


def _with_reply(draft: Draft, goal: Goal, rules: Grammar, random: Random) -> Draft:
    """Return the draft of an impossible task that accepts whatever says so, and answers in words of its own.

    Where the goal says what to answer then, it is answered so.
    """
    expect = draft.expect.model_copy(update={"answer": Matches(matches=rules.refusals)})
    if "refusal" in goal.manners:
        return draft._replace(expect=expect)
    *steps, last = draft.reference
    said = spread(random.choice(rules.replies), random)
    reply = last.model_copy(update={"text": said, "purpose": Purpose.REFUSE})
    return draft._replace(expect=expect, reference=(*steps, reply))


def _way(setting: Setting, steps: Steps) -> Steps:
    """Return a reference as the website's pages lead."""
    return from_home(setting, with_ways_out(setting, steps))


def _places(setting: Setting) -> set[str]:
    """Return the texts of links to lists and to rows' pages."""
    titles = (title for entity in setting.world.entities for title in setting.titles(entity))
    return {*(view.label for view in setting.world.views), *titles}


def start_words(world: World) -> str:
    """Return the words of the page on which a world's tasks start."""
    words = [world.title, world.user, world.words.home]
    for view in world.views:
        entity = world.entity(view.entity)
        words += [view.label, *(entity.field(column).label for column in view.columns)]
    return "\n".join(words)
