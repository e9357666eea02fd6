"""What servers may answer that no command can use: engines that are asked for their models, and stores."""

import gzip
import json
from collections.abc import Mapping

from support.servers.raw_server import http

Answers = Mapping[str, tuple[bytes, str]]
"""The bytes that are sent, and what the line has to name, by what is wrong with them."""


def _models(*models: object, **more: object) -> bytes:
    return http(json.dumps({"data": models} | more))


_NO_MODEL = "lists no model; is it an OpenAI-compatible server?"
_NO_ANSWER = "no engine answers"

ENGINES: Answers = {
    "nothing": (b"", _NO_ANSWER),
    "no HTTP": (b"220 mail ready\r\n", _NO_ANSWER),
    "noise": (bytes(range(256)) * 40, _NO_ANSWER),
    "a head without an end": (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 10_000, _NO_ANSWER),
    "a head that is long": (b"HTTP/1.1 200 OK\r\na: " + b"b" * 200_000 + b"\r\n\r\n", _NO_ANSWER),
    "a reason of controls": (http("{}", status="500 \x1b]0;x\x07"), _NO_ANSWER),
    "less than it promised": (http("{}").replace(b": 2\r", b": 9\r"), _NO_ANSWER),
    "a length below nothing": (http("{}").replace(b": 2\r", b": -2\r"), _NO_ANSWER),
    "false gzip": (http(b"no gzip", more="Content-Encoding: gzip\r\n"), _NO_ANSWER),
    "false chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        _NO_ANSWER,
    ),
    "a gzip that is a bomb": (
        http(
            gzip.compress(b"[" * (80 * 2**20), compresslevel=1), more="Content-Encoding: gzip\r\n"
        ),
        "/models",
    ),
    "a way round and round": (http("", status="302 Found", more="Location: /v1/models\r\n"), "/v1"),
    "a way to a file": (
        http("", status="302 Found", more="Location: file:///etc/passwd\r\n"),
        "/v1",
    ),
    "not found": (http("<html>\n<b>404</b>", status="404 Not Found", kind="text/html"), "HTTP 404"),
    "a refusal of two lines": (
        http('{"error": {"message": "no\\nstepmill: done"}}', status="400 Bad"),
        "HTTP 400: no stepmill: done",
    ),
    "a refusal of controls": (
        http('{"error": "\\u001b[31m\\u009b\\u202e\\ud800"}', status="418 Teapot"),
        "HTTP 418",
    ),
    "a refusal of brackets": (http("[" * 100_000, status="400 Bad"), "HTTP 400"),
    "a refusal that is long": (http("a" * 1_000_000, status="400 Bad"), "HTTP 400"),
    "a key that is missing": (http("{}", status="401 Unauthorized"), "the API key is missing"),
    "always unwell": (http("{}", status="503 Unwell"), "HTTP 503"),
    "a status that is none": (http("{}", status="999 x"), "HTTP 999"),
    "no models": (http("{}"), _NO_MODEL),
    "models of nothing": (_models(), _NO_MODEL),
    "models of numbers": (_models(1, None, []), _NO_MODEL),
    "models without a name": (_models({"id": ""}, {"id": None}), _NO_MODEL),
    "models of brackets": (http("[" * 200_000), _NO_MODEL),
    "models of digits": (http("9" * 5_000), _NO_MODEL),
    "models of bytes": (http(b"\xff\xfe\x00"), _NO_MODEL),
    "models of nothing at all": (http(""), _NO_MODEL),
    "many models": (_models({"id": "a"}, {"id": "b"}), "serves several models"),
    "models of two lines": (_models({"id": "a\nb"}, {"id": "c"}), "name one: a b, c"),
    "models of controls": (_models({"id": "\x1b[31m"}, {"id": "\u202e"}), "name one"),
    "a thousand models": (_models(*({"id": "a" * 1_000} for _ in range(1_000))), "name one"),
}
"""What an engine answers."""


def _object(body: str | bytes) -> bytes:
    return http(body, more='ETag: "1"\r\n')


def _refused(code: str, *, status: str = "400 Bad Request", more: str = "") -> bytes:
    text = f"<?xml version='1.0'?><Error><Code>{code}</Code>{more}</Error>"
    return http(text, status=status, kind="application/xml")


_STORE = "s3://bucket/"

STORES: Answers = {
    "nothing": (b"", "the store does not answer"),
    "no HTTP": (b"220 mail ready\r\n", "the store does not answer"),
    "noise": (bytes(range(256)) * 40, "the store does not answer"),
    "less than it promised": (http("{}").replace(b": 2\r", b": 9\r"), _STORE),
    "a run of brackets": (_object("[" * 100_000), "run.json: cannot be read"),
    "a run of nothing": (_object(""), "run.json: cannot be read"),
    "a run of bytes": (_object(b"\xff\xfe"), "run.json: cannot be read"),
    "a run of digits": (_object('{"run_id":' + "9" * 5_000), "run.json: cannot be read"),
    "a run of two lines": (
        _object('{"a\\nstepmill: b": 1, "run_id": 1}'),
        "run.json: cannot be read",
    ),
    "a run without a mark": (http("{}"), "the answer is not that of a store"),
    "no bucket": (_refused("NoSuchBucket", status="404 x"), "there is no such bucket"),
    "no run": (_refused("NoSuchKey", status="404 x"), "there is no run here"),
    "a code of two lines": (_refused("a\nb"), "the store refuses the request"),
    "a code of controls": (_refused("\x9b31m\u202e"), "the store refuses the request"),
    "a code that is long": (_refused("a" * 100_000), "the store refuses the request"),
    "a region of two lines": (
        _refused("PermanentRedirect", status="301 x", more="<Region>a\nb</Region>"),
        "check the AWS files",
    ),
    "a refusal without words": (http("", status="403 x"), "do not allow it"),
    "a refusal that is no XML": (http("{}", status="400 x"), _STORE),
    "a refusal of brackets": (http("<a>" * 10_000, status="400 x", kind="application/xml"), _STORE),
    "a bomb of names": (
        http(
            '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">'
            + "".join(
                f'<!ENTITY {b} "{f"&{a};" * 10}">'
                for a, b in zip("abcdefgh", "bcdefghi", strict=True)
            )
            + "]><Error><Code>&i;</Code></Error>",
            status="400 x",
            kind="application/xml",
        ),
        _STORE,
    ),
    "a way elsewhere": (http("", status="307 x", more="Location: file:///etc/passwd\r\n"), _STORE),
    "always unwell": (_refused("SlowDown", status="503 x"), "the store keeps failing"),
}
"""What a store answers when it is asked for a run."""
