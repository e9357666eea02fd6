"""A task: a goal and where it starts.

A task is immutable and its identity is the hash of its content, so the same template and seed make the
same task in every run, on every machine. Where a site has templates, the page itself states the goal
once it is seeded, and the identity does not include `instruction`.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from schemas.base import JsonObject, Moment, Record, content_hash
from schemas.columns import AsJson, Int32
from schemas.page_facts import PageFacts
from schemas.tasks.expectation import Expectation
from schemas.tasks.reference import Reference
from schemas.tasks.task_file import TaskFile, files_hash

MAX_SEED = 2**63 - 1
"""The largest seed: the maximum of a signed 64-bit column."""


class Task(Record):
    """A goal, its start, and its known properties."""

    task_id: str
    """Hash of the content (see `task_id`)."""
    template_id: str
    """What tasks of one kind share; for MiniWoB++ the page's name, as `click-test`."""
    source: str
    """Where the task came from: a built-in source's name, or a task file's."""
    site: str
    """The site that serves its pages."""
    site_version: str | None = None
    """The site's version; None where the site has none."""
    start_url: str
    """Where it starts, on the site's stable origin: no port, no path of a machine."""
    instruction: str
    """The goal in words. If the page states it, empty until the page was opened, and then at most
    20 kB."""
    parameters: JsonObject = Field(default_factory=dict)
    """The template's other parameters, beside the seed."""
    seed: int = Field(default=0, ge=0, le=MAX_SEED)
    """Chooses one task of the template."""
    max_steps: Annotated[int, Int32] = Field(default=30, ge=1)
    """The most actions an attempt may take; the run's limit may be lower."""
    difficulty: str | None = None
    """A label; None if unknown."""
    tags: tuple[str, ...] = ()
    """Free labels, for selection."""
    feasible: bool | None = None
    """False for tasks that cannot be done on purpose; None if unknown."""
    answer_kind: str | None = None
    """How the answer is to be given: `none`, `verbatim` or `computed`; None if unknown."""
    rubric: JsonObject | None = None
    """What a judge should look for; None if there is none."""
    expect: Annotated[Expectation | None, AsJson()] = None
    """What the server's state and the answer are to be in the end, or the probe that judges them, for tasks
    that their site judges by it; a part of the task's identity. None: the site has another way to tell."""
    files: Annotated[tuple[TaskFile, ...] | None, AsJson()] = None
    """The files that an action may give to a page, by name; a part of the task's identity. None: there are
    none."""
    page: Annotated[PageFacts | None, AsJson()] = None
    """What its pages find out about their user, over what the site says; a part of the task's identity. None:
    what the site says."""
    user: str | None = None
    """The user who is logged in, of those that the site's file describes; a part of the task's identity. None: the
    first, or the only one."""
    reference: Annotated[Reference | None, AsJson()] = None
    """Ordinary actions that do the task; None if none are known."""
    fault: str | None = None
    """What goes wrong on the site while the task is attempted, as `save_fails` (`schemas/worlds/fault.py`); also in
    `parameters`, and so a part of the task's identity. None: nothing goes wrong on purpose."""
    expires_at: Moment | None = None
    """When the task is out of date; None if never."""
    original_instruction: str | None = None
    """The goal before a model rephrased it; None: `instruction` is the task's own."""
    rephrased_by: str | None = None
    """The model that wrote `instruction`; None: nobody has rephrased it."""
    split: str = ""
    """The split of its template: `train`, `validation` or `test`, as its task file says or the registry of splits
    (`registries/splits`); empty in runs of earlier versions, and until it is planned. Published tasks have the split
    that their template is published in."""
    split_version: Annotated[int | None, Int32] = None
    """The version of the registry that decided `split`; None: the task's file names it, or nobody did."""


def task_id(
    *,
    site: str,
    site_version: str | None,
    template_id: str | None,
    seed: int,
    start_url: str,
    instruction: str | None,
    parameters: JsonObject,
    expect: Expectation | None = None,
    files: Sequence[TaskFile] = (),
    page: PageFacts | None = None,
    user: str | None = None,
) -> str:
    """Return the identity of a task: the hash of everything that decides the page and the goal.

    `template_id` is None for a task that is an instruction and a start URL; `instruction` is None where the template
    states the goal. `expect`, `files`, `page` and `user` count where they are stated.
    """
    content: JsonObject = {
        "site": site,
        "site_version": site_version,
        "template_id": template_id,
        "seed": str(seed),
        "start_url": start_url,
        "instruction": instruction,
        "parameters": parameters,
    }
    if expect is not None:
        content["expect"] = expect.model_dump(mode="json", exclude_defaults=True)
    if files:
        content["files"] = files_hash(files)
    if page is not None:
        content["page"] = page.model_dump(mode="json", exclude_defaults=True)
    if user is not None:
        content["user"] = user
    return content_hash(content)


SPLITS = ("train", "validation", "test")
"""The published splits, in their order."""
