#!/usr/bin/env python3
"""Writes the figures of `bench/grpo.py` into `docs/training.md`: what a tiny policy gained by training on live seats."""

from collections.abc import Iterator
from pathlib import Path

from columns import Parts, line, renew
from limits import Result
from performance import read_result

PAGE = Path(__file__).with_name("training.md")
ARMS = {"trained": "judged by the site", "control": "control: rewards dealt out anew"}


def _interval(found: Result) -> str:
    mean, low, high = (100 * found[key] for key in ("mean", "low", "high"))
    return f"{mean:+.1f} points [{low:+.1f}, {high:+.1f}]"


def _grpo() -> Iterator[str]:
    result = read_result("grpo")
    plan, seeds = result["plan"], result["seeds"]
    episodes = plan["steps"] * plan["groups"] * plan["group"]
    kinds = ", ".join(f"`{kind}`" for kind in plan["kinds"])
    yield f"Measured on {result['date']} ({result['machine']}, load average {result['load_average']}):"
    yield f"{result['parameters']:,} parameters, warmed on {result['rows']} replies of the teacher; {kinds};"
    yield f"{len(seeds)} seeds; {plan['steps']} steps of {plan['groups']} tasks with {plan['group']} episodes each,"
    yield f"{episodes} in all; {plan['held_out_tasks']} tasks held out. The slowest seed took {result['slowest_seconds']:,.0f} s"
    beside = result["side_by_side"]
    yield "without its control" + (f", {beside} of them side by side." if beside > 1 else ".")
    yield ""
    yield "| | before | after, seed by seed | gained, with its 95 % interval |"
    yield "|---|---|---|---|"
    for arm, name in ARMS.items():
        found = [one for one in seeds if arm in one]
        gained = result["gained"] if arm == "trained" else result["control_gained"]
        if found:
            before = ", ".join(f"{one['before']['all']:.0%}" for one in found)
            after = ", ".join(f"{one[arm]['after']['all']:.0%}" for one in found)
            yield line(name, before, after, _interval(gained))
    yield ""
    gained = result["gained_by_kind"].items()
    parts = [f"`{kind}` {_interval(found)}" for kind, found in gained]
    yield f"By kind: {'; '.join(parts)}."


PARTS: Parts = {"grpo": _grpo}


if __name__ == "__main__":
    renew(PAGE, PARTS)
