"""Creates export formats by name from the values of flags: built-in formats and those of plug-ins.

A plug-in offers a class or a function that takes `FormatParts` and returns a `Format` or a `GroupFormat`
of the entry point's name. Its attribute `flags` lists the flags of `stepmill export` that it reads;
`needs_rejected` is true if it also uses rejected attempts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from pydantic import JsonValue

from registries.entry_points import Group
from registries.registry import Registry, callable_part, plugin_errors
from schemas.configuration.sections import RowKind
from schemas.errors import BadConfig
from schemas.tables.training_renderer import Renderer
from storage.export.atif import Atif
from storage.export.chat import Chat
from storage.export.openenv import OpenEnv
from storage.export.protocol import Format, GroupFormat
from storage.export.registry import (
    RENDERED,
    FormatName,
    MessageShape,
    Pictures,
    Spelling,
    StepChoice,
)
from storage.export.scripts.playwright import PlaywrightScripts
from storage.export.training_rows import Grounding, Preference, TrainingRows
from storage.export.verifiers import Verifiers
from storage.publish.training.options import SystemPrompt
from storage.publish.training.preference import PairMaker
from storage.publish.training.rows import RowMaker

FLAGS = ("dialect", "shape", "pictures", "steps", "system", "spelling")
"""The flags of `stepmill export` that only some formats have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatParts:
    """The values of the flags that a format is created with."""

    renderer: Renderer | None = None
    """Writes episodes in a dialect's words; None for a format without the flag `dialect`."""
    shape: MessageShape = MessageShape.OPENAI
    """How the parts of a message are written."""
    pictures: Pictures = Pictures.FILES
    """Where pictures are."""
    steps: StepChoice = StepChoice.ALL
    """The replies that are learnt."""
    system: SystemPrompt = SystemPrompt.ROW
    """Where the system prompt is."""
    spelling: Spelling = Spelling.COLUMNS
    """How rows hold their pictures."""


@dataclass(frozen=True, slots=True)
class FormatPart:
    """The factory of one format, with the flags that it reads."""

    make: Callable[[FormatParts], Format | GroupFormat]
    """Creates the format."""
    flags: tuple[str, ...] = ()
    """The flags among `FLAGS` that it reads."""
    needs_rejected: bool = False
    """Whether it also uses rejected attempts."""


def _renderer(parts: FormatParts) -> Renderer:
    if parts.renderer is None:
        raise ValueError(f"this format needs a renderer, as {RENDERED} and grounding do")
    return parts.renderer


def _chat(parts: FormatParts) -> Format:
    return Chat(_renderer(parts), shape=parts.shape, pictures=parts.pictures, steps=parts.steps)


def _rows(kind: RowKind) -> Callable[[FormatParts], Format]:
    """Return the factory of the format for one kind of training rows."""

    def make(parts: FormatParts) -> Format:
        only_good = parts.steps is StepChoice.GOOD
        maker = RowMaker(kind, _renderer(parts), parts.system, only_good=only_good)
        return TrainingRows(maker, spelling=parts.spelling)

    return make


def _lance(_: FormatParts) -> Format:
    """Return the format `lance`, whose library is an extra."""
    try:
        from storage.export.lance_steps import LanceSteps  # noqa: PLC0415
    except ImportError as error:
        raise BadConfig(f"--format: {error}") from error
    return LanceSteps()


def _adapt(found: object) -> FormatPart:
    make = cast("Callable[[FormatParts], Format | GroupFormat]", callable_part(found))
    flags: object = getattr(found, "flags", ())
    if not (isinstance(flags, tuple) and set(flags) <= set(FLAGS)):
        raise TypeError(f"its flags should be a tuple of some of {', '.join(FLAGS)}")
    return FormatPart(make, flags, bool(getattr(found, "needs_rejected", False)))


FORMATS = Registry[FormatPart](
    Group.FORMATS,
    {
        FormatName.CHAT: FormatPart(_chat, ("dialect", "shape", "pictures", "steps")),
        FormatName.ATIF: FormatPart(lambda _: Atif()),
        FormatName.GROUNDING: FormatPart(lambda parts: Grounding(_renderer(parts))),
        FormatName.VERIFIERS: FormatPart(
            lambda parts: Verifiers(pictures=parts.pictures), ("pictures",)
        ),
        FormatName.SFT: FormatPart(_rows(RowKind.SFT), ("dialect", "steps", "system", "spelling")),
        FormatName.PREFERENCE: FormatPart(
            lambda parts: Preference(PairMaker(_renderer(parts), parts.system)),
            ("dialect", "system"),
            needs_rejected=True,
        ),
        FormatName.KTO: FormatPart(_rows(RowKind.KTO), ("dialect", "system"), needs_rejected=True),
        FormatName.STEP_LABELS: FormatPart(_rows(RowKind.STEP_LABELS), ("dialect", "system")),
        FormatName.OPENENV: FormatPart(
            lambda parts: OpenEnv(pictures=parts.pictures), ("pictures",)
        ),
        FormatName.LANCE: FormatPart(_lance),
        FormatName.PLAYWRIGHT: FormatPart(lambda _: PlaywrightScripts()),
    },
    adapt=_adapt,
)
"""Every format by the name that the command line uses."""

NEEDS_REJECTED = tuple(name for name, part in FORMATS.built_in.items() if part.needs_rejected)
"""Formats that ship and whose rows are made of rejected attempts too."""


def find_format(name: str) -> FormatPart:
    """Return the factory and flags of the format of that name.

    Raises:
        NotFound: no format has this name.
        BadConfig: its plug-in cannot be used.
    """
    return FORMATS.get(name, key="--format")


def check_options(name: str, given: Mapping[str, JsonValue]) -> None:
    """Refuse options that a format does not have.

    Raises:
        BadConfig: the caller gave an option that the format does not have.
    """
    own = find_format(name).flags
    for option, value in given.items():
        if value is not None and option not in own:
            having = (str(key) for key, part in FORMATS.built_in.items() if option in part.flags)
            raise BadConfig(
                f"--{option}: '{name}' has no such option; it is for {' and '.join(having)}"
            )


def check_rejected(name: str, *, include_rejected: bool) -> None:
    """Refuse a format that needs rejected attempts if the export leaves them out.

    Raises:
        BadConfig: `include_rejected` is false.
    """
    if find_format(name).needs_rejected and not include_rejected:
        raise BadConfig(
            f"--format {name}: its rows tell good replies from bad ones, and rejected attempts, which "
            "have most of the bad ones, are left out; add --include-rejected, or "
            "--set publish.include_rejected=true"
        )


def make_format(name: str, parts: FormatParts) -> Format | GroupFormat:
    """Return the format of that name; those with the flag `dialect` need a renderer.

    Raises:
        NotFound: no format has this name.
        BadConfig: its plug-in cannot be used.
    """
    part = find_format(name)
    if FORMATS.plugin(name) is None:
        return part.make(parts)
    with plugin_errors(f"--format: '{name}'", "it is not made"):
        made = part.make(parts)
    if made.name != name:  # the export's manifest would name another
        raise BadConfig(
            f"--format: the format '{name}' calls itself '{made.name}': its name should be '{name}'"
        )
    return made
