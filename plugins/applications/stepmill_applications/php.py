"""Debian's PHP as what serves an application: which program, and which of its extensions are loaded.

It reads no settings of the machine: all are named here. Applications open their files anew for each
request, so a visit's files may be replaced while it runs.
"""

from stepmill_applications.sources.source import Installed

PHP = "usr/bin/php[0-9].[0-9]"
"""The program."""

EXTENSIONS = "usr/lib/php/20*"
"""The folder of its extensions."""

_LOADED = (
    *("pdo", "xml", "calendar", "ctype", "dom", "fileinfo", "iconv", "intl", "mbstring"),
    *("pdo_sqlite", "phar", "posix", "simplexml", "sqlite3", "tokenizer", "xmlreader", "xmlwriter"),
)


def php(installed: Installed) -> tuple[str, ...]:
    """Return the beginning of PHP's command line."""
    extensions = installed.find(EXTENSIONS)
    loaded = (f"extension={name}" for name in _LOADED if (extensions / f"{name}.so").exists())
    settings = (
        *(f"extension_dir={extensions}", "zend_extension=opcache", *loaded),
        *(
            "opcache.enable_cli=1",
            "opcache.validate_timestamps=0",
            "opcache.file_update_protection=0",
        ),
        *("memory_limit=512M", "display_errors=0", "max_execution_time=60"),
    )
    return (str(installed.find(PHP)), "-n", *(f"-d{setting}" for setting in settings))
