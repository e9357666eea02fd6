"""A dialect from outside: a class, its settings, and a row of the two tables of dialects."""

from pathlib import Path

import pytest
from commands import called
from exports import lines

from generators.policy.dialects import registry
from generators.policy.dialects.settings import TextSettings
from generators.policy.dialects.ui_tars import UITars


class Shouting(UITars):
    """UI-TARS under another name, as for a model that was trained from it."""

    name = "shouting"


def test_a_dialect_renders_a_stored_run(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.DIALECTS, "shouting", TextSettings)
    monkeypatch.setitem(registry._TEXT_DIALECTS, "shouting", Shouting)

    said = called(
        *("export", str(run), "--format=chat", "--dialect=shouting", "--json"),
        *(f"--to={tmp_path / 'to'}", "--include-rejected"),
    )

    assert said.code == 0, said.err
    written = list(lines(tmp_path / "to"))
    assert written
    assert all(line["messages"][-1]["role"] == "assistant" for line in written)
