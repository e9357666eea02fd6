"""Operates components and says what became of each.

    python -m widgets.run [KIT [COMPONENT ...]]    # in tests/; everything without names

Two at a time, in one browser.
"""

import asyncio
import sys
import time
from collections.abc import Iterable

from widgets.kits import Component, Kit, kits
from widgets.operate import Outcome, operate, served

AT_ONCE = 2


async def operate_all(chosen: Iterable[tuple[Kit, Component]]) -> dict[tuple[str, str], Outcome]:
    """Operate components, two at a time in one browser; return what became of each, by kit and name."""
    waiting, outcomes = list(chosen)[::-1], dict[tuple[str, str], Outcome]()

    async def work() -> None:
        while waiting:
            kit, component = waiting.pop()
            began = time.monotonic()
            outcome = await operate(kit, component)
            outcomes[kit.name, component.name] = outcome
            is_stated = outcome.operated is (component.fails is None)
            is_stated &= outcome.generic is (component.beyond is None)
            told = "as stated" if is_stated else f"NOT AS STATED: {outcome}"
            took = f"{time.monotonic() - began:.1f} s"
            sys.stderr.write(f"{kit.name} {component.name} {told}, {took}\n")

    async with served(), asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work())
    return outcomes


def main(names: list[str]) -> None:
    """Operate what is named."""
    asked = [kits()[names[0]]] if names else list(kits().values())
    chosen = [
        (kit, one)
        for kit in asked
        for one in kit.component.values()
        if not names[1:] or one.name in names[1:]
    ]
    outcomes = asyncio.run(operate_all(chosen))
    operated = sum(one.operated for one in outcomes.values())
    generic = sum(one.generic for one in outcomes.values())
    sys.stdout.write(f"{len(outcomes)} acted on, {operated} operated, {generic} generic\n")


if __name__ == "__main__":
    main(sys.argv[1:])
