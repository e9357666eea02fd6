"""The formats by name, with what the help shows of each; nothing heavy is imported here.

Each page says which files the folder has afterwards and which program reads them. A new format needs a
member and a page here, and a case in `storage.export.export.make_format`.
"""

from collections.abc import Mapping
from enum import StrEnum


class FormatName(StrEnum):
    """The name of a format."""

    CHAT = "chat"
    """Conversations to train a model on."""
    ATIF = "atif"
    """Agent Trajectory Interchange Format."""
    GROUNDING = "grounding"
    """Pictures with an instruction and the place it means."""
    VERIFIERS = "verifiers"
    """Traces of the verifiers library."""


class MessageShape(StrEnum):
    """How the parts of a message are written."""

    OPENAI = "openai"
    """`image_url` parts; a message of one text is that text."""
    QWEN = "qwen"
    """`image` parts; every message is a list of parts."""


class Pictures(StrEnum):
    """Where a line's pictures are."""

    FILES = "files"
    """Beside the lines, which name them relative to the folder."""
    DATA = "data"
    """In the lines, as data URLs."""


class StepChoice(StrEnum):
    """Which replies are learnt."""

    ALL = "all"
    """Those of every step that was carried out."""
    GOOD = "good"
    """Those of steps that `steps` calls useful or neutral."""


PAGES: Mapping[FormatName, str] = {
    FormatName.CHAT: """\
chat: conversations that train a model of a dialect, as it would have been prompted

  <split>.jsonl                      one line a segment
  images/<episode>/<step>.jpg        the pictures as sent, unless --pictures data

A line has `messages` (system, task, observations, replies) and a `loss_mask` of 0 and 1, one for
each message. An episode gives one line for each stretch of its prompt that only grew; where older
pictures gave way (policy.keep_images, policy.slack_images) a new line begins, which repeats the
earlier replies with a 0. So every reply is learnt once, under the very prompt it answers.
A reply that needs what no picture of its own prompt shows any more has a 0 too; `masked` says why.
An action that the dialect has no words for ends its episode there, and is counted: `cut` where
something came before it, else `skipped`.

  --dialect NAME       whose words: holotron, holo1_5, holo2, holo1, ui_tars, computer_use, claude;
                       the run's own by default, else holotron
  --shape openai|qwen  image_url parts, or Qwen-VL's image parts
  --pictures files|data
  --steps all|good     good: only replies of steps that the verifier `steps` calls useful or neutral
                       are learnt; the others stay, with a 0 and the reason""",
    FormatName.ATIF: """\
atif: Agent Trajectory Interchange Format v1.8, pictures included

  <split>/<episode>/trajectory.json    one document an episode
  <split>/<episode>/images/<step>.jpg  what was seen before each action, and at the end

Actions are tool calls, what came of them their observations; the reward and what the run's rule
makes of the episode stand in the root's `extra`.""",
    FormatName.GROUNDING: """\
grounding: a picture, words, and the point and box that they mean

  <split>.jsonl                    one line for each step that points at an element with a name
  images/<episode>/<step>.jpg      the screenshots

`point` and `box` (left, top, right, bottom) are pixels of the picture, `point_norm` and `box_norm`
parts of it. `negatives` are elements that are alike or near, and not meant. A step whose words
are not in sight, or would fit another element too, is left out, and counted.""",
    FormatName.VERIFIERS: """\
verifiers: traces of the verifiers library (Trace v1)

  <split>.jsonl                    one trace a line, as the library's `WireTrace` reads it
  images/<episode>/<step>.jpg      the screenshots, unless --pictures data

An episode that asked an engine is the graph of its messages, with token ids, masks and
log-probabilities where the engine gave them; one that did not is messages only, not trainable.

  --pictures files|data""",
}
"""The help text of each format."""

SUMMARIES: Mapping[FormatName, str] = {
    name: page.partition("\n")[0].partition(": ")[2] for name, page in PAGES.items()
}
"""The summary of each format for the list of formats."""
