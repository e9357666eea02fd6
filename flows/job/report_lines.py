"""The contents of a run, and the report of a command on it, as lines for people."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from flows.job.engine_lines import engine_lines
from flows.job.group_counts import GroupCount
from flows.job.pass_rates import Comparison, PassRate
from flows.job.report import Report
from flows.job.summary import Summary
from flows.terminal import table
from schemas.proportion import Estimate
from storage.publish.publish import PublishReport

SHOWN = 12
"""The default number of templates shown of a run: with the lines around them they fit a screen."""

REASON_CHARS = 90
"""The maximum length of a line of a reason in the table of templates."""

REASON_LINES = 3
"""The maximum number of lines of a reason beside the templates shown by default; `--all` shows it whole."""

ID_CHARS = 8
"""The length of the beginning of an episode's id that names it among others of a run."""

_CUT = " … "

_IDS = 3
"""Tasks of one run alone that a comparison names, of each template."""


def report_lines(report: Report) -> Iterator[str]:
    """Yield the report of a command on a run."""
    yield f"run      {report.run}  (version {report.summary.version})"
    yield from total_lines(report.summary)
    yield from unjudged_lines(report.summary.unjudged, report.run)
    for verifier, count in report.left_out.items():
        yield (
            f"left out {count} that `{verifier}` has judged as often as it may: its last verdict "
            "counts"
        )
    if report.rolled_out:
        rate = report.rolled_out / report.seconds
        yield (
            f"now      {report.rolled_out} episodes and {report.steps} steps in "
            f"{report.seconds:.1f} s  ({rate * 3_600:,.0f} episodes/h)"
        )
    if report.summary.templates:
        yield ""
        yield from worst_lines(report.summary.templates, report.run)
    for publication in report.publications:
        yield ""
        yield from publication_lines(publication)


def publication_lines(publication: PublishReport) -> Iterator[str]:
    """Yield a dataset's place, its contents and the lines that load it."""
    rows = ", ".join(f"{count} {config}" for config, count in publication.rows.items())
    yield f"dataset  {publication.destination}  ({rows}; {publication.bytes / 1e6:.1f} MB)"
    if publication.collection is not None:
        yield from _night_lines(publication)
    yield from left_out_lines(publication.left_out)
    yield ""
    yield from publication.loading


def left_out_lines(left_out: Mapping[str, int]) -> Iterator[str]:
    """Yield how many episodes a selection leaves out, if it leaves out any."""
    if left_out:
        counts = ", ".join(f"{count} by select.{key}" for key, count in left_out.items())
        yield f"selected all but {sum(left_out.values())} episodes: {counts}"


def _night_lines(publication: PublishReport) -> Iterator[str]:
    """Yield what a run gave to a collection."""
    added = ", ".join(f"{count} {config}" for config, count in publication.added.items())
    what = f"night {publication.night} ({added or 'no rows'})"
    if not publication.put:
        yield f"version  {publication.collection}: has {what} already"
    else:
        yield f"version  {publication.collection}: {what}"
    if publication.copies:
        yield f"copies   {publication.copies} episodes are copies of trajectories of other nights and are left out"
    if publication.held_back:
        yield f"held     {publication.held_back} episodes are held back: another split has their goal or first picture"
    yield from (f"warning  {sentence}" for sentence in publication.warnings)


def unjudged_lines(count: int, run: str) -> Iterator[str]:
    """Yield the number of episodes that the rule cannot decide about, and the command that judges them."""
    if count:
        yield (
            f"unjudged {count} (a verdict that this rule needs is missing: "
            f"`stepmill verify {run}` with the same settings asks for it)"
        )


def total_lines(summary: Summary) -> Iterator[str]:
    """Yield the contents of a run."""
    yield (
        f"episodes {summary.episodes} of {summary.tasks} tasks: {summary.accepted} accepted, "
        f"{summary.rejected} rejected, {summary.unjudged} unjudged; {summary.failed} failed"
    )
    if (outside := summary.outside) is not None:
        yield (
            f"outside  {outside.episodes} failed for reasons outside the policy; "
            f"{outside.times} by {outside.kind.value}: {outside.reason}"
        )
    if summary.rejected_by:
        counts = ", ".join(f"{count} by {name}" for name, count in summary.rejected_by.items())
        yield f"rejected {counts}"
    if summary.near_duplicates:
        yield f"novelty  {summary.near_duplicates} of the accepted are near copies of another"
    yield f"steps    {summary.steps}"
    if summary.blocked:
        named = ", ".join(f"{one.name} ({one.count} {one.kind})" for one in summary.blocked[:_IDS])
        more = f" and {len(summary.blocked) - _IDS} more" if len(summary.blocked) > _IDS else ""
        total = sum(one.count for one in summary.blocked)
        yield f"refused  {total} connections of pages: {named}{more}"
    if summary.replayed:
        share = 100 * summary.reproduced / summary.replayed
        tries = f"; {summary.replays_agreed} of {summary.replays} executions agreed"
        often = tries if summary.replays > summary.replayed else ""
        yield f"replay   {summary.reproduced} of {summary.replayed} reproduced ({share:.1f} %){often}"
    if summary.engine is not None:
        yield from engine_lines(summary.engine)


def yield_table(counts: Sequence[GroupCount], *, policies: bool = False) -> list[str]:
    """Return a table of the counts of groups of episodes; it names sites where there are several."""
    head, *kinds = kind_cells(counts)
    priced = any(count.dollars is not None for count in counts)
    return table(
        [
            *(head, *(["policy"] if policies else []), "episodes", "accepted", "yield", "steps"),
            *(["dollars"] if priced else []),
        ],
        (
            [
                kind,
                *([count.policy] if policies else []),
                str(count.episodes),
                str(count.accepted),
                f"{count.percent:.0f} %",
                str(count.steps),
                *([_dollars(count)] if priced else []),
            ]
            for kind, count in zip(kinds, counts, strict=True)
        ),
    )


def _dollars(count: GroupCount) -> str:
    """Return what the calls of a group cost; empty where none is priced."""
    return "" if count.dollars is None else f"{count.dollars:.5f}"


def worst_lines(
    counts: Sequence[GroupCount], run: str, *, most: int | None = SHOWN
) -> Iterator[str]:
    """Yield the templates with the lowest yields, each with its commonest reason; `most` None: all of them."""
    shown = counts[:most]
    rest = len(counts) - len(shown)
    of = f"the {len(shown)} lowest of {len(counts)}" if rest else "worst first"
    yield f"yield by template, {of}, and why most were not accepted"
    head, *kinds = kind_cells(shown)
    priced = any(count.dollars is not None for count in shown)
    lines = table(
        (head, "accepted", "yield", "steps", *(["dollars"] if priced else []), "one of them"),
        (
            (
                kind,
                f"{count.accepted} of {count.episodes}",
                f"{count.percent:.0f} %",
                str(count.steps),
                *([_dollars(count)] if priced else []),
                "".join(one[:ID_CHARS] for one in count.examples[:1]),
            )
            for kind, count in zip(kinds, shown, strict=True)
        ),
    )
    reasons = [_reason(count) for count in shown]
    wrapped = [_wrap(why, most=None if most is None else REASON_LINES) for why in reasons]
    width = max(map(len, lines))
    for line, (first, *more) in zip(lines, (["reason"], *wrapped), strict=True):
        yield f"{line:{width}}  {first}".rstrip()
        yield from (f"{'':{width}}  {each}" for each in more)
    if rest:
        yield f"and {rest} more: `stepmill show {run} --all`"
    if any(count.examples for count in shown):
        yield f"one explained, with its picture: `stepmill show {run} ID`"
    if not rest and [*chain(*wrapped)] != [*chain(*map(_wrap, reasons))]:
        yield f"reasons in full: `stepmill show {run} --all`"


def _wrap(reason: str, *, most: int | None = None) -> list[str]:
    """Return a reason in lines; of a long one the beginning and the end, which says what decided; `most` None: all."""
    if most is not None and len(reason) > REASON_CHARS * most:
        half = REASON_CHARS * most // 2 - len(_CUT)
        reason = f"{reason[:half]}{_CUT}{reason[-half:]}"
    return textwrap.wrap(reason, REASON_CHARS) or [""]


def _reason(count: GroupCount) -> str:
    """Return the commonest reason of a group, and for how many it holds; empty: all were accepted."""
    if not count.reasons:
        return ""
    text, times = count.reasons[0]
    verifier, told, expected = text.partition(":")[0], *text.partition(": expected ")[1:]
    text = f"{verifier}{told}{expected}" if told else text
    return f"{times} × {text}" if times > 1 else text


def kind_cells(figures: Sequence[GroupCount | PassRate | Comparison]) -> Iterator[str]:
    """Yield the first column: its head, then each figure's template, with the site if there are several."""
    several = len({one.site for one in figures} - {None}) > 1
    yield "site  template" if several else "template"
    for one in figures:
        if one.template is None:
            yield "all"
        else:
            yield f"{one.site}  {one.template}" if several else one.template


def pass_rate_lines(rates: Iterable[PassRate]) -> Iterator[str]:
    """Yield how often each policy solved its tasks, over all of them and by template, as far as given."""
    rates = list(rates)
    if not rates:
        return
    most = max(rate.k for rate in rates)
    with_k = ["pass@k", "95 %"] if most > 1 else []
    head, *kinds = kind_cells(rates)
    by_template = any(rate.template is not None for rate in rates)
    of = " by template, worst first," if by_template else ""
    yield from ("", f"success{of} and how well it is known (over tasks)")
    yield from table(
        (head, "policy", "tasks", "attempts", "pass@1", "95 %", *with_k),
        (
            [
                kind,
                rate.policy,
                str(rate.tasks),
                str(rate.attempts),
                *percent_cells(rate.pass_1),
                *(_pass_k(rate) if with_k else []),
            ]
            for kind, rate in zip(kinds, rates, strict=True)
        ),
    )


def _pass_k(rate: PassRate) -> tuple[str, str]:
    """Return pass@k with its k, and its interval with the number of tasks that have k attempts, if not all."""
    if rate.pass_k is None:
        return f"@{rate.k}", f"no task has {rate.k} attempts"
    percent, interval = percent_cells(rate.pass_k)
    fewer = "" if rate.tasks_k == rate.tasks else f" of {rate.tasks_k} tasks"
    return f"@{rate.k} {percent}", interval + fewer


def percent_cells(found: Estimate | None, *, signed: bool = False) -> tuple[str, str]:
    """Return a figure and its interval, in per cent, as cells of a table; empty ones for None."""
    if found is None:
        return "", ""
    sign = "+" if signed else ""
    ends = (f"{100 * end:{sign}.0f}" for end in (found.low, found.high))
    return f"{100 * found.value:{sign}.1f} %", " to ".join(ends)


def comparison_lines(found: Sequence[Comparison], first: str, second: str) -> Iterator[str]:
    """Yield the comparison of two runs, over all tasks and by template, and the tasks of one run alone."""
    yield from (f"A        {first}", f"B        {second}", "")
    yield "pass@1 over the tasks that both attempted (without any, over each run's own)"
    head, *kinds = kind_cells(found)
    yield from table(
        (head, "both", "only A", "only B", "A", "B", "B - A", "95 %"),
        (
            [
                kind,
                *(str(len(ids)) for ids in (one.shared, one.only_first, one.only_second)),
                *(percent_cells(run)[0] for run in (one.first, one.second)),
                *percent_cells(one.difference, signed=True),
            ]
            for kind, one in zip(kinds, found, strict=True)
        ),
    )
    for kind, one in zip(kinds, found, strict=True):
        for name, ids in (("A", one.only_first), ("B", one.only_second)):
            if one.template is not None and ids:
                more = f" and {len(ids) - _IDS} more (--json has all)" if len(ids) > _IDS else ""
                yield f"only {name}   {kind}: task {', '.join(ids[:_IDS])}{more}"
