"""Explains faults of a server's certificate, from the error messages of any client here.

Buckets, Delta's tables, the Hub, engines and Prefect each have another client, two of them in Rust; all
of them pass on the messages of OpenSSL (`X509_verify_cert_error_string`) or of rustls
(`CertificateError`). A fault of a certificate is permanent, so requests to buckets and the Hub are not
retried.
"""

import re

AUTHORITIES = ("AWS_CA_BUNDLE", "SSL_CERT_FILE")
"""The variables that name a file of authorities to trust beside the system's."""

_UNTRUSTED = (
    "its certificate is of an authority that is not trusted here; name a file with that authority's own "
    f"certificate in {AUTHORITIES[0]} or {AUTHORITIES[1]}"
)
_WORDS = (
    (
        r"hostname mismatch|IP address mismatch|doesn't match|NotValidForName|not valid for name",
        "its certificate is another host's; ask for it by the name that its certificate has",
    ),
    (
        r"certificate has expired|certificate expired|\bExpired\b|not yet valid|NotValidYet",
        "its certificate is not valid at this time; renew it, or set this machine's clock",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|certificate verify failed|invalid peer certificate|UnknownIssuer",
        _UNTRUSTED,
    ),
)


def certificate_fault(error: BaseException | str) -> str | None:
    """Return the fault of a server's certificate and the remedy; None if the error is not about one.

    The error's causes are examined too.
    """
    text = error if isinstance(error, str) else " ".join(_texts(error))
    if not re.search(r"certificate", text, re.IGNORECASE):
        return None
    return next(
        (words for pattern, words in _WORDS if re.search(pattern, text, re.IGNORECASE)), None
    )


def _texts(error: BaseException) -> list[str]:
    """Return the texts of an error and of its causes."""
    chain, one = list[BaseException](), error
    while one not in chain:
        chain.append(one)
        one = one.__cause__ or one.__context__ or one
    return [f"{type(one).__name__}: {one}" for one in chain]
