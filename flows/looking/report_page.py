"""The report of a run as one page that somebody who was not there can read: no script, no address outside of it.

The plots are the card's (`storage/publish/card/plots.py`). The pictures of the failures are shrunk, and left out once the
page would grow beyond its bound.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flows.job.diff_lines import clearest_first
from flows.job.engine_lines import engine_lines
from flows.job.pass_rates import Comparison
from flows.job.progress import format_duration
from flows.job.report_lines import percent_cells
from flows.looking.explanation import Explanation
from flows.looking.films import marked_picture, step_words
from flows.looking.page import jpeg_address, render, svg_address
from flows.looking.report import Failure, Report
from schemas.episodes.episode import Episode, Step
from schemas.errors import Damaged
from schemas.verdicts.acceptance import AcceptanceStatus
from storage.publish.card.plots import column_plot, plot_of_lengths, yield_plot
from storage.publish.card.yields import Yield, percent

MAX_PICTURE_BYTES = 10_000_000
"""The bound of all pictures together, as they stand in the page; a page stays below 15 MB with them."""

MAX_COMPARED = 20
"""The maximum number of templates of a comparison, the clearest difference first."""

_SIDE = 800
_MINUTE = 60.0
_NAMED = 5


class Figure(NamedTuple):
    """One of the figures at the head."""

    value: str
    """The figure."""
    about: str
    """What it is."""


class Shot(NamedTuple):
    """A picture of a failure."""

    address: str
    """Its address; empty if there is none to show."""
    words: str
    """The step in words."""
    width: int
    """As it stands in the page, px."""
    height: int
    """As it stands in the page, px."""


class FailureView(NamedTuple):
    """A failure as the page shows it."""

    failure: Failure
    """The failure."""
    shots: tuple[Shot, ...]
    """Its first mistake and its end, each with the marks of its action."""
    left_out: bool
    """Whether its pictures are left out for the page's size."""


class Change(NamedTuple):
    """A line of the comparison."""

    name: str
    """The template; `all tasks` for all."""
    tasks: str
    """The number of tasks that both attempted."""
    before: str
    """The earlier run's share of solved tasks."""
    now: str
    """The same of this run."""
    difference: str
    """This run's minus the earlier one's, in percentage points."""
    interval: str
    """Its 95 % interval."""


def report_page(report: Report, *, version: str) -> str:
    """Return the page of a report; `version` is that of the program."""
    plots = [
        svg_address(yield_plot(yields, of=of, rest="the others had higher yields"))
        for of, yields in (
            ("family of templates", report.families),
            ("site", report.sites),
            ("policy", report.policies),
        )
    ]
    summary, chosen = report.summary, _chosen(report.compared)
    return render(
        "report.html",
        report=report,
        version=version,
        figures=list(_figures(report)),
        first=report.stages[0].attempts,
        plots=plots,
        rates=[(one, *percent_cells(one.pass_1)) for one in report.rates],
        lengths=_lengths(report),
        times=list(_times(report)),
        engine=[] if summary.engine is None else list(engine_lines(summary.engine)),
        works=[_work_cells(report, number) for number in range(len(report.works))],
        failures=list(_failures(report.failures)),
        not_accepted=sum(one.status is not AcceptanceStatus.ACCEPTED for one in report.heads),
        changes=[_change(one) for one in chosen],
        more_changes=max(0, len(report.compared) - len(chosen)),
    )


def _figures(report: Report) -> Iterator[Figure]:
    whole = Yield(*(sum(h.status is status for h in report.heads) for status in AcceptanceStatus))
    summary, engine = report.summary, report.summary.engine
    yield Figure(f"{len(report.heads):,}", f"attempts at {summary.tasks:,} tasks")
    yield Figure(f"{whole.accepted:,}", "accepted")
    yield Figure(percent(whole.share), f"of the judged ones; 95 %: {whole.interval()}")
    yield Figure(f"{summary.steps:,}", "actions")
    if (seconds := _worked_seconds(report)) is not None:
        yield Figure(format_duration(seconds), "of work")
        if whole.accepted:
            yield Figure(format_duration(seconds / whole.accepted), "of work for each accepted")
    tokens = summary.prompt_tokens + summary.completion_tokens
    if tokens:
        yield Figure(f"{tokens:,}", f"tokens, {summary.completion_tokens:,} of them written")
    if whole.accepted and tokens:
        yield Figure(f"{tokens / whole.accepted:,.0f}", "tokens for each accepted")
    if engine is not None and engine.usd_per_accepted is not None:
        yield Figure(f"${engine.usd_per_accepted:.4f}", "for each accepted")


def _worked_seconds(report: Report) -> float | None:
    time = report.over_time
    return None if time is None else time.seconds * len(time.ended)


def _lengths(report: Report) -> str:
    accepted = (h.n_steps for h in report.heads if h.status is AcceptanceStatus.ACCEPTED)
    return svg_address(plot_of_lengths(accepted, title="Accepted attempts by number of actions"))


def _times(report: Report) -> Iterator[str]:
    """Yield the plots over time: attempts, actions, tokens, and requests at the engine."""
    time = report.over_time
    if time is None:
        return
    actions, tokens, waited = time.amounts
    rows = (
        ("Attempts that ended, each minute", [n * _MINUTE / time.seconds for n in time.ended]),
        ("Actions, each second", [n / time.seconds for n in actions]),
        ("Tokens, each second", [n / time.seconds for n in tokens]),
        ("Attempts that wait for the engine, on average", [n / time.seconds for n in waited]),
    )
    names = [
        "" if n % _NAMED else format_duration(n * time.seconds) for n in range(len(time.ended))
    ]
    for title, heights in rows:
        if highest := max(heights):
            axis, top = "time of work, without pauses", (highest, f"{highest:.3g}")
            yield svg_address(column_plot(title, heights, names, axis=axis, highest=top))


def _work_cells(report: Report, number: int) -> tuple[str, ...]:
    """Return when a command began, how long it worked, its servers' GPU time and its dollars."""
    one = report.works[number]
    gpus = (
        ""
        if one.server_seconds is None
        else format_duration(one.server_seconds * max(1, one.server_gpus))
    )
    dollars = "" if one.dollars is None else f"{one.dollars:.4f}"
    return f"{one.began_at:%Y-%m-%d %H:%M:%S}", format_duration(one.seconds), gpus, dollars


def _failures(found: Sequence[Failure]) -> Iterator[FailureView]:
    room = MAX_PICTURE_BYTES
    for one in found:
        shots = tuple(_shots(one.episode.episode, one.told))
        room -= sum(len(shot.address) for shot in shots)
        left_out = room < 0
        yield FailureView(one, () if left_out else shots, left_out)


def _shots(episode: Episode, told: Explanation) -> Iterator[Shot]:
    """Yield the picture of the first mistake, and that of the end."""
    if not episode.steps:
        return
    last, mistake = episode.steps[-1], told.first_mistake
    if mistake is not None and mistake.step < last.step:
        yield _shot(episode, episode.steps[mistake.step])
    yield _shot(episode, last)


def _shot(episode: Episode, step: Step) -> Shot:
    words = step_words(episode, step)
    try:
        picture = marked_picture(episode, step, side=_SIDE)
    except Damaged:
        return Shot("", words, 0, 0)
    return Shot(jpeg_address(picture), words, *picture.size)


def _chosen(found: Sequence[Comparison]) -> Sequence[Comparison]:
    """Return the comparison over all tasks, and those of the templates with the clearest differences."""
    whole = [one for one in found if one.template is None]
    both = (one for one in found if one.template is not None and one.shared)
    named = sorted(both, key=clearest_first)
    return [*whole, *named[:MAX_COMPARED]]


def _change(one: Comparison) -> Change:
    difference, interval = percent_cells(one.difference, signed=True)
    return Change(
        name=one.template or "all tasks",
        tasks=str(len(one.shared)),
        before=percent_cells(one.first)[0],
        now=percent_cells(one.second)[0],
        difference=difference,
        interval=interval,
    )
