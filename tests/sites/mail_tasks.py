"""Tasks for the mail application: one of each template, about the messages that its state holds."""

from collections.abc import Sequence
from functools import partial

from sites.tasks import (
    Action,
    Change,
    Row,
    SiteTask,
    State,
    Value,
    added,
    changed,
    click,
    fill,
    follow,
    removed,
)

SENT: Row = {"from": "me", "folder": "sent", "read": True, "starred": False, "label": ""}


def tasks(seed: int, state: State) -> Sequence[SiteTask]:
    """Fourteen tasks that start at the inbox of `state`, which is the one of `seed`."""
    inbox = [row for row in state["messages"] if row["folder"] == "inbox"]
    archived = [row for row in state["messages"] if row["folder"] == "archive"]
    thrown = [row for row in state["messages"] if row["folder"] == "trash"]
    return [
        *_starring(seed, inbox),
        *_moving(seed, inbox, archived, thrown),
        *_writing(seed, inbox),
        *_labelling(seed, inbox, state["labels"]),
    ]


def _open(row: Row) -> Action:
    return click(f"#open-{row['id']}")


def _read(row: Row, **now: Value) -> Sequence[Change]:
    """What opening a message changes, with what is then done to it."""
    after = {} if row["read"] else {"read": True}
    differ = {**after, **now}
    return [changed("messages", {"id": row["id"]}, **differ)] if differ else []


def _called(row: Row) -> str:
    return f"“{row['subject']}” from {row['from']}"


def _task(seed: int, template: str, instruction: str, outcome: str) -> partial[SiteTask]:
    return partial(SiteTask, template, seed, "/", instruction, outcome)


def _starring(seed: int, inbox: Sequence[Row]) -> Sequence[SiteTask]:
    star, drop, unread = inbox[0], inbox[2], inbox[1]
    read = inbox[4]
    return [
        _task(seed, "star", f"Star the message {_called(star)}.", "that message is starred")(
            [changed("messages", {"id": star["id"]}, starred=True)], [click(f"#star-{star['id']}")]
        ),
        _task(
            seed,
            "unstar",
            "No message needs a star any more. Remove the star that there is.",
            "no message is starred",
        )(
            [changed("messages", {"id": drop["id"]}, starred=False)],
            [follow("Starred"), click(f"#star-{drop['id']}")],
        ),
        _task(
            seed, "unread", f"Mark {_called(unread)} as unread.", "that message counts as unread"
        )(
            [changed("messages", {"id": unread["id"]}, read=False)],
            [_open(unread), click("#unread")],
        ),
        _task(
            seed,
            "read",
            f"Read the message {_called(read)}. Answer with its text.",
            "it is read",
        )(_read(read), [_open(read)], str(read["body"])),
    ]


def _moving(
    seed: int, inbox: Sequence[Row], archived: Sequence[Row], thrown: Sequence[Row]
) -> Sequence[SiteTask]:
    mine = [row for row in inbox if row["from"] == inbox[0]["from"]]
    one, gone, kept, back = inbox[3], inbox[4], archived[1], thrown[0]
    return [
        _task(seed, "archive", f"Archive {_called(one)}.", "that message is in the archive")(
            _read(one, folder="archive"), [_open(one), click("#archive")]
        ),
        _task(seed, "delete", f"Delete {_called(gone)}.", "that message is in the trash")(
            _read(gone, folder="trash"), [_open(gone), click("#delete")]
        ),
        _task(
            seed,
            "restore",
            f"Move {_called(back)} from the trash to the inbox.",
            "it is in the inbox",
        )(_read(back, folder="inbox"), [follow("Trash"), _open(back), click("#restore")]),
        _task(seed, "discard", f"Delete {_called(kept)} from the archive.", "it is in the trash")(
            _read(kept, folder="trash"), [follow("Archive"), _open(kept), click("#delete")]
        ),
        _task(
            seed,
            "archive-all",
            f"Archive all messages from {mine[0]['from']} that are in the inbox.",
            "none of that sender's messages is in the inbox, all that were are in the archive",
        )(
            [change for row in mine for change in _read(row, folder="archive")],
            [step for row in mine for step in (follow("Inbox"), _open(row), click("#archive"))],
        ),
    ]


def _writing(seed: int, inbox: Sequence[Row]) -> Sequence[SiteTask]:
    asked = inbox[0]
    letter = {"to": "Gina Moreau", "subject": "Keys", "body": "The keys are at the gate."}
    subject = f"Re: {asked['subject']}"
    return [
        _task(
            seed,
            "send",
            f"Write to {letter['to']} with the subject “{letter['subject']}”: {letter['body']}",
            "exactly that message was sent",
        )(
            [added("messages", **SENT, **letter)],
            [
                follow("Compose"),
                fill("#to", letter["to"]),
                fill("#subject", letter["subject"]),
                fill("#text", letter["body"]),
                click("#send"),
            ],
        ),
        _task(
            seed,
            "reply",
            f"Reply to {_called(asked)}: I will be there.",
            "a reply to that message, with its subject and this text, was sent to its sender",
        )(
            [
                *_read(asked),
                added(
                    "messages", **SENT, to=asked["from"], subject=subject, body="I will be there."
                ),
            ],
            [_open(asked), click("#reply"), fill("#text", "I will be there."), click("#send")],
        ),
    ]


def _labelling(seed: int, inbox: Sequence[Row], labels: Sequence[Row]) -> Sequence[SiteTask]:
    row, label = inbox[1], labels[0]
    return [
        _task(
            seed, "label", f"Label {_called(row)} as {label['name']}.", "that message has the label"
        )(_read(row, label=label["name"]), [_open(row), click(f"#label-{label['id']}")]),
        _task(seed, "new-label", "Make a label called Travel.", "there is a label Travel")(
            [added("labels", name="Travel")],
            [follow("Labels"), fill("#label", "Travel"), click("#make")],
        ),
        _task(seed, "drop-label", f"Remove the label {labels[1]['name']}.", "that label is gone")(
            [removed("labels", id=labels[1]["id"])],
            [follow("Labels"), click(f"#drop-{labels[1]['id']}")],
        ),
    ]
