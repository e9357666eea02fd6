"""A task of an application: how it is put, what must have changed in the end, and how it is solved.

`expect` is about the rows of the application's views (`sqlite_views.py`) and about the answer; whatever
it does not name must stay as it was. `reference` is one ordinary way to solve the task, move by move,
by what a person sees: the text of a link or button, or where there is none, a CSS selector.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Self

from pydantic import Field, JsonValue, model_validator

from schemas.base import JsonObject, Record

IMPOSSIBLE = "impossible"
"""The answer that says that a task cannot be done."""

CONTENTS = 4
"""How many seeded contents an application has: a task's seed, modulo this, says which one it is set in."""


class Move(Record):
    """One ordinary action of a reference."""

    do: str = Field(pattern="^(open|click|type|select|press|answer)$")
    """What is done. `open`: go to the path `text`; `click`; `type` `text` into a field; `select` the
    option `text` of a list; `press` the key `text`; `answer` `text`, which ends the task."""
    label: str | None = None
    """The visible text of the link or button, or what it begins with; None: `selector` says where."""
    selector: str | None = None
    """A CSS selector; of several elements the first visible one is meant. None: `label` says where."""
    text: str | None = None
    """See `do`; None for a click."""
    overwrite: bool = False
    """Whether what the field holds is replaced."""
    enter: bool = False
    """Whether Enter is pressed after typing."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        places = (self.label is not None) + (self.selector is not None)
        if places != (self.do in ("click", "type", "select")):
            raise ValueError(
                f"{self.do}: expected {'one' if not places else 'no'} label or selector"
            )
        if (self.text is None) != (self.do == "click"):
            raise ValueError(f"{self.do}: expected {'no text' if self.text else 'a text'}")
        return self

    def steps(self) -> list[JsonValue]:
        """Return the steps of a task's `reference` that do the same."""
        step: JsonObject = {"do": self.do}
        if self.label is not None or self.selector is not None:
            step["on"] = self.label or _named_by(self.selector or "")
        if self.text is not None:
            step["text"] = self.text
        return [step, {"do": "press", "text": "Enter"}] if self.enter else [step]


def _named_by(selector: str) -> str:
    """Return a selector as references name things: by name, by id or by class."""
    if found := re.fullmatch(r'\w+\[name="([\w-]+)"\]', selector):
        return found[1]
    mark = selector.partition(" ")[0]
    return mark[mark.index(".") :] if "." in mark else mark


class ApplicationTask(Record):
    """One task, in one seeded content."""

    template_id: str
    """What tasks of one kind share."""
    seed: int = Field(ge=0)
    """What it was drawn from."""
    instructions: tuple[str, ...] = Field(min_length=2)
    """The same goal in different words."""
    start: str = Field(pattern="^/")
    """The path of the page where it begins."""
    parameters: JsonObject
    """What distinguishes it from others of its template."""
    expect: JsonObject
    """What must be added, changed or removed in the views, and answered."""
    reference: tuple[Move, ...] = Field(min_length=1)
    """One way to solve it; its last move is an answer."""
    feasible: bool = True
    """False: the task cannot be done on purpose, and the answer is to say so."""

    @property
    def content(self) -> int:
        """The seed of the content that it is set in."""
        return content_of(self.seed)

    def row(self, *, site: str, origin: str) -> dict[str, JsonValue]:
        """Return it as a row of a task file, with the instruction that its seed draws."""
        stated = self.model_dump(mode="json", exclude={"instructions", "start", "reference"})
        words = Random(f"words {self.template_id} {self.seed}").choice(self.instructions)
        return {
            **stated,
            "site": site,
            "start_url": f"{origin}{self.start}",
            "instruction": words,
            "reference": [step for move in self.reference for step in move.steps()],
        }


def draft(
    *instructions: str,
    start: str,
    parameters: JsonObject,
    reference: tuple[Move, ...],
    replies: str = "",
    feasible: bool = True,
    **changes: list[JsonObject],
) -> ApplicationTask:
    """Return a task that has yet to get its template's name and its seed.

    `changes` are the lists of its expectation, by name; where `replies` is not empty, the answer must
    be equal to it. The reference ends with that answer.
    """
    expect: JsonObject = {name: [*rules] for name, rules in changes.items()}
    if replies:
        expect["answer"] = {"equals": replies}
    return ApplicationTask(
        template_id="",
        seed=0,
        instructions=instructions,
        start=start,
        parameters=parameters,
        expect=expect,
        reference=(*reference, answer(replies)),
        feasible=feasible,
    )


def draw(
    templates: Mapping[str, Callable[[Random], ApplicationTask]], seed: int
) -> tuple[ApplicationTask, ...]:
    """Return one task of each template, drawn from `seed`."""
    return tuple(
        template(Random(f"{name} {seed}")).model_copy(update={"template_id": name, "seed": seed})
        for name, template in templates.items()
    )


def pick_other(random: Random, among: Sequence[str], than: str) -> str:
    """Return one of `among` that is not `than`."""
    return random.choice([one for one in among if one != than])


def content_of(seed: int) -> int:
    """Return the seed of the content that the tasks of `seed` are set in."""
    return seed % CONTENTS


def open_page(path: str) -> Move:
    """Return the move to a path of the application."""
    return Move(do="open", text=path)


def click(label: str) -> Move:
    """Return a click on the link or button of this text."""
    return Move(do="click", label=label)


def click_at(selector: str) -> Move:
    """Return a click on what a selector finds."""
    return Move(do="click", selector=selector)


def fill(selector: str, text: str, *, enter: bool = False) -> Move:
    """Return that a field's text is replaced by `text`."""
    return Move(do="type", selector=selector, text=text, overwrite=True, enter=enter)


def select(selector: str, option: str) -> Move:
    """Return the choice of an option by its text."""
    return Move(do="select", selector=selector, text=option)


def press(key: str) -> Move:
    """Return a key press."""
    return Move(do="press", text=key)


def answer(text: str = "") -> Move:
    """Return the answer; empty where nothing was asked."""
    return Move(do="answer", text=text)


def rule(table: str, where: Mapping[str, JsonValue], **rest: JsonValue) -> JsonObject:
    """Return a rule about the rows of a table: those that `where` matches."""
    return {"table": table, "where": dict(where), **rest}
