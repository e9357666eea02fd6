"""Every named point of a run's life at which a kill must cost nothing, and the event that it is.

A point is the moment before an event that `kill_at` tells of, in a folder and in a bucket. A bucket
is written in parts here, however small the object, so that an upload can be half done.

| killed | in a folder | in a bucket | on the Hub |
| --- | --- | --- | --- |
| before and after an episode is spooled | `test_chaos_sweep` | `test_chaos_points` | |
| in the middle of a shard's upload | `test_chaos_sweep` (inside) | `test_chaos_points` | |
| after each shard | `test_chaos_sweep` | `test_chaos_points` | |
| between the commits of any two tables | `test_chaos_sweep` | `test_chaos_points` | |
| inside a commit | `test_chaos_sweep` (inside) | `test_s3_runs` | |
| after the commit, before the spool goes | `test_chaos_sweep` | `test_chaos_points` | |
| before and after the version | `test_chaos_sweep` | `test_chaos_points` | |
| before, during and after an upload | `test_chaos_publish` | `test_chaos_publish` | preupload |
| before and after a dataset's commit | | | commit |
| before and after the manifest | `test_chaos_publish` | `test_chaos_publish` | the last commit |
| before and after the tag | | | tag |
| before any write of a compaction | `test_chaos_compact` | | |
| at random moments | `test_chaos_moments`, `test_chaos` | `test_chaos_moments` | |

`test_chaos_sweep` goes on from what a kill would leave before the first event of each kind in a folder,
or kills before every event where there is time, and holds that those below are among them. On the Hub
they are requests: `test_publish_hub_killed` goes on from what is there before each of them, or kills
before and after it.
"""

from typing import NamedTuple

from support.runs.kill_at import Instant


class Point(NamedTuple):
    """A point of a run's life, as the event after it."""

    folder: str
    """Its name in a folder."""
    bucket: str
    """Its name in a bucket."""
    thorough: bool = True
    """Where time is short, what a kill leaves at this point is gone on from in a folder alone."""

    @property
    def instant(self) -> Instant:
        """When it is, in a bucket."""
        return Instant(name=self.bucket)


COMMITTED = ("tasks", "observations", "steps", "episodes")
"""The tables of a unit without an engine, in the order of their commits."""

POINTS = {
    "before an episode is spooled": Point("link run/spool", "before put_new run/spool"),
    "after an episode is spooled": Point("remove run/spool", "after put_new run/spool"),
    "with a shard half uploaded": Point(
        "link run/tables/steps", "after part */run/tables/steps", thorough=False
    ),
    **{
        f"after the shard of {table}": Point(
            f"remove run/tables/{table}", f"after put_new run/tables/{table}"
        )
        for table in (*COMMITTED, "verdicts")
    },
    **{
        f"between the commit to {table} and the next": Point(
            f"after write {table}", f"after write {table}"
        )
        for table in COMMITTED[:-1]
    },
    "after the commit, before the spool goes": Point(
        "after write episodes", "after write episodes"
    ),
    "after a verdict's commit": Point("after write verdicts", "after write verdicts"),
    "before the version": Point("link run/versions", "before put_new run/versions"),
    "after the version": Point("remove run/versions", "after put_new run/versions"),
}
"""The points of a run up to its version; those of a publication are told where they are killed."""
