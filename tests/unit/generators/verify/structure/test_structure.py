"""Rows, pictures and actions are held against one another, each by a finding of its own."""

import io

import pytest
from PIL import Image
from support.episodes.altered_episodes import (
    BARE,
    POINTLESS,
    Lie,
    both,
    broken,
    capsule,
    changed,
    defects,
    drawn,
    examined,
    lost,
    sealed,
    step,
    won,
)
from support.episodes.factories import make_episode, make_task

from generators.browser.picture import read_picture
from generators.verify.structure import MAX_DEFECTS
from schemas.base import sha256_hex
from schemas.episodes.action import Click, Drag, Goto, NoAction, Tab, TabOperation, Wait
from schemas.episodes.episode import (
    Actor,
    Episode,
    StopReason,
    ThoughtSource,
)
from schemas.episodes.observation import Element, Screenshot, Target
from schemas.verdicts.verdict import Status


def without_final_row(episode: Episode) -> Episode:
    *_, last, _ = steps = list(episode.steps)
    steps[-2:] = [last.model_copy(update={"state_changed": None})]
    return sealed(episode, steps)


def with_two_final_rows(episode: Episode) -> Episode:
    *_, last = steps = list(episode.steps)
    return sealed(episode, [*steps, last.model_copy(update={"step": len(steps)})])


def nowhere(episode: Episode) -> Episode:
    page = episode.steps[1].page.model_copy(update={"url": "about:blank"})
    return step(1, page=page)(episode)


def hashed_as_before(episode: Episode) -> Episode:
    """Return the episode with the difference hashes that earlier versions took, of 8 rows."""
    for number, row in enumerate(episode.steps):
        before = read_picture(row.screenshot.bytes, rows=8).difference_hash
        episode = step(number, screenshot_phash=before)(episode)
    return episode


def not_a_number(episode: Episode) -> Episode:
    first, *others = episode.steps
    page = first.page.model_copy(update={"scroll_x": float("nan")})
    lied = first.model_copy(update={"page": page})
    return episode.model_copy(update={"steps": (lied, *others)})


def huge() -> dict[str, object]:
    """Return the columns of a picture whose header says that it is 65,500 pixels wide and high."""
    out = io.BytesIO()
    Image.new("RGB", (100, 80)).save(out, "JPEG")
    head, frame, rest = out.getvalue().partition(b"\xff\xc0")
    data = head + frame + rest[:3] + b"\xff\xdc\xff\xdc" + rest[7:]
    return {
        "screenshot": Screenshot(bytes=data, path="x.jpg"),
        "screenshot_sha256": sha256_hex(data),
    }


def with_element(visible: float) -> Lie:
    element = Element(
        role="",
        name="",
        tag="b",
        text="",
        bbox=(0, 0, 1, 1),
        interactive=False,
        visible=0,
        covered=False,
    )
    return step(0, elements=(element.model_copy(update={"visible": visible}),))


LIES: dict[str, tuple[str, Lie]] = {
    "content_sha256": ("content_sha256 is not", changed(content_sha256="0" * 64)),
    "a number that no row holds": ("cannot be hashed", not_a_number),
    "numbers": ("not numbered 0, 1, 2", step(2, step=5)),
    "n_steps": ("n_steps is 9", changed(n_steps=9)),
    "a row between": (
        "stands before the last",
        both(step(0, **BARE, action=NoAction()), changed(n_steps=1)),
    ),
    "two final rows": ("stands before the last", with_two_final_rows),
    "no final row": ("final state is missing", without_final_row),
    "final thought": ("thought_source is stated", step(2, thought_source=ThoughtSource.POLICY)),
    "final reward": ("reward is stated", step(2, reward=1.0)),
    "final end": ("terminated is stated", step(2, terminated=True)),
    "final duration": ("act_ms is stated", step(2, act_ms=1e-7)),
    "final change": ("state_changed is stated", step(2, state_changed=False)),
    "picture's hash": ("picture's hash", step(1, screenshot_sha256="0" * 64)),
    "picture that is none": ("does not decode", drawn(cut=4)),
    "picture that is torn": ("does not decode", drawn(cut=700)),
    "picture of a claimed size": ("does not decode", step(1, **huge())),
    "picture's format": ("is a PNG", drawn(form="PNG")),
    "picture's size": ("picture is 50×40, the row", drawn(size=(50, 40))),
    "row's size": ("row says 50×40, the viewport", drawn(size=(50, 40), row=(50, 40))),
    "phash": ("screenshot_phash is not", step(1, screenshot_phash="f" * 16)),
    "state_changed": ("state_changed is False", step(1, state_changed=False)),
    "state_changed unknown": ("state_changed is None", step(0, state_changed=None)),
    "target's share": ("not between 0 and 1", step(0, target=Target(tag="b", visible=1.5))),
    "element's share": ("not between 0 and 1", with_element(-0.1)),
    "x_norm": ("x_norm and y_norm", step(0, x_norm=0.5)),
    "y_norm": ("x_norm and y_norm", step(0, y_norm=None)),
    "fraction without a point": (
        "x_norm and y_norm",
        step(0, action=Wait(), **POINTLESS | {"x_norm": 0.5}),
    ),
    "target without a point": (
        "has no point",
        step(0, action=Wait(), **POINTLESS | {"target": Target(tag="b")}),
    ),
    "something more in the capsule": ("states 'more'", capsule("more", value=1)),
    "actor": ("actor is user", step(0, actor=Actor.USER)),
    "thought without a source": ("come together", step(0, thought_source=None)),
    "source without a thought": ("come together", step(0, thought=None)),
    "click outside": (
        "(100, 5) is outside the viewport",
        step(0, action=Click(x=100, y=5), x_norm=1.0, y_norm=5 / 80),
    ),
    "drag's end outside": (
        "(5, 80) is outside the viewport",
        step(0, action=Drag(x=5, y=5, to_x=5, to_y=80)),
    ),
    "goto no address": ("is not allowed", step(0, action=Goto(url="http://["), **POINTLESS)),
    "goto": ("is not allowed", step(0, action=Goto(url="http://b.example/"), **POINTLESS)),
    "tab": (
        "is not allowed",
        step(0, action=Tab(operation=TabOperation.OPEN, url="http://b.example/"), **POINTLESS),
    ),
    "goto elsewhere on the site": (
        "is not allowed",
        both(
            step(0, action=Goto(url="http://scripted.localhost/b"), **POINTLESS),
            capsule("visit", "allowed_paths", value=["/a"]),
            capsule("session", "allowed_paths", value=["/a"]),
        ),
    ),
}
"""Each changes one thing of an episode that was won, and what names it."""


@pytest.mark.parametrize(("named", "lie"), LIES.values(), ids=LIES.keys())
async def test_each_lie_is_named_by_one_finding_alone(named: str, lie: Lie) -> None:
    episode = await won()
    assert (await examined(episode)).status is Status.PASSED

    finding = await examined(lie(episode))

    assert finding.status is Status.FAILED
    [defect] = defects(finding)
    assert named in defect, finding


SOUND: dict[str, Lie] = {
    "a target out of sight": step(0, target=Target(tag="b", visible=0.0)),
    "a target in sight": step(0, target=Target(tag="b", visible=1.0)),
    "an element out of sight": with_element(0.0),
    "half an element": with_element(0.5),
    "goto on the site": step(0, action=Goto(url="http://scripted.localhost/b"), **POINTLESS),
    "a tab without a page": nowhere,
    "difference hashes of earlier versions": hashed_as_before,
}
"""What an episode may state, too."""


@pytest.mark.parametrize("change", SOUND.values(), ids=SOUND.keys())
async def test_what_is_possible_is_no_defect(change: Lie) -> None:
    assert defects(await examined(change(await won()))) == []


async def test_a_finding_names_the_first_defect_and_counts_the_others() -> None:
    one = changed(n_steps=9)(await won())

    assert (await examined(one)).reason == "2 actions, but n_steps is 9"
    two = await examined(changed(browser="firefox")(one))
    assert two.reason == "2 actions, but n_steps is 9, and 1 more"


SOUND_ENDS = [
    StopReason.ANSWERED,
    StopReason.STEP_LIMIT,
    StopReason.STUCK,
    StopReason.TIME_LIMIT,
    StopReason.TOKEN_LIMIT,
    StopReason.FAILED,
]


@pytest.mark.parametrize("stop", SOUND_ENDS)
async def test_an_episode_is_sound_however_it_ended(stop: StopReason) -> None:
    episode = await lost(stop)

    assert episode.stop_reason is stop
    finding = await examined(episode)
    assert (finding.status, finding.evidence) == (Status.PASSED, {}), finding


@pytest.mark.parametrize(
    "kind",
    [
        *("the first look", "the look after a click", "the look after a win"),
        *("the outcome of a click", "the goal", "one try of two"),
    ],
)
async def test_an_episode_that_broke_is_sound(kind: str) -> None:
    finding = await examined(await broken(kind))

    assert finding.status is Status.PASSED, finding


async def test_an_address_outside_the_allowed_origins_is_named() -> None:
    episode = await won()
    page = episode.steps[1].page.model_copy(update={"url": "http://elsewhere.example/"})

    [defect] = defects(await examined(step(1, page=page)(episode)))

    assert defect == "step 1: http://elsewhere.example/ is outside the allowed origins"


async def test_many_defects_are_counted_and_some_are_listed() -> None:
    episode = await won()
    steps = [row.model_copy(update={"screenshot_phash": "0" * 16}) for row in episode.steps] * 20

    finding = await examined(sealed(episode, steps))

    assert len(defects(finding)) == MAX_DEFECTS
    assert " more" in finding.reason


async def test_what_the_tests_are_made_of_is_sound() -> None:
    finding = await examined(make_episode(make_task()), make_task())

    assert finding.status is Status.PASSED, finding
