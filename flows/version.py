"""The version of the program. The command line reads it, so the module loads nothing heavy."""

from importlib import metadata

DISTRIBUTION = "stepmill"
"""The name of the program's distribution."""


def version_of(distribution: str = DISTRIBUTION) -> str:
    """Return the version of a distribution that is installed; 'unknown' if it is not."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"
