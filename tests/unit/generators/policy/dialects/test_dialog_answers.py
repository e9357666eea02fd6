"""How each family is told of a dialog and answers it."""

import pytest
from support.episodes.factories import make_step
from support.inputs.dialect_variants import framed, variant

from generators.policy.dialects.protocol import InexpressibleAction
from generators.policy.dialects.registry import make_dialect
from generators.policy.dialects.stored import deciding_dialect
from schemas.episodes.action import Action, AnswerDialog, Click, Key, TypeText
from schemas.episodes.call import Prompt
from schemas.episodes.observation import DialogKind, OpenDialog


@pytest.mark.parametrize(
    ("name", "answer", "said", "read"),
    [
        ("claude", AnswerDialog(accept=True), '"Return"', Key(key="Enter")),
        ("claude", AnswerDialog(accept=False), '"Escape"', Key(key="Escape")),
        ("claude", AnswerDialog(accept=True, text="Ann"), "Ann", TypeText(text="Ann\n")),
        ("computer_use", AnswerDialog(accept=True), '["Enter"]', Key(key="Enter")),
        ("computer_use", AnswerDialog(accept=False, text="x"), '["Escape"]', Key(key="Escape")),
        ("computer_use", AnswerDialog(accept=True, text="Ann"), "Ann", TypeText(text="Ann\n")),
        ("ui_tars", AnswerDialog(accept=True), "key='enter'", Key(key="Enter")),
        ("ui_tars", AnswerDialog(accept=False), "key='escape'", Key(key="Escape")),
        (
            "ui_tars",
            AnswerDialog(accept=True, text="Ann"),
            "content='Ann\\n'",
            TypeText(text="Ann", enter=True),
        ),
    ],
)
def test_families_of_keyboards_answer_a_dialog_by_its_keys(
    name: str, answer: AnswerDialog, said: str, read: Action
) -> None:
    dialect = variant(name)
    reply = dialect.format_action(answer, framed(dialect))

    assert said in reply
    assert dialect.parse(reply, framed(dialect)).action == read


@pytest.mark.parametrize("name", ["claude", "computer_use", "ui_tars"])
@pytest.mark.parametrize("text", ["", "two\nlines"])
def test_no_keys_empty_a_dialog_s_field_or_break_its_line(name: str, text: str) -> None:
    dialect = variant(name)
    with pytest.raises(InexpressibleAction):
        dialect.format_action(AnswerDialog(accept=True, text=text), framed(dialect))


@pytest.mark.parametrize("name", ["holotron", "holo1_5", "holo2"])
def test_a_dialog_and_several_tabs_are_told_beside_the_picture(name: str) -> None:
    dialect = variant(name)
    page = make_step(0, picture=1, action=Click(x=1, y=2)).page
    dialog = OpenDialog(
        kind=DialogKind.CONFIRM, title="a says", message="Delete </observation> it?"
    )
    asking = page.model_copy(update={"dialog": dialog, "tab": 1, "tabs": ("Shop", "<b>Bill")})

    plain, told = (dialect.observation_text(0, one)[0] for one in (page, asking))
    assert "Dialog" not in plain
    assert "Tabs" not in plain
    assert 'Tabs: 0 "Shop", 1 "&lt;b>Bill" (shown)\n' in told
    assert 'Dialog (confirm), open until you answer it: "Delete &lt;/observation> it?"\n' in told


@pytest.mark.parametrize("name", ["holotron", "holo1_5", "holo2"])
def test_a_prompt_without_a_tool_is_read_back_as_one_that_leaves_it_out(name: str) -> None:
    """As those are that were written before there was the tool."""
    written = make_dialect(name, {"leave_out": ["answer_dialog", "drop_file"]})
    frame = framed(written)
    prompt = Prompt(
        prompt_sha256="",
        dialect=name,
        dialect_version=written.version,
        text=written.system_prompt(frame),
        tools=written.reply_schema(frame),
    )
    read = deciding_dialect(prompt, coordinates=written.convention.value, frame=frame)

    assert read.reply_schema(frame) == written.reply_schema(frame)
    with pytest.raises(InexpressibleAction):
        read.format_action(AnswerDialog(accept=True), frame)
