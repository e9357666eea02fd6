"""What lies at a destination, as publication and proof see it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from storage.publish.plan.manifest import Manifest


@dataclass(frozen=True)
class Content:
    """What lies at a destination, whosever it is."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of every file, by path."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the files whose place tells it for nothing, by path."""
    texts: Mapping[str, bytes] = field(default_factory=dict)
    """The very bytes of what lies there of `TEXTS`, and of the mark."""
    unfinished: tuple[str, ...] = ()
    """Files that a killed publication left half written."""


@dataclass(frozen=True)
class Stock(Content):
    """What lies at a destination that is the run's, or nobody's yet."""

    manifest: Manifest | None = None
    """The manifest; None before the first publication has ended."""
