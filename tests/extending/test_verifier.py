"""A verifier from outside: a class, and a row of `generators.verify.verifiers.MAKERS`."""

from pathlib import Path

import pyarrow.dataset as ds
import pytest
from commands import called
from locations import Place

from generators.verify import verifiers
from schemas.episode import Episode
from schemas.task import Task
from schemas.verdict import Finding, Status


class Short:
    """Passes episodes of at most ten steps."""

    name = "short"
    version = "1"

    async def examine(self, task: Task, episode: Episode) -> Finding:
        """Count the steps."""
        del task
        status = Status.PASSED if episode.n_steps <= 10 else Status.FAILED
        return Finding(status=status, reason=f"{episode.n_steps} steps.")


def test_a_verifier_judges_a_stored_run(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(verifiers.MAKERS, "short", lambda *_: Short())

    said = called(
        *("verify", str(run), "--no-prefect", "--json"),
        '--set=verify.verifiers=["structure", "short"]',
        '--set=accept.passed=["structure", "short"]',
    )

    assert said.code == 0, said.err
    verdicts = Place(str(run)).table("verdicts")
    assert verdicts is not None
    rows = verdicts.to_table(filter=ds.field("verifier") == "short").to_pylist()
    assert {row["status"] for row in rows} == {"passed"}
    assert len(rows) == called("show", str(run), "--json").answer["episodes"]
