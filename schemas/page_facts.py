"""What a page finds out about the person who looks at it: language, time zone, taste, place.

A site or a task may set each. They are recorded with the session, and a replay has the same.
"""

import re
from typing import Literal, Self
from zoneinfo import available_timezones

from pydantic import Field, field_validator, model_validator

from schemas.base import Record

_LOCALE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")


class PageFacts(Record):
    """The facts that are set; None where the one below, or the default, holds."""

    locale: str | None = None
    """The language and region of pages, numbers and dates, as `de-DE`; None: `en-US`."""
    time_zone: str | None = None
    """The zone of the pages' clock, as `Europe/Berlin`; None: `UTC`."""
    colour_scheme: Literal["light", "dark"] | None = None
    """What pages are asked to look like; None: light."""
    reduced_motion: bool | None = None
    """Whether pages are asked to move little; None: they are."""
    touch: bool | None = None
    """Whether the screen can be touched; None: it cannot. Actions are those of a mouse in any case."""
    latitude: float | None = Field(default=None, ge=-90, le=90)
    """Where the person is, degrees north, which pages are told without asking; None: a page that asks asks the policy,
    and finds no place."""
    longitude: float | None = Field(default=None, ge=-180, le=180)
    """Degrees east; None together with `latitude`."""

    @field_validator("locale")
    @classmethod
    def _check_locale(cls, locale: str | None) -> str | None:
        if locale is not None and not _LOCALE.fullmatch(locale):
            raise ValueError("expected a language and a region, as de-DE")
        return locale

    @field_validator("time_zone")
    @classmethod
    def _check_time_zone(cls, zone: str | None) -> str | None:
        if zone is not None and zone not in available_timezones():
            raise ValueError("expected a time zone, as Europe/Berlin")
        return zone

    @model_validator(mode="after")
    def _check_place(self) -> Self:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("latitude and longitude come together or not at all")
        return self

    def over(self, other: "PageFacts") -> "PageFacts":
        """Return these facts, and those of `other` where these say nothing."""
        return other.model_copy(update={k: v for k, v in self if v is not None})


NO_FACTS = PageFacts()
"""Nothing is set."""


def says_nothing(facts: PageFacts) -> bool:
    """Return whether nothing is set, and so nothing recorded."""
    return facts == NO_FACTS
