"""A bucket with a certificate of one's own authority, and a Hub with a public one: one setting serves every client.

What is public here is an authority of the test's that stands in `certifi`'s place. The bucket is asked by AWS's client and
by Delta's, the Hub by its own and by Xet's, all in one command.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme
from conftest import CopyRun
from hub.server import TOKEN, LocalHub
from support.runs.commands import Said, stepmill
from support.servers.seaweedfs import Weed, credentials
from support.servers.tls_front import TlsFront

UNTRUSTED = (
    "its certificate is of an authority that is not trusted here; name a file with that authority's own certificate in "
    "AWS_CA_BUNDLE or SSL_CERT_FILE"
)
ACCEPT = "--set=accept.passed=['outcome']"
"""What the made run's episodes meet."""
REPO = "hf://datasets/org/name"


@dataclass(frozen=True)
class Place:
    """A finished run in a bucket behind https, and a Hub behind https of another authority."""

    base: Path
    run: str
    own: Path
    """The authority of the bucket."""
    environ: dict[str, str]
    hub: LocalHub

    def told(self, *argv: str, **more: str) -> Said:
        """Run a command in a process of its own: which authorities hold is settled once in each."""
        return stepmill(*argv, env=self.environ | more)


@pytest.fixture(scope="module")
def place(
    weed: Weed, copy_run: CopyRun, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    base: Path = tmp_path_factory.mktemp("authority")
    copy_run(base / "run")
    url = f"{weed.place()}/run"
    bucket, prefix = urlsplit(url).netloc, urlsplit(url).path[1:]
    for path in filter(Path.is_file, (base / "run").rglob("*")):
        key = f"{prefix}/{path.relative_to(base / 'run').as_posix()}"
        weed.client().put_object(Bucket=bucket, Key=key, Body=path.read_bytes())
    own, public = trustme.CA(), trustme.CA()
    own.cert_pem.write_to_path(str(base / "own.pem"))
    public.cert_pem.write_to_path(str(base / "public.pem"))
    (base / "sitecustomize.py").write_text(
        f"import certifi\ncertifi.where = lambda: {str(base / 'public.pem')!r}\n"
    )
    with ExitStack() as stack:
        hub = stack.enter_context(LocalHub(base / "hub"))
        store = stack.enter_context(TlsFront(own, urlsplit(weed.endpoint).port or 0))
        front = stack.enter_context(TlsFront(public, urlsplit(hub.url).port or 0))
        hub.url = front.url
        environ = {
            **credentials(store.url),
            "PYTHONPATH": str(base),
            "HF_ENDPOINT": front.url,
            "HF_TOKEN": TOKEN,
            "HF_HOME": str(base / "hf"),
            "XDG_STATE_HOME": str(base / "state"),
        }
        yield Place(base, url, base / "own.pem", environ, hub)


@pytest.mark.parametrize(
    "variable", ["AWS_CA_BUNDLE", pytest.param("SSL_CERT_FILE", marks=pytest.mark.full)]
)
def test_one_variable_is_enough_for_the_bucket_and_takes_nothing_from_the_hub(
    place: Place, variable: str
) -> None:
    to = f"{REPO}-{variable.lower()}"

    said = place.told(
        "publish", place.run, f"--to={to}", ACCEPT, "--no-prefect", **{variable: str(place.own)}
    )

    assert said.code == 0, said.err
    assert "manifest.json" in place.hub.files(to.removeprefix("hf://datasets/"))


def test_a_certificate_that_is_not_trusted_is_called_that(place: Place) -> None:
    of_bucket = place.told("show", place.run)
    shutil.copytree(place.base / "run", place.base / "here")
    unpublic = {"PYTHONPATH": ""}  # the Hub's authority is nobody's then
    of_hub = place.told(
        "publish", str(place.base / "here"), f"--to={REPO}", ACCEPT, "--no-prefect", **unpublic
    )

    assert (of_bucket.code, of_bucket.err.count("\n")) == (2, 1)
    assert UNTRUSTED in of_bucket.err
    assert of_hub.code == 2
    assert UNTRUSTED in of_hub.err
