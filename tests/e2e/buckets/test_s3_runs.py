"""A run in a bucket: whole commands over a real S3 server.

Pages and browsers are stand-ins; storage, Delta and the command line are the program itself. What
runs in folders and in buckets have in common is in `test_generate`, with real pages. In `make test`
`test_chaos_points` kills one in a bucket and `test_chaos_workers` has several at work on one; `make
test-full` kills at every write there is.
"""

import asyncio
from pathlib import Path

import pytest
from effort import TIMEOUT
from support.runs.chaos import Fork, assert_whole, carry_out, finish, fork, stop_and_finish
from support.runs.commands import Said
from support.runs.kill_at import Fate, Instant
from support.runs.small_runs import Trial, scripted_trial
from support.servers.seaweedfs import SECRET_KEY, Weed

pytestmark = pytest.mark.timeout(TIMEOUT)


@pytest.fixture
def trial(tmp_path: Path, bucket_url: str) -> Trial:
    verifiers = ("structure", "outcome")
    return scripted_trial(
        tmp_path / "trial", bucket=f"{bucket_url}/0", episodes=2, verifiers=verifiers
    )


def another(trial: Trial, number: int) -> Trial:
    """Return a run of the same kind elsewhere in the bucket."""
    return scripted_trial(
        trial.base.with_name(f"{number}"),
        bucket=f"{str(trial.bucket)[:-2]}/{number}",
        episodes=2,
        verifiers=trial.verifiers,
    )


def tell(trial: Trial, *argv: str) -> Said:
    return carry_out(trial.command(argv))


def test_a_run_goes_all_the_way_and_again_changes_no_byte(trial: Trial, tmp_path: Path) -> None:
    first = carry_out(trial.doom())
    assert first.code == 0, first.err
    before = trial.objects()

    again = carry_out(trial.doom())
    audited = tell(trial, "audit", trial.url, "--deep", "--json")
    shown = tell(trial, "show", trial.url)
    dry = tell(trial, *trial.argv, "--dry-run")
    other = tell(trial, *trial.argv, "--set=run.seed=1")
    published = tell(
        trial, "publish", trial.url, f"--to={tmp_path / 'p'}", "--no-prefect", "--json"
    )

    assert (again.code, again.answer["rolled_out"]) == (0, 0)
    assert (audited.code, audited.answer["findings"], audited.answer["leftovers"]) == (0, [], [])
    assert "2 accepted" in shown.out
    plan = dry.answer["plan"]
    assert isinstance(plan, dict)
    assert plan["begun"] is True
    assert other.code == 2
    assert "run.seed: there 0, asked for 1" in other.err
    assert published.code == 0, published.err
    assert trial.objects() == before
    assert not any(SECRET_KEY.encode() in data for data in before.values())
    for said in (first, again, audited, shown, dry, other, published):
        assert SECRET_KEY not in said.out + said.err
    asyncio.run(assert_whole(trial))


def test_a_torn_or_missing_object_is_found(trial: Trial, weed: Weed) -> None:
    carry_out(trial.doom())
    objects = trial.objects("tables/steps/")
    [shard] = [key for key in objects if key.endswith(".parquet")]
    client = weed.client()
    bucket, _, prefix = trial.url.removeprefix("s3://").partition("/")

    client.put_object(Bucket=bucket, Key=f"{prefix}/{shard}", Body=objects[shard][:-1] + b"x")
    torn = tell(trial, "audit", trial.url, "--deep", "--json")
    client.delete_object(Bucket=bucket, Key=f"{prefix}/{shard}")
    gone = tell(trial, "audit", trial.url, "--json")

    assert torn.code == gone.code == 1
    assert f"{shard}: is torn or altered" in str(torn.answer["findings"])
    assert f"{shard}: is missing: a committed shard" in str(gone.answer["findings"])


@pytest.mark.full
def test_killed_before_a_write_and_run_again_it_is_whole(trial: Trial, tmp_path: Path) -> None:
    said = fork(trial.doom(trace=tmp_path / "trace"))
    assert said.code == 0, said.err
    names = (tmp_path / "trace").read_text().splitlines()
    kinds = {name: names.index(name) + 1 for name in names if " run" in name or " write " in name}
    numbers = sorted(kinds.values())

    came = [stop_and_finish(another(trial, number), Instant(number=number)) for number in numbers]

    assert {"before put_new run/spool", "after put_new run/versions", "after write steps"} <= {
        *kinds
    }
    assert sum(came) >= len(came) - 1  # who makes a folder of the dataset first is a matter of luck


@pytest.mark.full
def test_killed_inside_a_commit_and_run_again_it_is_whole(trial: Trial) -> None:
    at = Instant(name="before write episodes", seconds=0.01)

    assert stop_and_finish(trial, at, Fate.ALONE)


@pytest.mark.full
def test_two_commands_on_one_run_make_each_episode_once(trial: Trial) -> None:
    both = [Fork(trial.doom(jitter=number)) for number in range(2)]
    ended = [each.end() for each in both]

    for said in ended:
        assert said.code in {0, 1}, said.err
        assert said.answer["units_failed"] == said.answer["unjudged"] == 0
    finish(trial)
