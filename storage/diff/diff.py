"""Compares two sides: their rows by table or config, and their episodes by template and verdict."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from pydantic import Field

from schemas.base import Record
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.diff.episode_facts import EpisodeFacts
from storage.diff.matching import Matches, Pair, match
from storage.diff.rows import KEYS, RowChanges, RowComparison, missing_key
from storage.diff.sides import Side, SideInfo
from storage.reading.row_files import RowFiles, read_errors

Progress = Callable[[int, int], None]
"""Called with the number of files read and the number of all."""

_NONE = "nobody"


class MatchCounts(Record):
    """How the episodes of the two sides were matched."""

    by_id: int
    """Episodes that both sides have, by id."""
    by_task: int
    """Others of the same task, policy and number of the attempt, of which each side has exactly one."""
    only_first: int
    """Episodes of the first side without a match."""
    only_second: int
    """Episodes of the second side without a match."""
    ambiguous: int
    """Of those without a match, those that share task, policy and attempt with several."""


class StepCounts(Record):
    """The matched episodes by whether their steps are the same."""

    same: int
    """By id: of equal `content_sha256`. By task: of steps that are equal but for ids, times and durations."""
    other: int
    """Their steps differ."""
    unknown: int
    """One side does not have their steps, as a dataset of a rejected attempt."""


class VerdictChange(Record):
    """Matched episodes of a template whose result changed in the same way."""

    site: str
    """The site."""
    template: str
    """The template."""
    before: AcceptanceStatus
    """What they are on the first side."""
    after: AcceptanceStatus
    """What they are on the second side."""
    verifier: str
    """The verifier that decides: of the second side, or of the first where the second side accepts."""
    reason: str | None
    """Why they are not accepted there; None where nobody says."""
    episodes: tuple[str, ...]
    """Their ids; of matches by task the second side's."""


class TemplateChanges(Record):
    """The episodes of a template on both sides."""

    site: str
    """The site."""
    template: str
    """The template."""
    first: int
    """Episodes of the first side."""
    second: int
    """Episodes of the second side."""
    accepted_first: int
    """Accepted ones of the first side."""
    accepted_second: int
    """Accepted ones of the second side."""
    added: int
    """Episodes that the second side alone has."""
    removed: int
    """Episodes that the first side alone has."""
    results: dict[str, int] = Field(default_factory=dict)
    """The matched ones by result on both sides, as `accepted → rejected`."""


class DiffReport(Record):
    """The difference of two sides."""

    first: SideInfo
    """The first side, A."""
    second: SideInfo
    """The second side, B."""
    matched: MatchCounts
    """How episodes were matched."""
    steps: StepCounts
    """Whether the steps of matched episodes are the same."""
    results: dict[str, int]
    """The matched episodes by result on both sides, as `accepted → rejected`."""
    verdicts: tuple[VerdictChange, ...]
    """The changed results, the most frequent first."""
    templates: tuple[TemplateChanges, ...]
    """By site and template."""
    added: tuple[str, ...]
    """The ids of the episodes that the second side alone has."""
    removed: tuple[str, ...]
    """The ids of the episodes that the first side alone has."""
    rows: tuple[RowChanges, ...]
    """By table or config."""
    notes: tuple[str, ...]
    """What is to be known beside: rules that differ, configs that were not compared and why, a sentence each."""

    @property
    def same(self) -> bool:
        """Nothing was found to differ."""
        matched = self.matched
        return not (
            matched.only_first
            or matched.only_second
            or self.verdicts
            or any(one.added or one.removed or one.changed for one in self.rows)
        )


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of a table or config on both sides."""

    config: str
    label: str
    first: RowFiles
    second: RowFiles


def diff(first: Side, second: Side, *, progress: Progress | None = None) -> DiffReport:
    """Return the difference of two sides.

    Raises:
        Damaged: a file of theirs cannot be read.
    """
    notes = list(_notes(first, second))
    matches = match(first.episodes, second.episodes)
    gone = sum(one.episode_id in second.withdrawn for one in matches.only_first)
    if gone:
        notes.append(f"{gone} of the episodes in A alone were withdrawn from B")
    pairs, alone = _pairs(first, second)
    notes += alone
    tell = _Progress(sum(len(one.first) + len(one.second) for one in pairs), progress)
    rows = list[RowChanges]()
    touched: set[str] | None = None
    with read_errors(f"{first.info.address} or {second.info.address}"):
        for one in pairs:
            lacks = missing_key(one.config, [*one.first, *one.second])
            if lacks is not None:
                notes.append(f"{one.label}: not compared: one side has no column {lacks}")
                continue
            comparison = RowComparison(one.config, KEYS[one.config], matches.renamed)
            found = comparison.run(one.first, one.second, tell)
            rows.append(found.model_copy(update={"config": one.label}))
            if one.config == "steps":
                touched = comparison.touched
    return DiffReport(
        first=first.info,
        second=second.info,
        matched=MatchCounts(
            by_id=len(matches.by_id),
            by_task=len(matches.by_place),
            only_first=len(matches.only_first),
            only_second=len(matches.only_second),
            ambiguous=matches.ambiguous,
        ),
        steps=_steps(matches, touched),
        results=_results(matches.pairs),
        verdicts=_verdicts(matches),
        templates=_templates(matches),
        added=tuple(sorted(one.episode_id for one in matches.only_second)),
        removed=tuple(sorted(one.episode_id for one in matches.only_first)),
        rows=tuple(rows),
        notes=tuple(notes),
    )


class _Progress:
    """Counts files."""

    def __init__(self, total: int, told: Progress | None) -> None:
        self._done, self._total, self._told = 0, total, told

    def __call__(self) -> None:
        self._done += 1
        if self._told is not None:
            self._told(self._done, self._total)


def _pairs(first: Side, second: Side) -> tuple[list[_Files], list[str]]:
    """Return the files to compare, and a note of what one side alone can have.

    A run has its episodes in `episodes`, a dataset in `attempts` or, of earlier versions, in `trajectories`.
    """
    if first.is_run == second.is_run:
        names = [name for name in KEYS if name in first.configs or name in second.configs]
        return [
            _Files(name, name, first.configs.get(name, ()), second.configs.get(name, ()))
            for name in names
        ], []
    dataset = second if first.is_run else first
    config = "attempts" if "attempts" in dataset.configs else "trajectories"
    pairs = []
    for name in KEYS:
        renamed = config if name == "episodes" else name
        one, other = (name, renamed) if first.is_run else (renamed, name)
        label = name if name == renamed else f"{name}/{renamed}"
        files = _Files(name, label, first.configs.get(one, ()), second.configs.get(other, ()))
        if files.first if first.is_run else files.second:
            pairs.append(files)
    compared = {config, *(one.config for one in pairs)}
    alone = [name for name in KEYS if name in dataset.configs and name not in compared]
    letter = "B" if first.is_run else "A"
    note = f"{', '.join(alone)}: not compared: {letter} alone is a dataset and has them"
    return pairs, [note] if alone else []


def _notes(first: Side, second: Side) -> Iterator[str]:
    rules = first.info.rule, second.info.rule
    for key in sorted(rules[0].keys() | rules[1].keys()):
        one, other = (rule.get(key) for rule in rules)
        if one != other:
            yield f"the rules differ: accept.{key} is {_value_text(one)} in A and {_value_text(other)} in B"
    for letter, side in (("A", first), ("B", second)):
        if not side.is_run and "attempts" not in side.configs:
            yield f"{letter} has no attempts: nothing is known of those that it did not publish"


def _value_text(value: object) -> str:
    return "not stated" if value is None else str(value).replace("'", '"')


def _results(pairs: Iterable[Pair]) -> dict[str, int]:
    """Return the number of matches by result on both sides, the most frequent first."""
    counts = Counter(f"{one.status.value} → {other.status.value}" for one, other in pairs)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _steps(matches: Matches, touched: set[str] | None) -> StepCounts:
    counts = Counter[str]()
    for one, other in matches.by_id:
        if None in (one.content_sha256, other.content_sha256):
            counts["unknown"] += 1
        else:
            counts["same" if one.content_sha256 == other.content_sha256 else "other"] += 1
    for one, other in matches.by_place:
        if touched is None or None in (one.content_sha256, other.content_sha256):
            counts["unknown"] += 1
        else:
            counts["other" if one.episode_id in touched else "same"] += 1
    return StepCounts(same=counts["same"], other=counts["other"], unknown=counts["unknown"])


def _verdicts(matches: Matches) -> tuple[VerdictChange, ...]:
    """Return the matches whose result, or the verifier that decides it, is another."""
    groups: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for one, other in matches.pairs:
        deciding = one if other.status is AcceptanceStatus.ACCEPTED else other
        verifier = _verifier(deciding)
        if one.status is not other.status or _verifier(one) != _verifier(other):
            reason = deciding.reason or ""
            kind = other.site, other.template, one.status.value, other.status.value
            groups[*kind, verifier, reason].append(other.episode_id)
    return tuple(
        VerdictChange(
            site=site,
            template=template,
            before=AcceptanceStatus(before),
            after=AcceptanceStatus(after),
            verifier=verifier,
            reason=reason or None,
            episodes=tuple(sorted(ids)),
        )
        for (site, template, before, after, verifier, reason), ids in sorted(
            groups.items(), key=lambda item: (-len(item[1]), item[0])
        )
    )


def _verifier(episode: EpisodeFacts) -> str:
    """Return the verifier that decides an episode's result."""
    return _NONE if episode.reason is None else episode.reason.partition(":")[0]


def _templates(matches: Matches) -> tuple[TemplateChanges, ...]:
    first: defaultdict[tuple[str, str], list[EpisodeFacts]] = defaultdict(list)
    second: defaultdict[tuple[str, str], list[EpisodeFacts]] = defaultdict(list)
    pairs: defaultdict[tuple[str, str], list[Pair]] = defaultdict(list)
    for one, other in matches.pairs:
        kind = other.site, other.template
        first[kind].append(one)
        second[kind].append(other)
        pairs[kind].append((one, other))
    added, removed = (
        Counter((one.site, one.template) for one in alone)
        for alone in (matches.only_second, matches.only_first)
    )
    for side, alone in ((first, matches.only_first), (second, matches.only_second)):
        for one in alone:
            side[one.site, one.template].append(one)
    return tuple(
        TemplateChanges(
            site=kind[0],
            template=kind[1],
            first=len(first.get(kind, ())),
            second=len(second.get(kind, ())),
            accepted_first=_count_accepted(first, kind),
            accepted_second=_count_accepted(second, kind),
            added=added[kind],
            removed=removed[kind],
            results=_results(pairs[kind]),
        )
        for kind in sorted(first.keys() | second.keys())
    )


def _count_accepted(
    side: Mapping[tuple[str, str], list[EpisodeFacts]], kind: tuple[str, str]
) -> int:
    return sum(one.status is AcceptanceStatus.ACCEPTED for one in side.get(kind, ()))
