"""Draws some tasks of many, evenly: over sites, then over the templates of each, then by seed.

What is drawn is a pure function of the strata and a seed. Every place is drawn by a hash of what it is
about, so neither the order in which strata and tasks come nor the version of Python matters, and a
larger sample holds every task of a smaller one. A stratum says how many tasks it has and makes
the one that is drawn, so that a template with all seeds there are is never listed.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from generators.tasks.site_templates import SiteOffer, make_template_task
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
    """The seeds of the template's own tasks; empty where no source asks for them."""
    stated: Mapping[int, Task]
    """Tasks of files that are among these, by seed: the files' labels hold."""
    others: tuple[Task, ...]
    """All other tasks of files."""

    @property
    def size(self) -> int:
        """How many tasks there are; too large for `len` where it has every seed."""
        return self.seeds.stop - self.seeds.start + len(self.others)

    def __getitem__(self, place: int) -> Task:
        """Return the task at a place from 0."""
        before = self.seeds.stop - self.seeds.start
        if place >= before:
            return self.others[place - before]
        seed = self.seeds.start + place
        return self.stated.get(seed) or make_template_task(
            self.offer, self.template, seed=seed, source=self.offer.name
        )

    def __iter__(self) -> Iterator[Task]:
        """Yield every task, by its place."""
        return (self[place] for place in range(self.size))


def draw_tasks(strata: Sequence[Stratum], *, count: int, seed: int) -> Iterator[Task]:
    """Yield `count` tasks, or all where there are fewer; no task comes twice.

    Sites differ by at most one task, and so do the templates of a site, where there are enough.
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
            yield from (group[name][place] for place in places)


def _share(count: int, sizes: Mapping[str, int], *, key: tuple[int | str, ...]) -> dict[str, int]:
    """Return how many each name gives, as many as any other or all it has; the rest is drawn."""
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
    """Yield `count` different places below `size`: Fisher and Yates's shuffle, as far as it is needed."""
    moved: dict[int, int] = {}
    for at in range(count):
        drawn = int(content_hash(["place", *key, at]), 16)
        chosen = at + drawn % (size - at)
        yield moved.get(chosen, chosen)
        moved[chosen] = moved.get(at, at)
