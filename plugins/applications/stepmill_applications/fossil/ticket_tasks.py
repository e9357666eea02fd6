"""Tasks about the tickets of fossil: eleven templates, and one that starts from the wiki."""

from collections.abc import Callable
from random import Random

from schemas.base import JsonObject
from stepmill_applications.application_task import (
    IMPOSSIBLE,
    ApplicationTask,
    Move,
    click,
    draft,
    fill,
    pick_other,
    rule,
    select,
)
from stepmill_applications.fossil.contents import (
    HOME,
    KINDS,
    PEOPLE,
    PRIORITIES,
    REMARKS,
    SEVERITIES,
    STATUSES,
    SeededContent,
    Ticket,
)


def _file_ticket(content: SeededContent, random: Random) -> ApplicationTask:
    title, remark = _subject(random), random.choice(REMARKS)
    severity, kind = random.choice(SEVERITIES), random.choice(KINDS)
    number = content.first_new
    return draft(
        f"File a new ticket with the title '{title}', type {kind}, severity {severity} and the "
        f"description '{remark}'",
        f"Something is wrong: '{title}'. Enter it as a ticket of type {kind} and severity {severity}, "
        f"described as '{remark}'",
        start=HOME,
        parameters={"title": title, "type": kind, "severity": severity, "remark": remark},
        reference=(
            *(click("Tickets"), click("New")),
            fill('input[name="title"]', title),
            select('select[name="type"]', kind),
            select('select[name="severity"]', severity),
            fill('textarea[name="icomment"]', remark),
            *(click("Preview"), click("Submit")),
        ),
        added=[
            rule(
                "ticket",
                {
                    "id": number,
                    "title": title,
                    "status": "Open",
                    "type": kind,
                    "severity": severity,
                    "foundin": "",
                },
            ),
            rule("remark", {"ticket": number, "author": PEOPLE[0], "text": remark}),
        ],
    )


def _change(
    content: SeededContent, random: Random, field: str, among: tuple[str, ...]
) -> ApplicationTask:
    ticket = random.choice(content.tickets)
    now = {"status": ticket.status, "severity": ticket.severity, "priority": ticket.priority}[field]
    new = pick_other(random, among, now)
    return draft(
        f"Change the {field} of the ticket '{ticket.title}' to {new}",
        f"The ticket '{ticket.title}' has the {field} {now}; make that {new}",
        start=HOME,
        parameters={"title": ticket.title, field: new},
        reference=_edit_ticket(ticket, select(f'select[name="{field}"]', new)),
        changed=[rule("ticket", {"id": content.number(ticket)}, set={field: new})],
    )


def _change_status(content: SeededContent, random: Random) -> ApplicationTask:
    return _change(content, random, "status", STATUSES)


def _change_severity(content: SeededContent, random: Random) -> ApplicationTask:
    return _change(content, random, "severity", SEVERITIES)


def _change_priority(content: SeededContent, random: Random) -> ApplicationTask:
    return _change(content, random, "priority", PRIORITIES)


def _rename_ticket(content: SeededContent, random: Random) -> ApplicationTask:
    ticket, title = random.choice(content.tickets), _subject(random)
    return draft(
        f"Change the title of the ticket '{ticket.title}' to '{title}'",
        f"The ticket called '{ticket.title}' should be called '{title}'. Rename it",
        start=HOME,
        parameters={"title": ticket.title, "new": title},
        reference=_edit_ticket(ticket, fill('input[name="title"]', title)),
        changed=[rule("ticket", {"id": content.number(ticket)}, set={"title": title})],
    )


def _add_remark(content: SeededContent, random: Random) -> ApplicationTask:
    ticket, remark = random.choice(content.tickets), random.choice(REMARKS)
    return draft(
        f"Append the remark '{remark}' to the ticket '{ticket.title}'",
        f"On the ticket '{ticket.title}', leave this remark: '{remark}'",
        start=HOME,
        parameters={"title": ticket.title, "remark": remark},
        reference=_edit_ticket(ticket, fill('textarea[name="icomment"]', remark)),
        added=[_remark(content, ticket, remark)],
    )


def _close_with_remark(content: SeededContent, random: Random) -> ApplicationTask:
    ticket = random.choice([one for one in content.tickets if one.status != "Closed"])
    remark = random.choice(REMARKS)
    return draft(
        f"Close the ticket '{ticket.title}' (status Closed) with the remark '{remark}'",
        f"Set the ticket '{ticket.title}' to Closed and append the remark '{remark}' to it",
        start=HOME,
        parameters={"title": ticket.title, "remark": remark},
        reference=_edit_ticket(
            ticket,
            select('select[name="status"]', "Closed"),
            fill('textarea[name="icomment"]', remark),
        ),
        changed=[rule("ticket", {"id": content.number(ticket)}, set={"status": "Closed"})],
        added=[_remark(content, ticket, remark)],
    )


def _postpone_ticket(content: SeededContent, random: Random) -> ApplicationTask:
    ticket = random.choice(content.tickets)
    status = random.choice(("Postponed", "Rejected", "Archived"))
    return draft(
        f"Change the status of the ticket '{ticket.title}' to {status}. If there is no such status, "
        f"change nothing and answer '{IMPOSSIBLE}'",
        f"The ticket '{ticket.title}' should get the status {status}; where that cannot be chosen, "
        f"leave the ticket as it is and answer '{IMPOSSIBLE}'",
        start=HOME,
        parameters={"title": ticket.title, "status": status},
        reference=(*_find_ticket("Ticket", ticket.title), click("Edit"), click("Cancel")),
        replies=IMPOSSIBLE,
        feasible=False,
    )


def _read_ticket(content: SeededContent, random: Random) -> ApplicationTask:
    ticket = random.choice(content.tickets)
    field, value = random.choice((("severity", ticket.severity), ("priority", ticket.priority)))
    return draft(
        f"What is the {field} of the ticket '{ticket.title}'?",
        f"Look up the ticket '{ticket.title}' and answer with its {field}",
        start=HOME,
        parameters={"title": ticket.title, "field": field},
        reference=_find_ticket("Ticket", ticket.title),
        replies=value,
    )


def _read_remark(content: SeededContent, random: Random) -> ApplicationTask:
    ticket = random.choice(content.tickets)
    place = ticket.remark.removeprefix("Seen at ").removesuffix(".")
    return draft(
        f"Where was the problem of the ticket '{ticket.title}' seen? Answer with the place and its "
        "number, as in 'Pier 3'",
        f"According to its reporter, at which place was '{ticket.title}' seen? Answer as in 'Pier 3'",
        start=HOME,
        parameters={"title": ticket.title},
        reference=_find_ticket("Ticket", ticket.title),
        replies=place,
    )


def _count_open(content: SeededContent, random: Random) -> ApplicationTask:
    field = random.choice(("severity", "priority"))
    values = [getattr(one, field) for one in content.tickets if one.status == "Open"]
    value = random.choice(sorted(set(values)))
    return draft(
        f"How many tickets with the status Open have the {field} {value}? Answer with a number",
        f"Count the Open tickets of {field} {value}, and answer with how many there are",
        start=HOME,
        parameters={"field": field, "value": value},
        reference=(click("Tickets"), click("Open Tickets")),
        replies=str(values.count(value)),
    )


def _find_ticket(kind: str, title: str) -> tuple[Move, ...]:
    return (click("Search"), fill('input[name="s"]', title, enter=True), click(f"{kind}: {title}"))


def _edit_ticket(ticket: Ticket, *moves: Move) -> tuple[Move, ...]:
    """Return the moves that edit a ticket; fossil shows its button only after a preview."""
    return (
        *_find_ticket("Ticket", ticket.title),
        click("Edit"),
        *moves,
        click("Preview"),
        click("Submit"),
    )


def _subject(random: Random) -> str:
    thing = random.choice(("forklift", "tugboat", "jetty", "rail", "awning", "freezer"))
    return (
        f"{thing.title()} {random.randint(10, 99)} {random.choice(('is broken', 'drips', 'jams'))}"
    )


def _carry_over(content: SeededContent, random: Random) -> ApplicationTask:
    page, ticket = random.choice(content.pages), random.choice(content.tickets)
    remark = f"Load limit: {page.load} t"
    return draft(
        f"Look up the load limit on the wiki page '{page.name}' and append the remark 'Load limit: N t', "
        f"with that number for N, to the ticket '{ticket.title}'",
        f"The ticket '{ticket.title}' needs the remark 'Load limit: N t', where N is the number that "
        f"the wiki page '{page.name}' states",
        start=HOME,
        parameters={"name": page.name, "title": ticket.title},
        reference=(
            *(click("Wiki"), click(page.name)),
            *_edit_ticket(ticket, fill('textarea[name="icomment"]', remark)),
        ),
        added=[_remark(content, ticket, remark)],
    )


def _remark(content: SeededContent, ticket: Ticket, text: str) -> JsonObject:
    return rule("remark", {"ticket": content.number(ticket), "author": PEOPLE[0], "text": text})


TICKET_TEMPLATES: dict[str, Callable[[SeededContent, Random], ApplicationTask]] = {
    "file-ticket": _file_ticket,
    "change-status": _change_status,
    "change-severity": _change_severity,
    "change-priority": _change_priority,
    "rename-ticket": _rename_ticket,
    "add-remark": _add_remark,
    "close-with-remark": _close_with_remark,
    "postpone-ticket": _postpone_ticket,
    "read-ticket": _read_ticket,
    "read-remark": _read_remark,
    "count-open": _count_open,
    "carry-over": _carry_over,
}
"""The templates, by name."""
