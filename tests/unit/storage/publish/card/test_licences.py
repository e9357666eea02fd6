"""The licence on a card: the one that was stated, by a name that the Hub knows, or none."""

import asyncio
from pathlib import Path

import pytest
import yaml
from support.runs.memory_run import RULE, STORAGE, make_run_file, small_run

from flows.job.publish_job import check_destination
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import PublishSection
from schemas.errors import BadConfig
from storage.publish.card.licences import LICENCES, refuse_unknown_licence
from storage.publish.publish import publish


def _publish(to: Path, terms: PublishSection) -> str:
    asyncio.run(
        publish(small_run().seal(), make_run_file(), RULE, str(to), terms=terms, storage=STORAGE)
    )
    return (to / "README.md").read_text()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cc-by-40", "the nearest are cc-by-4.0"),
        ("apache2", "the nearest are apache-2.0"),
        ("zzz", "none is like it"),
        ("nonsense", "got 'nonsense'"),
    ],
)
def test_a_licence_that_the_hub_does_not_know_is_refused_before_anything_is_written(
    tmp_path: Path, name: str, said: str
) -> None:
    with pytest.raises(BadConfig, match=r"publish\.license: expected a licence") as refused:
        _publish(tmp_path / "to", PublishSection(license=name))

    assert said in str(refused.value)
    assert not (tmp_path / "to").exists()


async def test_a_run_is_not_begun_towards_a_licence_that_could_not_be_published(
    tmp_path: Path,
) -> None:
    config = RunConfig(publish=PublishSection(to=(str(tmp_path / "to"),), license="nonsense"))

    with pytest.raises(BadConfig, match=r"publish\.license"):
        await check_destination(str(tmp_path / "to"), config, None)


@pytest.mark.parametrize("name", [*sorted(LICENCES)])
def test_every_licence_of_the_list_may_be_configured(name: str) -> None:
    refuse_unknown_licence(PublishSection(license=name).license)


def test_what_was_stated_is_on_the_card_and_nothing_where_nothing_was(tmp_path: Path) -> None:
    stated = _publish(tmp_path / "stated", PublishSection(license="cc-by-4.0"))
    silent = _publish(tmp_path / "silent", PublishSection())

    assert yaml.safe_load(stated.split("---\n")[1])["license"] == "cc-by-4.0"
    assert "Licence: cc-by-4.0. " in stated
    assert "No licence is stated here." not in stated
    assert "license" not in yaml.safe_load(silent.split("---\n")[1])
    assert "No licence is stated here." in silent
