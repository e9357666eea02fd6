"""What is told of a lost attempt is bounded, and shows no credential."""

from pydantic import JsonValue

from generators.sites.judging.compare import compare_states
from generators.sites.judging.judge import explain
from generators.sites.judging.protocol import REASON_BYTES
from schemas.tasks.expectation import parse_expectation


def test_what_explains_a_lost_attempt_is_bounded_and_shows_no_credential() -> None:
    rule: JsonValue = {"table": "users", "where": {"name": "ann"}, "set": {"password": "hush-hush"}}

    def users(password: str, letter: str) -> JsonValue:
        return {"users": [{"name": "ann", "password": password, "bio": letter * 5_000}]}

    delta = compare_states(users("old-secret", "x"), users("wrong-one", "y"))

    told = explain(
        parse_expectation({"changed": [rule], "answer": "http://me:pass@shop/"}, "a task"),
        delta=delta,
        answer="y" * 5_000,
    )

    assert all(len(one.encode()) <= REASON_BYTES for one in told)
    secrets = ("hush-hush", "old-secret", "wrong-one", "me:pass")
    assert not any(word in one for one in told for word in secrets)
    assert "the new password is" in told[0]
