"""The table behind `stepmill engine plan`: an engine's cost by viewport, before any engine is started.

A row gives, for one viewport, the sent picture and its size for the model, its tokens, its legibility, and
the steps a second to expect from one GPU. Rows are arithmetic over published and simulated figures for an
H100, each with its source; nothing is measured here. They compare viewports; only a benchmark of the real
engine gives its real speed.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from pydantic import Field

from generators.policy.dialects.image_size import Tiled
from generators.policy.dialects.protocol import Dialect
from schemas.base import Record
from schemas.configuration.picture_sizes import MODEL_VIEWPORT

VIEWPORTS = (
    *((1_024, 512), (1_024, 768), (1_024, 1_024), (1_200, 1_200), (1_204, 1_204)),
    *((1_280, 640), (1_280, 720), (1_280, 800), (1_280, 1_024), (1_366, 768)),
    *((1_440, 900), (1_536, 1_024), (1_536, 1_536), (1_920, 1_080), (2_048, 1_024)),
)
"""Planned unless the user names others: common screens, and sizes of the tile grid."""

TOKENS_PER_SECOND: Mapping[str, tuple[float, str]] = {
    "holotron": (
        8_900.0,
        (
            "H Company's Holotron-12B post: prompt and reply together, one H100, vLLM 0.14.1, "
            "WebVoyager at 100 workers, no prefix cache"
        ),
    ),
    "holo2": (
        5_100.0,
        (
            "H Company's Holotron-12B post, for Holo2-8B: prompt and reply together, one H100, "
            "no prefix cache"
        ),
    ),
}
"""Tokens a second of a GPU by dialect, with the source; of other dialects none was published."""

CACHED_SHARES = ((768, 0.16), (1_280, 0.21), (1_792, 0.245), (2_560, 0.31))
"""Tokens of a picture, and the share of the published loop's tokens that is left with a cache."""

CACHE_SOURCE = (
    "simulated for Holotron's cache, 1 picture kept and 2 of slack, episodes of 8 to 40 steps, cache blocks of 672 "
    "tokens, states saved where prompts part (vLLM 0.32); an upper bound, as decoding and the "
    "cache's size are left out"
)
"""The source of the shares. The same simulation, with decoding and the cache's size included, gave 2.9
steps a second at 1,280 tokens a picture and 64 to 100 live episodes, with 16-bit states on an H100."""

_PUBLISHED_PICTURES = 3
_PUBLISHED_TOKENS = 2_560
_SAMPLED_KEEP, _SAMPLED_SLACK = 1, 2


class PromptMemory(Record):
    """What a prompt takes of a GPU's memory, and where a prefix of it is found again."""

    token_bytes: int
    """Bytes for each token, in the layers with attention, at 16 bits."""
    state_bytes: int = 0
    """Bytes of the states of the other layers, at 32 bits, whatever the length; 0: every layer has attention."""
    block_tokens: int = 16
    """Tokens of a block of the prefix cache."""
    source: str
    """Where the figures are from."""


_COMPUTED = "computed from the published configuration, not run here"
_QWEN_35B = PromptMemory(
    token_bytes=10 * 2_048,
    state_bytes=30 * 2_146_304,
    block_tokens=1_056,
    source=f"35B-A3B: 30 gated-delta layers of 40; {_COMPUTED}",
)
_NEMOTRON_30B = PromptMemory(
    token_bytes=6 * 1_024,
    state_bytes=23 * 2_134_016,
    block_tokens=2_096,
    source=f"30B-A3B: 23 Mamba layers of 52, 6 with attention; {_COMPUTED}",
)

MEMORY: Mapping[str, PromptMemory] = {
    "holotron": PromptMemory(
        token_bytes=24_576,
        state_bytes=148_865_024,
        block_tokens=1_312,
        source="12B: 28 Mamba layers of 62, 6 with attention; vLLM's own blocks",
    ),
    "holo2": PromptMemory(token_bytes=147_456, source="8B: attention in all 36 layers"),
    **dict.fromkeys(("holo3", "holo3_1", "holo4"), _QWEN_35B),
    **dict.fromkeys(("holotron3", "holotron4"), _NEMOTRON_30B),
}
"""By dialect, of the size of model that runs on one GPU; of the families that are not here it depends on the size."""


class Workload(Record):
    """The assumed tokens and pictures of an episode's steps."""

    steps: int = Field(default=15, ge=1, le=1_000)
    """Steps of an episode; a WebVoyager task takes 15 to 18."""
    system_tokens: int = Field(default=1_800, ge=0)
    """System prompt and task."""
    text_tokens: int = Field(default=300, ge=0)
    """Text that each earlier step leaves in the prompt."""
    placeholder_tokens: int = Field(default=8, ge=0)
    """Tokens left by an evicted picture."""
    reply_tokens: int = Field(default=150, ge=0)
    """Tokens of a reply."""
    keep_images: int = Field(default=_SAMPLED_KEEP, ge=1)
    """Pictures kept after an eviction."""
    slack_images: int = Field(default=_SAMPLED_SLACK, ge=0)
    """Pictures let in beyond that."""


class PlanRow(Record):
    """The cost of one viewport."""

    width: int
    """Width of a screenshot, px; in CSS px of its viewport if the device scale factor is 1."""
    height: int
    """Height of a screenshot, px."""
    sent_width: int
    """Width of the picture as sent, px."""
    sent_height: int
    """Height of the picture as sent, px."""
    seen_width: int
    """Width of the picture as the model's vision gets it, px."""
    seen_height: int
    """Height of the picture as the model's vision gets it, px."""
    grid: tuple[int, int] | None = None
    """Tiles across and down; None where the family has no tiles."""
    image_tokens: int
    """Prompt tokens of one picture."""
    legibility: float
    """Seen px per px of the screenshot on the worse axis; below 1 small print is lost."""
    on_grid: bool
    """The model sees the screenshot pixel by pixel, stretched on neither axis."""
    default: bool
    """The largest screenshot that a run of the configuration may have."""
    tokens_per_step: float
    """Prompt and reply, averaged over an episode, all of it computed."""
    steps_per_second: float | None = None
    """Steps a second of one GPU without a prefix cache; None if no rate was published."""
    cached_tokens_per_step: float | None = None
    """Tokens still computed with a prefix cache; None where that was not simulated."""
    cached_steps_per_second: float | None = None
    """Largest number of steps a second of one GPU with a prefix cache; None if either figure is unknown."""


class CapacityPlan(Record):
    """The table, and the assumptions of its figures."""

    dialect: str
    """The dialect of the pictures."""
    workload: Workload
    """The assumed tokens and pictures of an episode's steps."""
    rows: tuple[PlanRow, ...]
    """The rows by viewport, the cheapest picture first."""
    rate_source: str
    """The source of a GPU's rate."""
    cache_source: str
    """The source of a cache's effect."""
    memory: PromptMemory | None = None
    """What a prompt takes of a GPU's memory; None: not known."""


def plan(
    dialect: Dialect,
    *,
    own: tuple[int, int] = MODEL_VIEWPORT,
    viewports: Sequence[tuple[int, int]] = VIEWPORTS,
    workload: Workload | None = None,
) -> CapacityPlan:
    """Return the cost of each viewport in a dialect, the cheapest picture first.

    `own` is the size of the largest screenshot of the planned run, px.
    """
    work = workload or Workload()
    sizes = sorted({*viewports, own})
    rows = [_row(dialect, size, work, is_own=size == own) for size in sizes]
    return CapacityPlan(
        dialect=dialect.name,
        workload=work,
        rows=tuple(sorted(rows, key=lambda row: row.image_tokens)),
        rate_source=TOKENS_PER_SECOND.get(dialect.name, (0.0, "no rate was published"))[1],
        cache_source=CACHE_SOURCE if _is_simulated(work) else "simulated for 1 kept and 2 of slack",
        memory=MEMORY.get(dialect.name),
    )


def tokens_per_step(image_tokens: int, work: Workload) -> float:
    """Return the tokens of a prompt and its reply, averaged over the steps of an episode."""
    pictures = [1]  # in the prompt of each step
    for _ in range(work.steps - 1):
        full = pictures[-1] == work.keep_images + work.slack_images
        pictures.append(work.keep_images if full else pictures[-1] + 1)
    evicted = [step + 1 - shown for step, shown in enumerate(pictures)]
    text = work.text_tokens * (work.steps - 1) / 2
    seen = sum(pictures) * image_tokens + sum(evicted) * work.placeholder_tokens
    return work.system_tokens + text + seen / work.steps + work.reply_tokens


def _row(dialect: Dialect, viewport: tuple[int, int], work: Workload, *, is_own: bool) -> PlanRow:
    sent = dialect.sent_size(*viewport)
    rule = dialect.pictures
    seen = rule.seen_size(*sent)
    tokens = dialect.image_tokens(*viewport)
    rate = TOKENS_PER_SECOND.get(dialect.name, (None, ""))[0]
    computed = tokens_per_step(tokens, work)
    cached = _uncached_tokens(tokens, work)
    return PlanRow(
        width=viewport[0],
        height=viewport[1],
        sent_width=sent[0],
        sent_height=sent[1],
        seen_width=seen[0],
        seen_height=seen[1],
        grid=rule.grid(*viewport) if isinstance(rule, Tiled) else None,
        image_tokens=tokens,
        legibility=min(seen[0] / viewport[0], seen[1] / viewport[1]),
        on_grid=seen == viewport,
        default=is_own,
        tokens_per_step=computed,
        steps_per_second=None if rate is None else rate / computed,
        cached_tokens_per_step=cached,
        cached_steps_per_second=None if rate is None or cached is None else rate / cached,
    )


def _is_simulated(work: Workload) -> bool:
    return (work.keep_images, work.slack_images) == (_SAMPLED_KEEP, _SAMPLED_SLACK)


def _uncached_tokens(image_tokens: int, work: Workload) -> float | None:
    """Return the tokens that are still computed, from their share of the published loop's."""
    if not _is_simulated(work):
        return None
    loop = work.model_copy(update={"keep_images": _PUBLISHED_PICTURES, "slack_images": 0})
    # The share lies on the line between its neighbours in the table, or past the last of them.
    pairs = list(pairwise(CACHED_SHARES))
    below, above = next((pair for pair in pairs if image_tokens <= pair[1][0]), pairs[-1])
    slope = (above[1] - below[1]) / (above[0] - below[0])
    share = below[1] + (image_tokens - below[0]) * slope
    return share * tokens_per_step(_PUBLISHED_TOKENS, loop)
