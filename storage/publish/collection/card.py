"""The card of a collection: all nights, what the newest version changed, yields, mixture and licence.

Every figure comes from the records of the nights and from the listed files, so that a reader can count it again in the
rows of `attempts` and `trajectories`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.base import canonical_json
from schemas.tasks.task import SPLITS
from storage.publish.card.card import (
    config_lines,
    licence_lines,
    null_column_lines,
    training_lines,
)
from storage.publish.card.columns import column_lines
from storage.publish.card.contact_sheet import sheet_lines
from storage.publish.card.escape import markdown
from storage.publish.card.filmstrip import Film, film_lines
from storage.publish.card.loading import DatasetName, front_matter
from storage.publish.card.selection_text import words_lines
from storage.publish.card.yields import Yield, template_lines, worst_first
from storage.publish.collection.versions import loading_of
from storage.publish.plan.manifest import (
    CONTACT_SHEET,
    FILMSTRIP,
    YIELD_PLOT,
    Manifest,
    Night,
    PublishedFile,
    Tally,
    row_counts,
    rows_by_config,
    total,
)
from storage.publish.plan.plan import TrainingTerms

MAX_NIGHTS = 400
"""The maximum number of nights in the table, the newest ones."""


@dataclass(frozen=True)
class CollectionFacts:
    """The inputs of a collection's card."""

    files: Sequence[PublishedFile]
    """The data files of all nights, in their order."""
    nights: Sequence[Night]
    """The nights, by number."""
    version: int
    """The version of the collection."""
    before: Manifest | None
    """The version before; None: this is the first."""
    name: DatasetName
    """The name by which readers load it."""
    title: str
    """Its title."""
    license: str | None
    """The licence; None: none is stated."""
    training: TrainingTerms | None
    """The training rows of the night that came last; None: it has none."""
    film: Film | None
    """A trajectory of that night; None: it has none."""
    pages: Sequence[bytes]
    """First pages of that night."""
    pictures: Sequence[str]
    """The paths of the pictures beside the card."""


def yields_of(nights: Sequence[Night]) -> list[tuple[str, Yield]]:
    """Return the yield of each template over all nights, the lowest first."""
    return worst_first([(name, _yield(one)) for name, one in _sums(nights, "templates").items()])


def make_collection_card(facts: CollectionFacts) -> str:
    """Return the text of `README.md`."""
    head = front_matter(facts.title, facts.files, license_name=facts.license)
    return "\n".join(["---", *head, "---", "", *_text(facts), ""])


def _text(facts: CollectionFacts) -> Iterator[str]:
    yield f"# {markdown(facts.title)}"
    yield ""
    yield "Web-agent trajectories made by Stepmill: policies acted on the pages of the sites below, in a browser, and every"
    yield f"attempt was recorded step by step. This is version {facts.version:,} of a collection of {_nights(facts)}: each"
    yield "run is a night, and nothing that an earlier version published was written anew."
    yield ""
    if FILMSTRIP in facts.pictures:
        yield from film_lines(facts.film, FILMSTRIP)
    if CONTACT_SHEET in facts.pictures:
        yield from sheet_lines(facts.pages, CONTACT_SHEET)
    sections = {
        "Load it": ["```python", *loading_of(facts.files, facts.name, facts.version), "```"],
        "What it holds": _contents(facts),
        "What this version changed": _changes(facts),
        "Night by night": _night_lines(facts),
        "What was accepted": _rules(facts),
        "Yield by template, worst first": _yields(facts),
        "Of what it is mixed": _mixture(facts),
        "Splits, copies and what is left out": _left_out(facts),
        "Licence": licence_lines(facts.license),
        "Columns": column_lines(rows_by_config(facts.files)),
    }
    for heading, lines in sections.items():
        yield from ("", f"## {heading}", "", *lines)


def _nights(facts: CollectionFacts) -> str:
    return f"{len(facts.nights):,} {'run' if len(facts.nights) == 1 else 'runs'}"


def _contents(facts: CollectionFacts) -> Iterator[str]:
    yield from config_lines(facts.files)
    yield ""
    yield from training_lines(facts.training, facts.files)
    yield from null_column_lines(facts.files)


def _changes(facts: CollectionFacts) -> Iterator[str]:
    """Yield what the version has that the one before had not, and the reverse."""
    if facts.before is None:
        yield "It is the first one."
        return
    old = Counter(row_counts(facts.before.files))
    new = Counter(row_counts(facts.files))
    yield f"Beside version {facts.before.version:,}:"
    yield ""
    known = {night.number: night for night in facts.before.nights}
    for night in facts.nights:
        if night.number not in known:
            yield f"* night {night.number:,} came: {night.published:,} trajectories of {markdown(night.name)}"
        elif gone := night.withdrawn - known[night.number].withdrawn:
            yield f"* {gone:,} {'episode' if gone == 1 else 'episodes'} of night {night.number:,} were withdrawn"
        elif known[night.number] != night:
            change = night.published - known[night.number].published
            yield f"* night {night.number:,} was renewed from version {night.version:,} of its run: {change:+,} trajectories"
    changed = [f"{new[c] - old[c]:+,} rows of `{c}`" for c in new | old if new[c] != old[c]]
    yield f"* {', '.join(changed) or 'no row more or less'}"


def _night_lines(facts: CollectionFacts) -> Iterator[str]:
    yield "The yield is the share of accepted episodes among those that were judged to the end, with Wilson's interval of"
    yield "95 %. Copies of trajectories of other nights, and episodes of tasks that another split shows, are left out."
    yield ""
    counts = "trajectories | copies | held back | not selected | withdrawn | episodes | accepted | rejected | not judged"
    yield f"| night | run | begun | {counts} | yield | 95 % interval |"
    yield f"|---|---|---|{'---:|' * 10}---|"
    shown, lines = facts.nights[-MAX_NIGHTS:], list[str]()
    if len(shown) < len(facts.nights):
        lines.append(
            _row(f"the first {len(facts.nights) - len(shown):,}", facts.nights[:-MAX_NIGHTS])
        )
    lines += [
        _row(f"{one.number}", [one], name=f"{markdown(one.name)} `{one.label}`", begun=one.begun)
        for one in shown
    ]
    if len(facts.nights) > 1:
        lines.append(_row("all", facts.nights))
    yield from lines


def _row(title: str, nights: Sequence[Night], *, name: str = "", begun: str = "") -> str:
    sums = [
        sum(counts)
        for counts in zip(
            *(
                (
                    one.published,
                    one.copies,
                    one.held_back,
                    sum(one.left_out.values()),
                    one.withdrawn,
                )
                for one in nights
            ),
            strict=True,
        )
    ]
    cells = " | ".join(f"{number:,}" for number in sums)
    return (
        f"| {title} | {name} | {begun} | {cells} | {_yield(total(n.tally for n in nights)).cells()}"
    )


def _rules(facts: CollectionFacts) -> Iterator[str]:
    """Yield the rule of each night, those of equal rules together."""
    rules: dict[str, list[Night]] = {}
    for night in facts.nights:
        rules.setdefault(canonical_json(night.rule), []).append(night)
    for nights in rules.values():
        rule = nights[0].rule
        passed = rule.get("passed")
        names = ", ".join(markdown(str(one)) for one in passed) if isinstance(passed, list) else ""
        whose = "" if len(rules) == 1 else f" in night {', '.join(str(n.number) for n in nights)}"
        yield f"An episode is accepted{whose} when these verifiers passed it: {names or 'none'}; a raw reward of"
        yield f"{rule.get('min_reward')} or more counts as success."
    yield from _selections(facts)
    if any(night.include_rejected for night in facts.nights):
        yield "Episodes that were not accepted have trajectories here too: see `accepted` and `rejected_because`."
    else:
        yield "Only the accepted ones have trajectories and steps here; `attempts` has a row for each."


def _selections(facts: CollectionFacts) -> Iterator[str]:
    """Yield the words by which nights were selected, those of equal words together."""
    words: dict[str, list[Night]] = {}
    for night in facts.nights:
        if night.select:
            words.setdefault(canonical_json(night.select), []).append(night)
    for nights in words.values():
        numbers = ", ".join(str(night.number) for night in nights)
        left_out = sum(sum(night.left_out.values()) for night in nights)
        yield ""
        yield f"Of the episodes of night {numbers} that might have trajectories here {left_out:,} were left out by a"
        yield "selection, and `left_out_by` of `attempts` says by which of its words:"
        yield from words_lines(nights[0].select)


def _yields(facts: CollectionFacts) -> Iterator[str]:
    splits: dict[str, str] = {}
    for night in facts.nights:
        splits |= night.splits
    yield f"![How the episodes of each template stand]({YIELD_PLOT})"
    yield ""
    yield from template_lines(yields_of(facts.nights), splits)


def _mixture(facts: CollectionFacts) -> Iterator[str]:
    """Yield the shares of sites in the trajectories, and the yields of policies."""
    sites = sum((Counter(dict(night.sites)) for night in facts.nights), Counter[str]())
    yield "| site | trajectories | share |"
    yield "|---|---:|---:|"
    for site, count in sorted(sites.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"| {markdown(site)} | {count:,} | {count / sites.total():.0%} |"
    yield ""
    yield "| policy | episodes | accepted | rejected | not judged | yield | 95 % interval |"
    yield f"|---|{'---:|' * 5}---|"
    for policy, tally in sorted(_sums(facts.nights, "policies").items()):
        yield f"| {markdown(policy)} | {_yield(tally).cells()}"


def _left_out(facts: CollectionFacts) -> Iterator[str]:
    templates: dict[str, str] = {}
    for night in facts.nights:
        templates |= night.splits
    counts = Counter(templates.values())
    named = ", ".join(f"{counts[split]:,} in {split}" for split in SPLITS)
    near = sum(night.near_copies for night in facts.nights)
    yield f"A template is in one split, with all its seeds, for ever: {len(templates):,} templates, {named}. Stepmill's"
    yield "registry of splits decides it by the template's content before anybody attempts it. A task whose goal, first"
    yield "picture or world is in another split already is held back."
    yield "A trajectory with the same pictures and actions as one of another night is a copy, and only the one that was"
    yield f"published first is here. {near:,} trajectories are near copies of one of another night: `near_duplicate_of`"
    yield "names it."


def _sums(nights: Sequence[Night], of: str) -> Mapping[str, Tally]:
    sums: dict[str, Tally] = {}
    for night in nights:
        for name, tally in getattr(night, of).items():
            sums[name] = sums.get(name, Tally()) + tally
    return sums


def _yield(tally: Tally) -> Yield:
    return Yield(tally.accepted, tally.rejected, tally.unjudged)
