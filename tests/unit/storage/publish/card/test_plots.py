"""The plots beside the card: what they leave out they say."""

import re
from collections.abc import Sequence

import pytest
from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.memory_run import RULE, MemoryRun, tables_of

from schemas.verdicts.verdict import Status
from storage.publish.card.plots import (
    MAX_BARS,
    MAX_LENGTHS,
    column_plot,
    length_plot,
    plot_of_lengths,
    yield_plot,
)
from storage.publish.card.yields import Yield, template_yields
from storage.publish.plan.selection import Selection, select


def _selection(templates: int, *, failed: int = 0, lengths: Sequence[int] = (0,)) -> Selection:
    """Return a selection of one episode for each template and length; some templates' failed."""
    run = MemoryRun()
    for length in lengths:
        tasks = [make_task(n + 1_000 * length, template=f"t{n:03d}") for n in range(templates)]
        _, episodes = make_unit(tasks, n_steps=length)
        run.commit(tasks, episodes)
        run.judge(
            [
                make_verdict(one, verifier=name, status=_status(place >= failed))
                for place, one in enumerate(episodes)
                for name in RULE.passed
            ]
        )
    return select(tables_of(run.seal()), RULE, include_rejected=False)


def _yields(templates: int, *, failed: int = 0) -> list[tuple[str, Yield]]:
    return template_yields(_selection(templates, failed=failed))


def _status(passed: bool) -> Status:  # noqa: FBT001
    return Status.PASSED if passed else Status.FAILED


@pytest.mark.parametrize("more", [0, 2])
def test_a_plot_that_leaves_templates_out_says_how_many(more: int) -> None:
    plot = yield_plot(_yields(MAX_BARS + more, failed=1)).decode()

    drawn = re.findall(r">(t\d{3})</text>", plot)
    assert drawn == [f"t{number:03d}" for number in range(MAX_BARS)]
    said = f"{MAX_BARS} of {MAX_BARS + more}, the card's table goes on" in plot.replace(
        "&#x27;", "'"
    )
    assert said is bool(more)


def test_the_interval_is_drawn_over_the_bar() -> None:
    plot = yield_plot(_yields(1)).decode()

    whole = re.search(r'<rect x="220\.0" y="56\.0" width="([\d.]+)"', plot)
    legend, line, *ends = re.findall(r'<line x1="([\d.]+)" y1="[\d.]+" x2="([\d.]+)"', plot)
    assert whole
    width = float(whole[1])
    shares = [(float(place) - 220) / width for place in line]
    assert shares == pytest.approx([0.2065, 1.0], abs=0.001)  # 1 of 1
    assert [start for start, _ in ends] == [*line]
    assert legend != line


@pytest.mark.parametrize(
    ("lengths", "last"), [((1, 2), "10"), ((1, 14), "10"), ((1, MAX_LENGTHS + 3), "40+")]
)
def test_the_axis_of_lengths_ends_where_the_episodes_do(
    lengths: tuple[int, ...], last: str
) -> None:
    plot = length_plot(_selection(1, lengths=lengths)).decode()

    numbers = re.findall(r'text-anchor="middle">(\d+\+?)</text>', plot)
    assert numbers[-1] == last
    heights = [float(height) for height in re.findall(r'height="([\d.]+)" fill="#2a7f62"', plot)]
    assert sum(height > 0 for height in heights) == len(lengths)


def test_a_plot_says_what_it_names_and_where_the_rest_is() -> None:
    plot = yield_plot(
        _yields(MAX_BARS + 1), of="site", rest="the others had higher yields"
    ).decode()

    assert (
        "Episodes by site, the lowest yield first: 100 of 101, the others had higher yields" in plot
    )


def test_columns_are_as_high_as_what_they_show() -> None:
    plot = column_plot(
        "Tokens <each> second",
        [0.0, 2.5, 5.0],
        ["0:00", "", "0:10"],
        axis="time",
        highest=(5.0, "5"),
    ).decode()

    heights = [float(one) for one in re.findall(r'height="([\d.]+)" fill="#2a7f62"', plot)]
    assert heights == [0.0, heights[2] / 2, heights[2]]
    assert "Tokens &lt;each&gt; second" in plot
    assert re.findall(r'text-anchor="middle">([^<]+)</text>', plot) == ["time", "0:00", "0:10"]


def test_lengths_of_nothing_are_a_plot_too() -> None:
    assert plot_of_lengths([], title="Nothing").count(b"<rect") == 12
