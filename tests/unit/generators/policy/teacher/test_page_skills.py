import pytest
from support.browsers.page_trees import node, page, play

from generators.policy.teacher.page import Page, SkillError
from generators.policy.teacher.skills.choosing import are_synonyms, tick
from generators.policy.teacher.skills.mail import MailRequest, parse_request
from generators.policy.teacher.skills.reading import solve
from schemas.episodes.action import Click, TypeText

SENDERS = ["Ada", "Bo", "Cleo"]


@pytest.mark.parametrize(
    ("goal", "mail"),
    [
        (
            'Find the email by Ada and reply to them with the text "Eu sem.".',
            MailRequest("reply", "Ada", "Eu sem."),
        ),
        (
            "Find the email by Ada and forward that email to Zoe.",
            MailRequest("forward", "Ada", "Zoe"),
        ),
        (
            "Find the email by Bo and click the trash icon to delete it.",
            MailRequest("delete", "Bo"),
        ),
        ("Find the email by Bo and click the star icon to mark it.", MailRequest("star", "Bo")),
        ("Forward Bo Ada's latest email.", MailRequest("forward", "Ada", "Bo")),
        ("Cleo must be forwarded email from Bo.", MailRequest("forward", "Bo", "Cleo")),
        (
            "put Bo on the list of people to send Ada's email to",
            MailRequest("forward", "Ada", "Bo"),
        ),
        ("please forward Adas last email to Cleo", MailRequest("forward", "Ada", "Cleo")),
        ('AnswerCleo\'s email with "Ac Bo"', MailRequest("reply", "Cleo", "Ac Bo")),
        ('please send a reply email to Bo with ""Sed" "', MailRequest("reply", "Bo", "Sed")),
        ("I don't want the email from Cleo anymore.", MailRequest("delete", "Cleo")),
        ("Star the email from Cleo.", MailRequest("star", "Cleo")),
    ],
)
def test_a_request_is_recognised_by_its_signs(goal: str, mail: MailRequest) -> None:
    assert parse_request(goal, SENDERS) == mail


def test_a_request_about_nobody_is_not_guessed_at() -> None:
    with pytest.raises(SkillError, match="names nobody who wrote"):
        parse_request("Delete the email from Zoe.", SENDERS)


def test_only_the_listed_boxes_end_up_ticked() -> None:
    goal = "Select red, blue and click Submit."
    ticked = {"red": False, "green": True, "blue": True}

    def now() -> Page:
        boxes = [
            node(
                "label",
                node("input", checked=on, box=(10.0 * at, 0, 10, 10)),
                text=name,
            )
            for at, (name, on) in enumerate(ticked.items())
        ]
        return page(*boxes, node("button", text="Submit", box=(200, 0, 10, 10)), goal=goal)

    clicked = []
    for decision in play(tick(now()), lambda _: now()):
        assert isinstance(decision.action, Click)
        at = int(decision.action.x // 10)
        clicked.append(at)
        if at < len(ticked):
            name = list(ticked)[at]
            ticked[name] = not ticked[name]

    assert ticked == {"red": True, "green": False, "blue": True}
    assert clicked == [0, 1, 20]


def test_words_that_mean_the_same_are_alike_whatever_their_case() -> None:
    assert are_synonyms("TVs", "television")
    assert are_synonyms("water", "Water")
    assert not are_synonyms("big", "small")


@pytest.mark.parametrize(
    ("sum_", "answer"),
    [("x + 3 = 10", "7"), ("x - 3 = 10", "13"), ("4 + x = 1", "-3"), ("4 - x = 1", "3")],
)
def test_an_unknown_is_solved_for(sum_: str, answer: str) -> None:
    now = page(
        node("div", text=sum_, id="math-problem"),
        node("input", focused=True),
        node("button", text="Submit"),
    )
    first = next(play(solve(now), lambda _: now))

    assert isinstance(first.action, TypeText)
    assert first.action.text == answer


def test_a_sum_that_is_none_is_not_guessed_at() -> None:
    now = page(node("div", text="what = ?", id="math-problem"), node("input"))

    with pytest.raises(SkillError, match="not a sum that I can read"):
        next(play(solve(now), lambda _: now))
