"""What processes inherit is a list of names; whatever is not in it stays here."""

import pytest

from generators.child_environment import (
    BROWSER,
    MODEL_SERVER,
    PREFECT_SERVER,
    PROBE,
    SYSTEM,
    inherit,
)

LISTS = {
    "system": SYSTEM,
    "browser": BROWSER,
    "probe": PROBE,
    "prefect": PREFECT_SERVER,
    "vllm": MODEL_SERVER,
}
CREDENTIALS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "HF_TOKEN",
    "HF_TOKEN_PATH",
    "HUGGING_FACE_HUB_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_API_KEY_HOST",
    "PREFECT_API_KEY",
    "PREFECT_API_AUTH_STRING",
    "PREFECT_CLIENT_CUSTOM_HEADERS",
    "GITHUB_TOKEN",
    "SSH_AUTH_SOCK",
    "A_KIND_THAT_IS_NEW",
)


@pytest.mark.parametrize("names", LISTS.values(), ids=LISTS.keys())
def test_no_list_lets_a_credential_through(names: tuple[str, ...]) -> None:
    environ = dict.fromkeys((*CREDENTIALS, "PATH", "HOME", "LC_ALL", "XDG_CACHE_HOME"), "x")

    assert set(inherit(environ, names)) == {"PATH", "HOME", "LC_ALL", "XDG_CACHE_HOME"}


@pytest.mark.parametrize(
    ("name", "lists"),
    [
        ("VLLM_API_KEY", {"vllm"}),
        ("CUDA_VISIBLE_DEVICES", {"vllm"}),
        ("HF_HUB_OFFLINE", {"vllm"}),
        ("https_proxy", {"vllm"}),
        ("PREFECT_SERVER_DATABASE_PASSWORD", {"prefect"}),
        ("PYTHONPATH", {"probe", "prefect"}),
        ("FONTCONFIG_PATH", {"browser"}),
        ("LANG", set(LISTS)),
    ],
)
def test_what_is_for_one_process_goes_to_no_other(name: str, lists: set[str]) -> None:
    assert {key for key, names in LISTS.items() if inherit({name: "x"}, names)} == lists


def test_a_name_is_a_whole_name() -> None:
    assert inherit({"MY_PATH": "x", "PATHS": "x", "path": "x"}, SYSTEM) == {}
