"""How goals of worlds are said: what they quote, how they vary, and in which manners they are made.

Tasks of worlds of all families in turn are drawn, whose kinds take turns. Of their goals it prints

* `quotes_nothing`: the share without a quotation mark;
* `distinct_4`: the share of distinct runs of four words in small letters, where a mark stands for each value, title, drawn
  name and number;
* `requests`: the share of distinct goals so masked;
* `manners`: the share made in each manner (`generators/tasks/worlds/ground/wording.py`);
* `announced`: the shares of impossible and of possible goals that say what to answer if it cannot be done; of the former more
  are drawn;
* `words`: the shortest, the median and the longest goal, in words.

`--print` prints so many of the goals, with their kinds and manners, to be read.
"""

import argparse
import re
import statistics
import sys
from collections import Counter
from typing import cast

from bench.measuring.result import report
from bench.worlds import named, runs
from generators.tasks.worlds.draw import draw_task, draw_tasks, kinds_of
from generators.tasks.worlds.ground.task import WorldTask
from generators.tasks.worlds.ground.wording import MASK
from generators.worlds.drawing.draw import FAMILIES, draw_whole

WORLDS, EACH, TWINS = 32, 28, 16
MIN_QUOTES_NOTHING, MIN_DISTINCT_4, MAX_ANNOUNCED, MAX_PERSON = 0.6, 0.75, 0.25, 0.25

QUOTES = re.compile(r"""(?<!\w)(["'«„])(?!impossible)[^"']""")
"""A quotation mark, but that of the one word that says that nothing can be done."""


def drawn(worlds: int, each: int, first: int) -> list[tuple[str, WorldTask]]:
    """Return tasks of worlds with their families."""
    found = list[tuple[str, WorldTask]]()
    for family, seed in named(worlds):
        world, rows = draw_whole(family, seed + first)
        found += ((family, task) for task in draw_tasks(world, rows, seed, each))
    return found


def words_of(task: WorldTask) -> str:
    """Return a masked goal in small letters, without punctuation and numbers."""
    bare = re.sub(r"\d+", MASK, task.masked.casefold())
    return " ".join(re.findall(rf"[\w'{MASK}]+", bare))


def manners_of_twins(each: int, first: int) -> list[tuple[str, ...]]:
    """Return the manners of goals that cannot be done, so many of each family."""
    tasks = (
        draw_task(f"{family}/impossible", seed + first)
        for family, seed in named(each * len(FAMILIES))
    )
    return [tuple(map(str, cast("list[str]", task.parameters["manners"]))) for task in tasks]


def measure(tasks: list[WorldTask], twins: list[tuple[str, ...]]) -> dict[str, object]:
    """Return the figures of goals; `twins` are the manners of those that cannot be done."""
    goals, quads = [words_of(task) for task in tasks], Counter[tuple[str, ...]]()
    for goal in goals:
        quads.update(runs(goal))
    manners = Counter(manner for task in tasks for manner in task.manners)
    lengths = sorted(len(task.instruction.split()) for task in tasks)
    announced = {
        name: round(sum("refusal" in one for one in some) / len(some), 3)
        for name, some in (
            ("impossible", twins),
            ("possible", [task.manners for task in tasks if task.kind != "impossible"]),
        )
    }
    quotes_nothing = sum(not QUOTES.search(task.instruction) for task in tasks)
    return {
        "goals": len(tasks),
        "kinds": len({task.kind for task in tasks}),
        "of_kinds": len({kind for family in FAMILIES for kind in kinds_of(family)}),
        "quotes_nothing": round(quotes_nothing / len(tasks), 3),
        "min_quotes_nothing": MIN_QUOTES_NOTHING,
        "distinct_4": round(len(quads) / quads.total(), 3),
        "min_distinct_4": MIN_DISTINCT_4,
        "requests": round(len(set(goals)) / len(goals), 3),
        "manners": {one: round(count / len(tasks), 3) for one, count in sorted(manners.items())},
        "max_person": MAX_PERSON,
        "impossible": len(twins),
        "announced": announced,
        "max_announced": MAX_ANNOUNCED,
        "words": [lengths[0], statistics.median(lengths), lengths[-1]],
        "held": quotes_nothing >= MIN_QUOTES_NOTHING * len(tasks)
        and len(quads) >= MIN_DISTINCT_4 * quads.total()
        and manners["person"] <= MAX_PERSON * len(tasks)
        and announced["impossible"] <= MAX_ANNOUNCED,
    }


def main() -> int:
    """Draw goals, and print their figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=WORLDS)
    parser.add_argument("--each", type=int, default=EACH, help="tasks of a world")
    parser.add_argument("--first", type=int, default=0, help="the offset of the worlds' seeds")
    parser.add_argument("--print", type=int, default=0, help="how many goals are printed")
    args = parser.parse_args()
    told = drawn(args.worlds, args.each, args.first)
    for family, task in told[:: max(1, len(told) // max(1, args.print))] if args.print else ():
        print(f"{family}/{task.kind} ({' '.join(task.manners)}): {task.instruction}")
    figures = measure([task for _, task in told], manners_of_twins(TWINS, args.first))
    report({"bench": "goals", **figures})
    return 0 if figures["held"] else 1


if __name__ == "__main__":
    sys.exit(main())
