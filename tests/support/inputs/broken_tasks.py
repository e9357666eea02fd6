"""Tasks of the ledger that are broken on purpose, each with the gate that finds it, and one that is whole."""

from collections.abc import Mapping

from pydantic import JsonValue

from schemas.base import JsonObject

ROPE: JsonObject = {"added": [{"table": "entries", "where": {"text": "Rope"}}]}
ADD: list[JsonValue] = [
    {"do": "type", "on": "Entry", "text": "Rope"},
    {"do": "click", "on": "Add"},
]


def _row(**stated: JsonValue) -> JsonObject:
    row: JsonObject = {
        "site": "ledger",
        "seed": 1,
        "start_url": "/",
        "instruction": "Add Rope to the ledger.",
        "expect": ROPE,
        "reference": ADD,
    }
    return row | stated


def _answered(text: str) -> list[JsonValue]:
    return [{"do": "answer", "text": text}]


WHOLE = {
    "add": _row(),
    "count": _row(
        instruction="How many letters does the seed of this ledger have?",
        expect={"answer": {"number": 4_711}},
        reference=_answered("4711"),
    ),
}
"""Tasks that pass."""

BROKEN: Mapping[str, tuple[JsonObject, str, str]] = {
    "always pays": (
        _row(expect={"values": {"/seed": {"any": True}}}),
        "floor_gap",
        "so before anything is done",
    ),
    "already true at the start": (
        _row(expect={"values": {"/seed": {"matches": "[0-9]+"}}}),
        "floor_gap",
        "so before anything is done",
    ),
    "never pays": (
        _row(expect={"added": [{"table": "entries", "where": {"text": "Tar"}}]}),
        "oracle_max",
        "the reference is not rewarded",
    ),
    "speaks of a table that is not there": (
        _row(expect={"added": [{"table": "orders"}]}),
        "oracle_max",
        "orders",
    ),
    "has a reference that cannot be carried out": (
        _row(reference=[{"do": "click", "on": "Order"}]),
        "oracle_max",
        "no 'Order'",
    ),
    "has no reference": (_row(reference=None), "oracle_max", "no reference"),
    "does not see a side effect": (
        _row(expect=ROPE | {"nothing_else": False}),
        "near_misses",
        "side_effect",
    ),
    "takes any entry": (
        _row(expect={"added": [{"table": "entries", "where": {"text": {"contains": "o"}}}]}),
        "near_misses",
        "is accepted",
    ),
    "says its answer": (
        _row(
            instruction="Answer with the number 4711.",
            expect={"answer": {"number": 4_711}},
            reference=_answered("4711"),
        ),
        "no_solution_leakage",
        "the instruction contains",
    ),
    "shows its answer at the start": (
        _row(
            instruction="Whose ledger is it? Add Rope, and answer with the host.",
            expect=ROPE | {"answer": "ledger.localhost"},
            reference=[*ADD, *_answered("ledger.localhost")],
        ),
        "no_solution_leakage",
        "the start page shows",
    ),
    "is answered by anybody": (
        _row(
            instruction="Is the ledger empty?",
            expect={"answer": {"one_of": ["yes", "indeed"]}},
            reference=_answered("yes"),
        ),
        "canary_floor",
        "the answer 'yes' at once is rewarded",
    ),
    "can be given up": (
        _row(
            instruction="Which harbour is it?",
            expect={"answer": {"matches": "(Bremen|impossible)"}},
            reference=_answered("Bremen"),
        ),
        "canary_floor",
        "the answer 'impossible' at once is rewarded",
    ),
}
"""Rows of a task file by what is wrong with them; the gate that must fail, and words of its reason."""
