"""What the clients say of a certificate, by their own words, is told in ours."""

import ssl

import pytest

from schemas.certificates import certificate_fault
from storage.objects.error_messages import is_access_error, is_transient, one_line

OF_DELTA = (
    "Generic S3 error: Error performing HEAD https://localhost:1/b/k in 4s, after 8 retries, max_retries: 8 - "
    "HTTP error: error sending request, Caused by: client error (Connect): invalid peer certificate: "
)


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (
            "certificate verify failed: self-signed certificate in certificate chain (_ssl.c:1)",
            "trusted",
        ),
        ("certificate verify failed: unable to get local issuer certificate (_ssl.c:1)", "trusted"),
        (
            "certificate verify failed: Hostname mismatch, certificate is not valid for 'a'.",
            "another host",
        ),
        (
            "certificate verify failed: IP address mismatch, certificate is not valid for '::1'.",
            "another",
        ),
        ("certificate verify failed: certificate has expired (_ssl.c:1)", "not valid at this time"),
        (
            "certificate verify failed: certificate is not yet valid (_ssl.c:1)",
            "not valid at this time",
        ),
        ("invalid peer certificate: UnknownIssuer", "trusted"),
        ('invalid peer certificate: certificate not valid for name "a"', "another host"),
        ("invalid peer certificate: Expired", "not valid at this time"),
        (
            "invalid peer certificate: certificate expired: verification time 2 (UNIX)",
            "not valid at this",
        ),
    ],
)
def test_a_fault_of_a_certificate_is_told_and_lasts(said: str, word: str) -> None:
    outer = ConnectionError("cannot connect")
    outer.__cause__ = ssl.SSLCertVerificationError(said)
    assert word in (certificate_fault(outer) or "")
    delta = OSError(f"{OF_DELTA}{said}")
    assert word in one_line(delta)
    assert is_access_error(delta)
    assert not is_transient(delta)


@pytest.mark.parametrize("said", ["connection refused", "no such certificate store", ""])
def test_another_fault_is_not_taken_for_one(said: str) -> None:
    assert certificate_fault(OSError(said)) is None
