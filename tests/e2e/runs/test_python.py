"""A run made and opened in a program, where an event loop runs already, as in a notebook."""

import time
from pathlib import Path

import pytest
from effort import THOROUGH
from support.episodes.factories import make_whole_run
from support.runs.library import Kept, RunLibrary

from schemas.errors import BadConfig, BadTasks, OtherRun
from stepmill import make_run, open_dataset, open_run, picture

pytestmark = pytest.mark.browser

SECONDS = 20.0
"""Three episodes take less, judged, replayed and sealed."""

PLAIN = {"policy.name": "teacher", "accept.passed": ["structure", "outcome"]}


async def test_three_episodes_are_made_and_opened_without_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")  # whoever asks it fails
    begun = time.monotonic()

    report = make_run("smoke", run="first", settings={"publish.to": ["first-dataset"]})

    seconds = time.monotonic() - begun
    assert (report.summary.episodes, report.summary.accepted) == (3, 3), report
    assert (report.problems, report.units_failed, report.exit_code) == ((), 0, 0)
    assert not THOROUGH or seconds < SECONDS
    episodes = [*open_run(report.run).episodes(accepted=True)]
    assert [len(one.episode.steps) for one in episodes] == [3, 3, 5]
    assert all(picture(one.episode.steps[0]).width >= 300 for one in episodes)
    published = open_dataset("first-dataset")
    assert sorted(one.episode.episode_id for one in published.episodes()) == sorted(
        one.episode.episode_id for one in episodes
    )
    assert make_run("smoke", run="first").rolled_out == 0
    with pytest.raises(OtherRun, match="another configuration"):
        make_run("smoke", run="first", settings={"tasks.seeds": [0, 1]})


def test_a_run_of_models_is_the_same_as_its_dataset(run_library: RunLibrary) -> None:
    kept = run_library.read(Kept.MODEL)
    run, dataset = open_run(kept.run), open_dataset(kept.dataset)

    stored = {one.episode.episode_id: one for one in run.episodes()}
    assert stored == {one.episode.episode_id: one for one in dataset.episodes()}
    assert {one.acceptance.split for one in stored.values()} == {"train", "validation", "test"}
    assert {one.acceptance.accepted for one in stored.values()} == {True, False}
    assert any(one.labels for one in stored.values())
    for config in run.configs:
        assert run.table(config).equals(dataset.table(config)), config
    rejected = list(dataset.episodes(accepted=False))
    assert len(rejected) == sum(not one.acceptance.accepted for one in stored.values())


async def test_a_run_in_a_bucket_is_opened_as_one_in_a_folder(bucket_url: str) -> None:
    run = await make_whole_run(f"{bucket_url}/run")

    assert len([*open_run(run.url).episodes()]) == 8


@pytest.mark.parametrize(
    ("config", "settings", "error", "told"),
    [
        ("smke", {}, BadConfig, "smke: there is no such file, .* did you mean 'smoke'"),
        ("smoke", {"browser.sesions": 3}, BadConfig, "'browser.sesions'.*browser.sessions"),
        ("smoke", {"browser.sessions": "x"}, BadConfig, "'browser.sessions'.*integer"),
        ("smoke", {"browser": 3}, BadConfig, "the setting 'browser'"),
        ("smoke", {"tasks.include": ["no-such-*"]}, BadTasks, "no-such"),
    ],
)
def test_a_mistake_is_refused_by_name_and_nothing_is_written(
    config: str, settings: dict[str, object], error: type[Exception], told: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=told):
        make_run(config, run=tmp_path / "run", settings=settings)  # type: ignore[arg-type]

    assert [*tmp_path.iterdir()] == []
