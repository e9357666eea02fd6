"""What a task may expect, and how a mistake in it is named."""

import pytest
from pydantic import JsonValue, ValidationError

from schemas.errors import BadTasks
from schemas.tasks.expectation import (
    MAX_PATTERN_CHARS,
    Anything,
    Equals,
    Expectation,
    Matches,
    Number,
    OneOf,
    compile_pattern,
    parse_expectation,
)

CHOICE = "exactly one of equals, one_of, number, matches, contains and any"
ROW: JsonValue = {"table": "orders"}


def _rule(**where: JsonValue) -> JsonValue:
    return {"added": [{"table": "orders", "where": where}]}


def test_every_matcher_is_read_as_what_it_is() -> None:
    stated: dict[str, JsonValue] = {
        "none": None,
        "flag": True,
        "count": 3,
        "text": "Lamp",
        "list": [1, {"a": 2}],
        "object": {"equals": {"a": 1}},
        "several": {"one_of": [1, "x", None]},
        "near": {"number": 20, "within": 0.5},
        "pattern": {"matches": "[a-z]+"},
        "parts": {"contains": ["a", 1]},
        "whatever": {"any": True},
    }

    read = parse_expectation(_rule(**stated), "tasks.jsonl: line 1").added[0].where

    assert read["none"] is None
    assert read["flag"] is True
    assert (read["count"], read["text"], read["list"]) == (3, "Lamp", [1, {"a": 2}])
    assert read["object"] == Equals(equals={"a": 1})
    assert read["several"] == OneOf(one_of=(1, "x", None))
    assert read["near"] == Number(number=20, within=0.5)
    assert read["pattern"] == Matches(matches="[a-z]+")
    assert read["whatever"] == Anything(any=True)


def test_an_expectation_is_read_back_as_it_was_written() -> None:
    stated: JsonValue = {
        "added": [{"table": "/a~1b", "key": 5, "where": {"/x/y": 1}, "count": 2}],
        "changed": [{"table": "orders", "set": {"status": {"one_of": ["paid"]}}}],
        "values": {"/lang": "de"},
        "nothing_else": False,
        "unchecked": ["/log/*"],
        "answer": {"number": 2.5, "within": 0.1},
    }

    read = parse_expectation(stated, "a task")

    assert read.model_dump(mode="json", exclude_defaults=True) == stated


def test_a_probe_is_read_back_as_it_was_written() -> None:
    stated: JsonValue = {"probe": "total", "options": {"member": "price", "most": [20, None]}}

    read = parse_expectation(stated, "a task")

    assert read.model_dump(mode="json") == stated
    assert Expectation.model_validate(read.model_dump()) == read
    assert parse_expectation({"probe": "total"}, "a task").options == {}


def test_an_expectation_of_rules_says_nothing_of_probes() -> None:
    assert {"probe", "options"}.isdisjoint(Expectation(answer="42").model_dump())


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ([], "expect: Input should be an object"),
        ({}, "expect: expects nothing; doing nothing would do"),
        ({"nothing_else": True}, "expect: expects nothing; doing nothing would do"),
        ({"addd": []}, "expect.addd: unknown field"),
        ({"probe": ""}, "expect.probe: String should have at least 1 character"),
        ({"probe": 3}, "expect.probe: Input should be a valid string"),
        ({"probe": "p", "options": [1]}, "expect.options: Input should be an object"),
        ({"probe": "p", "optoins": {}}, "expect.optoins: unknown field"),
        ({"answer": 1, "options": {"a": 1}}, "expect: options are a probe's: name it in `probe`"),
        ({"probe": "p", "added": []}, "expect: a probe judges alone: leave out added$"),
        ({"probe": "p", "changed": []}, "expect: a probe judges alone: leave out changed$"),
        ({"probe": "p", "removed": [ROW]}, "expect: a probe judges alone: leave out removed$"),
        ({"probe": "p", "values": {"/a": 1}}, "expect: a probe judges alone: leave out values$"),
        ({"probe": "p", "unchecked": []}, "expect: a probe judges alone: leave out unchecked$"),
        ({"probe": "p", "nothing_else": True}, "expect: .* leave out nothing_else$"),
        ({"probe": "p", "answer": 1, "key": 1}, "expect.key: unknown field"),
        ({"probe": "p", "answer": 1}, "expect: a probe judges alone: leave out answer$"),
        ({"added": [{"table": "t", "were": {}}]}, "expect.added.0.were: unknown field"),
        ({"added": [{}]}, "expect.added.0.table: Field required"),
        (
            {"added": [{"table": "/x~"}]},
            "expect.added.0.table: in the JSON pointer '/x~' write ~ as ~0",
        ),
        ({"added": [{"table": "/x/*"}]}, "expect.added.0.table: expected one place, not a pattern"),
        ({"added": [{"table": "t", "count": 0}]}, "expect.added.0.count: Input should be greater"),
        (
            {"added": [{"table": "t", "count": "1"}]},
            "expect.added.0.count: Input should be a valid int",
        ),
        (
            {"added": [{"table": "t", "set": {"a": 1}}]},
            "expect: added.0: a rule of `added` has no `set`",
        ),
        (
            {"removed": [{"table": "t", "set": {"a": 1}}]},
            "expect: removed.0: a rule of `removed` has no `set`",
        ),
        ({"changed": [ROW]}, "expect: changed.0: a rule of `changed` needs `set`"),
        ({"added": [ROW, ROW]}, "expect: added.1 repeats an earlier rule; say `count`"),
        (
            {"added": [{"table": str(n)} for n in range(101)]},
            "expect.added: Tuple should have at most 100",
        ),
        (_rule(a={}), f"expect.added.0.where.a: expected a value, or an object with {CHOICE}"),
        (
            _rule(a={"number": 1, "equals": 1}),
            f"expect.added.0.where.a: expected a value, .*{CHOICE}",
        ),
        (_rule(a={"number": "z"}), "expect.added.0.where.a.number: Input should be a valid number"),
        (
            _rule(a={"number": 1, "within": -1}),
            "expect.added.0.where.a.within: Input should be greater",
        ),
        (_rule(any={"number": 1, "withn": 3}), "expect.added.0.where.any.withn: unknown field"),
        (_rule(any={"contains": [1, {}]}), "expect.added.0.where.any.contains.1: Input should be"),
        (_rule(**{"": 1}), "expect.added.0.where.: String should have at least 1 character"),
        (_rule(**{"/a/*": 1}), r"expect.added.0.where./a/\*: expected one place"),
        (
            {"added": [{"table": "t", "key": {"one_of": 3}}]},
            "expect.added.0.key.one_of: Input should be",
        ),
        (
            {"values": {"a": 1}},
            "expect.values.a: expected a JSON pointer such as /orders/3, got 'a'",
        ),
        (
            {"values": {"/a/*": 1}},
            r"expect.values./a/\*: expected one place, not a pattern of places",
        ),
        (
            {"values": {"/any": {"any": 1}}},
            "expect.values./any.any: Input should be a valid boolean",
        ),
        ({"unchecked": ["a"], "answer": 1}, "expect.unchecked.0: expected a JSON pointer"),
        ({"answer": True}, "expect: answer: expected texts and numbers, got true"),
        ({"answer": ["a"]}, 'expect: answer: expected texts and numbers, got \\["a"\\]'),
        ({"answer": " "}, 'expect: answer: expected texts and numbers, got " "'),
        ({"answer": {"equals": None}}, "expect: answer: expected texts and numbers, got null"),
        ({"answer": {"one_of": ["a", {}]}}, "expect: answer: expected texts and numbers, got {}"),
        ({"answer": {"one_of": []}}, "expect.answer.one_of: Tuple should have at least 1 item"),
        (
            {"answer": {"contains": ["a", False]}},
            "expect: answer: expected texts and numbers, got false",
        ),
        ({"answer": {"any": False}}, "expect.answer.any: expected true"),
        (
            {"answer": {"matches": "(a"}},
            "expect.answer.matches: not a usable regular expression: unclosed",
        ),
        (
            {"answer": {"matches": "a)|(b"}},
            "expect.answer.matches: not a usable .*: unopened group",
        ),
        ({"answer": {"matches": "(?=a)"}}, "expect.answer.matches: not a usable .*: look-around"),
        (
            {"answer": {"matches": r"(a)\1"}},
            "expect.answer.matches: not a usable .*: backreferences",
        ),
        (
            {"answer": {"matches": r"(\w{1,99}){1,99}"}},
            "expect.answer.matches: not a usable .*size limit",
        ),
        (
            {"answer": {"matches": "a" * (MAX_PATTERN_CHARS + 1)}},
            "expect.answer.matches: String should have at most 500 characters",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(stated: JsonValue, message: str) -> None:
    with pytest.raises(BadTasks, match=f"^tasks.jsonl: line 3: {message}") as refused:
        parse_expectation(stated, "tasks.jsonl: line 3")

    assert len(str(refused.value).splitlines()) == 1


def test_all_mistakes_are_named_at_once() -> None:
    with pytest.raises(BadTasks) as refused:
        parse_expectation({"added": [{}], "unchecked": ["a"]}, "line 1")

    assert [line.split(": ")[1] for line in str(refused.value).splitlines()] == [
        "expect.added.0.table",
        "expect.unchecked.0",
    ]


def test_no_number_that_json_lacks_is_expected() -> None:
    with pytest.raises(BadTasks, match="line 1: expect: Out of range float"):
        parse_expectation({"answer": float("nan")}, "line 1")


def test_a_pattern_matches_a_whole_text() -> None:
    assert compile_pattern("a|b").isinstance_python("b")
    assert not compile_pattern("a|b").isinstance_python("ab")
    assert not compile_pattern("a").isinstance_python("a\n")


def test_no_pattern_takes_long() -> None:
    assert not compile_pattern("(a+)+b").isinstance_python("a" * 10_000)


def test_the_form_is_known_as_a_json_schema() -> None:
    schema = Expectation.model_json_schema()

    assert {"added", "changed", "removed", "values", "nothing_else", "answer"} <= schema[
        "properties"
    ].keys()


@pytest.mark.parametrize("name", ["facts", "looked"])
def test_what_an_answer_rests_on_needs_an_answer(name: str) -> None:
    rule = {"table": "t", "where": {"a": 1}}

    with pytest.raises(ValidationError, match="an answer follows from: state the answer"):
        Expectation.model_validate({"added": [rule], name: ["x"]})
    told = Expectation.model_validate({"answer": "y", name: ["x"]})
    assert told.model_dump(mode="json")[name] == ["x"]
    assert name not in Expectation(answer="y").model_dump(mode="json")
