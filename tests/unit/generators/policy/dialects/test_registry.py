"""Dialects of plug-ins: made with their options, and read again where an episode is judged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.episodes.altered_episodes import defects, examined, replied
from support.inputs.offered_parts import installed, offer

from flows.job.validate import check_dialects
from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Rationale
from generators.policy.dialects.registry import DIALECTS, PARTS, make_dialect, settings_of
from generators.verify.replies import NOT_READ
from schemas.configuration.config import RunConfig
from schemas.configuration.sections import EngineKind, EngineSection, PolicyName, PolicySection
from schemas.episodes.action import Click
from schemas.episodes.episode import Episode
from schemas.errors import BadConfig
from schemas.verdicts.verdict import Status

CODE = """
from dataclasses import replace
from generators.policy.dialects.holo import holo2
from generators.policy.dialects.settings import HoloSettings
from generators.policy.dialects.shared.json_dialect import JsonDialect

stepmill_api = 1

class Loud(JsonDialect):
    class Options(HoloSettings):
        tone: str = ""
    def __init__(self, options):
        super().__init__(replace(holo2(options)._spec, name="loud"), options)
        self.tone = options.tone
    def system_prompt(self, frame):
        return self.tone + super().system_prompt(frame)

class OtherName(Loud):
    pass

def broken(options):
    raise KeyError("a")

class Wrong:
    Options = 3
"""
PLACES = {"loud": "Loud", "other": "OtherName", "broken": "broken", "wrong": "Wrong"}
FRAME = Frame(
    viewport_width=100,
    viewport_height=80,
    picture_width=100,
    picture_height=80,
    sent_width=100,
    sent_height=80,
)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    parts = {f"stepmill.dialects:{name}": f"own_dialects:{at}" for name, at in PLACES.items()}
    with installed(tmp_path):
        offer(tmp_path, "own-dialects", parts, modules={"own_dialects": CODE})
        yield tmp_path


async def clicked_twice(**options: Any) -> Episode:
    """Return an episode of a model that was asked in the plug-in's dialect."""
    dialect = make_dialect("loud", options)
    size = dict(zip(("sent_width", "sent_height"), dialect.sent_size(100, 80), strict=True))
    frame, why = FRAME.model_copy(update=size), Rationale(thought="There.", element="the box")
    said = [dialect.format_action(Click(x=5, y=8 + n), frame, why) for n in range(2)]
    return await replied(*said, dialect="loud", dialect_options=options)


def test_the_dialects_that_ship_are_listed_with_their_settings() -> None:
    assert list(DIALECTS) == list(PARTS.built_in)
    assert all(settings_of(name) is kind for name, kind in DIALECTS.items())


@pytest.mark.usefixtures("place")
def test_a_dialect_of_a_plugin_is_made_with_its_options() -> None:
    assert make_dialect("loud", {"tone": "!"}).system_prompt(FRAME).startswith("!")
    with pytest.raises(BadConfig, match=r"dialect_options: 'loud' has no option 'ton'; did you"):
        make_dialect("loud", {"ton": "!"})


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("other", r"^policy\.dialect: the dialect 'other' calls itself 'loud'"),
        ("broken", r"^policy\.dialect: 'broken' cannot be used: it is not made: KeyError: 'a'$"),
        ("wrong", r"\(own_dialects:Wrong\) is no dialect: its Options is no pydantic model"),
        ("lou", r"^policy\.dialect: there is no dialect 'lou'; did you mean 'loud'\?"),
    ],
)
def test_a_dialect_that_is_not_what_it_says_is_refused(name: str, said: str) -> None:
    with pytest.raises(BadConfig, match=said):
        make_dialect(name)


@pytest.mark.usefixtures("place")
async def test_replies_in_the_dialect_of_a_plugin_are_read_again() -> None:
    episode = await clicked_twice()

    finding = await examined(episode)
    assert (finding.status, finding.evidence) == (Status.PASSED, {}), finding


@pytest.mark.usefixtures("place")
async def test_replies_are_not_read_where_the_options_of_a_plugin_do_not_show() -> None:
    finding = await examined(await clicked_twice(tone="!"))

    assert (finding.status, finding.evidence) == (Status.PASSED, {"missing": NOT_READ}), finding


async def test_without_the_plugin_a_run_is_not_judged(tmp_path: Path) -> None:
    section = PolicySection(name=PolicyName.MODEL, dialect="loud")
    config = RunConfig(policy=section, engine=EngineSection(kind=EngineKind.SIMULATOR))
    parts = {"stepmill.dialects:loud": "own_dialects:Loud"}
    with installed(tmp_path):
        offer(tmp_path, "own-dialects", parts, modules={"own_dialects": CODE})
        check_dialects(config)
        episode = await clicked_twice()

    with pytest.raises(BadConfig, match="there is no dialect 'loud'"):
        check_dialects(config)
    assert any("there is no dialect 'loud'" in one for one in defects(await examined(episode)))
