"""`python harbour_desk.py FOLDER PORT`: serve the desk of a harbour, an app of Gradio's, over the SQLite file of a folder.

A ship's berth is booked in a form, dues are changed in a table, a survey tells the depths as they are measured, and
the harbour master answers word by word. The file is opened anew for each call.
"""

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import gradio as gr  # type: ignore[import-not-found]

FILE = "desk.db"
"""The SQLite file of an instance."""

SERVICES = ("Water", "Power", "Crane", "Waste")
TIDES = ("High", "Low", "Any")
POINTS = 10
"""How many depths a survey measures."""

PAUSE = 0.03
"""Time between two depths, or two words of an answer, seconds."""

BOOKING = ("Number", "Ship", "Berth", "Tonnes", "Tide", "Services", "Remark")
DUES = ("Kind", "Euros a day")

ANSWERS = {
    "pilot": "The pilot on duty is Ingrid Falk; she is on channel 12.",
    "fuel": "The fuel barge is called Marigold and comes at 14:30.",
    "crane": "The crane lifts 45 tonnes and is oiled on Mondays.",
}
"""What the harbour master says, by the word that a question is about."""

NO_ANSWER = "I have put your question down and shall ask."


class Desk:
    """What the desk's buttons do, over one SQLite file."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with closing(sqlite3.connect(self._file)) as opened:
            return opened.execute(query).fetchall()

    def write(self, statement: str, *rows: Sequence[object]) -> None:
        """Carry out a statement for each row."""
        with closing(sqlite3.connect(self._file)) as opened, opened:
            opened.executemany(statement, rows)

    def berths(self) -> list[str]:
        """Return the names of the berths."""
        return [name for (name,) in self.rows("SELECT name FROM berth ORDER BY id")]

    def bookings(self) -> list[list[Any]]:
        """Return the table of the bookings."""
        return [list(row) for row in self.rows("SELECT * FROM booking ORDER BY id")]

    def choose(self) -> Any:
        """Return the list that a booking is chosen from, with nothing chosen."""
        ships = self.rows("SELECT id, ship FROM booking ORDER BY id")
        return gr.Dropdown(
            choices=[(f"{number} {ship}", number) for number, ship in ships], value=None
        )

    def dues(self) -> list[list[Any]]:
        """Return the table of the dues."""
        return [list(row) for row in self.rows("SELECT kind, euros FROM due ORDER BY id")]

    def load(self) -> tuple[Any, ...]:
        """Return what a page shows at first."""
        return self.bookings(), self.choose(), self.dues()

    def book(self, *form: Any) -> tuple[Any, ...]:
        """Put a booking down, by the fields of its form; return what is said of it, and the bookings."""
        ship, berth, tonnes, tide, services, remark = form
        if not ship.strip() or not berth:
            raise gr.Error("A booking needs a ship and a berth.", duration=None)
        wanted = ", ".join(one for one in SERVICES if one in services)
        row = (ship.strip(), berth, tonnes, tide, wanted, remark.strip())
        self.write("INSERT INTO booking VALUES (NULL, ?, ?, ?, ?, ?, ?)", row)
        return f"Booked {berth} for {ship.strip()}.", self.bookings(), self.choose()

    def cancel(self, number: int | None) -> tuple[Any, ...]:
        """Take a booking out; return what is said of it, and the bookings."""
        if number is None:
            raise gr.Error("Choose a booking first.", duration=None)
        self.write("DELETE FROM booking WHERE id = ?", (number,))
        return f"Booking {number} is cancelled.", self.bookings(), self.choose()

    def keep_dues(self, table: list[list[Any]]) -> str:
        """Keep the dues as the table has them."""
        self.write(
            "UPDATE due SET euros = ? WHERE kind = ?",
            *((int(euros), kind) for kind, euros in table),
        )
        return "The dues are kept."

    async def survey(self, berth: str) -> AsyncIterator[tuple[str, str, tuple[str, float] | None]]:
        """Measure the depths of a berth, and tell them as they come; the shallowest is told last."""
        draw, told, least = Random(f"survey of {berth}"), "", 99.0
        for point in range(1, POINTS + 1):
            await asyncio.sleep(PAUSE)
            depth = draw.randint(48, 140) / 10
            told, least = f"{told}Point {point}: {depth} m\n", min(least, depth)
            yield told, f"Measuring {berth}: {point} of {POINTS}", None
        yield told, f"{berth} is measured. Its shallowest point has {least} m.", (berth, least)

    def keep_survey(self, told: tuple[str, float] | None, by: str) -> str:
        """Keep the survey that was told last: its berth, and the depth of its shallowest point in metres."""
        if told is None:
            raise gr.Error("There is no survey to keep.", duration=None)
        berth, least = told
        self.write("INSERT INTO survey VALUES (NULL, ?, ?, ?)", (berth, least, by))
        return f"The survey of {berth} is kept."

    def limit(self, berth: str, draught: float) -> str:
        """Set the deepest draught that a berth is open to, metres."""
        self.write("UPDATE berth SET draught = ? WHERE name = ?", (draught, berth))
        return f"{berth} is open to draughts up to {draught} m."

    async def answer(self, question: str, said: list[Any]) -> AsyncIterator[tuple[list[Any], str]]:
        """Put a question down, and answer it word by word; return the conversation and an empty field."""
        self.write("INSERT INTO question (text) VALUES (?)", (question,))
        said = [*said, {"role": "user", "content": question}]
        found = (text for word, text in ANSWERS.items() if word in question.casefold())
        words = next(found, NO_ANSWER).split()
        for end in range(len(words) + 1):
            await asyncio.sleep(PAUSE)
            yield [*said, {"role": "assistant", "content": " ".join(words[:end])}], ""


def build(desk: Desk) -> Any:
    """Return the app."""
    with gr.Blocks(title="Harbour desk", analytics_enabled=False) as app:
        gr.Markdown("# Harbour desk")
        bookings = gr.Dataframe(
            headers=list(BOOKING), interactive=False, label="Bookings", render=False
        )
        chosen = gr.Dropdown(label="Booking", render=False)
        dues = gr.Dataframe(
            headers=list(DUES),
            datatype=["str", "number"],
            type="array",
            interactive=True,
            label="Dues",
            render=False,
        )
        with gr.Tab("Book"):
            _book(desk, bookings, chosen)
        with gr.Tab("Bookings"):
            bookings.render()
            chosen.render()
            done = gr.Markdown()
            cancel = gr.Button("Cancel booking", variant="stop")
            cancel.click(desk.cancel, chosen, [done, bookings, chosen])
        with gr.Tab("Dues"):
            dues.render()
            kept = gr.Markdown()
            gr.Button("Keep dues").click(desk.keep_dues, dues, kept)
        with gr.Tab("Survey"):
            _survey(desk)
        with gr.Tab("Harbour master"):
            _ask(desk)
        # Answered at once, and announced to nobody: the page is whole when it has loaded.
        app.load(desk.load, outputs=[bookings, chosen, dues], queue=False, show_progress="hidden")
    return app


def _book(desk: Desk, bookings: Any, chosen: Any) -> None:
    with gr.Row():
        ship = gr.Textbox(label="Ship", placeholder="Name of the ship")
        berth = gr.Dropdown(desk.berths(), label="Berth", value=None)
    with gr.Row():
        tonnes = gr.Slider(0, 5000, value=200, step=50, label="Tonnes")
        tide = gr.Radio(TIDES, value="Any", label="Tide")
    services = gr.CheckboxGroup(SERVICES, label="Services")
    remark = gr.Textbox(label="Remark", lines=2)
    book = gr.Button("Book berth", variant="primary")
    done = gr.Markdown()
    book.click(desk.book, [ship, berth, tonnes, tide, services, remark], [done, bookings, chosen])


def _survey(desk: Desk) -> None:
    told = gr.State(None)
    with gr.Row():
        berth = gr.Dropdown(desk.berths(), label="Berth to survey")
        by = gr.Textbox(label="Surveyor")
    start = gr.Button("Start survey", variant="primary")
    said = gr.Markdown()
    with gr.Row():
        depths = gr.Textbox(label="Depths", lines=POINTS, interactive=False)
        with gr.Column():
            keep = gr.Button("Keep survey")
            draught = gr.Number(label="Deepest draught (m)", value=5)
            limit = gr.Button("Set draught")
    start.click(desk.survey, berth, [depths, said, told])
    keep.click(desk.keep_survey, [told, by], said)
    limit.click(desk.limit, [berth, draught], said)


def _ask(desk: Desk) -> None:
    said = gr.Chatbot(label="Harbour master", height=320)
    question = gr.Textbox(label="Question", placeholder="Ask about pilots, fuel or the crane")
    gr.Button("Ask").click(desk.answer, [question, said], [said, question])
    question.submit(desk.answer, [question, said], [said, question])


if __name__ == "__main__":
    folder, port = sys.argv[1:]
    served = build(Desk(Path(folder) / FILE))
    served.launch(server_name="127.0.0.1", server_port=int(port), share=False, quiet=True)
