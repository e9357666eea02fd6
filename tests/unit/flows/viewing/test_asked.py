"""What the address of a list asks for, read and written."""

from urllib.parse import parse_qsl

import pyarrow as pa
import pytest
from multidict import MultiDict

from flows.viewing.asked import Asked, Matches, read_asked
from schemas.errors import BadConfig


def asked(*pairs: tuple[str, str]) -> Asked:
    return read_asked(MultiDict(pairs))


def test_an_address_without_a_query_asks_for_everything() -> None:
    assert asked() == Asked()
    assert asked().query == ""


@pytest.mark.parametrize(
    "query",
    [
        "status=rejected&status=unjudged&family=shop&n_steps=3..10&q=open+the+drawer&in=goal&sort=longest",
        "seconds=..2.5&reached=replay",
        "reason=%28none%29&tokens=5..",
    ],
)
def test_a_query_is_written_as_it_was_read(query: str) -> None:
    assert asked(*parse_qsl(query)).query == query


def test_a_change_leaves_the_rest() -> None:
    one = asked(("status", "rejected"), ("family", "shop"))

    assert one.query_with(family=None) == "status=rejected"
    assert one.query_with(family="mail", page="2") == "status=rejected&family=mail&page=2"


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (("statuss", "x"), "statuss: is no filter; there are cost, day"),
        (("n_steps", "few"), "n_steps=few: expected LOW..HIGH"),
        (("sort", "nicest"), "sort=nicest: expected one of newest, oldest"),
        (("page", "0"), "page=0: expected a number from 1 on"),
        (("page", "9" * 30), "expected a number from 1 on"),
        (("page", "x"), "page=x: expected a number"),
        (("in", "pictures"), "in=pictures: expected one of goal"),
        (("reached", "moon"), "reached=moon: expected one of finish"),
    ],
)
def test_what_is_no_filter_is_refused_by_name(pair: tuple[str, str], words: str) -> None:
    with pytest.raises(BadConfig, match=words):
        asked(pair)


def test_counts_of_a_facet_leave_its_own_filter_out() -> None:
    heads = pa.table({"family": ["shop", "mail", "shop", None], "status": ["a", "a", "b", "b"]})
    heads = heads.set_column(0, "family", heads["family"].dictionary_encode())
    shop = pa.chunked_array([[True, False, True, False]])
    good = pa.chunked_array([[True, True, False, False]])

    matches = Matches(heads, {"family": shop, "status": good})

    assert matches.counts("family") == [("mail", 1), ("shop", 1)]
    assert matches.table().num_rows == 1
    assert Matches(heads, {}).counts("family") == [("shop", 2), (None, 1), ("mail", 1)]
