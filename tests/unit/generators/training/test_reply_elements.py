"""What a rendered reply calls the element that an action hit."""

import json

import pytest
from support.episodes.factories import make_episode, make_step
from support.servers.stub_engine import SIDE, seen

from generators.training.dialect_renderer import make_renderer
from schemas.configuration.config import RunConfig
from schemas.episodes.action import Click, NoAction
from schemas.episodes.observation import Element, Target


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (Target(tag="button", name="Purchase book"), "Purchase book"),
        (Target(tag="div", text="Dune"), "Dune"),
        (Target(tag="svg"), "Close"),
        (None, "Close"),
    ],
)
def test_what_lies_under_an_overlay_gives_no_name_to_what_was_hit(
    target: Target | None, said: str
) -> None:
    beneath, dialog = (
        Element(
            role="button",
            name=name,
            tag="button",
            text=name,
            bbox=bbox,
            interactive=True,
            visible=1,
            covered=covered,
        )
        for name, bbox, covered in (
            ("Instructions", (48, 23, 6, 6), True),
            ("Close", (10, 10, 80, 80), False),
        )
    )
    look = seen(0)
    shown = {name: getattr(look, name) for name in ("screenshot", "width", "height", "page")}
    hit = {"target": target, "elements": (beneath, dialog)}
    steps = (
        make_step(0, picture=0, action=Click(x=50, y=25)).model_copy(update=shown | hit),
        make_step(1, picture=1, action=NoAction()).model_copy(update=shown),
    )
    viewport = {"viewport_width": SIDE, "viewport_height": SIDE}
    episode = make_episode(n_steps=0).model_copy(update={"steps": steps, "n_steps": 1, **viewport})

    reply = make_renderer(RunConfig(), "holotron").render(episode).segments[0].turns[-1].parts[0]

    assert json.loads(str(reply))["tool_call"]["element"] == said
