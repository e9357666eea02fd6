"""Draws a sample of tasks evenly: over sites, then over the templates of each, then by seed.

A sample is a pure function of the strata and a seed. Each place is drawn by a hash of its subject, so neither the
order of strata and tasks nor the version of Python matters, and a larger sample contains every smaller one. A stratum
knows its size and makes tasks on demand, so templates with all seeds are never listed.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generators.tasks.site_offers import SiteOffer, make_template_task
from schemas.base import content_hash
from schemas.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Stratum:
    """The tasks of one template of one site."""

    offer: SiteOffer
    """The site."""
    template: str
    """The template's id."""
    seeds: range
    """The seeds of the template's own tasks; empty if no source requests them."""
    stated: Mapping[int, Task]
    """Tasks of files within these seeds, by seed; the labels of the files apply."""
    others: tuple[Task, ...]
    """All other tasks of files."""

    @property
    def size(self) -> int:
        """The number of tasks; may be too large for `len`."""
        return self.seeds.stop - self.seeds.start + len(self.others)

    def __getitem__(self, place: int) -> Task:
        """Return the task at a place, from 0."""
        before = self.seeds.stop - self.seeds.start
        if place >= before:
            return self.others[place - before]
        seed = self.seeds.start + place
        return self.stated.get(seed) or make_template_task(
            self.offer, self.template, seed=seed, source=self.offer.name
        )

    def __iter__(self) -> Iterator[Task]:
        """Yield every task in order of place."""
        return (self[place] for place in range(self.size))


def draw_tasks(strata: Sequence[Stratum], *, count: int, seed: int) -> Iterator[Task]:
    """Yield `count` different tasks, or all if there are fewer; see `draw_places`."""
    return (stratum[place] for stratum, place in draw_places(strata, count=count, seed=seed))


def draw_places(
    strata: Sequence[Stratum], *, count: int, seed: int
) -> Iterator[tuple[Stratum, int]]:
    """Yield the places of `count` different tasks, or of all if there are fewer.

    Sites differ by at most one task, and so do the templates of a site, where each has enough.
    """
    by_site: defaultdict[str, dict[str, Stratum]] = defaultdict(dict)
    for stratum in strata:
        by_site[stratum.offer.name][stratum.template] = stratum
    sizes = {site: sum(one.size for one in group.values()) for site, group in by_site.items()}
    for site, part in _share(count, sizes, key=(seed,)).items():
        group = by_site[site]
        shares = _share(part, {name: one.size for name, one in group.items()}, key=(seed, site))
        for name, wanted in shares.items():
            places = _draw_places(group[name].size, wanted, key=(seed, site, name))
            yield from ((group[name], place) for place in places)


def _share(count: int, sizes: Mapping[str, int], *, key: tuple[int | str, ...]) -> dict[str, int]:
    """Return an even share of `count` for each name, limited by its size; a hash decides who gets the remainder."""
    given = dict.fromkeys(sizes, 0)
    left = count
    order = sorted(sizes, key=lambda name: content_hash(["share", *key, name]))
    while left and (open_ := [name for name in order if given[name] < sizes[name]]):
        each = max(1, left // len(open_))
        for name in open_[:left]:
            more = min(each, sizes[name] - given[name])
            given[name] += more
            left -= more
    return given


def _draw_places(size: int, count: int, *, key: tuple[int | str, ...]) -> Iterator[int]:
    """Yield `count` different places below `size` by a partial Fisher-Yates shuffle."""
    moved: dict[int, int] = {}
    for at in range(count):
        drawn = int(content_hash(["place", *key, at]), 16)
        chosen = at + drawn % (size - at)
        yield moved.get(chosen, chosen)
        moved[chosen] = moved.get(at, at)
