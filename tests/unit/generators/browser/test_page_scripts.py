"""A script is read whole, and a function of one is called with values as JSON has them."""

import pytest

from generators.browser.page_scripts import read_script, to_call


def test_a_script_is_read_from_beside_its_module() -> None:
    assert read_script("generators.browser", "page.js").startswith("//")
    with pytest.raises(FileNotFoundError, match=r"none\.js"):
        read_script("generators.browser", "none.js")


def test_values_are_arguments_and_never_part_of_the_script() -> None:
    hostile = '");alert("1'

    assert to_call("(a, b) => a", hostile, {"z": None, "a": [True, 1.5]}) == (
        r'((a, b) => a)("\");alert(\"1", {"a":[true,1.5],"z":null})'
    )


def test_the_comment_that_a_script_ends_or_begins_with_is_no_part_of_the_call() -> None:
    assert to_call("// why\n() => 1 // one\n") == "(// why\n() => 1 // one\n)()"


def test_a_value_that_json_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        to_call("(a) => a", float("nan"))
