"""The files at a destination, as publication and verification see them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from storage.publish.plan.manifest import Manifest


@dataclass(frozen=True)
class Listing:
    """The files at a destination, of any owner."""

    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of every file, by path."""
    digests: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the files for which the destination gives it at no cost, by path."""
    texts: Mapping[str, bytes] = field(default_factory=dict)
    """The bytes of `TEXTS` and of the mark, as far as they exist."""
    unfinished: tuple[str, ...] = ()
    """Unfinished files of a killed publication."""


@dataclass(frozen=True)
class OwnedListing(Listing):
    """The files at a destination that is empty or belongs to the run."""

    manifest: Manifest | None = None
    """The manifest; None before the first publication has ended."""
