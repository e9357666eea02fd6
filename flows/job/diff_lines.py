"""The difference of two runs or datasets, as lines for people."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from flows.job.group_counts import commonest
from flows.job.pass_rates import Comparison
from flows.job.report_lines import kind_cells, percent_cells
from flows.terminal import table
from schemas.base import Record
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.diff.diff import DiffReport, VerdictChange
from storage.diff.rows import RowChanges
from storage.diff.sides import SideInfo

_SHOWN = 6
"""Templates, and kinds of changed results, that are shown by default."""

_COLUMNS = 4
"""Columns with a difference that are named by default, of each table."""

_REASON_CHARS = 70
"""Characters of a reason that are shown by default."""


class PolicyYields(Record):
    """The yields of a policy on both sides, over all its tasks and by template."""

    policy: str | None
    """The policy; None: all of them."""
    accepted: tuple[Comparison, ...]
    """The share of judged attempts that the rule accepts, over tasks; the first is over all templates."""
    success: tuple[Comparison, ...]
    """The share of attempts that their site reported as a success, over tasks; the first is over all."""


def diff_lines(report: DiffReport, yields: Sequence[PolicyYields], *, whole: bool) -> Iterator[str]:
    """Yield the difference: as much as fits a screen, or with `whole` all of it."""
    yield from (f"A        {_side(report.first)}", f"B        {_side(report.second)}")
    yield from _match_lines(report)
    yield from (f"note     {note}" for note in report.notes)
    yield from (
        f"note     {note}" for one in report.rows for note in _column_notes(one, whole=whole)
    )
    if report.same:
        yield "same     nothing differs"
        return
    yield ""
    yield from _row_lines(report.rows, whole=whole)
    if report.verdicts:
        yield ""
        yield from _verdict_lines(report.verdicts, whole=whole)
    yield ""
    yield from _yield_lines(yields, whole=whole)
    if whole:
        yield ""
        yield from _template_lines(report)


def _side(info: SideInfo) -> str:
    judged = f"{info.episodes} episodes, {info.accepted} accepted"
    return f"{info.address}  ({info.kind}, version {info.version}: {judged})"


def _match_lines(report: DiffReport) -> Iterator[str]:
    found = report.matched
    ambiguous = f" ({found.ambiguous} of them not the only ones)" if found.ambiguous else ""
    yield (
        f"matched  {found.by_id} by id, {found.by_task} by task, policy and attempt; "
        f"{found.only_first} in A alone, {found.only_second} in B alone{ambiguous}"
    )
    if found.by_id or found.by_task:
        steps = report.steps
        unknown = f"; one side has none of {steps.unknown}" if steps.unknown else ""
        but = ", but for ids and times" if found.by_task else ""
        yield f"steps    {steps.same} matched episodes have the same{but}; {steps.other} have others{unknown}"
        results = (f"{count} {what}" for what, count in report.results.items())
        yield f"results  {', '.join(results)}"


def _column_notes(one: RowChanges, *, whole: bool) -> Iterator[str]:
    """Yield the columns of a config that one side alone has."""
    for letter, names in (("A", one.only_first), ("B", one.only_second)):
        if names:
            yield f"{one.config}: not compared, {letter} alone has it: {_names_text(names, whole=whole)}"


def _names_text(names: Sequence[str], *, whole: bool) -> str:
    shown = names if whole else names[:_COLUMNS]
    rest = len(names) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _row_lines(rows: Sequence[RowChanges], *, whole: bool) -> Iterator[str]:
    lines = table(
        ("rows", "A", "B", "added", "removed", "changed"),
        (
            (one.config, *map(str, (one.first, one.second, one.added, one.removed, one.changed)))
            for one in rows
        ),
    )
    width = max(map(len, lines))
    columns = ["changed in", *(_columns(one, whole=whole) for one in rows)]
    for line, text in zip(lines, columns, strict=True):
        yield f"{line:{width}}  {text}".rstrip()


def _columns(one: RowChanges, *, whole: bool) -> str:
    """Return the columns in which rows differ, with the number of rows where it is not all of them."""
    names = [
        name if count == one.changed else f"{name} ({count})" for name, count in one.columns.items()
    ]
    return _names_text(names, whole=whole)


def _verdict_lines(changes: Sequence[VerdictChange], *, whole: bool) -> Iterator[str]:
    """Yield the changed results: with `whole` by template and reason, else by the verifier that decides."""
    if whole:
        rows = [
            (
                (f"{one.template}  {one.before.value} → {one.after.value}", str(len(one.episodes))),
                _why(one.after, one.reason or "no reason is known"),
            )
            for one in changes
        ]
    else:
        rows = [*_by_verifier(changes)]
    shown = rows if whole else rows[:_SHOWN]
    lines = table(("changed results", "episodes"), (cells for cells, _ in shown))
    width = max(map(len, lines))
    whys = ["why", *(why for _, why in shown)]
    for line, why in zip(lines, whys, strict=True):
        yield f"{line:{width}}  {why if whole else _shorten(why)}"
    if len(shown) < len(rows):
        yield f"and {len(rows) - len(shown)} more kinds: --all"


def _by_verifier(changes: Sequence[VerdictChange]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the changes by result and verifier, each with its commonest reason and the number of templates."""
    groups: defaultdict[tuple[str, str, str], list[VerdictChange]] = defaultdict(list)
    for one in changes:
        groups[one.before.value, one.after.value, one.verifier].append(one)
    counted = {key: sum(len(one.episodes) for one in group) for key, group in groups.items()}
    for key, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])):
        group = groups[key]
        told = (one.reason or "no reason is known" for one in group for _ in one.episodes)
        reason, times = commonest(told)[0]
        templates = {(one.site, one.template) for one in group}
        of = group[0].template if len(templates) == 1 else f"{len(templates)} templates"
        often = f"{times} × " if times < count else ""
        why = _why(AcceptanceStatus(key[1]), f"{often}{reason}")
        yield (f"{key[0]} → {key[1]}", str(count)), f"{of}: {why}"


def _why(after: AcceptanceStatus, reason: str) -> str:
    return f"before: {reason}" if after is AcceptanceStatus.ACCEPTED else reason


def _shorten(text: str) -> str:
    return text if len(text) <= _REASON_CHARS else f"{text[: _REASON_CHARS - 1]}…"


def _yield_lines(yields: Sequence[PolicyYields], *, whole: bool) -> Iterator[str]:
    """Yield the yields over all and by policy, then by template, those of the clearest difference first."""
    yield "yield over the tasks that both attempted (without any, over each side's own)"
    rows = [(f"success {_policy_name(one)}", one.success[0]) for one in yields]
    rows = [(f"accepted {_policy_name(one)}", one.accepted[0]) for one in yields] + rows
    kinds = list(kind_cells(yields[0].accepted))[1:]
    named = sorted(
        zip(kinds[1:], yields[0].accepted[1:], strict=True),
        key=lambda pair: clearest_first(pair[1]),
    )
    differing = [pair for pair in named if whole or _differs(pair[1])]
    shown = differing if whole else differing[:_SHOWN]
    yield from table(
        ("", "tasks", "A", "B", "B - A", "95 %"),
        ((name, *_cells(one)) for name, one in [*rows, *shown]),
    )
    more, equal = len(differing) - len(shown), len(named) - len(differing)
    if more or equal:
        counts = [f"{more} more that differ"] * (more > 0)
        counts += [f"{equal} of equal yields, or on one side alone"] * (equal > 0)
        yield f"and {', '.join(counts)}: --all"


def _policy_name(one: PolicyYields) -> str:
    return "all" if one.policy is None else one.policy


def _cells(one: Comparison) -> tuple[str, ...]:
    apart = f"{len(one.only_first)}/{len(one.only_second)}"
    tasks = str(len(one.shared)) if one.shared else apart
    rates = (percent_cells(side)[0] or "-" for side in (one.first, one.second))
    return (tasks, *rates, *percent_cells(one.difference, signed=True))


def _differs(one: Comparison) -> bool:
    return one.difference is not None and one.difference.value != 0


def clearest_first(one: Comparison) -> tuple[float, str, str]:
    """Return what sorts comparisons: the farther the interval from 0, the earlier."""
    found = one.difference
    names = one.site or "", one.template or ""
    if found is None:
        return 2.0, *names
    clear = max(found.low, -found.high)  # above 0: the interval does not hold 0
    return -clear - abs(found.value) / 1_000, *names


def _template_lines(report: DiffReport) -> Iterator[str]:
    """Yield the episodes by template."""
    several = len({one.site for one in report.templates}) > 1
    lines = table(
        ("template", "A", "B", "accepted A", "accepted B", "added", "removed"),
        (
            (
                f"{one.site}  {one.template}" if several else one.template,
                *map(
                    str,
                    (
                        *(one.first, one.second, one.accepted_first, one.accepted_second),
                        *(one.added, one.removed),
                    ),
                ),
            )
            for one in report.templates
        ),
    )
    width = max(map(len, lines))
    told = (
        ", ".join(f"{count} {what}" for what, count in one.results.items())
        for one in report.templates
    )
    for line, results in zip(lines, ["results", *told], strict=True):
        yield f"{line:{width}}  {results}".rstrip()
