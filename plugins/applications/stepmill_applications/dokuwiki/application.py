"""DokuWiki as an application: its packages, a handbook of a harbour, and how it is served.

PHP's own web server serves it, and its clock runs: DokuWiki waits for locks until seconds have passed. All that it keeps is files: what an instance reads and writes lies in its
folder, `conf` with the settings and the users, `data` with the pages, their history and the index.
"""

import os
import shutil
import subprocess
from pathlib import Path

from generators.sites.installable.protocol import Command
from schemas.errors import Unfinished
from stepmill_applications.application import Serving
from stepmill_applications.dokuwiki.pages import write_pages
from stepmill_applications.php import EXTENSIONS, PHP, php
from stepmill_applications.sources.debian import Debian
from stepmill_applications.sources.source import Installed
from stepmill_applications.written import Written

_HERE = Path(__file__).parent
_WIKI = "usr/share/dokuwiki"
_DATA = [
    "attic",
    "cache",
    "index",
    "locks",
    "log",
    "media",
    "media_attic",
    "media_meta",
    "meta",
    "pages",
    "tmp",
]
_NEEDED = ("php-geshi", "php-phpseclib", "libphp-simplepie")
_SCRIPTS = ("libjs-jquery", "libjs-jquery-ui", "libjs-jquery-cookie")


def _php(installed: Installed, folder: Path) -> tuple[str, ...]:
    prepended = f"-dauto_prepend_file={_HERE / 'prepend.php'}"
    return (*php(installed), prepended, f"-dsession.save_path={folder / 'data' / 'tmp'}")


def _environment(installed: Installed, folder: Path) -> dict[str, str]:
    return installed.environment(os.environ) | {
        "HOME": str(folder),
        "STEPMILL_TREE": str(installed.tree),
        "STEPMILL_FOLDER": str(folder),
    }


def _make(installed: Installed, folder: Path) -> None:
    for name in _DATA:
        (folder / "data" / name).mkdir(parents=True)
    (folder / "conf").mkdir()
    for name in (
        "local.php",
        "users.auth.php",
        "acl.auth.php",
        "plugins.local.php",
        "userstyle.css",
    ):
        shutil.copyfile(_HERE / name, folder / "conf" / name)
    write_pages(folder / "data")
    indexer = (*_php(installed, folder), str(installed.find(_WIKI) / "bin" / "indexer.php"), "-q")
    done = subprocess.run(  # noqa: S603 - a fixed command
        indexer,
        env=_environment(installed, folder),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unfinished(f"dokuwiki: its pages cannot be indexed: {done.stdout}{done.stderr}")


def _command(installed: Installed, serving: Serving) -> Command:
    return Command(
        arguments=(
            *_php(installed, serving.folder),
            *("-S", f"127.0.0.1:{serving.port}", "-t", str(installed.find(_WIKI))),
        ),
        environment=_environment(installed, serving.folder),
    )


DOKUWIKI = Written(
    name="dokuwiki",
    source=Debian(
        package="dokuwiki",
        resolved=("php-cli", "php-xml", "php-mbstring"),
        bare=("dokuwiki", *_NEEDED, *_SCRIPTS),
        families=("php",),
        parts=(PHP, f"{EXTENSIONS}/dom.so", f"{_WIKI}/doku.php", "usr/share/php/phpseclib"),
        repointed=(
            f"{_WIKI}/vendor/composer/*.php",
            f"{_WIKI}/lib/exe/*.php",
            f"{_WIKI}/inc/*.php",
        ),
    ),
    making=3,
    make=_make,
    command=_command,
)
"""The application."""
