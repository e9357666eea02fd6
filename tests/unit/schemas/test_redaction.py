"""What is taken for a credential is blotted out, and what is none stays readable."""

import time

import pytest

from schemas.base import JsonObject
from schemas.redaction import redact, redact_values, redact_variables


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:hunter2@host:8000/v1 is down", "http://***@host:8000/v1 is down"),
        ("https://hunter2@store", "https://***@store"),
        ("s3://AKIA:hun/ter2+x=@bucket/x", "s3://***@bucket/x"),
        ("http://me:hunter@2@host/x", "http://***@host/x"),
        ("['http://me:hunter2@a','http://b']", "['http://***@a','http://b']"),
        ("s3://bucket/x?X-Amz-Signature=hunter2&a=1", "s3://bucket/x?X-Amz-Signature=***&a=1"),
        ("http://host/v1?api_key=hunter2", "http://host/v1?api_key=***"),
        ("engine.args=['--api-key','hunter2','-v']", "engine.args=['--api-key','***','-v']"),
        ("vllm --hf-token=hunter2 --port 1", "vllm --hf-token=*** --port 1"),
    ],
)
def test_a_credential_in_a_text_is_blotted_out(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "hf://datasets/org/data@nightly",
        "s3://bucket/a@b/run=3",
        "http://host:8000/v1",
        "somebody@example.org wrote to file:///tmp/x",
        "--max-num-batched-tokens=8192 and --max-tokens 5",
        "set HF_TOKEN, or give the machine a role; see `--api-key` in its help",
    ],
)
def test_what_is_no_credential_stays(text: str) -> None:
    assert redact(text) == text


def test_what_follows_a_flag_in_a_list_is_blotted_out_wherever_the_list_lies() -> None:
    told: JsonObject = {
        "a": [{"args": ["--api-key", "hunter2", "--port", "8000", "--token", "--quiet"]}],
        "b": 1,
    }

    assert redact_values(told) == {
        "a": [{"args": ["--api-key", "***", "--port", "8000", "--token", "--quiet"]}],
        "b": 1,
    }


def test_the_value_of_a_variable_that_speaks_of_a_credential_is_blotted_out_wherever_it_stands() -> (
    None
):
    environ = {"HF_TOKEN": "hunter2-hunter2", "AWS_PROFILE": "a-long-name", "API_KEY": "short"}

    shown = redact_variables("Bearer hunter2-hunter2 of a-long-name, short", environ)

    assert shown == "Bearer *** of a-long-name, short"


@pytest.mark.parametrize(
    "unit",
    ["?", "?token", "&token=", "://", "://a:", "://a@", "@", "--a-key", "-key'  ", "-token_"],
)
def test_no_text_takes_longer_than_its_length(unit: str) -> None:
    began = time.process_time()
    redact(unit * 20_000)

    assert time.process_time() - began < 5
