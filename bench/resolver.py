"""Measure how many goals of worlds the resolver reads, and whether as their tasks mean them.

For each kind of task, in the languages that the resolver reads: how many goals have the one reading that comes to the task's
expectation, how many are read otherwise, and how many are refused. Goals are taken as they are worded first: those of tasks are
worded anew until the resolver reads one (`.venv/bin/python -m bench.resolver --seeds 4`). Beside them are messages that people
wrote who had been told what is to be done and no goal (`measuring/messages.jsonl`). The CPU time is of a goal, without that of a
world's vocabulary, which its first goal needs; that of a task is without and with reading, its world being drawn.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from statistics import median, quantiles

from bench.measuring.result import report
from generators.tasks.resolver.agreement import agrees
from generators.tasks.resolver.reading import Reading
from generators.tasks.resolver.resolve import Resolver
from generators.tasks.resolver.words import ENGLISH
from generators.tasks.resolver.words import languages as languages_read
from generators.tasks.worlds.draw import draw_task, kinds_of
from generators.worlds.drawing.draw import FOLDER, draw_whole
from schemas.errors import BadTasks
from schemas.tasks.expectation import Expectation
from schemas.tasks.task import Task

_MILLIS = 1000

MESSAGES = Path(__file__).with_name("measuring") / "messages.jsonl"
"""Messages that people wrote, each with the world that it is about and what it asks for."""

MIN_RIGHT = 0.97
"""The least share of English goals that have the one reading of their task."""

MIN_ELSEWHERE = 0.9
"""The same of goals in each other language that the resolver reads."""

MAX_MILLIS = 5.0
"""The most that half of those goals may take, in milliseconds of CPU time."""


@cache
def _resolver(family: str, seed: int) -> tuple[Resolver, float]:
    """Return the resolver of a world, and the milliseconds that its first goal takes."""
    resolver, start = Resolver(*draw_whole(family, seed)), time.process_time()
    resolver.read("?")
    return resolver, _MILLIS * (time.process_time() - start)


def judge(family: str, seed: int, goal: str, expect: Expectation) -> tuple[str, float]:
    """Return how a goal is read in a world, and in how many milliseconds."""
    resolver, _ = _resolver(family, seed)
    start = time.process_time()
    read = resolver.read(goal)
    millis = _MILLIS * (time.process_time() - start)
    if agrees(read, expect, draw_whole(family, seed)[0]):
        return "right", millis
    return ("wrong" if isinstance(read, Reading) else "refused"), millis


def _judge(task: Task) -> tuple[str, float]:
    family, seed = str(task.parameters["family"]), int(str(task.parameters["world"]))
    return judge(family, seed, task.instruction, task.expect or Expectation())


def messages() -> Counter[str]:
    """Return how the messages of people are read."""
    told = (json.loads(line) for line in MESSAGES.read_text(encoding="utf-8").splitlines())
    return Counter(
        judge(
            one["family"],
            one["seed"],
            one["message"],
            Expectation.model_validate_json(json.dumps(one["expect"])),
        )[0]
        for one in told
    )


def _language(task: Task) -> str:
    family, seed = str(task.parameters["family"]), int(str(task.parameters["world"]))
    return draw_whole(family, seed)[0].language.value


def _counts(of: dict[str, Counter[str]]) -> dict[str, dict[str, int]]:
    return {name: dict(sorted(told.items())) for name, told in sorted(of.items())}


def _are_right(languages: Mapping[str, Counter[str]]) -> bool:
    """Return whether no goal is read otherwise than meant, and enough are read in each language that the resolver reads."""
    read = {name: told for name, told in languages.items() if name in languages_read()}
    return all(
        told["right"] >= told.total() * (MIN_RIGHT if name == ENGLISH else MIN_ELSEWHERE)
        and not told["wrong"]
        for name, told in read.items()
    )


def _draw(seed: int, *, as_worded: bool) -> tuple[list[tuple[str, Task]], float]:
    """Return a task of each kind and family, and the milliseconds of CPU time that it takes: as worded, or as read."""
    start, out = time.process_time(), list[tuple[str, Task]]()
    for family in sorted(path.stem for path in FOLDER.glob("*.toml")):
        for kind in kinds_of(family):
            with suppress(BadTasks):
                out.append((kind, draw_task(f"{family}/{kind}", seed, as_worded=as_worded)))
    return out, _MILLIS * (time.process_time() - start)


def main() -> None:
    """Draw goals, read them, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2, help="seeds of each family")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    asked = parser.parse_args()
    kinds: dict[str, Counter[str]] = {}
    languages: dict[str, Counter[str]] = {}
    times, spent, count = list[float](), Counter[bool](), 0
    for seed in range(asked.first, asked.first + asked.seeds):
        _draw(seed, as_worded=True)  # the worlds, which both are drawn from
        worded, millis = _draw(seed, as_worded=True)
        spent[True] += round(millis)
        spent[False] += round(_draw(seed, as_worded=False)[1])
        count += len(worded)
        for kind, task in worded:
            told, millis = _judge(task)
            languages.setdefault(_language(task), Counter())[told] += 1
            if _language(task) in languages_read():
                kinds.setdefault(kind, Counter())[told] += 1
                times.append(millis)
    total = sum(kinds.values(), Counter[str]())
    report(
        {
            "bench": "resolver",
            "seeds": [asked.first, asked.first + asked.seeds - 1],
            "goals": total.total(),
            **{
                f"{name}_share": round(total[name] / total.total(), 4)
                for name in ("right", "wrong", "refused")
            },
            "task_ms_as_worded": round(spent[True] / count, 1),
            "task_ms": round(spent[False] / count, 1),
            "goal_ms_median": round(median(times), 2),
            "goal_ms_p95": round(quantiles(times, n=20)[-1], 2),
            "min_right_share": MIN_RIGHT,
            "min_right_share_elsewhere": MIN_ELSEWHERE,
            "max_goal_ms": MAX_MILLIS,
            "held": _are_right(languages) and median(times) <= MAX_MILLIS,
            "messages": dict(sorted(messages().items())),
            "languages": _counts(languages),
            "kinds": _counts(kinds),
        }
    )


if __name__ == "__main__":
    main()
