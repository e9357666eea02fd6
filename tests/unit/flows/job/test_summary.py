"""What a run's summary says of its replays."""

import pytest
from support.episodes.factories import make_task, make_unit, make_verdict
from support.runs.memory_run import RULE, MemoryRun

from flows.job.group_counts import GroupCount, commonest, merge_policies
from flows.job.report_lines import (
    REASON_CHARS,
    REASON_LINES,
    SHOWN,
    total_lines,
    worst_lines,
    yield_table,
)
from flows.job.summary import OutsideFailures, summarise
from schemas.episodes.episode import BlockedRequests, ConnectionKind, Episode
from schemas.errors import FailureKind
from schemas.verdicts.verdict import Status, Verdict


def _replay(episode: Episode, tries: tuple[bool, ...]) -> Verdict:
    """Return the verdict of `replay` on an episode whose executions agreed or not."""
    status = Status.PASSED if tries[-1] else Status.FAILED
    found = make_verdict(episode, verifier="replay", status=status)
    return found.model_copy(update={"evidence": {"tries": [{"agreed": one} for one in tries]}})


@pytest.mark.parametrize(
    ("replays", "line"),
    [
        ([(True,), (True,)], "replay   2 of 2 reproduced (100.0 %)"),
        ([(True,), (False,)], "replay   1 of 2 reproduced (50.0 %)"),
        (
            [(False, True), (True,)],
            "replay   2 of 2 reproduced (100.0 %); 2 of 3 executions agreed",
        ),
        (
            [(False, False, False), (True,)],
            "replay   1 of 2 reproduced (50.0 %); 1 of 4 executions agreed",
        ),
    ],
)
async def test_executions_are_told_where_a_replay_was_tried_again(
    replays: list[tuple[bool, ...]], line: str
) -> None:
    run, task = MemoryRun(), make_task()
    _, episodes = make_unit([task], attempts=len(replays))
    run.commit([task], episodes)
    verdicts = [_replay(*one) for one in zip(episodes, replays, strict=True)]

    summary = await summarise(run.seal(), verdicts, RULE)

    assert line in total_lines(summary)


async def test_failures_outside_the_policy_are_counted_with_the_commonest_reason() -> None:
    run, task = MemoryRun(), make_task()
    _, episodes = make_unit([task], attempts=6)
    reasons = [
        ("engine", "HTTP 500 after 3 tries"),
        ("engine", "HTTP 500 after 12 tries"),
        ("page", "the page crashed"),
        ("policy", "no action"),
        ("policy", "no action"),
        (None, None),
    ]
    failed = [
        one
        if kind is None
        else one.model_copy(
            update={"stop_reason": "failed", "failure_kind": kind, "failure_message": message}
        )
        for one, (kind, message) in zip(episodes, reasons, strict=True)
    ]
    run.commit([task], failed)

    summary = await summarise(run.seal(), [], RULE)

    assert summary.outside == OutsideFailures(
        episodes=3, kind=FailureKind.ENGINE, reason="HTTP 500 after 12 tries", times=2
    )
    assert (
        "outside  3 failed for reasons outside the policy; 2 by engine: HTTP 500 after 12 tries"
        in (list(total_lines(summary)))
    )


async def test_two_sites_with_a_template_of_one_name_are_counted_apart() -> None:
    run, tasks = MemoryRun(), [make_task(0), make_task(1).model_copy(update={"site": "shop"})]
    _, episodes = make_unit(tasks, attempts=1)
    run.commit(tasks, episodes)

    summary = await summarise(run.seal(), [], RULE)

    counts = [(one.site, one.template, one.episodes) for one in summary.templates]
    assert counts == [("miniwob", "click-test", 1), ("shop", "click-test", 1)]
    head, miniwob, shop = yield_table(summary.templates)
    assert head.split()[:2] == ["site", "template"]
    assert miniwob.split()[:3] == ["miniwob", "click-test", "1"]
    assert shop.split()[:3] == ["shop", "click-test", "1"]
    assert yield_table(summary.templates[:1])[0].startswith("template")


async def test_what_was_refused_to_pages_is_summed_over_episodes() -> None:
    def blocked(name: str, kind: ConnectionKind, count: int) -> BlockedRequests:
        return BlockedRequests(name=name, kind=kind, count=count)

    run, task = MemoryRun(), make_task()
    _, episodes = make_unit([task], attempts=3)
    http, tls = ConnectionKind.HTTP, ConnectionKind.TLS
    tried = [
        (blocked("evil.example", http, 2), blocked("evil.example:443", tls, 1)),
        (blocked("evil.example", http, 3), blocked("other.example", http, 1)),
        None,
    ]
    run.commit(
        [task],
        [
            episode.model_copy(update={"blocked": some})
            for episode, some in zip(episodes, tried, strict=True)
        ],
    )

    summary = await summarise(run.seal(), [], RULE)

    assert [(one.name, one.kind, one.count) for one in summary.blocked] == [
        ("evil.example", http, 5),
        ("evil.example:443", tls, 1),
        ("other.example", http, 1),
    ]
    assert (
        "refused  7 connections of pages: evil.example (5 http), evil.example:443 (1 tls), "
        "other.example (1 http)"
    ) in total_lines(summary)


def _count(template: str, policy: str, accepted: int, *reasons: tuple[str, int]) -> GroupCount:
    lost = sum(times for _, times in reasons)
    return GroupCount(
        site="shop",
        template=template,
        policy=policy,
        episodes=accepted + lost,
        accepted=accepted,
        rejected=lost,
        unjudged=0,
        failed=0,
        steps=1,
        reasons=reasons,
    )


def test_reasons_that_differ_in_numbers_alone_are_one_and_the_commonest_is_first() -> None:
    found = commonest(["lost 3 rows", "no answer", "lost 12 rows", "lost 1 row", "no answer", "x"])

    assert found == (("lost 12 rows", 2), ("no answer", 2), ("lost 1 row", 1), ("x", 1))


def test_the_reasons_of_all_policies_are_added_up() -> None:
    [whole] = merge_policies(
        [_count("edit", "a", 1, ("x", 2), ("y", 1)), _count("edit", "b", 0, ("y", 3))]
    )

    assert whole.reasons == (("y", 4), ("x", 2))


def test_of_each_template_the_first_of_the_failures_is_named_with_the_command_that_explains_it() -> (
    None
):
    ids = [letter * 32 for letter in "dbca"]
    one = _count("edit", "a", 1, ("x", 2)).model_copy(update={"examples": (ids[1], ids[0])})
    other = _count("edit", "b", 1, ("x", 2)).model_copy(update={"examples": (ids[3], ids[2])})

    [whole] = merge_policies([one, other])
    lines = list(worst_lines([whole, _count("find", "all", 2)], "runs/demo"))

    assert whole.examples == (ids[3], ids[1], ids[2])
    assert lines[2].split()[-4:] == ["aaaaaaaa", "4", "×", "x"]
    assert lines[-1] == "one explained, with its picture: `stepmill show runs/demo ID`"


def test_what_fits_a_screen_is_shown_with_its_reason_and_the_rest_is_named() -> None:
    lost = (
        "outcome: below the threshold: reward 0.0 is below 1, `accept.min_reward`: expected 1 row"
    )
    counts = [_count(f"kind-{n:03}", "all", 1, (lost, 3)) for n in range(77)]
    lines = list(worst_lines(counts, "runs/demo"))

    assert len(lines) == SHOWN + 3
    assert lines[0].startswith(f"yield by template, the {SHOWN} lowest of 77")
    assert lines[2].split()[:4] == ["kind-000", "1", "of", "4"]
    assert lines[2].endswith("3 × outcome: expected 1 row")
    assert lines[-1] == "and 65 more: `stepmill show runs/demo --all`"
    assert len(list(worst_lines(counts, "runs/demo", most=None))) == 77 + 2


def test_a_reason_is_wrapped_under_its_column_and_its_end_is_there() -> None:
    reason = "replay: diverged at step 3 because " + "it is so and " * 9 + "the end decides"
    counts = [_count("edit", "all", 0, (reason, 1)), _count("find", "all", 2)]

    _, head, edit, more, find = worst_lines(counts, "runs/demo")

    at = head.index("reason")
    assert f"{edit[at:]} {more[at:]}" == reason
    assert more[:at].strip() == ""
    assert len(edit[at:]) <= REASON_CHARS
    assert find.endswith("1")


def test_of_a_very_long_reason_both_ends_are_shown_and_all_of_it_on_demand() -> None:
    reason = "seen: " + " ".join(map(str, range(900))) + " decided"
    counts = [_count("edit", "all", 0, (reason, 1))]

    _, head, *some, hint = worst_lines(counts, "runs/demo")
    _, _, *whole = worst_lines(counts, "runs/demo", most=None)

    at = head.index("reason")
    assert len(some) <= REASON_LINES + 1
    assert (some[0][at:][:6], some[-1][-9:]) == ("seen: ", "9 decided")
    assert " … " in " ".join(line[at:] for line in some)
    assert hint == "reasons in full: `stepmill show runs/demo --all`"
    assert " ".join(line[at:] for line in whole) == reason


def test_dollars_are_told_by_template_and_policy_where_there_are_some() -> None:
    counts = [
        GroupCount(
            site="s",
            template=template,
            policy=policy,
            dollars=dollars,
            episodes=1,
            accepted=1,
            rejected=0,
            unjudged=0,
            failed=0,
            steps=1,
        )
        for template, policy, dollars in (
            ("a", "model", 0.25),
            ("a", "teacher", None),
            ("b", "model", 0.5),
        )
    ]
    merged = {one.template: one.dollars for one in merge_policies(counts)}
    table = yield_table(counts, policies=True)
    unpriced = yield_table([counts[1]], policies=True)

    assert merged == {"a": 0.25, "b": 0.5}
    assert table[0].split()[-1] == "dollars"
    assert [line.split()[-1] for line in table[-3:]] == ["0.25000", "1", "0.50000"]
    assert "dollars" not in unpriced[0]
    assert any("0.50000" in line for line in worst_lines(merge_policies(counts), "run"))
