"""Checks that a run is complete and unaltered, and lists every deviation.

`audit` lists all objects of a run once, replays every table's log from its first entry, and compares the
two: an object that the log or a version needs must exist, and an object that exists must have a known
name. A deep audit then reads every committed byte: hashes, rows, ids, pictures. Published copies are
compared with their own manifests, in the same two depths. Leftovers of killed processes are listed
separately and are not findings.

The audit reads the stores as bytes, writes nothing, and trusts neither a cache nor a Delta reader.
"""

from storage.audit.audit import audit
from storage.audit.report import AuditReport, Progress

__all__ = ["AuditReport", "Progress", "audit"]
