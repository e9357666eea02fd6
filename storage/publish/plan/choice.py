"""What a selection leaves out of the episodes that may be published: by words, by caps, and by a mixture.

The three are applied in this order. Of more episodes than there may be the first are taken, in the order of
publication, which depends on the episodes alone: a run that goes on keeps what it has published.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from schemas.configuration.select_section import SelectKey, SelectSection, exact
from schemas.errors import BadConfig
from storage.publish.plan.candidate import Candidate, family_of
from storage.publish.plan.rows import Tables
from storage.publish.plan.where import find_matches

_MIXED = "train"
"""The split that is mixed by shares; what is held out is there to be measured with, as it comes."""


def choose(
    tables: Tables,
    candidates: Sequence[Candidate],
    section: SelectSection,
    elsewhere: Mapping[str, int],
) -> dict[str, SelectKey]:
    """Return what leaves out which of the episodes that may be published, which come in the order of publication.

    `elsewhere` has how many episodes of each template the caps count in other nights of a collection.

    Raises:
        BadConfig: the words cannot be evaluated or select nothing, or no episode in train is of a site with a share.
    """
    out: dict[str, SelectKey] = {}
    if section.where is not None:
        met = find_matches(section.where, tables, candidates)
        out |= {c.episode_id: SelectKey.WHERE for c in candidates if c.episode_id not in met}
    caps = _Caps(section, elsewhere)
    for one in candidates:
        if one.episode_id not in out and (full := caps.take(one)):
            out[one.episode_id] = full
    if section.shares:
        remaining = [one for one in candidates if one.episode_id not in out]
        out |= dict.fromkeys(_beyond_shares(remaining, section.shares), SelectKey.SHARES)
    return out


@dataclass
class _Caps:
    """The caps, and what they have counted."""

    section: SelectSection
    elsewhere: Mapping[str, int]
    tasks: Counter[str] = field(default_factory=Counter)
    templates: Counter[str] = field(default_factory=Counter)
    families: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        for template, count in self.elsewhere.items():
            self.templates[template] += count
            self.families[family_of(template)] += count

    def take(self, one: Candidate) -> SelectKey | None:
        """Count an episode and return None, or return the cap that leaves it out."""
        section = self.section
        counts = (
            (SelectKey.MAX_PER_TASK, section.max_per_task, self.tasks, one.task_id),
            (SelectKey.MAX_PER_TEMPLATE, section.max_per_template, self.templates, one.template_id),
            (SelectKey.MAX_PER_FAMILY, section.max_per_family, self.families, one.family),
        )
        for key, most, counted, name in counts:
            if most is not None and counted[name] >= most:
                return key
        for _, _, counted, name in counts:
            counted[name] += 1
        return None


def _beyond_shares(candidates: Sequence[Candidate], shares: Mapping[str, float]) -> list[str]:
    """Return the ids of the episodes in train beyond the largest mixture with these shares of sites.

    Raises:
        BadConfig: there is no episode of a site with a share.
    """
    train = [one for one in candidates if one.acceptance.split == _MIXED]
    there = Counter(one.site for one in train)
    if missing := sorted(shares.keys() - there.keys()):
        known = ", ".join(f"{site} ({count:,})" for site, count in sorted(there.items()))
        raise BadConfig(
            f"select.shares: no episode in train is of {missing[0]}; there are {known or 'none'}"
        )
    total = min(Fraction(there[site]) / exact(share) for site, share in shares.items())
    room = Counter({site: int(total * exact(share)) for site, share in shares.items()})
    out = list[str]()
    for one in train:
        room[one.site] -= 1
        if room[one.site] < 0:
            out.append(one.episode_id)
    return out
