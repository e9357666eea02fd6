"""The dataset card, `README.md`, which describes the files to the Hub and `datasets`, and the data to people.

`loading` writes the front matter. The text describes the dataset's contents, the meaning of acceptance,
the policies, the yields by policy and template, the limits, and the columns. The card is a pure function
of the plan and its files: it names no day, no machine and no place except the name that readers use. It
invents no licence: the publisher states what the pages, the tasks and the model allow, and the card
repeats it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from registries.splits.registry import registry_version
from schemas.base import canonical_json
from schemas.configuration.sections import AcceptSection, RowKind
from schemas.tasks.task import SPLITS
from storage.lake.withdrawals import Withdrawal
from storage.publish.card.acceptance_text import acceptance_lines, proof_lines
from storage.publish.card.columns import column_lines
from storage.publish.card.contact_sheet import sheet_lines
from storage.publish.card.escape import bibtex, markdown
from storage.publish.card.filmstrip import Film, film_lines
from storage.publish.card.limits import languages, limit_lines
from storage.publish.card.loading import DatasetName, front_matter, loading_lines
from storage.publish.card.selection_text import selection_lines
from storage.publish.card.survey import Survey
from storage.publish.card.words_text import words_lines
from storage.publish.card.yields import policy_lines, template_lines, template_yields
from storage.publish.plan.manifest import (
    CONTACT_SHEET,
    FILMSTRIP,
    LENGTH_PLOT,
    YIELD_PLOT,
    PublishedFile,
    null_columns_by_config,
    rows_by_config,
)
from storage.publish.plan.plan import PublishPlan, TrainingTerms
from storage.publish.plan.selection import Selection
from storage.publish.plan.splits import Splits
from storage.run_file import RunFile

MAX_PROVENANCE_CHARS = 600
"""The maximum length of one entry of the program's provenance."""

_CONTENTS = {
    "trajectories": "one row an episode: the task in words, who acted, how it ended, "
    "what the verifiers made of it",
    "steps": "one row a step, the final state included: the screenshot before the action, "
    "the policy's thought, the action, the element under it, what it did for the task",
    "tasks": "every task attempted, whether or not an attempt was accepted",
    "attempts": "one row an attempt, accepted or not: who made it, how it ended, what was decided and why",
    "results": "one row a task and policy: attempts, successes, pass@k, the interval of the success rate",
    "verdicts": "one row a judgement of a verifier, of every attempt",
    "observations": "the elements on the page and what the picture shows, at each step, as JSON",
    "calls": "one row a call of the engine: messages, reply, tokens",
    "prompts": "the system prompts the calls refer to",
    "sft": "training rows: one row a reply of an accepted attempt, under its very prompt, pictures included",
    "preference": "training rows: two replies to one prompt, an accepted attempt's and a rejected one's",
    "kto": "training rows: one reply each, wanted or not",
    "step_labels": "training rows: one reply each, with what its step did for the task",
    "grounding": "training rows: a picture, words, and the point and box that they refer to",
}

_ORIGINS = {
    "site": "Sites",
    "policy": "Policies",
    "policy_kind": "Kinds of policy",
    "model": "Models",
    "browser": "Browsers",
    "browser_version": "Browser versions",
    "code_version": "Made by version",
}


@dataclass(frozen=True, slots=True)
class CardFacts:
    """The inputs of a card."""

    plan: PublishPlan
    """The plan of the dataset."""
    files: Sequence[PublishedFile]
    """The data files."""
    run: RunFile
    """The run that the dataset is from."""
    rule: AcceptSection
    """The rule of acceptance."""
    name: DatasetName
    """The name by which readers load it."""
    license: str | None
    """The licence that the publisher states; None if it states no licence."""
    survey: Survey
    """Counts beside those of the plan's selection."""
    film: Film | None
    """The trajectory that the card shows; None if none is accepted."""
    pages: Sequence[bytes]
    """The pictures of the contact sheet; empty if no trajectory is published."""
    withdrawn: Sequence[Withdrawal] = ()
    """The episodes that were withdrawn from this dataset."""


def make_card(facts: CardFacts) -> str:
    """Return the text of `README.md`."""
    head = front_matter(
        title_of(facts.run),
        facts.files,
        license_name=facts.license,
        languages=languages(facts.plan.selection),
    )
    return "\n".join(["---", *head, "---", "", *_text(facts), ""])


def title_of(run: RunFile) -> str:
    """Return the name of a run's dataset, that of its configuration."""
    section = run.config.get("run")
    name = section.get("name") if isinstance(section, dict) else None
    return name if isinstance(name, str) and name.strip() else "stepmill"


def _text(facts: CardFacts) -> Iterator[str]:
    selection, counts = facts.plan.selection, facts.survey
    yield f"# {markdown(title_of(facts.run))}"
    yield ""
    yield "Web-agent trajectories made by Stepmill: policies acted on the pages of the sites below, in a browser,"
    yield "and every attempt was recorded step by step. Whether a task was done is the site's own word; what was"
    yield "checked beside it, and what that proves, is said below."
    yield ""
    yield from film_lines(facts.film, FILMSTRIP)
    yield from sheet_lines(facts.pages, CONTACT_SHEET)
    sections = {
        "Load it": ["```python", *loading_lines(facts.files, facts.name), "```"],
        "What it holds": [*_contents(facts.plan, facts.files), *withdrawn_lines(facts.withdrawn)],
        "What was accepted": [
            *acceptance_lines(selection, facts.rule),
            *selection_lines(selection),
        ],
        "What that proves, and what not": proof_lines(selection, facts.rule),
        "Who acted": policy_lines(selection, counts),
        "Yield by template, worst first": _yields(selection),
        "How goals and thoughts were made": words_lines(counts),
        "Limits and known biases": limit_lines(selection, counts),
        "How it was made": _provenance(facts),
        "Licence": licence_lines(facts.license),
        "Citation": _citation(facts),
        "Columns": column_lines(rows_by_config(facts.files)),
    }
    for heading, lines in sections.items():
        yield from ("", f"## {heading}", "", *lines)


def _contents(plan: PublishPlan, files: Sequence[PublishedFile]) -> Iterator[str]:
    yield from config_lines(files)
    yield ""
    yield from training_lines(plan.training, files)
    yield from null_column_lines(files)
    yield ""
    yield from _splits(plan.selection, files)


def withdrawn_lines(withdrawn: Sequence[Withdrawal]) -> Iterator[str]:
    """Yield how many episodes were withdrawn, if any were."""
    if withdrawn:
        noun = "episode was" if len(withdrawn) == 1 else "episodes were"
        yield ""
        yield f"{len(withdrawn):,} {noun} withdrawn and left no row here: `withdrawn` of `manifest.json` says why."


def config_lines(files: Sequence[PublishedFile]) -> Iterator[str]:
    """Yield the table of the configs, with their rows by split."""
    yield f"| config | {' | '.join(SPLITS)} | holds |"
    yield f"|---|{'---:|' * len(SPLITS)}---|"
    for config, splits in rows_by_config(files).items():
        counts = " | ".join(f"{splits.get(split, 0):,}" for split in SPLITS)
        yield f"| `{config}` | {counts} | {_CONTENTS[config]} |"


def training_lines(terms: TrainingTerms | None, files: Sequence[PublishedFile]) -> Iterator[str]:
    """Yield the dialect of the training rows, and the kinds without rows."""
    if terms is None:
        return
    made = rows_by_config(files)
    dialect = terms.renderer.about["dialect"]
    if any(name in made for name in terms.configs if name != RowKind.GROUNDING):
        yield f"Replies in training rows, and the prompts before them, are in the words of `{dialect}`, whoever acted."
    empty = [f"`{name}`" for name in terms.configs if name not in made]
    if empty:
        yield f"No attempt here gives a row of {' or '.join(empty)}."
    yield ""


def _yields(selection: Selection) -> Iterator[str]:
    yield f"![How the episodes of each template stand]({YIELD_PLOT})"
    yield ""
    yield f"![How many actions the published episodes took]({LENGTH_PLOT})"
    yield ""
    yield "The yield is the share of accepted episodes among those that were judged to the end; the interval is"
    yield "Wilson's, as if no episode depended on another."
    yield ""
    yield from template_lines(template_yields(selection), selection.splits.by_template)


def _splits(selection: Selection, files: Sequence[PublishedFile]) -> Iterator[str]:
    splits = selection.splits
    held = splits.with_any({one.template_id for one in selection.published})
    noun = "group" if splits.count == 1 else "groups"
    yield f"Version {registry_version()} of Stepmill's registry of splits decides the split of a task by its content,"
    yield "before anybody attempts it. Templates that share a page or a goal's wording are one group, and so is a"
    yield f"family of worlds; a group is in one split, with all its seeds: {splits.count:,} {noun}, {_by_split(splits)}."
    if held.count < splits.count:
        yield f"Those with trajectories here are {held.count:,}: {_by_split(held)}."
    if splits.elsewhere:
        noun = "template is" if len(splits.elsewhere) == 1 else "templates are"
        yield f"{len(splits.elsewhere):,} {noun} in another split than the registry says: a task file names it,"
        yield "or this run had published it before."
    if not any(splits.group_counts[split] for split in SPLITS[1:]):
        yield "No group of this run is in `validation` or `test`: everything is in train, and nothing is held out."
    elif not held.is_conclusive:
        yield "`validation` or `test` holds less than a twentieth of the groups: too little to conclude from."
    rows = rows_by_config(files).get("trajectories", {})
    empty = [f"`{split}`" for split in SPLITS if not rows.get(split)]
    if empty:
        yield f"No trajectory is in {' or '.join(empty)}."
    yield from _families(selection)
    held_back = sum(one.task_id in splits.held_back for one in selection.candidates)
    if held_back:
        yield f"{held_back:,} episodes of {len(splits.held_back):,} tasks are held back: an earlier split has their goal"
        yield "or their first picture."


def _families(selection: Selection) -> Iterator[str]:
    """Yield the split of each family of worlds."""
    families = selection.splits.families
    if not families:
        return
    named = {
        split: sorted(name for name in families if families[name] == split) for split in SPLITS
    }
    yield "Worlds are split by their families, whole and with all their worlds:"
    yield (
        "; ".join(
            f"{', '.join(f'`{name}`' for name in names)} in {split}"
            if names
            else f"none in {split}"
            for split, names in named.items()
        )
        + "."
    )
    yield "Families have kinds of tasks and their wordings in common; no world, first picture or goal of a split is"
    yield "in another."


def _by_split(splits: Splits) -> str:
    return ", ".join(f"{splits.group_counts[split]:,} in {split}" for split in SPLITS)


def _provenance(facts: CardFacts) -> Iterator[str]:
    origins: Mapping[str, Counter[str]] = facts.plan.selection.origins
    yield "| | |"
    yield "|---|---|"
    for column, title in _ORIGINS.items():
        values = sorted((v, n) for v, n in origins.get(column, Counter()).items() if v)
        if values:
            shown = ", ".join(f"{markdown(value)} ({count:,})" for value, count in values)
            yield f"| {title} (episodes) | {shown} |"
    judges = sorted(facts.plan.selection.judges.items())
    if judges:
        shown = ", ".join(f"{markdown(' '.join(judge))} ({count:,})" for judge, count in judges)
        yield f"| Verifiers, with version (episodes) | {shown} |"
    yield f"| Run | {markdown(facts.plan.run_id)}, version {facts.plan.version} |"
    yield f"| Begun | {facts.run.created_at:%Y-%m-%d} |"
    for key, value in sorted(facts.run.provenance.items()):
        yield f"| {markdown(key)} | {markdown(_in_words(value), max_chars=MAX_PROVENANCE_CHARS)} |"
    yield ""
    yield "Pictures are the screenshots as they were recorded before each action, byte for byte."
    if "calls" in rows_by_config(facts.files):
        yield "Where a model was sent a resized copy, `sent_width` and `sent_height` of `calls` say its size."
    yield "`manifest.json` lists every file with its rows, size and SHA-256."


def _in_words(value: JsonValue) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(inner)}" for key, inner in sorted(value.items()))
    return value if isinstance(value, str) else canonical_json(value)


def licence_lines(name: str | None) -> Iterator[str]:
    """Yield the licence that is stated; None: none is."""
    if name is None:
        yield "No licence is stated here. What may be done with the data follows from the pages it"
    else:
        yield f"Licence: {markdown(name)}. Beside it stands what follows from the pages it"
    yield "shows, the tasks it poses and the model that acted."


def _citation(facts: CardFacts) -> Iterator[str]:
    """Yield an entry for BibTeX, without fields that the publisher did not state, such as author and DOI."""
    run, plan = facts.run, facts.plan
    made = f"Version {plan.version} of the run {plan.run_id}, begun on {run.created_at:%Y-%m-%d}"
    yield "```bibtex"
    yield f"@misc{{stepmill-{plan.run_id[:8]}-v{plan.version},"
    yield f"  title = {{{{{bibtex(title_of(run))}}}}},"
    yield f"  year = {{{run.created_at:%Y}}},"
    yield f"  note = {{{made}; web-agent trajectories made by Stepmill}},"
    if facts.name.is_repository:
        yield f"  howpublished = {{\\url{{https://huggingface.co/datasets/{facts.name.name}}}}},"
    yield "}"
    yield "```"


def null_column_lines(files: Sequence[PublishedFile]) -> Iterator[str]:
    """Yield the columns without a value in any row, config by config."""
    nulls = null_columns_by_config(files)
    if not nulls:
        yield "The columns are the same from run to run, and each has a value in some row here."
        return
    yield "The columns are the same from run to run. These have no value in any row here:"
    yield ""
    for config, names in nulls.items():
        yield f"* `{config}`: {', '.join(f'`{name}`' for name in names)}"
