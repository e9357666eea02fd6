"""The card's section on limits and biases; each sentence follows from the run's records.

The card does not describe a site that is not in `SITES`: the run records only a site's name.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from storage.publish.card.escape import markdown
from storage.publish.card.survey import Survey, Viewport, middle
from storage.publish.plan.selection import Selection

MAX_NAMES = 12
"""The maximum number of names in a sentence."""


class SiteFacts(NamedTuple):
    """The description of a built-in site."""

    about: str
    """A sentence that describes its pages."""
    language: str
    """The language of its goals, by ISO 639-1."""


SITES: Mapping[str, SiteFacts] = {
    "miniwob": SiteFacts(
        "small pages of MiniWoB++, each made for one exercise: no page of the live web, and none with "
        "the size, the content or the clutter of one",
        "en",
    ),
}
"""The sites that ship, by name."""

LANGUAGES: Mapping[str, str] = {"en": "English"}
"""The languages of `SITES`, in words."""


def languages(selection: Selection) -> tuple[str, ...]:
    """Return the languages of the published goals; empty if that of a site is unknown."""
    sites = [site for site, count in selection.origins["site"].items() if count]
    known = {SITES[site].language for site in sites if site in SITES}
    return tuple(sorted(known)) if all(site in SITES for site in sites) else ()


def limit_lines(selection: Selection, known: Survey) -> Iterator[str]:
    """Yield the limits and biases that follow from the run's records, as a list."""
    published = list(selection.published)
    if not published:
        yield "* No episode is published: there is nothing to learn from here but the tasks."
        return
    yield from _sites(selection.origins["site"])
    yield from _language(selection)
    yield from _browsers(selection)
    yield from _viewports(known.viewports[one.episode_id] for one in published)
    yield from _points(known)
    yield from _shares("actions", known.actions, "`action_type`")
    if known.thoughts:
        yield from _shares("thoughts", known.thoughts, "`thought_source`")
    yield from _coverage(selection)


def _sites(sites: Counter[str]) -> Iterator[str]:
    for site in sorted(sites):
        if site in SITES:
            yield f"* Pages of the site `{site}` are {SITES[site].about}."
        else:
            yield f"* What the pages of the site {markdown(site)} are, the run does not record."


def _language(selection: Selection) -> Iterator[str]:
    found = languages(selection)
    if found:
        named = " and ".join(LANGUAGES[one] for one in found)
        yield f"* The goals are in {named}."
    else:
        yield "* The run does not record which language the goals are in, so that none is stated."


def _browsers(selection: Selection) -> Iterator[str]:
    browsers = sorted(selection.origins["browser"])
    versions = sorted(filter(None, selection.origins["browser_version"]))
    kinds = "One browser" if len(browsers) == 1 else f"{len(browsers):,} browsers"
    number = "one version" if len(versions) == 1 else f"{len(versions):,} versions"
    yield f"* {kinds} in {number} drew all pages ({_names(browsers)}; {_names(versions)})."


def _names(names: Iterable[str]) -> str:
    all_names = list(names)
    rest = len(all_names) - MAX_NAMES
    more = f" and {rest:,} more" if rest > 0 else ""
    return ", ".join(markdown(name) for name in all_names[:MAX_NAMES]) + more


def _viewports(viewports: Iterable[Viewport]) -> Iterator[str]:
    found = Counter(viewports)
    if len(found) == 1:
        [one] = found
        yield f"* Every page was shown in one viewport, {one.width} × {one.height} CSS px at scale {one.scale:g}."
        return
    widths, heights, scales = (sorted(values) for values in zip(*found, strict=True))
    yield (
        f"* Pages were shown in {len(found):,} viewports: {_span(widths)} CSS px wide, {_span(heights)} high, "
        f"at scales from {scales[0]:g} to {scales[-1]:g}."
    )


def _span(values: Sequence[float]) -> str:
    low, high = values[0], values[-1]
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _points(known: Survey) -> Iterator[str]:
    number = known.across.total()
    if number:
        (left, right), (top, bottom) = middle(known.across), middle(known.down)
        yield (
            f"* The middle nine tenths of the {number:,} points lie between {left} % and {right} % of the "
            f"picture's width, and between {top} % and {bottom} % of its height."
        )


def _shares(what: str, counts: Counter[str], column: str) -> Iterator[str]:
    """Yield the number of published steps with each value of a column."""
    total = counts.total()
    shown = ", ".join(
        f"{markdown(name)} {count:,}"
        for name, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    yield f"* Of the {total:,} {what} by {column}: {shown or 'none'}."


def _coverage(selection: Selection) -> Iterator[str]:
    """Yield the numbers of tasks and templates with an accepted episode, and the resulting bias."""
    tried = {one.task_id for one in selection.candidates}
    solved = {one.task_id for one in selection.candidates if one.acceptance.accepted}
    templates = {one.template_id for one in selection.candidates}
    reached = {one.template_id for one in selection.candidates if one.acceptance.accepted}
    yield (
        f"* {len(solved):,} of {len(tried):,} tasks and {len(reached):,} of {len(templates):,} templates have an "
        "accepted episode; the others were attempted in vain, or not judged to the end."
    )
    if not selection.include_rejected and len(solved) < len(tried):
        yield "* What no policy managed is missing from the trajectories here."
