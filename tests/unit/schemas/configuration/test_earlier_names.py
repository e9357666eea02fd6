"""What was renamed is read by its earlier name, and stored and hashed as before."""

import pytest
from pydantic import ValidationError

from schemas.configuration.config import RunConfig, identity
from schemas.configuration.sections import EngineKind, EngineSection, PolicyName, PolicySection
from schemas.worlds.field import DataField, Kind


def test_the_simulator_is_read_by_its_earlier_name_and_another_word_refused() -> None:
    assert EngineSection.model_validate({"kind": "scripted"}).kind is EngineKind.SIMULATOR
    assert EngineSection(kind=EngineKind.SIMULATOR).model_dump(mode="json")["kind"] == "simulator"
    with pytest.raises(ValidationError, match="'simulator'"):
        EngineSection.model_validate({"kind": "script"})


def test_a_run_of_references_is_the_same_run_by_either_name_of_its_policy() -> None:
    earlier, now, other = (
        RunConfig(policy=PolicySection(name=name))
        for name in (PolicyName.SCRIPTED, PolicyName.REFERENCE, PolicyName.TEACHER)
    )

    assert identity(earlier) == identity(now) != identity(other)


def test_a_field_is_stored_with_the_earlier_names_of_its_bounds() -> None:
    field = DataField(name="price", label="Price", kind=Kind.INTEGER, min=2, max=9)

    stored = field.model_dump(mode="json")
    assert (stored["least"], stored["most"]) == (2, 9)
    assert not {"min", "max"} & stored.keys()
    assert DataField.model_validate(stored) == field
