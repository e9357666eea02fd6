"""Counts of groups of episodes: by site, template and policy, and what they have in common."""

import re
from collections import defaultdict
from collections.abc import Iterable

from schemas.base import Record
from schemas.episodes.call import sum_known

EXAMPLES = 3
"""The maximum number of episodes that a group names."""

_NUMBER = re.compile(r"[0-9]+")


class GroupCount(Record):
    """The counts of a group of episodes."""

    site: str
    """The site of their tasks."""
    template: str
    """The template of their tasks."""
    policy: str
    """The policy that acted."""
    episodes: int
    """Episodes in all."""
    accepted: int
    """Episodes that meet the rule."""
    rejected: int
    """Episodes that do not meet the rule."""
    unjudged: int
    """Episodes that lack a required verdict."""
    failed: int
    """Episodes that failed."""
    steps: int
    """Actions taken."""
    dollars: float | None = None
    """Cost of their calls; None where nothing is priced."""
    reasons: tuple[tuple[str, int], ...] = ()
    """The reasons why episodes failed or were rejected, with their numbers, the commonest first. Reasons
    that differ in numbers alone are one."""
    examples: tuple[str, ...] = ()
    """Ids of episodes that failed or were rejected, at most `EXAMPLES`, the first by id."""

    @property
    def percent(self) -> float:
        """Share of the episodes that were accepted, 0–100."""
        return 100.0 * self.accepted / self.episodes


def commonest(reasons: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return reasons with how often each occurs, the commonest first; those that differ in numbers alone are one."""
    alike = defaultdict[str, list[str]](list)
    for reason in reasons:
        alike[_NUMBER.sub("", reason)].append(reason)
    counted = ((min(own), len(own)) for own in alike.values())
    return tuple(sorted(counted, key=lambda one: (-one[1], one[0])))


def merge_policies(groups: Iterable[GroupCount]) -> tuple[GroupCount, ...]:
    """Return `groups` by site and template, all policies together, the lowest yield first."""
    out: dict[tuple[str, str], GroupCount] = {}
    for group in groups:
        kind = (group.site, group.template)
        before = out.get(kind)
        out[kind] = group if before is None else _sum(before, group)
    return tuple(sorted(out.values(), key=worst_first))


def _sum(one: GroupCount, other: GroupCount) -> GroupCount:
    numbers = ("episodes", "accepted", "rejected", "unjudged", "failed", "steps")
    total = {name: getattr(one, name) + getattr(other, name) for name in numbers}
    every = (text for group in (one, other) for text, times in group.reasons for _ in range(times))
    return GroupCount(
        site=one.site,
        template=one.template,
        policy="all",
        dollars=sum_known((one.dollars, other.dollars)),
        reasons=commonest(every),
        examples=tuple(sorted((*one.examples, *other.examples))[:EXAMPLES]),
        **total,
    )


def worst_first(count: GroupCount) -> tuple[float, str, str, str]:
    """Return the key that sorts groups by their yields, the lowest first."""
    return (count.percent, count.template, count.policy, count.site)
