"""The figures of seats on `docs/performance.md`."""

from collections.abc import Callable, Iterator

from columns import line
from limits import Result

Show = Callable[..., str]
"""Shows a figure with its unit, or that it was not measured."""


def seat_lines(result: Result, show: Show) -> Iterator[str]:
    """Yield the table of what seats cost and leave behind."""
    yield "| what | measured | limit |"
    yield "|---|---|---|"
    for seats in (1, 8):
        for key in ("p50", "p99"):
            measured = show(result.get(f"added_{key}_ms_{seats}"), "ms")
            limit = show(result.get(f"max_added_{key}_ms"), "ms")
            yield line(
                f"added to a step by the step door, {key}, seats: {seats}", measured, f"≤ {limit}"
            )
    for door in ("step", "run"):
        for site, name in (("miniwob", "MiniWoB++"), ("worlds", "worlds")):
            measured = show(result.get(f"{door}_{site}_ratio"), "%")
            limit = show(result.get("min_rate"), "%")
            yield line(
                f"steps/s through the {door} door beside none, {name}", measured, f"≥ {limit}"
            )
    for pages, name in (("blank", "pages that cost nothing"), ("browsers", "browsers")):
        left = result.get(f"deaths_{pages}_after", {})
        told = ", ".join(
            f"{each}: {show(left.get(each))}" for each in ("leases", "seats", "renderers")
        )
        yield line(f"left 5 s after {show(result.get('deaths'))} deaths, {name}", told, "0")
    acts = "; ".join(show(result.get(f"repeats_{key}")) for key in ("twice", "missing"))
    yield line("actions twice; lost, where every tenth answer is lost", acts, "0; 0")
    cost = show(result.get("slow_cost"), "%")
    yield line(
        "what a client of 60 s a step costs others",
        cost,
        f"≤ {show(result.get('max_slow_cost'), '%')}",
    )
    for key, name in (("memory", "pages that cost nothing"), ("memory_browsers", "browsers")):
        steps, grown = show(result.get(f"{key}_steps")), show(result.get(f"{key}_growth"), "×")
        limit = show(result.get("max_growth"), "×")
        yield line(
            f"memory, last tenth of {steps} steps beside the second, {name}", grown, f"≤ {limit}"
        )


def browsergym_lines(result: Result, show: Show) -> Iterator[str]:
    """Yield the table of seats beside BrowserGym."""
    yield "| | seats | BrowserGym | ratio | limit |"
    yield "|---|---|---|---|---|"
    rows = (
        ("memory of a session", "mb", "MB", "sessions_a_gib_ratio", "≥ ", "min_sessions_ratio"),
        ("CPU of a step", "cpu_ms", "ms", "steps_a_core_ratio", "≥ ", "min_steps_ratio"),
        ("reset", "reset_s", "s", "reset_share", "≤ ", "max_reset_share"),
        ("CPU of a reset", "reset_cpu_s", "s", "reset_cpu_share", "", ""),
    )
    for name, key, unit, ratio, sign, limit in rows:
        both = (show(result.get(f"{side}_{key}"), unit) for side in ("seats", "browsergym"))
        bound = sign + show(result.get(limit), "×") if limit else "none"
        yield line(name, *both, show(result.get(ratio), "×"), bound)
