"""The authorities whose certificates are trusted: the system's, and those that the user names beside them.

`AWS_CA_BUNDLE` is read by AWS's client alone, `SSL_CERT_FILE` by most others, and each takes the named
file in place of all it trusted before: with a private bucket and the public Hub no value of either is
right. So this module writes the authorities of both and of the system to one file, and both variables
name that file from then on, for this process and for all it starts.
"""

import re
import ssl
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path

import certifi

from generators.process_folder import PREFIX, process_folder
from schemas.certificates import AUTHORITIES
from schemas.errors import BadConfig, Unwritable

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)

_AUTHORITIES = "authorities.pem"
"""The file that holds them all, in the folder of this process."""


def trust_authorities(environ: MutableMapping[str, str]) -> None:
    """Trust the authorities in `AWS_CA_BUNDLE` and `SSL_CERT_FILE` beside the system's, if either is set.

    The file that both name afterwards goes with this process.

    Raises:
        BadConfig: one of them names something that cannot be read or holds no certificate.
        Unwritable: the folder for temporary files is full.
    """
    named = {name: Path(environ[name]) for name in AUTHORITIES if environ.get(name)}
    if not named or _is_trusted(named):
        return
    wanted = [one for name, path in named.items() for one in _read_certificates(name, path)]
    folder = Path(tempfile.gettempdir())
    try:
        bundle = process_folder(folder) / _AUTHORITIES
        bundle.write_bytes(b"\n".join(dict.fromkeys((*_system(), *wanted))) + b"\n")
    except OSError as error:
        raise Unwritable(f"{folder}: cannot be written: {error.strerror}") from None
    environ.update(dict.fromkeys(AUTHORITIES, str(bundle)))


def _is_trusted(named: Mapping[str, Path]) -> bool:
    """Return whether both variables name one file that was made so, by this process or the one that began it."""
    [path, *others] = dict.fromkeys(named.values())
    made_so = path.name == _AUTHORITIES and path.parent.name.startswith(PREFIX)
    return len(named) == len(AUTHORITIES) and not others and made_so and path.is_file()


def _read_certificates(variable: str, path: Path) -> list[bytes]:
    """Return the certificates in what a variable names: a file, or the files of a folder."""
    where = f"environment variable {variable}: {path}"
    try:
        files = sorted(filter(Path.is_file, path.iterdir())) if path.is_dir() else [path]
        found = [one for file in files for one in _CERTIFICATE.findall(file.read_bytes())]
        if found:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_verify_locations(cadata=b"\n".join(found).decode("ascii"))
    except (ssl.SSLError, ValueError):
        raise BadConfig(f"{where}: a certificate in it is not one") from None
    except OSError as error:
        raise BadConfig(f"{where}: {error.strerror}") from None
    if not found:
        raise BadConfig(f"{where}: holds no certificate; it should be a file of PEM")
    return found


def _system() -> Iterator[bytes]:
    """Yield the authorities trusted by default: the system's, and those of `certifi`."""
    paths = ssl.get_default_verify_paths()
    system = [Path(paths.openssl_cafile)] if paths.openssl_cafile else []
    if not any(map(Path.is_file, system)) and Path(paths.openssl_capath or "").is_dir():
        system = sorted(Path(paths.openssl_capath).iterdir())
    for place in filter(Path.is_file, (*system, Path(certifi.where()))):
        yield from _CERTIFICATE.findall(place.read_bytes())
