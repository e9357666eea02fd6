"""Tasks of MediaWiki that change nothing, or only what the person sees."""

from collections.abc import Callable
from random import Random

from stepmill_applications.application_task import (
    IMPOSSIBLE,
    ApplicationTask,
    Move,
    click,
    click_at,
    draft,
    fill,
    press,
    rule,
)
from stepmill_applications.mediawiki.contents import (
    PEOPLE,
    START,
    TYPES,
    Article,
    SeededContent,
    category_of,
)


def open_found(title: str) -> tuple[Move, ...]:
    """Return the moves to the page of this title."""
    return (fill("#searchInput", title), click_at("#searchButton"))


def good_ships(content: SeededContent) -> list[Article]:
    """Return the ships whose latest revision states what is so."""
    return [ship for ship in content.ships if ship.title not in content.spoilt]


def _read_fact(content: SeededContent, random: Random) -> ApplicationTask:
    page, fact, words = random.choice(
        (
            (random.choice(good_ships(content)), "Length", "the length, in metres,"),
            (random.choice(good_ships(content)), "Built", "the year of building"),
            (random.choice(content.ports), "Berths", "the number of berths"),
            (random.choice(content.ports), "Harbour master", "the harbour master"),
            (random.choice(content.companies), "Founded", "the year of foundation"),
        )
    )
    return draft(
        f"What is {words} of {page.title}?",
        f"Look up {page.title} in the register, and answer with {words.rstrip(',')} alone",
        start=START,
        parameters={"title": page.title, "fact": fact},
        reference=open_found(page.title),
        replies=page.facts[fact].removesuffix(" m"),
    )


def _read_across(content: SeededContent, random: Random) -> ApplicationTask:
    ship = random.choice(good_ships(content))
    home = ship.facts["Port"].strip("[]")
    port = next(one for one in content.ports if one.title == home)
    return draft(
        f"How deep, in metres, is the port that the register names for the ship {ship.title}?",
        f"Find the port of {ship.title}, and answer with the depth of that port in metres",
        start=START,
        parameters={"title": ship.title},
        reference=(*open_found(ship.title), click(home)),
        replies=port.facts["Depth"].removesuffix(" m"),
    )


def _read_editor(content: SeededContent, random: Random) -> ApplicationTask:
    page = random.choice(content.articles)
    return draft(
        f"Who made the latest edit of the page {page.title}?",
        f"According to its history, which user last changed {page.title}?",
        start=START,
        parameters={"title": page.title},
        reference=(*open_found(page.title), click("View history")),
        replies=page.versions[-1].author,
    )


def _read_first_author(content: SeededContent, random: Random) -> ApplicationTask:
    page = random.choice([one for one in content.articles if len(one.versions) > 1])
    return draft(
        f"Which user wrote the first version of the page {page.title}?",
        f"Look at the history of {page.title}: who created the page?",
        start=START,
        parameters={"title": page.title},
        reference=(*open_found(page.title), click("View history")),
        replies=page.versions[0].author,
    )


def _count_category(content: SeededContent, random: Random) -> ApplicationTask:
    category = random.choice([category_of(sort) for sort in TYPES])
    count = sum(ship.category == category for ship in content.ships)
    return draft(
        f"How many pages are in the category {category}? Answer with a number",
        f"Answer with how many pages the category {category} has",
        start=START,
        parameters={"category": category},
        reference=(click(category),),
        replies=str(count),
    )


def _edit_locked(content: SeededContent, random: Random) -> ApplicationTask:
    page = random.choice([one for one in content.companies if one.title in content.locked])
    year = random.randint(1991, 2019)
    return draft(
        f"Change the year in which {page.title} was founded to {year}. If you may not, change nothing "
        f"and answer '{IMPOSSIBLE}'",
        f"The page {page.title} should say that it was founded in {year}. Where that cannot be "
        f"edited, answer '{IMPOSSIBLE}'",
        start=START,
        parameters={"title": page.title, "year": year},
        reference=(*open_found(page.title), click("View source")),
        replies=IMPOSSIBLE,
        feasible=False,
    )


def _watch(content: SeededContent, random: Random) -> ApplicationTask:
    page = random.choice([one for one in content.articles if one.title not in content.watched])
    return draft(
        f"Add the page {page.title} to your watchlist",
        f"You want to be told of changes of {page.title}: watch that page",
        start=START,
        parameters={"title": page.title},
        reference=(*open_found(page.title), click_at("#ca-watch a")),
        added=[rule("watched", {"name": f"{PEOPLE[0]} / 0 / {page.title}"})],
    )


def _unwatch(content: SeededContent, random: Random) -> ApplicationTask:
    title = random.choice(content.watched)
    return draft(
        f"Remove the page {title} from your watchlist",
        f"You no longer want to watch {title}. Take it off your watchlist",
        start=START,
        parameters={"title": title},
        reference=(*open_found(title), click_at("#ca-unwatch a")),
        removed=[rule("watched", {"name": f"{PEOPLE[0]} / 0 / {title}"})],
    )


def _set_name(content: SeededContent, random: Random) -> ApplicationTask:
    name = f"{PEOPLE[0]} {random.choice(content.ports).title}"
    return draft(
        f"In your preferences, set your real name to '{name}'",
        f"Enter '{name}' as your real name in the preferences, and save them",
        start=START,
        parameters={"name": name},
        reference=(
            *(click("Preferences"), fill('input[name="wprealname"]', name)),
            *(press("Tab"), click("Save")),  # only a field that was left counts as changed
        ),
        changed=[rule("person", {"name": PEOPLE[0]}, set={"real_name": name})],
    )


READING_TEMPLATES: dict[str, Callable[[SeededContent, Random], ApplicationTask]] = {
    "read-fact": _read_fact,
    "read-across": _read_across,
    "read-editor": _read_editor,
    "read-first-author": _read_first_author,
    "count-category": _count_category,
    "edit-locked": _edit_locked,
    "watch": _watch,
    "unwatch": _unwatch,
    "set-name": _set_name,
}
"""The templates, by name."""
