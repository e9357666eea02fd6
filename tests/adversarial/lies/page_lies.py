"""Lies about the page: what was under the pointer and around it, what it said, and its state."""

import re
from collections.abc import Callable

from adversarial.lies.retelling import Kinds, Truth, adder, amend, clicking, hit, outside, restep

from generators.verify.shown import split_words
from schemas.base import sha256_hex
from schemas.episodes.action import Click, Key, TypeText, target_point
from schemas.episodes.episode import Episode, Step, ThoughtSource
from schemas.episodes.observation import DialogKind, Download, Element, OpenDialog, PageState, Sight
from schemas.episodes.state_delta import Change, Delta

KINDS: Kinds = {}
lie = adder(KINDS)


# What was under the pointer, and what else was there.


def _targeted(truth: Truth, **columns: object) -> Episode | None:
    at = truth.choose(lambda step: step.target)
    if at is None:
        return None
    target = truth.episode.steps[at].target
    assert target is not None
    return amend(truth.episode, at, target=target.model_copy(update=columns))


@lie("replay")
def target_of_another_element(truth: Truth) -> Episode | None:
    def others(step: Step) -> list[Element]:
        point = target_point(step.action)
        return hit(step, lambda one: outside(point, one.bbox) > 0) if point else []

    at = truth.choose(others)
    if at is None:
        return None
    step = truth.episode.steps[at]
    told = clicking(step, truth.random.choice(others(step)))
    return amend(truth.episode, at, target=told.target)


@lie("replay")
def target_dropped(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.target)
    return None if at is None else amend(truth.episode, at, target=None)


@lie("replay")
def target_s_tag_altered(truth: Truth) -> Episode | None:
    return _targeted(truth, tag="video")


@lie("replay")
def target_s_name_altered(truth: Truth) -> Episode | None:
    return _targeted(truth, name="Buy")


@lie("replay")
def target_s_text_altered(truth: Truth) -> Episode | None:
    return _targeted(truth, text="Buy")


@lie("replay")
def target_s_role_altered(truth: Truth) -> Episode | None:
    return _targeted(truth, role="switch")


@lie("replay")
def target_s_share_altered(truth: Truth) -> Episode | None:
    return _targeted(truth, visible=0.125)


@lie("replay")
def target_s_frame_altered(truth: Truth) -> Episode | None:
    return _targeted(truth, frame=truth.episode.start_url)


@lie("replay")
def target_s_box_widened(truth: Truth) -> Episode | None:
    return _targeted(truth, bbox=(0.0, 0.0, 500.0, 400.0))


def _elemental(truth: Truth, tell: Callable[[list[Element]], list[Element]]) -> Episode | None:
    at = truth.choose(lambda step: step.elements, truth.episode.steps)
    if at is None:
        return None
    told = tuple(tell(list(truth.episode.steps[at].elements)))
    assert told != truth.episode.steps[at].elements
    return amend(truth.episode, at, elements=told)


@lie("replay")
def elements_emptied(truth: Truth) -> Episode | None:
    return _elemental(truth, lambda _: [])


@lie("replay")
def element_dropped(truth: Truth) -> Episode | None:
    return _elemental(truth, lambda found: found[:-1])


@lie("replay")
def element_made_up(truth: Truth) -> Episode | None:
    return _elemental(truth, lambda found: [*found, found[0].model_copy(update={"name": "Buy"})])


@lie("replay")
def elements_moved(truth: Truth) -> Episode | None:
    def moved(one: Element) -> Element:
        left, top, width, height = one.bbox
        return one.model_copy(update={"bbox": (left + 30, top + 30, width, height)})

    return _elemental(truth, lambda found: [moved(one) for one in found])


@lie("replay")
def elements_reordered(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: len(set(step.elements)) > 1, truth.episode.steps)
    if at is None:
        return None
    return amend(truth.episode, at, elements=truth.episode.steps[at].elements[::-1])


@lie("replay")
def element_told_as_covered(truth: Truth) -> Episode | None:
    return _elemental(
        truth,
        lambda found: [found[0].model_copy(update={"covered": not found[0].covered}), *found[1:]],
    )


@lie("replay")
def form_value_made_up(truth: Truth) -> Episode | None:
    return _elemental(
        truth, lambda found: [one.model_copy(update={"value": "made up"}) for one in found]
    )


@lie("replay")
def elements_renamed(truth: Truth) -> Episode | None:
    return _elemental(
        truth, lambda found: [one.model_copy(update={"name": one.name + "!"}) for one in found]
    )


@lie("replay")
def elements_of_another_seed(truth: Truth) -> Episode | None:
    other = truth.sibling.episode.steps[0].elements
    if other == truth.episode.steps[0].elements:
        return None
    return amend(truth.episode, 0, elements=other)


# What was in sight.


def _sighted(truth: Truth, tell: Callable[[list[Sight]], list[Sight]]) -> Episode | None:
    at = truth.choose(lambda step: step.sights, truth.episode.steps)
    if at is None:
        return None
    found = list(truth.episode.steps[at].sights or ())
    told = tell(found)
    assert told != found
    return amend(truth.episode, at, sights=tuple(told))


@lie("replay")
def text_in_sight_made_up(truth: Truth) -> Episode | None:
    return _sighted(truth, lambda found: [*found, found[0].model_copy(update={"text": "Buy"})])


@lie("replay")
def text_in_sight_dropped(truth: Truth) -> Episode | None:
    return _sighted(truth, lambda found: found[:-1])


@lie("replay")
def text_in_sight_altered(truth: Truth) -> Episode | None:
    return _sighted(
        truth, lambda found: [one.model_copy(update={"text": one.text + "!"}) for one in found]
    )


@lie("replay")
def text_in_sight_moved(truth: Truth) -> Episode | None:
    def moved(one: Sight) -> Sight:
        left, top, width, height = one.bbox
        return one.model_copy(update={"bbox": (left + 30, top + 30, width, height)})

    return _sighted(truth, lambda found: [moved(one) for one in found])


@lie("seen: unsupported")
def sights_not_told(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.sights is not None)
    return None if at is None else amend(truth.episode, at, sights=None)


@lie("seen")
def thought_of_what_was_never_in_sight(truth: Truth) -> Episode | None:
    at = truth.choose(
        lambda step: step.thought_source is ThoughtSource.TEMPLATE and not step.action_error
    )
    told = "It says 'quite another thing' here, so I go on."
    return None if at is None else amend(truth.episode, at, thought=told)


def _others_in_sight(step: Step, said: str) -> list[str]:
    """Return texts that a step of ours shows elsewhere, and that share no word with what it says."""
    if (
        step.thought_source is not ThoughtSource.TEMPLATE
        or step.action_error
        or not split_words(said)
    ):
        return []
    shown = [one.text for one in step.sights or () if re.fullmatch(r"[\w ]+", one.text)]
    return [text for text in shown if not {*split_words(text)} & {*split_words(said)}]


@lie("seen")
def thought_of_another_thing_in_sight(truth: Truth) -> Episode | None:
    def others(step: Step) -> list[str]:
        written = step.target.text if step.target and isinstance(step.action, Click) else None
        field = step.target and step.target.role == "textbox"
        return [] if field else _others_in_sight(step, written or "")

    at = truth.choose(others)
    if at is None:
        return None
    named = truth.random.choice(others(truth.episode.steps[at]))
    return amend(truth.episode, at, thought=f"I see '{named}', so I click it.")


@lie("seen")
def thought_of_another_text(truth: Truth) -> Episode | None:
    def others(step: Step) -> list[str]:
        typed = step.action.text if isinstance(step.action, TypeText) else ""
        return _others_in_sight(step, typed)

    at = truth.choose(others)
    if at is None:
        return None
    named = truth.random.choice(others(truth.episode.steps[at]))
    return amend(truth.episode, at, thought=f"I type '{named}'.")


# What the page said.


@lie("replay")
def result_text_made_up(truth: Truth) -> Episode | None:
    return amend(truth.episode, 0, result_text="alert: saved")


@lie("replay")
def action_error_made_up(truth: Truth) -> Episode | None:
    return amend(truth.episode, 0, action_error="there is nothing at this point")


@lie("replay")
def action_error_dropped(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.action_error and isinstance(step.action, Key))
    return None if at is None else amend(truth.episode, at, action_error=None)


@lie("structure")
def action_outside_the_viewport_told_as_done(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.action_error and isinstance(step.action, Click))
    return None if at is None else amend(truth.episode, at, action_error=None)


@lie("replay")
def action_error_altered(truth: Truth) -> Episode | None:
    at = truth.choose(lambda step: step.action_error)
    return None if at is None else amend(truth.episode, at, action_error="the page was busy")


# The state of the page.


def _paged(truth: Truth, **columns: object) -> Episode | None:
    at = truth.random.randrange(len(truth.episode.steps))
    page = truth.episode.steps[at].page
    told = PageState.model_validate(page.model_dump() | columns)
    return None if told == page else restep(truth.episode, at, page=told)


@lie("replay")
def page_of_another_step(truth: Truth) -> Episode | None:
    steps = truth.episode.steps
    at = truth.random.randrange(len(steps))
    others = [step.page for step in steps if step.page != steps[at].page]
    return restep(truth.episode, at, page=truth.random.choice(others)) if others else None


@lie("replay")
def url_altered(truth: Truth) -> Episode | None:
    return _paged(truth, url=truth.episode.start_url + "#top")


@lie("structure")
def url_of_another_origin(truth: Truth) -> Episode | None:
    return _paged(truth, url="https://example.org/")


@lie("replay")
def title_altered(truth: Truth) -> Episode | None:
    return _paged(truth, title="Checkout")


@lie("replay")
def dialog_made_up(truth: Truth) -> Episode | None:
    asked = OpenDialog(kind=DialogKind.ALERT, title="the site says", message="Saved.")
    return _paged(truth, dialog=asked)


@lie("replay")
def tab_altered(truth: Truth) -> Episode | None:
    return _paged(truth, tab=1)


@lie("replay")
def tabs_made_up(truth: Truth) -> Episode | None:
    return _paged(truth, tabs=("Checkout", "Basket"))


@lie("replay")
def left_out_altered(truth: Truth) -> Episode | None:
    return amend(truth.episode, 0, elements_left_out=7)


@lie("replay")
def download_made_up(truth: Truth) -> Episode | None:
    kept = Download(name="bill.pdf", media_type="application/pdf", size=1, sha256=sha256_hex(b"1"))
    return amend(truth.episode, 0, downloads=(kept,))


@lie("replay")
def change_of_the_server_made_up(truth: Truth) -> Episode | None:
    added = Change(at="/orders", key=1, after={"id": 1})
    return amend(truth.episode, 0, delta=Delta(added=(added,)))


@lie("replay")
def form_altered(truth: Truth) -> Episode | None:
    return _paged(truth, form_sha256=sha256_hex(b"a form"))


@lie("replay")
def form_dropped(truth: Truth) -> Episode | None:
    return _paged(truth, form_sha256=None)


@lie("replay")
def focus_altered(truth: Truth) -> Episode | None:
    return _paged(truth, focus="input#made-up[] 7")


@lie("replay")
def scroll_altered(truth: Truth) -> Episode | None:
    return _paged(truth, scroll_y=120.0)


@lie("replay")
def scroll_altered_across(truth: Truth) -> Episode | None:
    return _paged(truth, scroll_x=35.0)


@lie("replay")
def dom_altered(truth: Truth) -> Episode | None:
    return _paged(truth, dom_sha256=sha256_hex(b"a document"))


@lie("replay")
def dom_dropped(truth: Truth) -> Episode | None:
    return _paged(truth, dom_sha256=None)
