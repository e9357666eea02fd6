"""Tasks about the wiki and the forum of fossil."""

from collections.abc import Callable
from random import Random

from stepmill_applications.application_task import (
    ApplicationTask,
    Move,
    click,
    click_at,
    draft,
    fill,
    pick_other,
    press,
    rule,
)
from stepmill_applications.fossil.contents import HOME, PEOPLE, REMARKS, Page, SeededContent


def _create_page(content: SeededContent, random: Random) -> ApplicationTask:
    name = pick_other(random, tuple(f"Shift {n}" for n in range(10, 90)), "")
    text = f"{random.choice(REMARKS)} Ask {random.choice(content.pages).keeper}."
    return draft(
        f"Create a wiki page named '{name}' with the text '{text}'",
        f"The wiki needs a page '{name}'. Write it; all that it says is '{text}'",
        start=HOME,
        parameters={"name": name, "text": text},
        reference=(
            *(click("Wiki"), click("New"), fill('input[name="name"]', name), click("Create")),
            *_save_page(text),
        ),
        added=[rule("page", {"name": name, "text": text, "author": PEOPLE[0]})],
    )


def _change_load(content: SeededContent, random: Random) -> ApplicationTask:
    page, load = random.choice(content.pages), random.randint(101, 199)
    text = page.text.replace(f"Load limit: {page.load} t", f"Load limit: {load} t")
    return draft(
        f"On the wiki page '{page.name}', change the load limit to {load} t",
        f"The load limit in the wiki's '{page.name}' is out of date: it is {load} t now. Correct it",
        start=HOME,
        parameters={"name": page.name, "load": load},
        reference=_rewritten(page, text),
        changed=[rule("page", {"name": page.name}, set={"text": text, "author": PEOPLE[0]})],
    )


def _add_line(content: SeededContent, random: Random) -> ApplicationTask:
    page, day = random.choice(content.pages), random.randint(1, 28)
    line = f"* Last inspection: 2026-01-{day:02d}"
    return draft(
        f"Add the line '{line}' at the end of the wiki page '{page.name}', right below its last line",
        f"Append '{line}' to the list that ends the wiki page '{page.name}', as a line of its own",
        start=HOME,
        parameters={"name": page.name, "line": line},
        reference=_rewritten(page, f"{page.text}\n{line}"),
        changed=[
            rule(
                "page",
                {"name": page.name},
                set={"text": f"{page.text}\n{line}", "author": PEOPLE[0]},
            )
        ],
    )


def _read_page(content: SeededContent, random: Random) -> ApplicationTask:
    page = random.choice(content.pages)
    what, value = random.choice(
        (
            ("load limit, in tonnes", str(page.load)),
            ("number of days between inspections", str(page.interval)),
            ("keeper", page.keeper),
        )
    )
    return draft(
        f"What does the wiki page '{page.name}' state as the {what}?",
        f"Find the {what} on the wiki page '{page.name}', and answer with it alone",
        start=HOME,
        parameters={"name": page.name, "field": what},
        reference=(click("Wiki"), click(page.name)),
        replies=value,
    )


def _begin_thread(content: SeededContent, random: Random) -> ApplicationTask:
    title = f"{random.choice(('Question', 'Idea', 'Request'))} for berth {random.randint(21, 99)}"
    text = random.choice(REMARKS)
    number = content.first_new
    return draft(
        f"Begin a forum thread titled '{title}' with the text '{text}'",
        f"Post '{text}' in the forum, as a new thread with the title '{title}'",
        start=HOME,
        parameters={"title": title, "text": text},
        reference=(
            *(click("Forum"), click("New Thread"), fill('input[name="title"]', title)),
            *(fill('textarea[name="content"]', text), click("Preview"), click("Submit")),
        ),
        added=[
            rule(
                "post",
                {"id": number, "reply_to": 0, "thread": title, "author": PEOPLE[0], "text": text},
            )
        ],
    )


def _reply(content: SeededContent, random: Random) -> ApplicationTask:
    thread, text = random.choice(content.threads), random.choice(REMARKS)
    return draft(
        f"Reply '{text}' to the forum thread '{thread.title}'",
        f"Answer the forum's '{thread.title}' with a reply that says '{text}'",
        start=HOME,
        parameters={"thread": thread.title, "text": text},
        reference=(
            *(click("Forum"), click(thread.title), click("Reply")),
            *(fill('textarea[name="content"]', text), click("Preview"), click("Submit")),
        ),
        added=[
            rule(
                "post",
                {
                    "reply_to": content.number(thread),
                    "thread": thread.title,
                    "author": PEOPLE[0],
                    "text": text,
                },
            )
        ],
    )


def _rewritten(page: Page, text: str) -> tuple[Move, ...]:
    return (click("Wiki"), click(page.name), click("Edit"), *_save_page(text))


def _save_page(text: str) -> tuple[Move, ...]:
    """Return the moves in the editor; it lets save only once its field has lost the focus."""
    return (
        fill("#wikiedit-content-editor", text),
        press("Tab"),
        click_at("button.wikiedit-save-close"),
    )


PAGE_TEMPLATES: dict[str, Callable[[SeededContent, Random], ApplicationTask]] = {
    "create-page": _create_page,
    "change-load": _change_load,
    "add-line": _add_line,
    "read-page": _read_page,
    "begin-thread": _begin_thread,
    "reply": _reply,
}
"""The templates, by name."""
