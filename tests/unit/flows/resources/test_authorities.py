"""What a user names is trusted beside the system's authorities, by every client, in this process and its children."""

import ssl
from pathlib import Path

import certifi
import pytest
import trustme

from flows.resources.authorities import trust_authorities
from schemas.certificates import AUTHORITIES
from schemas.errors import BadConfig


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.pem"
    trustme.CA().cert_pem.write_to_path(str(path))
    return path


def trusted(path: str) -> set[bytes]:
    """Return every certificate of a file."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(path)
    return {*context.get_ca_certs(binary_form=True)}


@pytest.mark.parametrize("variable", AUTHORITIES)
def test_both_variables_name_one_file_with_the_system_s_and_the_named(
    own: Path, variable: str
) -> None:
    environ = {variable: str(own)}
    trust_authorities(environ)
    [path] = {environ[name] for name in AUTHORITIES}
    again = dict(environ)
    trust_authorities(again)  # as a child does

    assert trusted(path) >= trusted(str(own)) | trusted(certifi.where())
    assert again == environ


def test_what_each_variable_names_is_trusted(tmp_path: Path, own: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    trustme.CA().cert_pem.write_to_path(str(folder / "other.pem"))
    environ = dict(zip(AUTHORITIES, (str(folder), str(own)), strict=True))
    trust_authorities(environ)

    named = trusted(str(own)) | trusted(str(folder / "other.pem"))
    assert trusted(environ["SSL_CERT_FILE"]) >= named


def test_nothing_is_changed_where_nothing_is_named() -> None:
    environ = {"HOME": "/nonexistent", "AWS_CA_BUNDLE": ""}
    trust_authorities(environ)

    assert environ == {"HOME": "/nonexistent", "AWS_CA_BUNDLE": ""}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file or directory"),
        ("", "holds no certificate; it should be a file of PEM"),
        (
            "-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n",
            "a certificate in it is not one",
        ),
    ],
)
@pytest.mark.parametrize("variable", AUTHORITIES)
def test_what_holds_no_authority_is_refused_by_name(
    tmp_path: Path, content: str | None, why: str, variable: str
) -> None:
    path = tmp_path / "bad.pem"
    if content is not None:
        path.write_text(content)

    with pytest.raises(BadConfig) as error:
        trust_authorities({variable: str(path)})
    assert str(error.value) == f"environment variable {variable}: {path}: {why}"


def test_a_file_of_the_same_name_is_not_taken_for_one_that_was_made_so(tmp_path: Path) -> None:
    path = tmp_path / "authorities.pem"
    trustme.CA().cert_pem.write_to_path(str(path))
    environ = dict.fromkeys(AUTHORITIES, str(path))
    trust_authorities(environ)

    assert environ["SSL_CERT_FILE"] != str(path)
    assert trusted(environ["SSL_CERT_FILE"]) >= trusted(certifi.where()) | trusted(str(path))
    with pytest.raises(BadConfig, match="No such file"):
        trust_authorities(dict.fromkeys(AUTHORITIES, str(tmp_path / "none" / path.name)))


def test_of_a_folder_only_files_are_read(tmp_path: Path, own: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    environ = {"AWS_CA_BUNDLE": str(tmp_path)}
    trust_authorities(environ)

    assert trusted(environ["AWS_CA_BUNDLE"]) >= trusted(str(own))
