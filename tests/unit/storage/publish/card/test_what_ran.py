"""A sentence of the card stands where what it speaks of ran, and nowhere else."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from support.episodes.factories import make_verdict
from support.runs.memory_run import (
    STORAGE,
    TEST,
    TRAIN,
    VALIDATION,
    MemoryRun,
    commit_unit,
    make_run_file,
    small_run,
    tables_of,
)

from generators.sites.miniwob import NAME
from schemas.base import JsonObject
from schemas.configuration.sections import AcceptSection, PublishSection
from schemas.episodes.episode import Episode
from storage.publish.card.acceptance_text import PROOFS
from storage.publish.card.card import CardFacts, make_card
from storage.publish.card.limits import LANGUAGES, SITES
from storage.publish.card.loading import DatasetName
from storage.publish.card.survey import survey
from storage.publish.plan.manifest import PublishedFile
from storage.publish.plan.plan import PublishPlan, plan_files
from storage.publish.plan.selection import select
from storage.publish.publish import publish

ALL = ("structure", "outcome", "novelty", "replay", "seen")


def _card(
    run: MemoryRun,
    to: Path,
    *,
    rule: AcceptSection | None = None,
    include_rejected: bool = False,
) -> str:
    """Publish and return the card, each run of spaces as one."""
    asyncio.run(
        publish(
            run.seal(),
            make_run_file(),
            rule or AcceptSection(),
            str(to),
            terms=PublishSection(include_rejected=include_rejected),
            storage=STORAGE,
        )
    )
    return " ".join((to / "README.md").read_text(encoding="utf-8").split())


def _proofs(run: MemoryRun, rule: AcceptSection) -> str:
    """Return what the card says of acceptance and what it proves; no data file need lie anywhere."""
    tables = tables_of(run.seal())
    chosen = select(tables, rule, include_rejected=False)
    plan = plan_files(tables, chosen, run_id=make_run_file().run_id, shard_bytes=1 << 20)
    name = DatasetName("demo", is_repository=False)
    counts = survey(tables, chosen)
    facts = CardFacts(plan, [_FILE], make_run_file(), rule, name, None, counts, None, ())
    card = " ".join(make_card(facts).split())
    return card.partition("## What was accepted")[2].partition("## Who acted")[0]


_FILE = PublishedFile(
    path="data/steps/train.parquet",
    config="steps",
    split="train",
    rows=1,
    bytes=1,
    sha256="0" * 64,
    recipe="r",
)


def _run(*verifiers: str, version: str = "1", evidence: JsonObject | None = None) -> MemoryRun:
    """Return a run of two episodes that these verifiers passed."""
    run = MemoryRun()
    for episode in _unjudged(run):
        for name in verifiers:
            judged = make_verdict(episode, verifier=name, version=version)
            told = judged.evidence | (evidence or {})
            run.judge([judged.model_copy(update={"evidence": told})])
    return run


def _unjudged(run: MemoryRun) -> list[Episode]:
    """Commit two episodes without a verdict."""
    other = MemoryRun()
    episodes = commit_unit(other, 1, TRAIN, tasks=1, attempts=2)
    for table, parts in other.rows.items():
        if table != "verdicts":
            run.rows.setdefault(table, []).extend(parts)
    return episodes


def _changed(run: MemoryRun, name: str, values: Sequence[object]) -> MemoryRun:
    """Return `run` with other values in a column of its first unit's episodes and tasks."""
    for table in ("episodes", "tasks"):
        rows = run.rows[table][0]
        if name in rows.schema.names:
            place = rows.schema.get_field_index(name)
            field = rows.schema.field(place)
            column = pa.array([*values][: rows.num_rows], field.type)
            run.rows[table][0] = rows.set_column(place, field, column)
    return run


def _rule(*passed: str, min_reward: float = 1.0, **min_scores: float) -> AcceptSection:
    return AcceptSection(passed=passed, min_reward=min_reward, min_scores=min_scores)


_COPY: JsonObject = {"trajectory": "t", "course": "c", "pictures": ["0" * 64], "task": "a"}

Made = Callable[[], tuple[MemoryRun, AcceptSection]]

CHECKS: dict[str, tuple[str, Made, Made]] = {
    "nobody judged the reward": (
        "No verifier judged whether the site rewards the right thing.",
        lambda: (_run(*ALL), _rule(*ALL)),
        lambda: (_run(*ALL, "oracle"), _rule(*ALL, "oracle")),
    ),
    "a verifier of others judged": (
        "Verifiers that do not ship with Stepmill judged too: oracle.",
        lambda: (_run(*ALL, "oracle"), _rule(*ALL, "oracle")),
        lambda: (_run(*ALL), _rule(*ALL)),
    ),
    "outcome and replay are one source": (
        "`outcome` and `replay` read the same reward",
        lambda: (_run("outcome", "replay"), _rule("outcome", "replay")),
        lambda: (_run("outcome", "structure"), _rule("outcome", "structure")),
    ),
    "judged without being asked": (
        "The rule did not ask these, which judged all the same: steps.",
        lambda: (_run("outcome", "steps"), _rule("outcome")),
        lambda: (_run("outcome", "steps"), _rule("outcome", "steps")),
    ),
    "no replay was asked for": (
        "The rule did not ask for a replay.",
        lambda: (_run(*ALL), _rule("outcome")),
        lambda: (_run(*ALL), _rule("outcome", "replay")),
    ),
    "nothing was executed again": (
        "None of these episodes was executed again.",
        lambda: (_run("outcome"), _rule("outcome")),
        lambda: (
            _run("outcome", "replay", evidence={"tries": [{"agreed": True}]}),
            _rule("outcome"),
        ),
    ),
    "pictures were replayed": (
        "of the 2 episodes that a replay reproduced",
        lambda: (_run("outcome", "replay"), _rule("outcome")),
        lambda: (_run("outcome"), _rule("outcome")),
    ),
    "today's bounds held": (
        "such a picture is compared by its pixels",
        lambda: (_run("outcome", "replay", version="3"), _rule("outcome")),
        lambda: (_run("outcome", "replay", version="2"), _rule("outcome")),
    ),
    "earlier bounds held": (
        "2 of these episodes were replayed by an earlier version",
        lambda: (_run("outcome", "replay", version="2"), _rule("outcome")),
        lambda: (_run("outcome", "replay", version="3"), _rule("outcome")),
    ),
    "nothing looked for copies": (
        "Episodes here that nothing compared with others, to find copies: 2.",
        lambda: (_run("outcome"), _rule("outcome")),
        lambda: (_run("outcome", "novelty"), _rule("outcome")),
    ),
    "something looked for copies": (
        "Episodes rejected as copies of another one: 0. Near copies among those here: 0",
        lambda: (_run("outcome", "novelty"), _rule("outcome")),
        lambda: (_run("outcome"), _rule("outcome")),
    ),
    "copies are published": (
        "Exact copies among those here, with equal pictures and actions: 1",
        lambda: (_run("outcome", "novelty", evidence=_COPY), _rule("outcome")),
        lambda: (_run("outcome", "novelty", evidence=_COPY), _rule("outcome", "novelty")),
    ),
    "the rule's threshold": (
        "a raw reward of 0.5 or more counts as success.",
        lambda: (_run("outcome"), _rule("outcome", min_reward=0.5)),
        lambda: (_run("outcome"), _rule("outcome", min_reward=0.6)),
    ),
    "no reward was asked for": (
        "no reward is asked for, because `outcome` is not among them.",
        lambda: (_run("structure"), _rule("structure")),
        lambda: (_run("structure", "outcome"), _rule("structure", "outcome")),
    ),
    "a score was asked for": (
        "The score of replay must be at least 0.9.",
        lambda: (_run("outcome", "replay"), _rule("outcome", replay=0.9)),
        lambda: (_run("outcome", "replay"), _rule("outcome", replay=0.8)),
    ),
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_sentence_about_a_check_stands_where_it_ran_and_nowhere_else(
    name: str,
) -> None:
    sentence, ran, did_not = CHECKS[name]
    for made, stands in ((ran, True), (did_not, False)):
        proofs = _proofs(*made())
        assert proofs
        assert (sentence in proofs) is stands, proofs


@pytest.mark.parametrize("asked", [("outcome",), ("structure", "replay"), (*ALL, "steps"), ()])
def test_what_a_pass_says_stands_for_the_verifiers_that_the_rule_asked(
    asked: tuple[str, ...],
) -> None:
    proofs = _proofs(_run(*ALL, "steps"), _rule(*asked)).partition("## What that proves")[2]

    assert {name for name in PROOFS if f"| {name} | {PROOFS[name][0]} |" in proofs} == {*asked}


def test_a_card_says_whether_the_rejected_are_there(tmp_path: Path) -> None:
    alone, both = (
        _card(small_run(), tmp_path / str(rejected), include_rejected=rejected)
        for rejected in (False, True)
    )

    for said, card, other in (
        (
            "Only the accepted ones have trajectories and steps here; `attempts` has a row",
            alone,
            both,
        ),
        ("Those that were not accepted have trajectories here too", both, alone),
    ):
        assert said in card
        assert said not in other


@pytest.mark.parametrize(
    ("values", "said", "not_said"),
    [
        ([True] * 2, "In 2 of the 2 published episodes that record it", "did not record whether"),
        ([False] * 2, "In 0 of the 2 published episodes that record it", "did not record whether"),
        ([None] * 2, "Of 2 published episodes an earlier version did not", "that record it"),
    ],
    ids=["all", "none", "unknown"],
)
def test_privilege_is_said_where_it_is_recorded(
    tmp_path: Path, values: list[bool | None], said: str, not_said: str
) -> None:
    card = _card(_changed(_run(*ALL), "privileged", values), tmp_path)

    assert said in card
    assert not_said not in card


@pytest.mark.parametrize("kind", ["teacher", "clumsy", "model", "scripted"])
def test_only_kinds_that_acted_are_explained(tmp_path: Path, kind: str) -> None:
    run = _changed(_run(*ALL), "policy_kind", [kind] * 2)
    acted = _card(run, tmp_path).partition("## Who acted")[2].partition("## Yield")[0]

    explained = [
        one for one in ("teacher", "clumsy", "model", "scripted") if f"* `{one}`: " in acted
    ]
    assert explained == [kind]


@pytest.mark.parametrize(("kind", "stands"), [("clumsy", True), ("teacher", False)])
def test_mistakes_on_purpose_are_said_where_they_were_made(
    tmp_path: Path, *, kind: str, stands: bool
) -> None:
    run = MemoryRun()
    commit_unit(run, 1, TRAIN, tasks=1, attempts=2, rejects=[1])
    card = _card(_changed(run, "policy_kind", [kind] * 2), tmp_path)

    assert ("which makes mistakes on purpose, are 1 of 1 rejected episodes" in card) is stands


def test_a_site_that_does_not_ship_is_neither_described_nor_given_a_language(
    tmp_path: Path,
) -> None:
    shipped = _card(_run(*ALL), tmp_path / "shipped")
    foreign = _card(_changed(_run(*ALL), "site", ["shop"] * 2), tmp_path / "foreign")

    front = yaml.safe_load((tmp_path / "shipped/README.md").read_text().split("---\n")[1])
    other = yaml.safe_load((tmp_path / "foreign/README.md").read_text().split("---\n")[1])
    assert (front["language"], other.get("language")) == (["en"], None)
    for said, card, lacks in (
        ("* The goals are in English.", shipped, foreign),
        ("no page of the live web", shipped, foreign),
        ("* What the pages of the site shop are, the run does not record.", foreign, shipped),
        ("does not record which language the goals are in", foreign, shipped),
    ):
        assert said in card
        assert said not in lacks


def test_a_goal_of_an_unknown_site_leaves_the_language_of_all_unsaid(tmp_path: Path) -> None:
    _card(_changed(_run(*ALL), "site", ["miniwob", "shop"]), tmp_path)

    front = yaml.safe_load((tmp_path / "README.md").read_text().split("---\n")[1])
    assert "language" not in front


def test_the_sites_that_are_described_are_those_that_ship() -> None:
    assert set(SITES) == {NAME}
    assert {one.language for one in SITES.values()} == set(LANGUAGES)


def test_one_viewport_and_one_browser_are_said_to_be_one(tmp_path: Path) -> None:
    one = _card(_run(*ALL), tmp_path / "one")
    two = _card(
        _changed(_changed(_run(*ALL), "viewport_height", [48, 96]), "browser_version", ["1", "2"]),
        tmp_path / "two",
    )

    assert "Every page was shown in one viewport, 64 × 48 CSS px at scale 1." in one
    assert "One browser in one version drew all pages" in one
    assert "Pages were shown in 2 viewports: 64 CSS px wide, 48 to 96 high" in two
    assert "One browser in 2 versions drew all pages" in two


@pytest.mark.parametrize(
    ("rejects", "include_rejected", "stands"),
    [((0, 1, 2, 3), False, True), ((0, 1, 2, 3), True, False), ((0,), False, False)],
)
def test_what_nobody_managed_is_said_to_be_missing_where_it_is(
    tmp_path: Path, *, rejects: tuple[int, ...], include_rejected: bool, stands: bool
) -> None:
    run = _run(*ALL)
    commit_unit(run, 2, VALIDATION, rejects=rejects)
    card = _card(run, tmp_path, include_rejected=include_rejected)

    assert ("What no policy managed is missing from the trajectories" in card) is stands


@pytest.mark.parametrize(
    ("templates", "said"),
    [
        ((TRAIN,), "No trajectory is in `validation` or `test`."),
        ((TRAIN, VALIDATION), "No trajectory is in `test`."),
        ((TRAIN, VALIDATION, TEST), None),
    ],
    ids=["train alone", "no test", "all"],
)
def test_an_empty_split_is_said_to_be_empty(
    tmp_path: Path, templates: tuple[str, ...], said: str | None
) -> None:
    run = MemoryRun()
    for number, template in enumerate(templates):
        commit_unit(run, number, template)
    card = _card(run, tmp_path)

    if said is None:
        assert "No trajectory is in" not in card
    else:
        assert said in card


def test_resized_copies_are_spoken_of_where_a_model_was_asked(tmp_path: Path) -> None:
    asked, alone = MemoryRun(), MemoryRun()
    commit_unit(asked, 1, TRAIN, model=True)
    commit_unit(alone, 1, TRAIN)

    assert "Where a model was sent a resized copy" in _card(asked, tmp_path / "asked")
    assert "Where a model was sent a resized copy" not in _card(alone, tmp_path / "alone")


@pytest.mark.parametrize("is_repository", [True, False])
def test_the_citation_has_an_address_where_the_dataset_has_one(*, is_repository: bool) -> None:
    tables = tables_of(small_run().seal())
    chosen = select(tables, AcceptSection(), include_rejected=False)
    plan = PublishPlan("0123456789abcdef", 3, chosen, (), 1 << 20)
    name = DatasetName("my-org/demo", is_repository=is_repository)
    run_file = make_run_file(name="100% of {a_b}\\")
    counts = survey(tables, chosen)
    facts = CardFacts(plan, [_FILE], run_file, AcceptSection(), name, None, counts, None, ())
    entry = make_card(facts).partition("```bibtex\n")[2].partition("```")[0]

    assert entry.startswith("@misc{stepmill-01234567-v3,\n")
    assert "title = {{100\\% of a\\_b}}," in entry
    assert ("https://huggingface.co/datasets/my-org/demo" in entry) is is_repository
    assert "author" not in entry
    assert "doi" not in entry
