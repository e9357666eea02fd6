"""The formats by name, with their help texts; the module imports nothing heavy.

Each page says which files the folder has afterwards and which program reads them. A new format needs a
member and a page here, and a row in `storage.export.format_factory.FORMATS`.
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
    SFT = "sft"
    """Rows of one reply each, to learn it."""
    PREFERENCE = "preference"
    """Rows of two replies to one prompt, the chosen and the rejected one."""
    KTO = "kto"
    """Rows of one reply each, wanted or not."""
    STEP_LABELS = "step_labels"
    """Rows of one reply each, labelled with its step's effect on the task."""
    OPENENV = "openenv"
    """Training traces of the OpenEnv library."""
    LANCE = "lance"
    """Steps with their pictures, to read at random."""
    PLAYWRIGHT = "playwright"
    """Tests of Playwright's that act as the episode did."""


RENDERED = (
    FormatName.CHAT,
    FormatName.SFT,
    FormatName.PREFERENCE,
    FormatName.KTO,
    FormatName.STEP_LABELS,
)
"""Formats that are written in a dialect's words."""


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
    """The replies that are learnt."""

    ALL = "all"
    """The replies of every step that was carried out."""
    GOOD = "good"
    """The replies of steps that were of use, by their label."""


class Spelling(StrEnum):
    """How rows hold their pictures, each as some trainers read them."""

    COLUMNS = "columns"
    """Parquet: in the column `images`, for `<image>` in strings and image parts alike."""
    IMAGE_URL = "image_url"
    """Lines: `prompt` and `completion` with `image_url` parts of data URLs."""
    IMAGE = "image"
    """Lines: `messages` with `image` parts of data URLs."""
    BASE64 = "base64"
    """Lines: `messages` with base64 parts, and `training`, true for the reply alone."""


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

  --dialect NAME       whose words: holotron, holotron3, holotron4, holo4, holo3_1, holo3,
                       holo1_5, holo2, holo1, qwen3_vl, gui_owl, fara, opencua,
                       ui_tars, computer_use, claude;
                       the run's own by default, else holotron
  --shape openai|qwen  image_url parts, or Qwen-VL's image parts
  --pictures files|data
  --steps all|good     good: only replies of steps that were of use (on_path, explores, recovery)
                       are learnt; the others stay, with a 0 and the reason""",
    FormatName.ATIF: """\
atif: Agent Trajectory Interchange Format v1.8, pictures included

  <split>/<episode>/trajectory.json    one document an episode
  <split>/<episode>/images/<step>.jpg  the screenshot before each action, and at the end

Actions are tool calls, their results the observations; the root's `extra` has the reward and the
result of the run's rule.""",
    FormatName.GROUNDING: """\
grounding: a picture, words, and the point and box that they mean

  <split>.jsonl                    one line for each step that points at something in sight
  images/<episode>/<step>.jpg      the screenshots

`expressions` say what distinguishes the target from all else in the picture: its words, its kind,
its place, its neighbours; `instruction` has the first. `point` and `box` (left, top, right, bottom)
are pixels of the picture, `point_norm` and `box_norm` parts of it. `negatives` are elements that
are alike or near, and not meant, each with an expression of its own. A step whose target nothing
distinguishes is left out, and counted.""",
    FormatName.VERIFIERS: """\
verifiers: traces of the verifiers library (Trace v1)

  <split>.jsonl                    one trace a line, as the library's `WireTrace` reads it
  images/<episode>/<step>.jpg      the screenshots, unless --pictures data

An episode that asked an engine is the graph of its messages, with token ids, masks and
log-probabilities where the engine gave them; one that did not is messages only, not trainable.

  --pictures files|data""",
    FormatName.SFT: """\
sft: rows that trainers load as they are, one reply each under its very prompt

  <split>-00000.parquet              rows, pictures included, unless --spelling says otherwise
  dataset_info.json                  the splits by name, as LLaMA-Factory looks for them

A row has the prompt twice: `prompt` and `completion` as lists of parts, and `messages` as strings in
which `<image>` stands for a picture. Both take their pictures from `images`, in order. Words of a
page that a trainer would take for a picture are escaped, as `&#60;image>`. A reply that is not to
be learnt gives no row, and is counted by the reason.

  --spelling columns|image_url|image|base64
                       columns: TRL, LLaMA-Factory, ms-swift, verl. Lines with the pictures in their
                       parts: image_url for prime-rl, image for SkyRL, base64 for Axolotl
  --system row|trainer the system prompt first in each row, or in the column `system` alone
  --dialect NAME       as with chat
  --steps all|good     good: only steps that were of use: on_path, explores, recovery""",
    FormatName.PREFERENCE: """\
preference: pairs of replies to one prompt, an accepted attempt's and a rejected one's

  <split>-00000.parquet              rows, pictures included
  dataset_info.json                  as with sft

The attempts at one task are compared from the first step. The first step at which two attempts act
differently under the same prompt gives the pair. Each rejected attempt gives one pair at most, if its
task was not done. Attempts without a pair are counted. `prompt`, `chosen` and `rejected` are parts;
`messages` with `rejected_response`, and `conversation` with `chosen_message` and `rejected_message`,
are strings. This format needs --include-rejected.

  --system row|trainer, --dialect NAME     as with sft""",
    FormatName.KTO: """\
kto: rows as those of sft, with a `label` that says whether the reply is wanted

  <split>-00000.parquet              rows, pictures included
  dataset_info.json                  as with sft

True is a step of an accepted attempt that was of use (on_path, explores, recovery), false a step that
the verifier `steps` labels a mistake or redundant, in any attempt. Steps of use in failed attempts give
no row, and are counted. Mistakes are mostly in rejected attempts, so this format needs --include-rejected.

  --system row|trainer, --dialect NAME     as with sft""",
    FormatName.STEP_LABELS: """\
step_labels: rows as those of sft, with what the verifier `steps` says of each step

  <split>-00000.parquet              rows, pictures included

`step_label` and `visible_change` are `label` and `visible_change` of the published steps; a step without
a label gives no row. An action that could not be carried out does: it is a mistake to be known as one.

  --system row|trainer, --dialect NAME     as with sft""",
    FormatName.OPENENV: """\
openenv: training traces of the OpenEnv library (TrainingTrace v1), with the engine's very tokens

  <split>.jsonl                    one attempt a line; `trace` is what the library reads
  images/<episode>/<step>.jpg      the screenshots, unless --pictures data

A turn of the trace is a call of the policy: token ids, log-probabilities, a loss mask over prompt and
reply, and in its metadata each picture with the range of tokens that stands for it. `reward` is null
where the site gave none. `group` names all exported attempts at the task and says which of them
failed for a reason outside the policy: these have masks of 0. An attempt of which a call has no token ids
or log-probabilities, as a teacher's, gives no line, and is counted. Rejected attempts are wanted here:
add --include-rejected.

  --pictures files|data""",
    FormatName.LANCE: """\
lance: steps with their pictures in Lance files, to read single ones at random

  <split>-00000.lance              one row a step

The columns are those of the published `steps`, beside the attempt's task, template and instruction and
whether it was accepted. `lance.file.LanceFileReader` reads a file. This format needs the extra `lance`:
pip install 'stepmill[lance]'""",
    FormatName.PLAYWRIGHT: """\
playwright: an episode as a test of Playwright's, in Python and in TypeScript

  <split>/test_<template>_<episode>.py       for pytest, or to run by itself
  <split>/<template>_<episode>.spec.ts       for @playwright/test

A test acts on elements by their roles and names, and ends with assertions of what the task expects. The
environment variable BASE_URL is the address of a server in the state that the task begins in, as
`stepmill worlds serve` gives one; CHROMIUM is the browser's program, without it Playwright's own;
TIMEOUT_MS is how long each step may wait. Clicks on named controls are counted by what names them:
`by_role`, `by_label`, `by_text`, `by_place`. An episode with an action that no call makes gives no test,
and is counted.""",
}
"""The help text of each format."""

SUMMARIES: Mapping[FormatName, str] = {
    name: page.partition("\n")[0].partition(": ")[2] for name, page in PAGES.items()
}
"""The summary of each format for the list of formats."""
