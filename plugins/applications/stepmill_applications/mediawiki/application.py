"""MediaWiki as an application: its packages, its seeded contents and how it is served.

PHP's own web server serves it, and opens the SQLite file anew for each request; so the file may be
replaced while it runs. PHP reads no settings of the machine: its extensions are named here.
"""

import os
import shutil
from pathlib import Path

from generators.sites.application.program_clock import FAKETIME
from generators.sites.installable.protocol import Command
from stepmill_applications.application import Application, ContentFolders, Serving
from stepmill_applications.mediawiki.contents import START, draw_content
from stepmill_applications.mediawiki.tasks import draw_tasks
from stepmill_applications.mediawiki.wiki import (
    COOKIES,
    Scripts,
    fill_wiki,
    make_empty_wiki,
)
from stepmill_applications.php import EXTENSIONS, PHP, php
from stepmill_applications.sources.debian import Debian
from stepmill_applications.sources.source import Installed

STATE = "wiki.sqlite"
"""The wiki's file."""

CACHE = "cache"
"""The folder, in what the contents of all seeds have in common, with the texts of the user interface."""

SETTINGS = Path(__file__).with_name("LocalSettings.php")
"""The settings of every instance."""

# From then on: the scripts wait for time to pass. The empty wiki is older than its pages.
_EMPTY_AT, _FILLED_AT = "@2025-01-01 00:00:00", "@2026-01-14 00:00:00"
_WIKI = "usr/share/mediawiki"


def _environment(
    installed: Installed, *, state: Path, cache: Path, at: str | None = None
) -> dict[str, str]:
    return installed.environment(os.environ, at=at) | {
        "HOME": str(state),
        "MW_CONFIG_FILE": str(SETTINGS),
        "STEPMILL_STATE": str(state),
        "STEPMILL_CACHE": str(cache),
    }


def _scripts(installed: Installed, *, state: Path, cache: Path, at: str) -> Scripts:
    return Scripts(
        php(installed),
        scripts=installed.find(_WIKI) / "maintenance",
        environment=_environment(installed, state=state, cache=cache, at=at),
    )


def _make_base(installed: Installed, folder: Path) -> None:
    (folder / CACHE).mkdir()
    make_empty_wiki(folder, _scripts(installed, state=folder, cache=folder / CACHE, at=_EMPTY_AT))


def _make(installed: Installed, seed: int, folders: ContentFolders) -> None:
    file = folders.folder / STATE
    shutil.copyfile(folders.base / STATE, file)
    cache = folders.base / CACHE
    fill_wiki(
        draw_content(seed),
        file,
        _scripts(installed, state=folders.folder, cache=cache, at=_FILLED_AT),
    )


def _command(installed: Installed, serving: Serving) -> Command:
    address = f"127.0.0.1:{serving.port}"
    return Command(
        arguments=(
            *php(installed),
            "-ddisable_functions=uniqid",
            "-S",
            address,
            "-t",
            str(installed.find(_WIKI)),
        ),
        environment=_environment(installed, state=serving.folder, cache=serving.base / CACHE)
        | {"STEPMILL_ORIGIN": MEDIAWIKI.origin},
    )


MEDIAWIKI = Application(
    name="mediawiki",
    source=Debian(
        package="mediawiki",
        resolved=("php-cli", "php-sqlite3", "php-mbstring", "php-xml", "php-intl", "libfaketime"),
        bare=("mediawiki", "mediawiki-classes"),
        families=("php", "mediawiki", "libfaketime"),
        parts=(
            PHP,
            f"{EXTENSIONS}/pdo_sqlite.so",
            f"{EXTENSIONS}/intl.so",
            f"{_WIKI}/index.php",
            FAKETIME,
        ),
    ),
    making=2,
    draw_content=draw_content,
    state=STATE,
    start=START,
    cookies=COOKIES,
    draw_tasks=draw_tasks,
    make_base=_make_base,
    make=_make,
    command=_command,
)
"""The application."""
