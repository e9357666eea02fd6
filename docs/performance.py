#!/usr/bin/env python3
"""Writes the tables of `docs/performance.md` from the results of the benches in `bench/results/`.

Every figure of these tables is in a result that says on which commit, when and where it was
measured. `make docs` runs this; a test compares the result with the page.
"""

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from columns import Parts, line, renew
from limits import LINES, Line, Result
from repeat_figures import duplicate_lines
from seat_figures import browsergym_lines, seat_lines
from world_figures import REFERENCES, WORLDS

PAGE = Path(__file__).with_name("performance.md")
RESULTS = Path(__file__).parents[1] / "bench" / "results"

NONE = "not measured"
"""What stands where a result lacks a figure."""


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


def _random_reads() -> Iterator[str]:
    result = read_result("random_reads")
    yield from ("| one picture by | cold | warm | read from files |", "|---|---|---|---|")
    for name, warm in result["warm_ms"].items():
        cold = result["cold_ms"].get(name)
        read = result["read_kb"][name]
        yield line(
            name,
            show(cold, "ms") if cold is not None else "",
            show(warm, "ms"),
            show(read, "kB") if read else "mapped into memory",
        )


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


def _beside() -> Iterator[str]:
    result = read_result("transfer_beside")
    today, old = (result["learnt"][arm] for arm in ("worlds", "old"))
    yield f"Learnt from {today['steps']} steps in {today['worlds']} worlds today, and from {old['steps']} in"
    yield f"{old['worlds']} before; {result['learnt']['miniwob']['steps']} are of MiniWoB++. The next action:"
    yield ""
    yield "| scored on | steps | today's rows | old rows | MiniWoB++ | today less old | today less MiniWoB++ |"
    yield "|---|---|---|---|---|---|---|"
    for name, target in result["targets"].items():
        arms = (_interval(target["next_action"][arm]) for arm in ("worlds", "old", "miniwob"))
        ahead = target["old_difference"]["next_action"], target["next_action_difference"]
        yield line(name, show(target["steps"]), *arms, *map(_interval, ahead))


def _beside_played() -> Iterator[str]:
    names = ("flywheel_beside", "flywheel_old", "flywheel_today")
    result, before, full = map(read_result, names)
    today, old = (result["arms"][arm] for arm in ("today", "old"))
    yield f"Of {result['tasks']} tasks of MiniWoB++ solved after {today['steps']} accepted steps of the clumsy policy today,"
    yield f"and after {old['steps']} before:"
    yield ""
    yield from ("| played | today's rows | old rows | today less old |", "|---|---|---|---|")
    places = {"held_out_seeds": "held-out seeds", "left_out_skills": "left-out skills"}
    for key, name in places.items():
        cells = today[key], old[key], result[f"old_difference_{key}"]
        yield line(name, *map(_interval, cells))
    yield line("all of them", "", "", _interval(result["old_difference"]))
    yield ""
    worth, was = (_interval(each["difference"]) for each in (result, before))
    yield f"What it is worth that episodes are accepted, over all templates: {worth} with"
    yield f"today's rows, {was} with the old ones. With {full['arms']['verified']['steps']} steps today, about as many as in the table of"
    yield f"four arms above: {_interval(full['difference'])}."


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
        most = {**usual, **large}[part].get(limit) if limit else None
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


def _labels() -> Iterator[str]:
    result = read_result("labels")
    yield f"Of {result['steps']} steps two readers agree on {result['agreed']}, κ {result['kappa']:.2f}; of these:"
    yield from ("", "| label | steps | precision | recall | |", "|---|---|---|---|---|")
    for name, one in result["labels"].items():
        shares = (show(one[key], "%") for key in ("precision", "recall"))
        yield line(f"`{name}`", show(one["steps"]), *shares, "≥ 95 %")


def _thoughts() -> Iterator[str]:
    result = read_result("thoughts")
    yield from ("| figure | measured | limit |", "|---|---|---|")
    for key, name, limit in (
        ("thoughts", "thoughts", "min_thoughts"),
        ("skeletons", "different skeletons of them", ""),
        ("top_20", "thoughts by the 20 most frequent skeletons", "max_top_20"),
        ("top_50", "the same, 50", ""),
        (
            "names_visible",
            "thoughts that name what the picture shows and the goal does not",
            "min_names_visible",
        ),
    ):
        unit = "" if result.get(key, 0) > 1 else "%"
        sign = "≥" if limit.startswith("min") else "≤"
        yield line(
            name, show(result.get(key), unit), limit and f"{sign} {show(result.get(limit), unit)}"
        )


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
    "seats": lambda: seat_lines(read_result("seats"), show),
    "browsergym": lambda: browsergym_lines(read_result("browsergym"), show),
    "engines": _engines,
    "storing": _storing,
    "large_runs": _large_runs,
    "duplicates": lambda: duplicate_lines(read_result("duplicates"), show),
    "reading": _reading,
    "random_reads": _random_reads,
    "republish": _republish,
    "learning": _learning,
    "labels": _labels,
    "transfer": _transfer,
    "beside": _beside,
    "beside_played": _beside_played,
    "worlds": _worlds,
    "references": _references,
    "thoughts": _thoughts,
    "origins": _origins,
}

if __name__ == "__main__":
    renew(PAGE, PARTS)
