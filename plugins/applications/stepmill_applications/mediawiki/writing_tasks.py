"""Tasks of MediaWiki that change its pages."""

from collections.abc import Callable
from random import Random

from schemas.base import JsonObject
from stepmill_applications.application_task import (
    ApplicationTask,
    Move,
    click,
    click_at,
    draft,
    fill,
    rule,
)
from stepmill_applications.mediawiki.contents import PEOPLE, START, Article, SeededContent
from stepmill_applications.mediawiki.reading_tasks import good_ships, open_found

_TEXT = "#wpTextbox1"
_LINES = (
    "The ship was sold last year.",
    "It is open in summer only.",
    "A new crane is being built.",
    "The old name is no longer used.",
)


def _create_page(content: SeededContent, random: Random) -> ApplicationTask:
    title = f"MV Grey {random.choice(('Heron', 'Gannet', 'Plover'))} {random.randint(4, 99)}"
    text = f"{title} belongs to {random.choice(content.companies).title}."
    return draft(
        f"Create the page '{title}' with the text '{text}'",
        f"The register lacks a page '{title}'. Write one that says '{text}' and nothing else",
        start=START,
        parameters={"title": title, "text": text},
        reference=_moves_to_create(title, text),
        added=[_new(title, text)],
    )


def _make_redirect(content: SeededContent, random: Random) -> ApplicationTask:
    ship = random.choice(good_ships(content))
    title, text = ship.title.replace("MV", "Motor vessel"), f"#REDIRECT [[{ship.title}]]"
    return draft(
        f"Create the page '{title}' as a redirect to '{ship.title}' (its text is '{text}')",
        f"Who looks for '{title}' should get to '{ship.title}': create a page of the first name with "
        f"the text '{text}'",
        start=START,
        parameters={"title": title, "target": ship.title},
        reference=_moves_to_create(title, text),
        added=[_new(title, text)],
    )


def _change_fact(content: SeededContent, random: Random) -> ApplicationTask:
    ship = random.choice(good_ships(content))
    fact, new = random.choice(
        (("Length", f"{random.randint(300, 399)} m"), ("Built", str(random.randint(2020, 2025))))
    )
    text = ship.text.replace(f"{fact}: {ship.facts[fact]}", f"{fact}: {new}")
    return draft(
        f"On the page {ship.title}, change '{fact}' to {new}",
        f"The fact '{fact}' of {ship.title} is wrong: it should be {new}. Correct the page",
        start=START,
        parameters={"title": ship.title, "fact": fact, "value": new},
        reference=_rewritten(ship, text),
        changed=[_version(ship, text)],
    )


def _add_fact(content: SeededContent, random: Random) -> ApplicationTask:
    port = random.choice(content.ports)
    line = f"* Cranes: {random.randint(1, 40)}"
    last = f"* Harbour master: {port.facts['Harbour master']}"
    text = port.text.replace(last, f"{last}\n{line}")
    return draft(
        f"On the page {port.title}, add the line '{line}' right below the line of the harbour master",
        f"Add a fact to {port.title}: the line '{line}', after the harbour master's line",
        start=START,
        parameters={"title": port.title, "line": line},
        reference=_rewritten(port, text),
        changed=[_version(port, text)],
    )


def _add_category(content: SeededContent, random: Random) -> ApplicationTask:
    ship = random.choice(good_ships(content))
    line = f"[[Category:{random.choice(('Museum ships', 'Ships for sale', 'Lost ships'))}]]"
    text = f"{ship.text}\n{line}"
    return draft(
        f"Put {ship.title} into one more category: add the line '{line}' at the end of its page",
        f"At the end of the page {ship.title}, below its last line, add '{line}'",
        start=START,
        parameters={"title": ship.title, "line": line},
        reference=_rewritten(ship, text),
        changed=[_version(ship, text)],
    )


def _copy_fact(content: SeededContent, random: Random) -> ApplicationTask:
    ship = random.choice(good_ships(content))
    other = random.choice(
        [one for one in good_ships(content) if one.facts["Built"] != ship.facts["Built"]]
    )
    text = ship.text.replace(f"Built: {ship.facts['Built']}", f"Built: {other.facts['Built']}")
    return draft(
        f"{ship.title} was built in the same year as {other.title}. Correct the page {ship.title} "
        "accordingly",
        f"Look up when {other.title} was built, and write that year as 'Built' on the page {ship.title}",
        start=START,
        parameters={"title": ship.title, "other": other.title},
        reference=(*open_found(other.title), *_rewritten(ship, text)),
        changed=[_version(ship, text)],
    )


def _undo_edit(content: SeededContent, random: Random) -> ApplicationTask:
    ship = random.choice([one for one in content.ships if one.title in content.spoilt])
    text = ship.versions[-2].text
    return draft(
        f"Undo the latest edit of the page {ship.title}",
        f"Somebody wrote nonsense on {ship.title}. Take the latest edit back",
        start=START,
        parameters={"title": ship.title},
        reference=(
            *(*open_found(ship.title), click("View history"), click("undo")),
            click_at("#wpSave"),
        ),
        changed=[_version(ship, text)],
    )


def _add_topic(content: SeededContent, random: Random) -> ApplicationTask:
    page, topic = random.choice(content.articles), f"Question {random.randint(100, 999)}"
    text = random.choice(_LINES)
    return draft(
        f"On the discussion page of {page.title}, add a topic with the subject '{topic}' and the text "
        f"'{text}'",
        f"Begin a discussion about {page.title}: a new topic '{topic}' that says '{text}'",
        start=START,
        parameters={"title": page.title, "topic": topic, "text": text},
        reference=(
            *(*open_found(page.title), click("Discussion"), click_at("#ca-addsection a")),
            *(fill("#wpSummary", topic), fill(_TEXT, text), click_at("#wpSave")),
        ),
        added=[_new(f"Talk:{page.title}", f"== {topic} ==\n\n{text}")],
    )


def _write_to(content: SeededContent, random: Random) -> ApplicationTask:
    person, page = random.choice(PEOPLE[1:]), random.choice(content.articles)
    topic, text = page.title, random.choice(_LINES)
    return draft(
        f"On the page 'User talk:{person}', add a topic with the subject '{topic}' and the text '{text}'",
        f"Leave the user {person} a message on 'User talk:{person}': a topic '{topic}' that says '{text}'",
        start=START,
        parameters={"person": person, "topic": topic, "text": text},
        reference=(
            *(*open_found(f"User talk:{person}"), click(f"User talk:{person}")),
            *(click_at("#ca-addsection a"), fill("#wpSummary", topic), fill(_TEXT, text)),
            click_at("#wpSave"),
        ),
        added=[_new(f"User talk:{person}", f"== {topic} ==\n\n{text}")],
    )


def _move_page(content: SeededContent, random: Random) -> ApplicationTask:
    port = random.choice(content.ports)
    title = f"New {port.title}"
    left: JsonObject = {"text": f"#REDIRECT [[{title}]]", "author": PEOPLE[0]}
    return draft(
        f"Move the page {port.title} to the title '{title}'",
        f"The port {port.title} has a new name, '{title}'. Rename its page, so that the old name leads there",
        start=START,
        parameters={"title": port.title, "new": title},
        reference=(
            *(*open_found(port.title), click_at("#p-cactions"), click_at("#ca-move a")),
            *(fill('input[name="wpNewTitleMain"]', title), click("Move page")),
        ),
        changed=[rule("page", {"name": port.title}, set=left)],
        added=[_new(title, port.text)],
    )


def _moves_to_create(title: str, text: str) -> tuple[Move, ...]:
    return (*open_found(title), click(title), fill(_TEXT, text), click_at("#wpSave"))


def _rewritten(page: Article, text: str) -> tuple[Move, ...]:
    return (*open_found(page.title), click("Edit"), fill(_TEXT, text), click_at("#wpSave"))


def _new(title: str, text: str) -> JsonObject:
    return rule("page", {"name": title, "text": text, "author": PEOPLE[0]})


def _version(page: Article, text: str) -> JsonObject:
    after: JsonObject = {"text": text, "author": PEOPLE[0], "revisions": {"any": True}}
    return rule("page", {"name": page.title}, set=after)


WRITING_TEMPLATES: dict[str, Callable[[SeededContent, Random], ApplicationTask]] = {
    "create-page": _create_page,
    "make-redirect": _make_redirect,
    "change-fact": _change_fact,
    "add-fact": _add_fact,
    "add-category": _add_category,
    "copy-fact": _copy_fact,
    "undo-edit": _undo_edit,
    "add-topic": _add_topic,
    "write-to": _write_to,
    "move-page": _move_page,
}
"""The templates, by name."""
