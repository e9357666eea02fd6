"""The published copies of a run: each held against its own manifest, wherever it lies."""

from collections.abc import Sequence

from schemas.errors import StepmillError
from storage.audit.report import Notes, PublishedCopy
from storage.publish.destinations.protocol import Destination
from storage.publish.verify import verify_published


async def audit_copies(
    copies: Sequence[Destination], run_id: str | None, *, deep: bool, notes: Notes
) -> None:
    """Prove every copy whole, or note what is not; one where nothing was published is no finding.

    What is found there is the copy's, and says nothing of the run.

    `run_id` is the run they must be of; None: it is not known.
    """

    def report_progress(done: int, total: int) -> None:
        if done == 0:
            notes.expect(total)
        else:
            notes.count("published files")
            notes.advance()

    for copy in copies:
        where = copy.address
        try:
            proof = await verify_published(copy, run_id=run_id, deep=deep, progress=report_progress)
        except StepmillError as error:
            why = str(error).removeprefix(f"{where}: ")
            notes.copy(
                PublishedCopy(
                    destination=where,
                    version=None,
                    files=0,
                    bytes=0,
                    whole=False,
                    unproven=why,
                    findings=(f"{where}: cannot be proven: {why}",),
                )
            )
            continue
        for path in proof.leftovers:
            notes.leftover(f"{where}/{path}", "is of a publication that has not ended")
        notes.copy(
            PublishedCopy(
                destination=where,
                version=proof.version,
                files=proof.files,
                bytes=proof.bytes,
                whole=not proof.findings,
                findings=tuple(f"{where}/{one.path}: {one.message}" for one in proof.findings),
            )
        )
