"""Proof that a run is whole, or the names of what is not.

`audit` lists everything that lies in a run once, replays every table's log from its first entry,
and holds the two against each other: what the log or a version needs must be there, and what is
there must be known. A deep audit then reads every committed byte: hashes, rows, ids, pictures.
The published copies are held against their own manifests, in the same two depths. What a killed
process leaves behind is told apart and is no finding.

It reads the stores alone, as bytes, writes nothing, and trusts no cache and no reader of Delta's.
"""

from storage.audit.audit import audit
from storage.audit.report import AuditReport, Progress

__all__ = ["AuditReport", "Progress", "audit"]
