"""Which replies of an episode are not learnt, and why."""

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image
from support.episodes.taught_episodes import learnt, section_of, taught
from support.servers.stub_engine import SIDE, configured

from generators.training.dialect_renderer import make_renderer
from generators.verify.shown import Picture as SeenPicture
from schemas.configuration.config import RunConfig
from schemas.episodes.action import (
    Answer,
    Click,
    TypeText,
    Wait,
)
from schemas.episodes.conversation import (
    MaskReason,
)
from schemas.episodes.episode import Actor, Episode, Step, ThoughtSource
from schemas.episodes.mistake import InjectedMistake
from schemas.episodes.observation import Screenshot, Sight
from schemas.tasks.expectation import Expectation


def test_what_was_not_the_policy_s_or_came_to_nothing_is_shown_and_not_learnt() -> None:
    clicks = (Click(x=1, y=1), Click(x=2, y=2))
    for more in ({"actor": Actor.USER}, {"action_error": "covered"}):
        [segment] = make_renderer(RunConfig(), None).render(taught(*clicks, **more)).segments

        assert [turn.role for turn in segment.turns] == ["system", *("user", "assistant") * 2]
        assert learnt(segment) == 0
        assert {turn.masked for turn in segment.turns if turn.role == "assistant"} <= {
            "a person acted",
            "the action could not be carried out",
        }


@pytest.mark.parametrize("kind", list(InjectedMistake))
def test_a_mistake_on_purpose_is_shown_and_not_learnt_and_what_mends_it_is(
    kind: InjectedMistake,
) -> None:
    episode = taught(Click(x=1, y=1), Click(x=2, y=2))
    wrong, *others = episode.steps
    steps = (wrong.model_copy(update={"injected_mistake": kind}), *others)
    [segment] = (
        make_renderer(RunConfig(), None)
        .render(episode.model_copy(update={"steps": steps}))
        .segments
    )

    masks = [(one.mask_reason, one.learnt) for one in segment.turns if one.step is not None]
    assert masks == [(MaskReason.MISTAKE, False), (None, True)]


def remembering(
    *, thought: str = "I write it down.", note: str | None = None, old: bool = False
) -> Episode:
    """Return an episode that types at its third look a word that only the first one showed."""
    shown = (Sight(text="tulip", bbox=(0, 0, SIDE, SIDE)),)
    word = taught(Wait(ms=1), Wait(ms=1), TypeText(text="tulip"))
    steps = [
        step.model_copy(
            update={
                "sights": None if old else shown[: not step.step],
                "thought": thought if step.step == 0 else None,
                "thought_source": ThoughtSource.TEMPLATE if step.step == 0 else None,
                "note": note if step.step == 0 else None,
                "target": None,
                "screenshot": framed(step.step),
            }
        )
        for step in word.steps
    ]
    return word.model_copy(update={"steps": tuple(steps)})


def framed(number: int) -> Screenshot:
    """Return a picture that is not flat."""
    image = Image.new("RGB", (SIDE, SIDE), "white")
    image.paste("black", (9, 9, SIDE // 2, SIDE // 2 + number))
    out = io.BytesIO()
    image.save(out, "JPEG")
    return Screenshot(bytes=out.getvalue(), path=f"{number}.jpg")


@pytest.mark.parametrize(
    ("keep", "episode", "because"),
    [
        (3, remembering(), None),
        (1, remembering(), "its prompt no longer shows the text 'tulip'"),
        (1, remembering(thought="It says 'tulip'."), None),
        (1, remembering(note='The word is "tulip".'), None),
        (1, remembering(old=True), None),
    ],
    ids=["kept", "lost", "said in an earlier reply", "noted", "of an earlier version"],
)
def test_a_reply_whose_prompt_has_lost_its_basis_is_masked_with_the_reason(
    keep: int, episode: Episode, because: str | None
) -> None:
    section = section_of(keep_images=keep, slack_images=0)

    rendered = make_renderer(configured(section), None).render(episode)

    last = rendered.segments[-1].turns[-1]
    assert (last.learnt, last.masked) == (because is None, because)
    assert sum(learnt(segment) for segment in rendered.segments) == 3 - (because is not None)


def test_a_note_that_lies_is_not_learnt_and_is_no_basis_for_what_follows() -> None:
    lie = remembering(note='The word is "tulip".')
    blank = (Sight(text="rose", bbox=(0, 0, SIDE, SIDE)),)
    first = lie.steps[0].model_copy(update={"sights": blank})
    lie = lie.model_copy(update={"steps": (first, *lie.steps[1:])})
    section = section_of(keep_images=3, slack_images=0)

    turns = make_renderer(configured(section), None).render(lie).segments[-1].turns

    masks = [(one.mask_reason, one.masked) for one in turns if one.step is not None]
    assert masks == [
        (MaskReason.UNTRUE_NOTE, "its prompt does not show 'tulip', which its note states"),
        (None, None),
        (MaskReason.UNSEEN, "its prompt no longer shows the text 'tulip'"),
    ]


@pytest.mark.parametrize(
    ("keep", "is_learnt"), [(3, True), (1, False)], ids=["in a picture", "nowhere any more"]
)
def test_an_answer_is_learnt_where_its_prompt_has_the_facts_that_it_follows_from(
    *, keep: int, is_learnt: bool
) -> None:
    counted = remembering(thought="I count.")
    answered = counted.steps[-1].model_copy(update={"action": Answer(text="1")})
    steps = [
        one if one.step != 2 else answered.model_copy(update={"step": 2}) for one in counted.steps
    ]
    episode = counted.model_copy(update={"steps": tuple(steps)})
    section = section_of(keep_images=keep, slack_images=0)
    expected = Expectation(answer="1", facts=("tulip",))

    rendered = make_renderer(configured(section), None).render(episode, expected)

    assert rendered.segments[-1].turns[-1].learnt is is_learnt


def test_several_kinds_of_rows_made_at_once_decode_each_picture_of_an_episode_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoded = list[int]()

    class Counted(SeenPicture):
        def __init__(self, step: Step, *, scale: float) -> None:
            decoded.append(step.step)
            super().__init__(step, scale=scale)

    monkeypatch.setattr("generators.training.dialect_renderer.SeenPicture", Counted)
    episode = remembering()
    renderer = make_renderer(configured(section_of(keep_images=3, slack_images=0)), None)
    with ThreadPoolExecutor(3) as threads:
        rendered = list(threads.map(renderer.render, [episode] * 3))

    assert rendered == [rendered[0]] * 3
    assert sorted(decoded) == [0, 1, 2]
