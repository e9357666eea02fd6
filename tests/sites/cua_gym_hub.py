"""A mail application that speaks the state API of CUA-Gym-Hub, written from what that publishes.

Its page is a single-page application that keeps its state in the browser, reads `/state` when it opens
and posts `set_current` after each change, as those do; whatever is not the API answers with the page.
As their middleware does, `set` keeps the first initial state of a `sid` until `reset`, which forgets
both, and an unknown `sid` is at the defaults. Uploads and the hardened mode are left out.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from sites import serving
from sites.mail_tasks import tasks
from sites.serving import Answer, Fault, Misbehaviour, Refused, Request, Route, Served, reply
from sites.tasks import Row, State

PAGE = Path(__file__).with_name("cua_gym_hub.html")

PEOPLE = ("Ada Byron", "Ben Okafor", "Clara Voss", "Dimitri Lund", "Eve Tanaka", "Farid Haddad")
SUBJECTS = (
    ("Lunch on {day}", "Shall we meet at the canteen at {hour}?"),
    ("Room for the review", "The review is in room {room} at {hour}."),
    ("Invoice {number}", "Please pay invoice {number} by {day}."),
    ("Train tickets", "Your train leaves at {hour} from platform {platform}."),
    ("Garden party", "Bring a salad. We start on {day} at {hour}."),
    ("New printer", "The printer in room {room} answers to the code {number}."),
    ("Choir practice", "Practice moves to {day}, room {room}."),
    ("Lost umbrella", "Somebody left a blue umbrella in room {room}."),
    ("Budget draft", "The draft has {platform} pages; comments by {day}."),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


def initial_state(seed: int) -> State:
    """Nine messages, five of them in the inbox, and two labels; the same for the same seed."""
    random = Random(seed)
    folders = ["inbox"] * 5 + ["archive"] * 2 + ["trash"] * 2
    topics = random.sample(SUBJECTS, len(SUBJECTS))
    senders = [*PEOPLE[:3], PEOPLE[0], *PEOPLE[3:], *PEOPLE[:2]]
    messages: list[Row] = []
    for number, (folder, sender, topic) in enumerate(zip(folders, senders, topics, strict=True), 1):
        words = {
            "day": random.choice(DAYS),
            "hour": f"{random.randint(8, 18)}:{random.choice(('00', '15', '30'))}",
            "room": random.randint(101, 399),
            "number": random.randint(2000, 9999),
            "platform": random.randint(2, 14),
        }
        subject, body = (text.format_map(words) for text in topic)
        messages.append(
            {
                "id": number,
                "from": sender,
                "to": "me",
                "subject": subject,
                "body": body,
                "folder": folder,
                "read": number in {2, 7, 9},
                "starred": number == 3,
                "label": "",
            }
        )
    return {"messages": messages, "labels": [{"id": 1, "name": "Work"}, {"id": 2, "name": "Home"}]}


def difference(initial: Mapping[str, object], current: Mapping[str, object]) -> dict[str, object]:
    """The keys that differ at the top, each as added or modified."""
    return {
        key: {"modified" if initial.get(key) else "added": value}
        for key, value in current.items()
        if initial.get(key) != value
    }


class Hub:
    """The state of every `sid`, in memory."""

    def __init__(self, seed: int = 1, wrong: Misbehaviour | None = None) -> None:
        self._defaults: Mapping[str, object] = initial_state(seed)
        self._wrong = wrong or Misbehaviour()
        self._initial: dict[str, Mapping[str, object]] = {}
        self._current: dict[str, Mapping[str, object]] = {}
        self.routes = (
            Route("POST", "/post", self._post),
            Route("GET", "/go", self._go),
            Route("GET", "/state", self._state),
            Route("GET", "/", self._page),
            Route("GET", "/(?:message|folder|reply)/{part}", self._page),
            Route("GET", "/(?:compose|labels)", self._page),
        )

    def _sid(self, request: Request) -> str:
        if Fault.LEAKS in self._wrong:
            return ""
        return re.sub(r"[^a-zA-Z0-9_-]", "", request.query.get("sid", ""))

    def _post(self, request: Request) -> Answer:
        sid, sent = self._sid(request), request.json()
        match sent.get("action", "set"):
            case "reset":
                self._reset(sid)
                return reply({"success": True, "message": "State reset to default."})
            case "set":
                state = self._given(sid, sent)
                self._initial.setdefault(sid, state)
            case "set_current":
                state = self._given(sid, sent)
                self._initial.setdefault(sid, self._defaults)
            case unknown:
                raise Refused(400, f"unknown action {unknown!r}")
        self._current[sid] = state
        return reply({"success": True, "message": "State updated.", "state": state})

    def _given(self, sid: str, sent: Mapping[str, object]) -> Mapping[str, object]:
        state = sent.get("state")
        if not isinstance(state, dict):
            raise Refused(400, "the state is no JSON object")
        return {**self._current.get(sid, {}), **state} if sent.get("merge") else state

    def _reset(self, sid: str) -> None:
        self._initial.pop(sid, None)
        left = self._current.pop(sid, None)
        if Fault.HALF_RESET in self._wrong and left:
            self._current[sid] = {**self._defaults, "labels": left.get("labels", [])}

    def _go(self, request: Request) -> Answer:
        sid = self._sid(request)
        current = self._current.get(sid, self._defaults)
        initial = self._initial.get(sid, current)
        return reply(
            {
                "initial_state": initial,
                "current_state": current,
                "state_diff": difference(initial, current),
            }
        )

    def _state(self, request: Request) -> Answer:
        sid = self._sid(request)
        stored = self._current.get(sid)
        return reply(
            {"stored_state": stored, "has_custom_state": stored is not None, "sid": sid or None}
        )

    def _page(self, request: Request, *_parts: str) -> Answer:
        del request
        defaults = json.dumps(self._defaults).replace("<", "\\u003c")
        html = PAGE.read_text(encoding="utf-8").replace('"DEFAULTS"', defaults)
        return serving.page(html)


def main(arguments: Sequence[str] | None = None) -> None:
    given = serving.options(__doc__).parse_args(arguments)
    wrong = serving.misbehaviour(given)
    made = tasks(given.seed, initial_state(given.seed))
    served = Served(Hub(given.seed, wrong).routes, port=given.port, wrong=wrong)
    serving.run([served], made, only_tasks=given.tasks)


if __name__ == "__main__":
    main()
