#!/usr/bin/env python3
"""Writes the tables of `docs/performance.md` from the results of the benches in `bench/results/`.

Every figure of these tables is in a result that says on which commit, when and where it was
measured. `make docs` runs this; a test compares the result with the page.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from columns import Parts, line, renew
from world_figures import REFERENCES, WORLDS

PAGE = Path(__file__).with_name("performance.md")
RESULTS = Path(__file__).parents[1] / "bench" / "results"

Result = Mapping[str, Any]
Get = Callable[[Result], Any]

NONE = "not measured"
"""What stands where a result lacks a figure."""


class Line(NamedTuple):
    """A figure with the limit that its bench holds it to."""

    bench: str
    figure: str
    """What is measured, in words."""
    unit: str
    """As it is written; `%` for a share of 1."""
    value: Get
    limit: str
    """The key of the limit; one that begins with `min` is a lower one."""


@cache
def read_result(name: str) -> Result:
    """Return a result by the name of its file; it is empty if there is none."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return {}
    found: Result = json.loads(path.read_text(encoding="utf-8"))
    return found


def show(value: float | None, unit: str = "") -> str:
    """Return a figure with its unit; a share of 1 becomes per cent."""
    if value is None:
        return NONE
    value = 100 * value if unit == "%" else value
    text = f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"  # noqa: PLR2004 - never as 1e+03
    return f"{text} {unit}".rstrip()


def _key(*path: str) -> Get:
    """Return what gets a figure from a result, None if it has none."""

    def get(result: Result) -> Any:
        value: Any = result
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    return get


def _of_levels(key: str, best: Callable[[Sequence[float]], float], at: Sequence[int]) -> Get:
    """Return what gets the worst figure of the levels `at`, over both kinds of policy."""

    def get(result: Result) -> float | None:
        levels = [one for kind in ("teacher", "engine") for one in _levels(result.get(kind, {}))]
        values = [one[key] for one in levels if one["sessions"] in at and key in one]
        return best(values) if values else None

    return get


def _levels(kind: Result) -> Iterator[Result]:
    for level in kind.get("levels", ()):
        yield {**level, "share": kind["share_of_best"].get(str(level["sessions"]))}


def _worst_hits(result: Result) -> float | None:
    hits = [level["prefix_hit_rate"] for level in result.get("levels", ())]
    return min(hits) if hits else None


def _slowest_first_row(result: Result) -> float | None:
    return max(result.get("first_row_seconds", {}).values(), default=None)


def _largest_share(result: Result) -> float | None:
    return max(result.get("share_of_pictures", {}).values(), default=None)


def _larger_ratio(result: Result) -> float | None:
    ratios = [result.get(key) for key in ("commit_ratio", "bucket_commit_ratio")]
    return max((ratio for ratio in ratios if ratio is not None), default=None)


MANY = (64, 128)
LINES = (
    Line("rollout", "Python's share of the CPU of a step, perceptual hash apart", "%",
         _key("python_share"), "max_python_share"),
    Line("rollout", "CPU of a session's set-up beside a bare DevTools loop of the same recipe",
         "×", _key("setup_ratio"), "max_setup_ratio"),
    Line("sessions", "steps/s at 64 and 128 open sessions beside the best level, or beside what the "
         "engine's replies allow, if that is less; the worse policy", "%", _of_levels("share", min, MANY), "min_share"),
    Line("sessions", "seconds a step of the slowest tenth of episodes beside the median's", "×",
         _of_levels("slowness", max, (16, *MANY)), "max_slowness"),
    Line("sessions", "memory of a session at 64, browser included (PSS)", "MB",
         _of_levels("session_mb", max, (64,)), "max_session_mb"),
    Line("endurance", "memory at 32 sessions in the last tenth of the steps beside the second tenth (PSS)",
         "×", _key("total_growth"), "max_growth"),
    Line("client", "our CPU for a request of 432 kB with three pictures, 128 sessions", "ms",
         _key("cpu_ms_per_request"), "max_cpu_ms"),
    Line("client", "lag of the event loop meanwhile, 99th percentile", "ms", _key("lag_p99_ms"),
         "max_lag_ms"),
    Line("client", "requests/s beside bare clients that post the same bodies, with think-times",
         "%", _key("throughput_ratio"), "min_throughput_ratio"),
    Line("client", "the same at zero think-time and an engine that answers at once", "%",
         _key("saturated_ratio"), "min_saturated_ratio"),
    Line("prompt", "building a prompt, a step of an episode of 60", "ms", _key("ms_per_step"),
         "max_ms"),
    Line("engine_load", "prompt tokens from the prefix cache of the simulator, worst level", "%",
         _worst_hits, "min_prefix_hit_rate"),
    Line("startup", "`stepmill --help`", "s", _key("help_seconds"), "max_help_seconds"),
    Line("startup", "`stepmill generate --dry-run`", "s", _key("dry_run_seconds"),
         "max_dry_run_seconds"),
    Line("demo", "the demo, on two idle cores, set-up done", "s", _key("seconds"), "max_seconds"),
    Line("demo", "its memory, browsers and servers included (PSS)", "MB", _key("peak_pss_mb"),
         "max_pss_mb"),
    Line("visits", "opening a visit of fossil, from asking for it to its start page, median", "ms",
         _key("fossil", "open_ms"), "max_fossil_ms"),
    Line("visits", "the same of MediaWiki", "ms", _key("mediawiki", "open_ms"), "max_mediawiki_ms"),
    Line("storing", "MB/s of `steps` with pictures beside `datasets`", "×",
         _key("ours_to_datasets"), "min_to_datasets"),
    Line("storing", "the same beside one `pq.write_table` of rows in memory", "×",
         _key("ours_to_plain"), "min_to_plain"),
    Line("storing", "memory of writing them", "MB", _key("ours_peak_mb"), "max_peak_mb"),
    Line("large_runs", "a commit at 10,000 units beside one at 100, the worse of folder and bucket",
         "×", _larger_ratio, "max_commit_ratio"),
    Line("large_runs", "a commit at 10,000 units in a bucket on loopback", "ms",
         _key("bucket_commit_ms_at_most"), "max_bucket_commit_ms"),
    Line("large_runs", "shallow audit and planning of a resumed run of 10,000 units", "s",
         _key("find_seconds"), "max_find_seconds"),
    Line("large_runs", "the memory of both", "MB", _key("find_peak_mb"), "max_find_peak_mb"),
    Line("reading", "first row of a published `steps`, the slower of Hub and bucket on loopback",
         "s", _slowest_first_row, "max_seconds"),
    Line("reading", "bytes of pictures read with columns without pictures, the worst reader", "%",
         _largest_share, "max_share"),
    Line("flywheel", "tasks solved after learning from accepted episodes, above those after as many "
         "of the clumsy policy whatever became of them: lower end of the 95 % interval", "%",
         _key("difference", "low"), "min_difference"),
    Line("flywheel", "from the rows to these figures", "s", _key("seconds"), "max_seconds"),
    Line("suite", "`make test`, on two cores with nothing beside it", "min", _key("wall_minutes"),
         "max_wall_minutes"),
    Line("suite", "the CPU of its whole process tree", "min", _key("cpu_minutes"), "max_cpu_minutes"),
)  # fmt: skip
"""Every figure that a bench holds to a limit, but those of `republish`, which have a table."""


def _headline() -> Iterator[str]:
    demo = read_result("demo")
    rate = round(demo["episodes"] / demo["seconds"] * 3_600, -2)
    yield f"The demo makes {demo['episodes']} episodes with their replays and verdicts in"
    yield f"{demo['seconds']:.0f} s: about {rate:,.0f} episodes an hour on two cores."


def _lines() -> Iterator[str]:
    yield from ("| bench | figure | measured | limit |", "|---|---|---|---|")
    for each in LINES:
        result = read_result(each.bench)
        sign = "≥" if each.limit.startswith("min") else "≤"
        limit = f"{sign} {show(result.get(each.limit), each.unit)}"
        shown = show(each.value(result), each.unit)
        missed = ", **missed**" if _is_missed(each) else ""
        yield line(f"`{each.bench}`", each.figure, f"{shown}{missed}", limit)


def _is_missed(each: Line) -> bool:
    """Return whether a figure is beyond its limit."""
    result = read_result(each.bench)
    return _is_beyond(each.value(result), result.get(each.limit), each.limit)


def _is_beyond(value: float | None, most: float | None, limit: str) -> bool:
    """Return whether a figure is beyond a limit, which is a lower one if it is called so."""
    if value is None or most is None:
        return False
    return value < most if limit.startswith("min") else value > most


def _missed() -> Iterator[str]:
    missed = [each for each in LINES if _is_missed(each)]
    results = [
        path.stem for path in sorted(RESULTS.glob("*.json")) if not read_result(path.stem)["held"]
    ]
    others = [name for name in results if name not in {each.bench for each in missed}]
    if not missed and not others:
        yield "Every result holds its limits."
        return
    told = [f"`{each.bench}` ({each.figure})" for each in missed]
    told += [f"`{name}` (in its table below)" for name in others]
    yield f"Missed: {'; '.join(told)}."


def _rollout() -> Iterator[str]:
    result = read_result("rollout")
    side = result.get("picture_side")
    pictures = (
        "at {}×{}".format(*result["viewport"])
        if side is None
        else "with pictures of {} to {} px".format(*side)
    )
    ours, bare = show(result["setup_cpu_ms"], "ms"), show(result["bare_setup_cpu_ms"], "ms")
    yield f"`bench/rollout.py` {pictures}. Setting a session up takes {ours} of CPU,"
    yield f"a bare DevTools loop {bare}:"
    yield ""
    yield "| sessions | steps/s | CPU ms a step | CPU ms an episode | Python's share | hash ms a step |"
    yield "|---|---|---|---|---|---|"
    for rate in result["rates"]:
        yield line(
            show(rate["sessions"]),
            show(rate["steps_per_second"]),
            show(rate["cpu_ms_per_step"]),
            show(rate["cpu_ms_per_episode"]),
            show(rate["python_share"], "%"),
            show(rate["hash_ms_per_step"]),
        )


def _sessions() -> Iterator[str]:
    yield "| policy | sessions | steps/s | cores used | slowest tenth beside the median | MB a session |"
    yield "|---|---|---|---|---|---|"
    result = read_result("sessions")
    for kind in ("teacher", "engine"):
        for one in result.get(kind, {}).get("levels", ()):
            keys = ("sessions", "steps_per_second", "cores_used", "slowness", "session_mb")
            yield line(kind, *(show(one.get(key)) for key in keys))


def _engines() -> Iterator[str]:
    yield "| result | model | sessions | requests/s | latency, median | from the prefix cache |"
    yield "|---|---|---|---|---|---|"
    for path in sorted(RESULTS.glob("engine_load*.json")):
        result = read_result(path.stem)
        for one in result["levels"]:
            latency = (one.get("latency_ms") or {}).get("p50")
            yield line(
                f"`{path.stem}`",
                f"{result['model']} on {result['product']}",
                show(one["sessions"]),
                show(one["requests_per_second"]),
                show(None if latency is None else latency / 1e3, "s"),
                show(one.get("prefix_hit_rate"), "%"),
            )


def _storing() -> Iterator[str]:
    result = read_result("storing")
    yield from ("| writer | MB/s | memory |", "|---|---|---|")
    names = {
        "ours": "ours, hashed",
        "datasets": "`datasets`, `from_generator` and `to_parquet`",
        "plain": "one `pq.write_table` with our settings",
    }
    for key, name in names.items():
        memory = show(result.get(f"{key}_peak_mb"), "MB")
        yield line(name, show(round(result[f"{key}_mb_per_second"])), memory)


def _large_runs() -> Iterator[str]:
    result = read_result("large_runs")
    yield f"| figure | at 100 units | at {result['units']:,} | ratio |"
    yield "|---|---|---|---|"
    for key, where in (("commit", "a folder"), ("bucket_commit", "a bucket on loopback")):
        small, large = (show(result[f"{key}_ms_at_{at}"], "ms") for at in ("100", "most"))
        ratio = show(result[f"{key}_ratio"])
        yield line(f"a commit to a table in {where}", small, large, ratio)


def _reading() -> Iterator[str]:
    result = read_result("reading")
    firsts, medians = result["first_row_seconds"], result["median"]
    yield from ("| figure | Hub | bucket |", "|---|---|---|")
    places = ("hub", "bucket")
    yield line(
        "first row of `steps`, streamed by `datasets`: best and median",
        *(f"{show(firsts[at], 's')}, {show(medians[at], 's')}" for at in places),
    )
    readers = {"datasets-streamed": "`datasets`", "polars": "Polars", "duckdb": "DuckDB"}
    for reader, name in readers.items():
        shares = (show(result["share_of_pictures"].get(f"{at} {reader}"), "%") for at in places)
        yield line(
            f"four columns of every row by {name}: bytes of pictures read with them", *shares
        )
    ahead = show(result["share_read_ahead"], "%")
    yield line("the same by `datasets` where the Hub's client reads ahead as it likes", ahead, "")


def _learning() -> Iterator[str]:
    result = read_result("flywheel")
    yield "| learnt from | episodes | steps | mistakes among them | held-out seeds | left-out skills |"
    yield "|---|---|---|---|---|---|"
    names = {
        "verified": "accepted episodes",
        "equal_steps": "accepted episodes, fewer of them",
        "unverified": "as many as of the first, whatever became of them",
        "random": "nothing: any candidate is taken",
    }
    for arm, name in names.items():
        one = result["arms"][arm]
        places = (_interval(one[key]) for key in ("held_out_seeds", "left_out_skills"))
        counts = (show(one["episodes"]), show(one["steps"]), show(one["mistakes"], "%"))
        yield line(name, *(counts if one["episodes"] else ("", "", "")), *places)
    places = (
        _interval(result[f"difference_{key}"]) for key in ("held_out_seeds", "left_out_skills")
    )
    yield line("the difference of the first and the third", "", "", "", *places)
    yield ""
    yield f"Over all templates the difference is {_interval(result['difference'])}, of {result['tasks']}"
    yield f"tasks and {result['trainings']} trainings of each arm, in {show(result['seconds'], 's')}."


def _transfer() -> Iterator[str]:
    result = read_result("transfer_full")
    families = ", ".join(f"`{name}`" for name in result["held_out_families"])
    learnt, steps = result["learnt"], show(result["curve_steps"])
    yield f"Learnt from {learnt['worlds']['steps']:,} steps in {result['worlds']} worlds, or from"
    yield f"{learnt['miniwob']['steps']:,} of MiniWoB++; the families that are held out are {families}."
    yield ""
    yield "| scored on | steps | learnt from | next action | tasks played | success |"
    yield "|---|---|---|---|---|---|"
    for name, target in result["targets"].items():
        for arm, found in target["next_action"].items():
            success = _interval(target["success"][arm]) if target["success"] else ""
            counts = show(target["steps"]), arm, _interval(found), show(target["played"])
            yield line(name, *counts, success)
    yield ""
    yield f"The same number of steps, {steps}, of more and more worlds, scored on the held-out families:"
    yield ""
    yield from ("| worlds | next action |", "|---|---|")
    yield from (line(count, _interval(found)) for count, found in result["curve"].items())


def _interval(found: Result) -> str:
    return f"{show(found['mean'], '%')} [{show(found['low'], '%')}, {show(found['high'], '%')}]"


def _worlds() -> Iterator[str]:
    yield from _measured("worlds", WORLDS)


def _references() -> Iterator[str]:
    yield from _measured("references", REFERENCES)


def _measured(bench: str, figures: Sequence[tuple[str, str, str, str]]) -> Iterator[str]:
    """Yield the table of a bench of several measurements: at their usual size, and at the size of the limits.

    The measurements of the latter take hours, so they are made in several runs: each has a result of its own.
    """
    large: dict[str, Any] = {}
    results = [read_result(path.stem) for path in sorted(RESULTS.glob(f"{bench}_*.json"))]
    for result in sorted(results, key=lambda one: str(one["date"])):  # the newest figure counts
        large |= result
    usual = read_result(bench)
    yield from (line("figure", "usual size", "full size", "limit"), "|---|---|---|---|")
    for part, key, name, limit in figures:
        sign = "≥" if limit.startswith("min") else "≤"
        most = usual[part].get(limit) if limit else None
        stated = f"{sign} {show(most)}" if limit else ""
        found = (
            _shown(each[part][key], most, limit) if key in each.get(part, {}) else "not made"
            for each in (usual, large)
        )
        yield line(name, *found, stated)


def _shown(value: float | None, most: float | None, limit: str) -> str:
    """Return a figure, with a word where it is beyond its limit."""
    return f"{show(value)}{', **missed**' if _is_beyond(value, most, limit) else ''}"


def _republish() -> Iterator[str]:
    result = read_result("republish")
    cases = {
        "judged": "a tenth of the episodes judged again, their labels changed",
        "dropped": "a tenth judged again and no longer accepted",
        "replaced": "a tenth replaced by other rollouts",
        "grown": "a tenth more episodes",
    }
    yield from ("| since then | new bytes | limit |", "|---|---|---|")
    for key, what in cases.items():
        yield line(what, show(result[key]["new"], "%"), f"≤ {show(result[key]['max'], '%')}")


def _origins() -> Iterator[str]:
    yield from ("| result | commit | date | machine | limits |", "|---|---|---|---|---|")
    for path in sorted(RESULTS.glob("*.json")):
        result = read_result(path.stem)
        held = "held" if result["held"] else "**missed**"
        origin = (str(result[key]) for key in ("date", "machine"))
        yield line(f"`{path.stem}`", f"`{result['commit']}`", *origin, held)


PARTS: Parts = {
    "headline": _headline,
    "lines": _lines,
    "missed": _missed,
    "rollout": _rollout,
    "sessions": _sessions,
    "engines": _engines,
    "storing": _storing,
    "large_runs": _large_runs,
    "reading": _reading,
    "republish": _republish,
    "learning": _learning,
    "transfer": _transfer,
    "worlds": _worlds,
    "references": _references,
    "origins": _origins,
}

if __name__ == "__main__":
    renew(PAGE, PARTS)
