"""The figures on `docs/performance.md` that a bench holds to a limit, and how each is read from its result."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Result = Mapping[str, Any]
Get = Callable[[Result], Any]


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


def _slowest(ending: str) -> Get:
    """Return what gets the largest of the figures whose names end so."""

    def get(result: Result) -> float | None:
        found = [
            value
            for name, value in result.items()
            if name.endswith(ending) and not name.startswith("max_")
        ]
        return max(found, default=None)

    return get


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
    Line("dialects", "steps of episodes of worlds and MiniWoB++ that the worst dialect loses, of those that an engine is asked in",
         "%", _key("worst_asked"), "max_lost"),
    Line("memory", "growth of the process by 128 sessions of 40 steps, 8,000 prompt tokens and a picture each",
         "MB", _key("grown_mb"), "max_grown_mb"),
    Line("memory", "a token id in the Parquet files of `calls`", "bytes", _key("id_bytes"),
         "max_id_bytes"),
    Line("prompt", "building a prompt, a step of an episode of 60", "ms", _key("ms_per_step"),
         "max_ms"),
    Line("engine_load", "prompt tokens from the prefix cache of the simulator, worst level", "%",
         _worst_hits, "min_prefix_hit_rate"),
    Line("serving", "calls a second and share from the cache, in virtual time beside measured ones that it "
         "was not fitted to: off at most", "%", _key("worst_off"), "max_off"),
    Line("governor", "seeds with 95 % of the calls a second of the best fixed numbers, the worst server that "
         "says something", "%", _key("seeds_at_95_worst"), "min_seeds"),
    Line("governor", "requests that had to start again, the worst server", "%", _key("preempted_worst"),
         "max_preempted"),
    Line("governor", "latency of the slowest tenth beside the median's, the worst server", "×",
         _key("slowest_tenth_worst"), "max_slow"),
    Line("governor", "the calls a second without the hit signal where a cache drops most at once, beside the "
         "best fixed numbers'", "%", _key("share_without_hits"), "max_deaf"),
    Line("startup", "`stepmill --help`", "s", _key("help_seconds"), "max_help_seconds"),
    Line("startup", "`stepmill generate --dry-run`", "s", _key("dry_run_seconds"),
         "max_dry_run_seconds"),
    Line("demo", "the demo, on two idle cores, set-up done", "s", _key("seconds"), "max_seconds"),
    Line("demo", "its memory, browsers and servers included (PSS)", "MB", _key("peak_pss_mb"),
         "max_pss_mb"),
    Line("visits", "opening a visit of fossil, from asking for it to its start page, median", "ms",
         _key("fossil", "open_ms"), "max_fossil_ms"),
    Line("visits", "the same of MediaWiki", "ms", _key("mediawiki", "open_ms"), "max_mediawiki_ms"),
    Line("visits", "opening a visit beside a plain client's reset, login and request, the worst application",
         "×", _key("worst_ratio"), "max_ratio"),
    Line("storing", "MB/s of `steps` with pictures beside `datasets`", "×",
         _key("ours_to_datasets"), "min_to_datasets"),
    Line("storing", "the same beside one `pq.write_table` of rows in memory", "×",
         _key("ours_to_plain"), "min_to_plain"),
    Line("storing", "memory of writing them", "MB", _key("ours_peak_mb"), "max_peak_mb"),
    Line("goals", "goals of worlds that quote nothing", "%",
         _key("quotes_nothing"), "min_quotes_nothing"),
    Line("goals", "distinct runs of four words in them, with a mark for each value, title and name", "%",
         _key("distinct_4"), "min_distinct_4"),
    Line("goals", "impossible ones that say what to answer if they cannot be done", "%",
         _key("announced", "impossible"), "max_announced"),
    Line("large_runs", "a commit at 10,000 units beside one at 100, the worse of folder and bucket",
         "×", _larger_ratio, "max_commit_ratio"),
    Line("large_runs", "a commit at 10,000 units in a bucket on loopback", "ms",
         _key("bucket_commit_ms_at_most"), "max_bucket_commit_ms"),
    Line("large_runs", "shallow audit and planning of a resumed run of 10,000 units", "s",
         _key("find_seconds"), "max_find_seconds"),
    Line("large_runs", "the memory of both", "MB", _key("find_peak_mb"), "max_find_peak_mb"),
    Line("duplicates", "joining a million new episodes by their sketches", "s", _key("join_seconds"),
         "max_seconds"),
    Line("duplicates", "its memory, the sketches included, on one heap", "MB", _key("join_peak_mb"),
         "max_peak_mb"),
    Line("duplicates", "joining a night of 1,000 with a million that are published", "s",
         _key("append_seconds"), "max_seconds"),
    Line("duplicates", "planted near copies found", "%", _key("found_share"), "min_found"),
    Line("duplicates", "episodes of the same course with other pictures taken for near copies", "%",
         _key("false_share"), "max_false"),
    Line("diff", "comparing two datasets of 100,000 `steps` each, no file of which is the same", "s",
         _key("seconds"), "max_seconds"),
    Line("diff", "the memory of it", "MB", _key("peak_mb"), "max_peak_mb"),
    Line("window", "reading a dataset of 100,000 attempts and a million steps for the window, words and all", "s",
         _key("lookup_seconds"), "max_lookup_seconds"),
    Line("window", "from the command to the first page", "s", _key("start_seconds"), "max_start_seconds"),
    Line("window", "the slowest kind of page, in the median", "ms", _slowest("_p50_ms"), "max_median_ms"),
    Line("window", "the slowest kind of page, at the 95th percentile", "ms", _slowest("_p95_ms"), "max_p95_ms"),
    Line("window", "the memory of the window", "MB", _key("window_mb"), "max_window_mb"),
    Line("reading", "first row of a published `steps`, the slower of Hub and bucket on loopback",
         "s", _slowest_first_row, "max_seconds"),
    Line("reading", "bytes of pictures read with columns without pictures, the worst reader", "%",
         _largest_share, "max_share"),
    Line("random_reads", "one picture by Lance, beside the fastest reader of the published Parquet: cold",
         "times as fast", _key("faster", "cold"), "min_faster"),
    Line("random_reads", "the same, warm", "times as fast", _key("faster", "warm"), "min_faster"),
    Line("flywheel", "tasks solved after learning from accepted episodes, above those after as many "
         "of the clumsy policy whatever became of them: lower end of the 95 % interval", "%",
         _key("difference", "low"), "min_difference"),
    Line("flywheel", "from the rows to these figures", "s", _key("seconds"), "max_seconds"),
    Line("grpo", "tasks done after GRPO at the step door, above those before: lower end of the 95 % interval",
         "%", _key("gained", "low"), "min_gained"),
    Line("grpo", "one seed of it, warming and both measurements included", "s",
         _key("slowest_seconds"), "max_seconds"),
    Line("suite", "`make test`, on two cores with nothing beside it", "min", _key("wall_minutes"),
         "max_wall_minutes"),
    Line("suite", "the CPU of its whole process tree", "min", _key("cpu_minutes"), "max_cpu_minutes"),
)  # fmt: skip
"""Every figure that a bench holds to a limit, but those of `republish`, which have a table."""
