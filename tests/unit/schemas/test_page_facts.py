"""What pages find out about their user: what may be set, and what goes before what."""

import pytest
from pydantic import ValidationError

from schemas.page_facts import NO_FACTS, PageFacts, says_nothing


def test_what_a_task_says_goes_before_what_its_site_says() -> None:
    site = PageFacts(locale="de-DE", time_zone="Europe/Berlin", reduced_motion=False)
    task = PageFacts(locale="fr-FR", latitude=0, longitude=0)

    assert task.over(site) == PageFacts(
        locale="fr-FR", time_zone="Europe/Berlin", reduced_motion=False, latitude=0, longitude=0
    )
    assert NO_FACTS.over(site) == site
    assert says_nothing(NO_FACTS.over(NO_FACTS))


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"locale": "German"}, "as de-DE"),
        ({"locale": "de_DE"}, "as de-DE"),
        ({"time_zone": "Berlin"}, "as Europe/Berlin"),
        ({"time_zone": "../../etc/passwd"}, "as Europe/Berlin"),
        ({"colour_scheme": "blue"}, "light"),
        ({"latitude": 1}, "come together"),
        ({"latitude": 91, "longitude": 0}, "less than or equal to 90"),
    ],
)
def test_facts_that_no_browser_has_are_refused(facts: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        PageFacts.model_validate(facts)
