"""Tasks for the contacts application: one of each template, about the contacts that its state holds."""

from collections.abc import Callable, Sequence
from functools import partial

from sites.tasks import (
    Row,
    SiteTask,
    State,
    added,
    changed,
    click,
    fill,
    follow,
    removed,
)

PHONE = "0151 555 0199"
NEWCOMER = {"name": "Quinn Abara", "phone": PHONE, "email": "quinn@example.org"}


def tasks(seed: int, state: State) -> Sequence[SiteTask]:
    """Fourteen tasks on `state`, which is the one of `seed`; the template is the task's id."""
    task = partial(SiteTask, seed=seed, start="/")
    contacts, groups = state["contacts"], state["groups"]
    return [
        *_favourites(task, contacts),
        *_editing(task, contacts),
        *_people(task, contacts),
        *_groups(task, contacts, groups),
    ]


def _open(row: Row) -> dict[str, str]:
    return dict(click(f"#open-{row['id']}"))


def _favourites(task: Callable[..., SiteTask], contacts: Sequence[Row]) -> Sequence[SiteTask]:
    star, drop = contacts[0], contacts[1]
    return [
        task(
            "add_favourite",
            instruction=f"Make {star['name']} a favourite.",
            outcome="that contact is a favourite",
            changes=[changed("contacts", {"id": star["id"]}, favourite=True)],
            reference=[click(f"#star-{star['id']}")],
        ),
        task(
            "drop_favourite",
            instruction="Nobody is to be a favourite any more.",
            outcome="no contact is a favourite",
            changes=[changed("contacts", {"id": drop["id"]}, favourite=False)],
            reference=[follow("Favourites"), click(f"#star-{drop['id']}")],
        ),
    ]


def _editing(task: Callable[..., SiteTask], contacts: Sequence[Row]) -> Sequence[SiteTask]:
    def edit(template: str, row: Row, name: str, value: str) -> SiteTask:
        return task(
            template,
            instruction=f"Change the {name} of {row['name']} to {value}.",
            outcome=f"that contact's {name} is the new one",
            changes=[changed("contacts", {"id": row["id"]}, **{name: value})],
            reference=[
                _open(row),
                click("#edit"),
                click(f"#clear-{name}"),
                fill(f"#{name}", value),
                click("#save"),
            ],
        )

    last = str(contacts[4]["name"]).split()[-1]
    return [
        edit("change_phone", contacts[2], "phone", PHONE),
        edit("change_email", contacts[3], "email", "post@example.org"),
        edit("rename", contacts[4], "name", f"Robin {last}"),
    ]


def _people(task: Callable[..., SiteTask], contacts: Sequence[Row]) -> Sequence[SiteTask]:
    gone, called, written = contacts[0], contacts[5], contacts[3]
    return [
        task(
            "add_contact",
            instruction=f"Add {NEWCOMER['name']}, phone {PHONE}, email {NEWCOMER['email']}.",
            outcome="there is one such contact more",
            changes=[added("contacts", group="", favourite=False, **NEWCOMER)],
            reference=[
                follow("New contact"),
                *(fill(f"#{name}", value) for name, value in NEWCOMER.items()),
                click("#save"),
            ],
        ),
        task(
            "delete_contact",
            instruction=f"Delete {gone['name']}.",
            outcome="that contact is gone",
            changes=[removed("contacts", id=gone["id"])],
            reference=[_open(gone), click("#delete")],
        ),
        task(
            "find_phone",
            instruction=f"What is the phone number of {called['name']}?",
            outcome="nothing has changed; the answer is the number",
            changes=[],
            reference=[_open(called)],
            answer=str(called["phone"]),
        ),
        task(
            "find_email",
            instruction=f"What is the email address of {written['name']}?",
            outcome="nothing has changed; the answer is the address",
            changes=[],
            reference=[_open(written)],
            answer=str(written["email"]),
        ),
    ]


def _groups(
    task: Callable[..., SiteTask], contacts: Sequence[Row], groups: Sequence[Row]
) -> Sequence[SiteTask]:
    first, second = groups[0], groups[1]
    joining, moving, leaving = contacts[5], contacts[1], contacts[2]
    return [
        task(
            "join_group",
            instruction=f"Put {joining['name']} into the group {first['name']}.",
            outcome="that contact is in the group",
            changes=[changed("contacts", {"id": joining["id"]}, group=first["name"])],
            reference=[_open(joining), click(f"#group-{first['id']}")],
        ),
        task(
            "move_group",
            instruction=f"Move {moving['name']} to the group {second['name']}.",
            outcome="that contact is in this group and no longer in the other",
            changes=[changed("contacts", {"id": moving["id"]}, group=second["name"])],
            reference=[_open(moving), click(f"#group-{second['id']}")],
        ),
        task(
            "leave_group",
            instruction=f"Take {leaving['name']} out of the group {second['name']}.",
            outcome="that contact is in no group",
            changes=[changed("contacts", {"id": leaving["id"]}, group="")],
            reference=[_open(leaving), click(f"#group-{second['id']}")],
        ),
        task(
            "add_group",
            instruction="Make a group called Choir.",
            outcome="there is a group Choir",
            changes=[added("groups", name="Choir")],
            reference=[follow("Groups"), fill("#group", "Choir"), click("#make")],
        ),
        task(
            "delete_group",
            instruction="Remove the group that nobody is in.",
            outcome="that group is gone",
            changes=[removed("groups", id=groups[2]["id"])],
            reference=[follow("Groups"), click(f"#drop-{groups[2]['id']}")],
        ),
    ]
