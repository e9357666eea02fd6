"""Episodes of given actions on pages of given elements, for tests of what is made of them."""

from support.episodes.factories import make_episode, make_step
from support.runs.exports import told_of

from schemas.episodes.action import Action, NoAction, target_point
from schemas.episodes.episode import Step
from schemas.episodes.observation import Element, OpenDialog, Target, element_at
from schemas.verdicts.full_episode import FullEpisode


def element(
    role: str,
    name: str,
    *,
    tag: str = "button",
    at: tuple[float, float] = (10.0, 10.0),
    text: str | None = None,
    value: str | None = None,
    frame: str | None = None,
    interactive: bool = True,
) -> Element:
    """Return an element of 20 by 10 px at a place, with its name as its text unless another is given."""
    return Element(
        role=role,
        name=name,
        tag=tag,
        text=name if text is None else text,
        bbox=(*at, 20.0, 10.0),
        value=value,
        interactive=interactive,
        visible=1.0,
        covered=False,
        frame=frame,
    )


class Page:
    """What a step saw."""

    def __init__(
        self,
        *elements: Element,
        path: str = "/",
        tab: int = 0,
        tabs: tuple[str, ...] = (),
        dialog: OpenDialog | None = None,
    ) -> None:
        self.elements = elements
        self.update = {
            "url": f"http://miniwob.localhost{path}",
            "tab": tab,
            "tabs": tabs,
            "dialog": dialog,
        }


def acted(*steps: tuple[Page, Action], end: Page) -> FullEpisode:
    """Return an episode of these actions, each on its page, and the page it ended with."""
    made = [_step(n, page, action) for n, (page, action) in enumerate((*steps, (end, NoAction())))]
    episode = make_episode().model_copy(
        update={"steps": tuple(made), "n_steps": len(steps), "start_url": made[0].page.url}
    )
    return told_of(episode)


def _step(number: int, page: Page, action: Action) -> Step:
    step = make_step(number, picture=number, action=action)
    found = element_at(page.elements, target_point(action))
    target = None if found is None else Target(tag=found.tag, role=found.role, bbox=found.bbox)
    return step.model_copy(
        update={
            "elements": page.elements,
            "page": step.page.model_copy(update=page.update),
            "target": target,
        }
    )


def lines(text: str) -> list[str]:
    """Return the lines of a script, without what indents them."""
    return [line.strip() for line in text.splitlines()]
