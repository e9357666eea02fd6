"""The API key that an endpoint is sent: its own, from the environment, or none.

`OPENAI_API_KEY` is for the endpoints of `[engine] urls` and for no others: a role with endpoints of its own
often uses another provider. Any endpoint may have a variable of its own, named after its host, which takes
precedence.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from generators.engine.client.urls import base_url, basic_header, without_credentials

API_KEY_VARIABLE = "OPENAI_API_KEY"
"""The variable with the key of the run's own engine; with a host's name after it, of that host."""

VLLM_KEY_VARIABLE = "VLLM_API_KEY"
"""The variable from which a vLLM takes the key that it must be asked with."""


def key_variable(url: str) -> str:
    """Return the variable that holds the key of one endpoint: its host, and its port if `url` has one.

    Dots and colons become `_`, dashes `__`, so that no two hosts share a variable.

    Raises:
        NoEngine: `url` is not an HTTP URL.
    """
    place = urlsplit(without_credentials(base_url(url))).netloc.strip("[]").upper()
    return f"{API_KEY_VARIABLE}_{place.replace('-', '__').replace('.', '_').replace(':', '_')}"


def endpoint_keys(
    urls: Iterable[str], environ: Mapping[str, str], *, main: Iterable[str]
) -> dict[str, str]:
    """Return the key of each endpoint that has one; `main` are those of `[engine] urls`.

    A URL with a user and password of its own is sent these and no key.

    Raises:
        NoEngine: one is not an HTTP URL.
    """
    own = {_origin(url) for url in main}
    found: dict[str, str] = {}
    for url in urls:
        if basic_header(base_url(url)) is not None:
            continue
        general = environ.get(API_KEY_VARIABLE) if _origin(url) in own else None
        if key := environ.get(key_variable(url)) or general:
            found[url] = key
    return found


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(without_credentials(base_url(url)))
    return parts.scheme, parts.netloc.lower()
