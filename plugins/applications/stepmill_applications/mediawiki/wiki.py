"""A wiki of MediaWiki, made from seeded content by MediaWiki's own maintenance scripts.

The empty wiki comes from the installer, and the pages with their history from an import of MediaWiki's
own XML. What the installer draws at random (passwords, tokens, a number by which random pages are
drawn) is then set to fixed values. The wiki is one SQLite file; the texts of the user interface are
made once, into a folder that all instances read.
"""

import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from xml.sax.saxutils import escape

from schemas.errors import Unfinished
from stepmill_applications.mediawiki.contents import (
    MAIN_PAGE,
    PEOPLE,
    TYPES,
    Article,
    SeededContent,
    Version,
    category_of,
)

TOKEN = "a" * 32
"""What logs the first person in, in a wiki that only this machine's browser reaches."""

COOKIES = (("shipsUserID", "3"), ("shipsUserName", PEOPLE[0]), ("shipsToken", TOKEN))
"""Names and values of the cookies by which a browser is logged in as the first person."""

ADMINISTRATOR = "Admin"
"""The account that the installer makes."""

_LINES = 3

_PASSWORD = "none-of-them-is-ever-typed-1"  # noqa: S105 - not a secret


class Scripts:
    """MediaWiki's maintenance scripts, run one after the other on one wiki."""

    def __init__(
        self, php: tuple[str, ...], *, scripts: Path, environment: Mapping[str, str]
    ) -> None:
        self._php = php
        self._scripts = scripts
        self._environment = dict(environment)

    def run(self, name: str, *arguments: str, typed: str | None = None, **environment: str) -> None:
        """Run a script, with `typed` as its input.

        Raises:
            Unfinished: it failed; its first lines say how.
        """
        done = subprocess.run(  # noqa: S603 - a fixed command
            (*self._php, str(self._scripts / f"{name}.php"), *arguments),
            env=self._environment | environment,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["it said nothing"]
            raise Unfinished(f"MediaWiki's {name} failed: {' / '.join(lines[:_LINES])}")


def make_empty_wiki(folder: Path, scripts: Scripts) -> None:
    """Make a wiki in `folder` that holds its first page and the accounts alone."""
    made = folder / "made-by-the-installer"
    made.mkdir()
    scripts.run(
        "install",
        *(
            "--confpath",
            str(made),
            "--dbtype",
            "sqlite",
            "--dbpath",
            str(folder),
            "--dbname",
            "wiki",
        ),
        *("--pass", _PASSWORD, "--server", "http://mediawiki.localhost", "--scriptpath", ""),
        *("Register of Ships", ADMINISTRATOR),
        MW_CONFIG_FILE=str(made / "LocalSettings.php"),
    )
    for file in made.iterdir():
        file.unlink()
    made.rmdir()
    scripts.run("rebuildLocalisationCache", "--lang", "en")
    for person in PEOPLE:
        scripts.run("createAndPromote", person, _PASSWORD)


def fill_wiki(content: SeededContent, file: Path, scripts: Scripts) -> None:
    """Bring the pages of `content` into the empty wiki of `file`, and settle what was drawn at random."""
    scripts.run("importDump", "--no-updates", "--quiet", typed=dump(content))
    for name in ("rebuildrecentchanges", "rebuildtextindex", "refreshLinks"):
        scripts.run(name)
    scripts.run("initSiteStats", "--update")
    with closing(sqlite3.connect(file)) as database:
        with database:
            _settle(database, content)
        database.execute("VACUUM")


def dump(content: SeededContent) -> str:
    """Return the pages of `content` as an XML dump of MediaWiki's."""
    return "\n".join(("<mediawiki xml:lang='en'>", *_pages(content), "</mediawiki>"))


def _pages(content: SeededContent) -> Iterator[str]:
    first = content.articles[0].versions[0]
    links = "\n".join(f"* [[:Category:{name}|{name}]]" for name in _categories())
    yield _page(
        MAIN_PAGE, (first.model_copy(update={"text": f"Welcome to the register.\n\n{links}"}),)
    )
    for name in _categories():
        text = f"All {name.lower()} of the register."
        yield _page(f"Category:{name}", (first.model_copy(update={"text": text}),))
    for article in sorted(content.articles, key=_first_written):
        yield _page(article.title, article.versions)


def _categories() -> tuple[str, ...]:
    return (*(category_of(name) for name in TYPES), "Ports", "Companies")


def _first_written(article: Article) -> str:
    return f"{article.versions[0].at:%Y-%m-%dT%H:%M:%S} {article.title}"


def _page(title: str, versions: tuple[Version, ...]) -> str:
    return f"<page><title>{escape(title)}</title>{''.join(map(_revision, versions))}</page>"


def _revision(version: Version) -> str:
    return (
        f"<revision><timestamp>{version.at:%Y-%m-%dT%H:%M:%SZ}</timestamp>"
        f"<contributor><username>{version.author}</username></contributor>"
        f"<comment>{escape(version.summary)}</comment><model>wikitext</model>"
        f'<format>text/x-wiki</format><text xml:space="preserve">{escape(version.text)}</text>'
        "</revision>"
    )


def _settle(database: sqlite3.Connection, content: SeededContent) -> None:
    database.execute(
        "UPDATE user SET user_token = ?, user_password = '', user_newpassword = ''",
        (TOKEN.encode(),),
    )
    database.execute("UPDATE page SET page_random = (page_id * 7919 % 10007) / 10007.0")
    for table in ("objectcache", "job", "logging", "log_search", "module_deps"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - fixed names
    database.executemany(
        "INSERT INTO page_restrictions(pr_page, pr_type, pr_level, pr_cascade, pr_expiry) "
        "SELECT page_id, 'edit', 'sysop', 0, 'infinity' FROM page "
        "WHERE page_namespace = 0 AND page_title = ?",
        [(title.replace(" ", "_"),) for title in content.locked],
    )
    database.execute("DELETE FROM watchlist")
    database.executemany(
        "INSERT INTO watchlist(wl_user, wl_namespace, wl_title) VALUES (3, ?, ?)",
        [(space, title.replace(" ", "_")) for title in content.watched for space in (0, 1)],
    )
