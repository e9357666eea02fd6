"""The figures of worlds on `docs/performance.md`, by the benches that measure them."""

WORLDS = (
    ("variety", "worlds", "worlds", ""),
    ("variety", "graphs", "distinct page graphs and schemas, of all", "min_graphs"),
    ("variety", "dom_clusters", "clusters of first pages by the shape of their DOM", ""),
    ("pictures", "picture_clusters", "the same by their pictures", ""),
    ("variety", "tasks", "tasks", ""),
    ("variety", "goals", "distinct goals without names and numbers, of all", "min_goals"),
    ("variety", "distinct_4", "distinct runs of four words, of all", "min_distinct_4"),
    ("variety", "actions_median", "actions of a reference, median", ""),
    ("variety", "actions_fourth_quintile", "the same, fourth quintile", ""),
    ("variety", "actions_longest", "the same, longest", ""),
    ("making", "cpu_s_worst", "CPU seconds from a seed to a database, the worst", "max_cpu_s"),
    ("visits", "visits", "visits open at once", ""),
    ("visits", "open_ms", "ms until the first page is served, median", "max_open_ms"),
    ("visits", "open_p99_ms", "the same, 99th percentile", "max_open_p99_ms"),
    ("visits", "visit_mb", "MB of a visit", "max_visit_mb"),
    ("near_misses", "near_misses", "ends that look like success and are none", ""),
    ("near_misses", "accepted", "of them accepted", ""),
    ("near_misses", "equivalents", "other ends that are success", ""),
    ("near_misses", "rejected", "of them rejected", ""),
)
"""Figures of `worlds`: part, key, what it is, and the key of its limit; empty: none at every size."""

REFERENCES = (
    ("references", "worlds", "worlds", ""),
    ("references", "attempts", "attempts of references", ""),
    ("references", "rewarded", "of them rewarded", "min_rewarded"),
    ("references", "reproduced", "of these reproduced by a replay: state, DOM and address", "min_reproduced"),
    ("references", "equal_pictures", "their pictures that are equal byte by byte", "min_equal_pictures"),
    ("references", "actions_median", "their actions, median", ""),
    ("references", "actions_fourth_quintile", "the same, fourth quintile", ""),
    ("references", "actions_longest", "the same, longest", ""),
    ("references", "accepted", "trajectories that every verifier passed", ""),
    ("references", "usd_per_trajectory", "US dollars for one of them", ""),
    ("clicks", "tasks", "tasks that were acted on at random, 30 actions each", ""),
    ("clicks", "rewarded", "of them rewarded", "max_rewarded"),
    ("canaries", "tasks", "tasks that ends without any work were tried on", ""),
    ("canaries", "tried", "such ends", ""),
    ("canaries", "rewarded", "of them rewarded", ""),
    ("steps", "ours_ms", "CPU ms of a step, the site and ours", "max_ours_ms"),
    ("steps", "browser_ms", "CPU ms of a step, the browser", ""),
)  # fmt: skip
"""Figures of `references`, likewise."""
