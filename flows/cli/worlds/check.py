"""`stepmill worlds check`: check worlds of all families, and their tasks, with their gates."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence

from flows import signals
from flows.checks.tasks import GateKeeper
from flows.checks.worlds import WorldCheck, WorldKeeper, check_config, drawn_elsewhere
from flows.resources.browsers import open_browsers
from flows.terminal import (
    ExitCode,
    log_to_stderr,
    print_lines,
    print_note,
    print_result,
    strip_control_chars,
    table,
)
from generators.worlds.checking.crawl import WorldGate
from generators.worlds.drawing.draw import worlds_in_turn


def run(args: argparse.Namespace) -> int:
    """Carry the command out and return its exit code."""
    worlds = worlds_in_turn(
        args.worlds, first_seed=args.first_seed, family=args.family, language=args.language
    )
    log_to_stderr()
    checks = signals.run(_check(worlds, args.tasks))
    print_note(f"drawing {len(worlds)} worlds elsewhere")
    other = dict(drawn_elsewhere(worlds))
    checks = [
        one.model_copy(
            update={"failing": (*one.failing, (WorldGate.SEED_CONTROL.value, other[one.world]))}
        )
        if one.world in other
        else one
        for one in checks
    ]
    if args.json:
        print_result({"worlds": [one.model_dump(mode="json") for one in checks]})
    else:
        print_lines(_lines(checks))
    return ExitCode.SHORT if any(one.failing for one in checks) else ExitCode.DONE


async def _check(worlds: Sequence[tuple[str, int]], attempts: int) -> list[WorldCheck]:
    checks = list[WorldCheck]()
    async with open_browsers() as browsers:
        keeper = WorldKeeper(GateKeeper(check_config(), browsers), browsers, attempts)
        for number, (family, seed) in enumerate(worlds, start=1):
            print_note(f"world {number}/{len(worlds)}: {family}/{seed}")
            checks.append(await keeper.check(family, seed))
    return checks


def _lines(checks: Sequence[WorldCheck]) -> Iterator[str]:
    head = ("world", "pages", "addresses", "forms", "tasks", "attempted", "failing")
    counts = ("pages", "addresses", "forms", "tasks", "attempted")
    rows = [
        (one.world, *(str(getattr(one, name)) for name in counts), str(len(one.failing)))
        for one in checks
    ]
    yield from table(head, rows)
    yield ""
    for one in checks:
        for gate, because in one.failing:
            yield f"{one.world}: {gate}: {strip_control_chars(because)}"
    gates = Counter(gate for one in checks for gate, _ in one.failing)
    for gate, count in sorted(gates.items()):
        yield f"{gate}: {count} times"
    again = sum(one.again > 0 for one in checks)
    yield f"{again} of {len(checks)} seeds took more than one draw to make a valid world"
    passed = sum(not one.failing for one in checks)
    yield f"{passed} of {len(checks)} worlds pass all gates"
