"""A stored prompt leads back to the dialect that wrote it, whatever options it had."""

from typing import Any

import pytest
from support.episodes.altered_episodes import examined, replied
from support.inputs.dialect_variants import NEEDED

from generators.policy.dialects.coordinates import Frame
from generators.policy.dialects.protocol import Rationale
from generators.policy.dialects.registry import DIALECTS, make_dialect
from schemas.episodes.action import Click
from schemas.verdicts.verdict import Status

ASKED = [name for name in DIALECTS if make_dialect(name, NEEDED.get(name)).drives_engine]

OPTIONS: dict[str, dict[str, Any]] = {
    "as published": {},
    "without a page's line": {"page_line": False},
    "with instructions": {"more_instructions": "Be brief."},
    "without a tool": {"leave_out": ["goto"]},
}


def _frame(dialect: str, options: dict[str, Any]) -> Frame:
    sent = make_dialect(dialect, options).sent_size(100, 80)
    sizes = dict.fromkeys(("viewport_width", "picture_width"), 100)
    sizes |= dict.fromkeys(("viewport_height", "picture_height"), 80)
    return Frame(**sizes, sent_width=sent[0], sent_height=sent[1])


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", ASKED)
async def test_replies_are_read_again_in_the_dialect_that_asked_for_them(
    name: str, options: dict[str, Any]
) -> None:
    options = {**NEEDED.get(name, {}), **options}
    dialect, frame = make_dialect(name, options), _frame(name, options)
    why = Rationale(thought="There.", note="One.", element="the box")
    said = [dialect.format_action(Click(x=5, y=8 + n), frame, why) for n in range(2)]

    finding = await examined(await replied(*said, dialect=name, dialect_options=options))

    assert (finding.status, finding.evidence) == (Status.PASSED, {})


@pytest.mark.parametrize("name", ["holo3", "holo3_1", "qwen3_vl", "opencua", "holotron3"])
async def test_published_tools_alone_are_found_again(name: str) -> None:
    options = {"extended": False}
    dialect, frame = make_dialect(name, options), _frame(name, options)
    said = [dialect.format_action(Click(x=5, y=8 + n), frame) for n in range(2)]

    finding = await examined(await replied(*said, dialect=name, dialect_options=options))

    assert (finding.status, finding.evidence) == (Status.PASSED, {})
