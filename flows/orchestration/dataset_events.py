"""Tells Prefect of what was published: an event for automations, and an artifact for people."""

from prefect.artifacts import acreate_table_artifact
from prefect.events import emit_event

from flows.orchestration.inert_text import literal
from storage.publish.publish import PublishReport

PUBLISHED = "stepmill.dataset.published"
"""The event of a dataset or a version of a collection that was published."""

FELL = "stepmill.night.fell"
"""The event of a night of a collection that did worse than those before it."""


async def tell_publication(report: PublishReport, run: str, key: str) -> None:
    """Emit the events of a publication, and write an artifact under `key`."""
    resource = {
        "prefect.resource.id": f"stepmill.dataset.{report.destination}",
        "prefect.resource.name": report.destination,
    }
    payload = {
        "run": run,
        "place": report.destination,
        "link": report.link,
        "run_version": report.version,
        "version": report.collection,
        "night": report.night,
        "added": dict(report.added or report.rows),
        "accepted": report.accepted,
        "copies": report.copies,
        "held_back": report.held_back,
        "files": report.put,
        "warnings": list(report.warnings),
    }
    emit_event(event=PUBLISHED, resource=resource, payload=payload)
    if report.warnings:
        emit_event(event=FELL, resource=resource, payload=payload)
    rows = report.added or report.rows
    await acreate_table_artifact(
        table=[
            {"config": literal(config), "added": count, "rows": report.rows.get(config, 0)}
            for config, count in rows.items()
        ],
        key=key,
        description=literal("; ".join([publication_sentence(report), *report.warnings])),
    )


def publication_sentence(report: PublishReport) -> str:
    """Return where something was published, and what."""
    if report.collection is None:
        return f"{report.link}, version {report.version} of its run"
    what = f"version {report.collection}, night {report.night}"
    if not report.put:
        return f"{report.link}, {what}, which it had already"
    return f"{report.link}, {what}: {report.added.get('trajectories', 0)} trajectories added"
