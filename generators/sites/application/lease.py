"""One visit of an application while it is open."""

from dataclasses import dataclass

from generators.sites.application.server_handle import Server
from generators.sites.application.values import Values
from generators.sites.judged_site import OpenVisit


@dataclass(slots=True, kw_only=True)
class Lease(OpenVisit):
    """A visit with its leased server."""

    server: Server
    """The server that has the visit's state."""
    session: str
    """The visit's own id."""
    values: Values
    """The values of the application's placeholders in this visit."""
