"""The share of accepted episodes of each policy and template, with its confidence interval.

The yield is the share of accepted episodes among those that were judged to the end. Beside it stands
its 95 % interval (see `schemas.proportion`): of few episodes a share says little.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple, TypeVar

from schemas.episodes.episode import PolicyKind
from schemas.proportion import wilson
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.publish.card.columns import member_docs
from storage.publish.card.escape import markdown
from storage.publish.card.survey import Actor, Survey
from storage.publish.plan.candidate import Candidate
from storage.publish.plan.selection import Selection

MAX_TEMPLATES = 500
"""The maximum number of templates in the yield table, the lowest yield first."""

Named = TypeVar("Named", str, Actor)
"""The key by which episodes are counted."""

_PRIVILEGED = {True: "yes", False: "no", None: "not recorded"}
_COUNTS = "episodes | accepted | rejected | not judged | yield | 95 % interval |"
_ALIGNED = "---:|---:|---:|---:|---:|---|"


class Yield(NamedTuple):
    """The numbers of one key's episodes by status."""

    accepted: int
    rejected: int
    unjudged: int

    @property
    def judged(self) -> int:
        """The number of episodes judged to the end."""
        return self.accepted + self.rejected

    @property
    def share(self) -> float | None:
        """The share of accepted ones among them; None without a judged episode."""
        return self.accepted / self.judged if self.judged else None

    def cells(self) -> str:
        """Return the cells of a table's row, from the number of episodes to the interval."""
        counts = f"{sum(self):,} | {self.accepted:,} | {self.rejected:,} | {self.unjudged:,}"
        return f"{counts} | {percent(self.share)} | {self.interval()} |"

    def interval(self) -> str:
        """Return the 95 % interval of the yield in words."""
        low, high = wilson(self.accepted, self.judged)
        return f"{low:.0%} to {high:.0%}" if self.judged else "unknown"


def percent(share: float | None) -> str:
    """Return a share in words; "unknown" for None."""
    return "unknown" if share is None else f"{share:.0%}"


def template_yields(selection: Selection) -> list[tuple[str, Yield]]:
    """Return how the episodes of each template stand, the lowest yield first, those unjudged last."""
    return worst_first(_yields(selection, lambda one: one.template_id))


def worst_first(yields: Iterable[tuple[str, Yield]]) -> list[tuple[str, Yield]]:
    """Return yields by name, the lowest first, those without a judged episode last."""
    return sorted(yields, key=lambda pair: (_height(pair[1]), pair[0]))


def _height(one: Yield) -> float:
    return 2.0 if one.share is None else one.share


def _yields(selection: Selection, kind: Callable[[Candidate], Named]) -> list[tuple[Named, Yield]]:
    statuses: defaultdict[Named, Counter[AcceptanceStatus]] = defaultdict(Counter)
    for item in selection.candidates:
        statuses[kind(item)][item.status] += 1
    return [(one, Yield(*map(n.__getitem__, AcceptanceStatus))) for one, n in statuses.items()]


def template_lines(yields: Sequence[tuple[str, Yield]], splits: Mapping[str, str]) -> Iterator[str]:
    """Yield the table of the yields by template, in the given order; `splits` has that of each."""
    yield f"| template | split | {_COUNTS}"
    yield f"|---|---|{_ALIGNED}"
    for template, one in yields[:MAX_TEMPLATES]:
        yield f"| {markdown(template)} | {splits[template]} | {one.cells()}"
    rest = [one for _, one in yields[MAX_TEMPLATES:]]
    if rest:
        yield f"| the other {len(rest):,}, which did no worse | | {total_yield(rest).cells()}"
    if len(yields) > 1:
        yield f"| all {len(yields):,} | | {total_yield([one for _, one in yields]).cells()}"


def total_yield(yields: Sequence[Yield]) -> Yield:
    """Return the sum of yields."""
    return Yield(*map(sum, zip(*yields, strict=True)))


def policy_lines(selection: Selection, known: Survey) -> Iterator[str]:
    """Yield the policies, their privileges and their yields."""
    yields = sorted(_yields(selection, lambda one: known.actors[one.episode_id]), key=_actor_name)
    yield f"| policy | kind | model | privileged | {_COUNTS}"
    yield f"|---|---|---|---|{_ALIGNED}"
    for actor, one in yields:
        model = markdown(actor.model or "")
        names = f"{markdown(actor.policy)} | {markdown(actor.kind)} | {model}"
        yield f"| {names} | {_PRIVILEGED[actor.privileged]} | {one.cells()}"
    yield ""
    yield from _kinds({actor.kind for actor, _ in yields})
    yield ""
    yield from _privileges(selection)
    clumsy = sum(one.rejected for actor, one in yields if actor.kind == PolicyKind.CLUMSY)
    if clumsy:
        rejected = sum(one.rejected for _, one in yields)
        yield f"Of a `clumsy` policy, which makes mistakes on purpose, are {clumsy:,} of {rejected:,} rejected episodes:"
        yield "they lower the yields by template without saying how hard a template is."


def _actor_name(pair: tuple[Actor, Yield]) -> tuple[str, ...]:
    return tuple(map(str, pair[0]))


def _kinds(present: AbstractSet[str]) -> Iterator[str]:
    """Yield a description of each kind of policy."""
    docs = member_docs(PolicyKind)
    for kind in PolicyKind:
        if kind in present:
            yield f"* `{kind.value}`: {docs[kind.name]}"


def _privileges(selection: Selection) -> Iterator[str]:
    """Yield in how many of the published episodes the policy was privileged, where that is known."""
    counts = selection.origins["privileged"]
    total, unknown = counts.total(), counts[""]
    if not total:
        yield "No episode is published, so nobody acted in what is here."
        return
    if unknown < total:
        yield f"In {counts['True']:,} of the {total - unknown:,} published episodes that record it the policy was"
        yield "privileged: it was handed more than the picture, as the page's structure, so that an action or a"
        yield "thought of it may rest on what no picture shows. `privileged` of each row says so."
    if unknown:
        yield f"Of {unknown:,} published episodes an earlier version did not record whether the policy was privileged."
