"""The words of `select.where`: SQL over a row, which reads nothing else and cannot go on for ever."""

from datetime import timedelta

import pyarrow as pa
import pytest
from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.memory_run import RULE, TRAIN, commit_unit, small_run, tables_of

from schemas.configuration.select_section import SelectSection
from schemas.errors import BadConfig
from schemas.tables.published import Attempt
from schemas.tables.tables import record_schema
from storage.publish.plan import where
from storage.publish.plan.rows import Tables
from storage.publish.plan.selection import select
from storage.publish.plan.where import MAX_SECONDS, columns_of_words, find_matches, where_schema
from storage.publish.plan.where_program import Refused, evaluate


def _tables() -> Tables:
    run = small_run()
    commit_unit(run, 4, TRAIN, n_steps=5, rejects=[0, 1, 2, 3])
    return tables_of(run.seal())


@pytest.fixture(scope="module")
def tables() -> Tables:
    return _tables()


@pytest.fixture(scope="module")
def rows(tables: Tables) -> pa.Table:
    chosen = [*select(tables, RULE, include_rejected=False).published]
    return where._rows(tables, chosen, where_schema().names)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("template_id = 'click-test'", 3),
        ("Template_ID LIKE 'click-%' AND split <> 'train'", 4),
        ("policy_kind = 'scripted' AND NOT privileged IS NULL", 0),
        ("n_steps BETWEEN 1 AND 2 AND success AND reward >= 1", 10),
        ("date = '2026-01-02' AND 'click' IN tags", 10),
        ("verdicts['replay'] = 'passed' AND labels IS NULL", 10),
        ("verdicts['judge'] IS NULL AND len(rejected_because) = 0", 10),
        ("attempt = 0 -- the first", 5),
        ("instruction ILIKE '%enter-text%'", 3),
        ("CASE WHEN site = 'miniwob' THEN seed % 2 = 0 END", 4),
        ("reward < 1 OR NULL OR split = 'test'", 3),
    ],
)
def test_an_expression_selects_by_the_columns_of_attempts_and_more(
    words: str, expected: int, rows: pa.Table
) -> None:
    kept = evaluate(words, rows)["kept"].to_pylist()

    assert kept.count(True) == expected


def test_every_column_can_be_named_and_no_other(tables: Tables) -> None:
    columns = where_schema().names
    words = " AND ".join(f"({name} IS NULL OR {name} IS NOT NULL)" for name in columns)

    chosen = select(tables, RULE, include_rejected=True, section=SelectSection(where=words))

    assert [*columns_of_words(words)] == columns
    assert sum(1 for _ in chosen.published) == 16
    assert {*record_schema(Attempt).names} - {*columns} == {"unit_id", "sketch", "left_out_by"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("lenght < 3", "there is no column 'lenght'; there are episode_id, .*n_steps, .*verdicts"),
        ("a.n_steps < 3", "there is no column 'a.n_steps'"),
        ("1 = 1", "it names no column; there are episode_id"),
        ("n_steps", "it is a value of type int32, and not true or false"),
        ("n_steps < 'high'", "Could not convert string 'high'"),
        ("n_steps <", "syntax error"),
        ("n_steps < 3; DROP TABLE attempts", "syntax error"),
        ("n_steps < 3) FROM attempts WHERE (true", "it is more than one expression"),
        ("n_steps < 3, site = 'x'", "not true or false"),
        ("n_steps < (SELECT 3)", "subquery: only the columns of a row are looked at"),
        ("n_steps IN (SELECT 1 FROM read_csv('/etc/passwd'))", "subquery"),
        ("read_text('/etc/passwd') = site", "read_text: there is no such function"),
        ("getenv('HOME') = site", "getenv: there is no such function"),
        ("current_setting('threads') = site", "current_setting"),
        ("random() < n_steps", "random: there is no such function, or not here"),
        ("date < today()", "today: there is no such function, or not here"),
        ("now() > date", "now: there is no such function, or not here"),
        ("date < 'now'::date", "invalid date"),
        ("count(n_steps) > 1", "count: there is no such function, or not here"),
        ("n_steps > row_number() OVER ()", "window"),
        ("n_steps = $1", "parameter"),
        ("COLUMNS(*) IS NULL", "star"),
    ],
)
def test_words_that_look_at_more_than_a_row_are_refused(
    words: str, told: str, rows: pa.Table
) -> None:
    with pytest.raises(Refused, match=told):
        evaluate(words, rows)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("lenght < 3", ["there is no column 'lenght'; there are episode_id, ", " n_steps, "]),
        (
            "site = 'shop' AND n_steps > 9 AND verdicts['x'] = 'y' AND date > '2027-01-01' AND model = 'x'",
            [
                "none of the 10 episodes that may be published meets it: site = 'shop' AND ",
                "they have site: miniwob (10); n_steps: 2 to 2; verdicts: ",
                "replay passed (10)",
                "; date: 2026-01-02 to 2026-01-02; model: ",
            ],
        ),
    ],
)
def test_words_that_name_no_column_or_select_nothing_are_told_what_there_is(
    words: str, told: list[str], tables: Tables
) -> None:
    with pytest.raises(BadConfig) as refused:
        select(tables, RULE, include_rejected=False, section=SelectSection(where=words))

    assert all(part in str(refused.value) for part in told), str(refused.value)


SLOW = "levenshtein(repeat(template_id, 20000), repeat('b', 30000)) > 3"
"""Words that take minutes for a single row, in which DuckDB itself cannot be interrupted."""


def test_words_that_take_for_ever_are_stopped(tables: Tables) -> None:
    chosen = [*select(tables, RULE, include_rejected=False).published]
    columns_of_words(SLOW)

    with pytest.raises(BadConfig, match="takes longer than 2 s over 10 episodes, and was stopped"):
        find_matches(SLOW, tables, chosen, seconds=2)


def test_words_that_need_all_memory_are_stopped(tables: Tables) -> None:
    chosen = [*select(tables, RULE, include_rejected=False).published]
    words = "len(range(200000000 + n_steps)) > 3"

    with pytest.raises(BadConfig, match=r"select\.where: .*(alloc|emory)"):
        find_matches(words, tables, chosen, seconds=MAX_SECONDS)


def test_the_date_is_that_of_the_end_in_utc() -> None:
    run = small_run()
    task = make_task(77, template=TRAIN)
    _, (episode,) = make_unit([task])
    midnight = episode.ended_at.replace(hour=23, minute=59, second=59)
    late = episode.model_copy(update={"ended_at": midnight + timedelta(days=3)})
    run.commit([task], [late])
    run.judge([make_verdict(late, verifier=name) for name in RULE.passed])

    words = f"date = '{late.ended_at:%Y-%m-%d}'"
    chosen = select(
        tables_of(run.seal()), RULE, include_rejected=False, section=SelectSection(where=words)
    )

    assert [one.episode_id for one in chosen.published] == [late.episode_id]
