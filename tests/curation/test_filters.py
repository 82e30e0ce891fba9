"""The filters: what each masks and what it leaves alone, and that none changes the fate of any other turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collectors.ids import Episode
from curation import CurationProfile, Filters, JobSizes, Reason, Scope, curate, write_report
from curation.filters import attempts
from curation.reasons import MEANINGS, REASONS
from tests.curation.filter_support import (
    AGENT,
    ALONE,
    BAD,
    ENVIRONMENT,
    NEW,
    PAGE,
    RETRY,
    TOOL,
    call,
    reasons,
    told_of,
)
from tests.curation.recordings import a_header, cut_row_groups, files_of, record, record_turns, some_texts, turn
from tests.work import num_calls
from trajectories import Action, DamagedFileError, Dataset, Status, compact
from trajectories.importers import import_trajectories

NOT_IN_TURNS = {Reason.CONTAMINATED, Reason.DUPLICATE_TRAJECTORY, Reason.DUPLICATE_TURN, Reason.DRAWN_BY_TOKEN}
"""Reasons that searches give, or another draw."""
ONE_BY_ONE = JobSizes(task_bytes=1, in_process_bytes=2**40)
"""Every row group is a task of its own, in this process."""


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return Dataset(tmp_path / "recorded")


# Filters of trajectories


def test_a_trajectory_with_too_few_turns_is_masked_as_a_whole(dataset: Dataset) -> None:
    for size in (1, 2, 3):
        record(dataset, f"of-{size}", [("go", NEW)] * size)
    compact(dataset, "r1")
    assert reasons(dataset) == {"of-1": ["few_turns"], "of-2": ["kept"] * 2, "of-3": ["kept"] * 3}
    assert reasons(dataset, Filters(few_turns=3), "three")["of-2"] == ["few_turns"] * 2
    assert reasons(dataset, Filters(few_turns=0), "none")["of-1"] == ["kept"]


def test_a_text_that_is_no_environment_may_be_a_single_turn(dataset: Dataset) -> None:
    assert told_of(dataset, [turn("", NEW)], Filters(empty_action=False), domain="medicine") == ["kept"]


def record_attempt(
    dataset: Dataset, number: int, attempt: int, status: Status, *, task: str = "t", size: int = 3
) -> str:
    """Record an attempt at an episode as the collector names it; returns its id."""
    facts: dict[str, Any] = {"run": "r1", "domain": "terminal", "task_id": task, "task_sha256": "0" * 64}
    facts |= {"policy": "p", "seed": 7}
    trajectory_id = Episode(**facts, number=number).trajectory_id(attempt)
    header = a_header(trajectory_id, **facts, attempt=attempt)
    record_turns(dataset, header, [turn(f"step {place}", NEW) for place in range(size)], status=status)
    return trajectory_id


def test_of_an_interrupted_episode_only_the_last_attempt_is_kept(dataset: Dataset) -> None:
    first = record_attempt(dataset, 3, 1, Status.INTERRUPTED)
    second = record_attempt(dataset, 3, 2, Status.INTERRUPTED)
    third = record_attempt(dataset, 3, 3, Status.COMPLETED)
    not_yet_again = record_attempt(dataset, 4, 1, Status.INTERRUPTED)
    other_task = record_attempt(dataset, 3, 1, Status.INTERRUPTED, task="other")
    compact(dataset, "r1")
    told = reasons(dataset)
    assert told[first] == told[second] == ["superseded"] * 3
    assert told[third] == told[not_yet_again] == told[other_task] == ["kept"] * 3
    assert reasons(dataset, Filters(superseded=False), "off")[first] == ["kept"] * 3


def test_an_attempt_of_an_absurd_number_is_one_more_attempt_and_hangs_nothing(dataset: Dataset) -> None:
    first = record_attempt(dataset, 3, 1, Status.INTERRUPTED)
    second = record_attempt(dataset, 3, 2, Status.INTERRUPTED)
    last = record_attempt(dataset, 3, 2**31 - 1, Status.COMPLETED)
    absurd = record_attempt(dataset, 10**9, 2**31 - 1, Status.COMPLETED)
    compact(dataset, "r1")
    told = reasons(dataset)
    assert told[first] == told[second] == ["superseded"] * 3
    assert told[last] == told[absurd] == ["kept"] * 3


def test_different_attempts_take_work_in_proportion_to_their_number() -> None:
    def work(count: int) -> int:
        rows = _attempts(count)
        return num_calls(lambda: list(attempts._superseded(rows)))

    assert work(500) < 6 * work(100)


def test_an_attempt_is_told_among_very_many_others() -> None:
    among_many = _attempts(500)
    assert list(attempts._superseded(among_many)) == [among_many["trajectory_id"][0]]


def _attempts(count: int) -> pl.DataFrame:
    """Two of ours at one episode, the first of them interrupted, and so many of another program."""
    facts: dict[str, Any] = {"domain": "d", "run": "r", "task_id": "t", "task_sha256": "", "policy": "p", "seed": 7}
    ids = [Episode(**facts, number=3).trajectory_id(attempt) for attempt in (1, 2)]
    ids += [f"of another program {place}" for place in range(count)]
    statuses = [Status.INTERRUPTED.value] * len(ids)
    columns = {"trajectory_id": ids, "attempt": range(1, len(ids) + 1), "status": statuses}
    return pl.DataFrame(columns).with_columns(pl.lit(value).alias(name) for name, value in facts.items())


def test_an_attempt_recorded_since_has_the_parts_it_supersedes_judged_again(tmp_path: Path) -> None:
    grown, whole = Dataset(tmp_path / "grown"), Dataset(tmp_path / "whole")
    for dataset in (grown, whole):
        first = record_attempt(dataset, 0, 1, Status.INTERRUPTED)
        record_attempt(dataset, 1, 1, Status.COMPLETED, task="other")
        compact(dataset, "r1")
        if dataset is grown:
            assert reasons(dataset)[first] == ["kept"] * 3
        record_attempt(dataset, 0, 2, Status.COMPLETED)
        compact(dataset, "r1")
    profile = CurationProfile(searches=ALONE)
    summary = curate(grown, profile=profile)
    assert (summary.num_parts_judged, summary.num_parts_skipped) == (2, 0)
    assert reasons(grown)[first] == ["superseded"] * 3
    curate(whole, profile=profile)
    assert files_of(grown.folder / "curation") == files_of(whole.folder / "curation")
    assert curate(grown, profile=profile).num_parts_judged == 0


DECLARED = [{"name": "read", "inputSchema": {}}, {"type": "function", "function": {"name": "write file"}}]


@pytest.mark.parametrize(
    ("payload", "is_undeclared"),
    [
        ({"name": "read", "arguments": {}}, False),
        ({"name": "write file", "arguments": {}}, False),
        ({"name": "drop", "arguments": {}}, True),
        ({"name": 'a "quoted" name', "arguments": {}}, True),
        ({"arguments": {}, "name": "drop"}, True),
        ([{"name": "read", "arguments": {}}, {"name": "drop", "arguments": {}}], True),
        ([{"name": "read", "arguments": {}}], False),
        ({"command": "ls", "of": {"name": "drop"}}, False),
        ('"name": no JSON', False),
        (None, False),
    ],
)
def test_a_call_of_an_undeclared_tool_masks_its_trajectory(dataset: Dataset, payload: Any, is_undeclared: bool) -> None:
    turns = [turn(call("read"), NEW), turn(Action("some text", payload), NEW)]
    told = told_of(dataset, turns, domain="mcp", tools=DECLARED)
    assert told == (["undeclared_tool"] * 2 if is_undeclared else ["kept"] * 2)


def test_a_call_of_an_undeclared_tool_can_be_masked_alone_or_left(dataset: Dataset) -> None:
    turns = [turn(call("read"), NEW), turn(call("drop"), "no such tool " + NEW, error_kind=AGENT)]
    assert told_of(
        dataset, turns, Filters(undeclared_tool=Scope.TURN, undeclared_tool_refused=True), domain="swe", tools=DECLARED
    ) == [
        "kept",
        "undeclared_tool",
    ]
    assert reasons(dataset, Filters(undeclared_tool=Scope.OFF), "off")["t"] == ["kept", "kept"]


def test_a_refused_call_of_an_undeclared_tool_can_count_as_what_a_world_says(dataset: Dataset) -> None:
    refused = turn(call("drop"), "no such tool " + NEW, error_kind=AGENT)
    for name, undeclared in (("refused", refused), ("answered", turn(call("drop"), NEW))):
        record_turns(dataset, a_header(name, domain="mcp", tools=DECLARED), [turn(call("read"), NEW), undeclared])
    compact(dataset, "r1")
    assert reasons(dataset) == {
        "refused": ["kept", "kept"],
        "answered": ["undeclared_tool", "undeclared_tool"],
    }


def test_where_no_tools_are_declared_or_the_domain_has_none_every_call_is_right(dataset: Dataset) -> None:
    record_turns(dataset, a_header("undeclared", domain="swe"), [turn(call("drop"), NEW)] * 2)
    record_turns(dataset, a_header("web", domain="web", tools=DECLARED), [turn(call("drop"), NEW)] * 2)
    compact(dataset, "r1")
    assert reasons(dataset) == {"undeclared": ["kept"] * 2, "web": ["kept"] * 2}


def test_a_sandbox_that_came_back_masks_only_the_turn_in_which_it_failed(dataset: Dataset) -> None:
    turns = [turn("make", NEW), turn("boom", "", error_kind=ENVIRONMENT), turn("make again", NEW)]
    assert told_of(dataset, turns) == ["kept", "sandbox_died", "kept"]


@pytest.mark.parametrize("rows_a_group", [1, 2, 3, 9])
def test_whether_a_sandbox_came_back_is_seen_across_row_groups_and_trajectories(
    dataset: Dataset, rows_a_group: int
) -> None:
    failing, fine = turn("boom", "", error_kind=ENVIRONMENT), turn("make", NEW)
    for name, turns in {"a": [fine, failing], "b": [failing, fine], "c": [fine, failing]}.items():
        record_turns(dataset, a_header(name), turns)
    compact(dataset, "r1")
    cut_row_groups(dataset, rows_a_group)
    died = ["sandbox_died"] * 2
    assert reasons(dataset) == {"a": died, "b": ["sandbox_died", "kept"], "c": died}


def test_a_dead_sandbox_masks_its_trajectory_or_by_choice_the_turn_it_died_in(dataset: Dataset) -> None:
    turns = [turn("make", NEW), turn("bad", NEW, error_kind=TOOL), turn("boom", "", error_kind=ENVIRONMENT)]
    assert told_of(dataset, turns) == ["sandbox_died"] * 3
    assert reasons(dataset, Filters(sandbox_died=Scope.TURN), "turn")["t"] == ["kept", "kept", "sandbox_died"]
    assert reasons(dataset, Filters(sandbox_died=Scope.OFF), "off")["t"] == ["kept", "kept", "silence"]


def test_a_failed_screen_masks_its_trajectory_in_a_gui_and_nothing_elsewhere(dataset: Dataset) -> None:
    turns = [turn("goto('shop')", PAGE), turn("click('1')", "<title>404 Not Found</title> " + NEW)]
    for domain in ("web", "terminal"):
        record_turns(dataset, a_header(domain, domain=domain), turns)
    compact(dataset, "r1")
    assert reasons(dataset) == {"web": ["gui_failure"] * 2, "terminal": ["kept"] * 2}
    assert reasons(dataset, Filters(gui_failure=Scope.TURN), "turn")["web"] == ["kept", "gui_failure"]


# Filters of turns


@pytest.mark.parametrize(
    ("domain", "action", "is_empty"),
    [
        ("terminal", "", True),
        ("terminal", " \n ", True),
        ("terminal", "null", True),
        ("terminal", Action.keys(("", 1.0)), False),
        ("terminal", "[]", False),
        ("web", "[]", True),
        ("web", "noop()", False),
        ("mcp", "{}", True),
        ("mcp", call(""), True),
        ("mcp", call("read"), False),
        ("swe", call("bash", command=""), True),
        ("swe", call("sh", command=" \n "), True),
        ("swe", call("Bash"), True),
        ("swe", call("execute_bash"), True),
        ("swe", '{"command": ""}', True),
        ("swe", call("execute_bash", command=""), False),
        ("swe", call("bash", command="ls"), False),
        ("swe", call("write", content=""), False),
    ],
)
def test_an_empty_action_is_masked_and_a_terminals_wait_is_none(
    dataset: Dataset, domain: str, action: str | Action, is_empty: bool
) -> None:
    told = told_of(dataset, [turn("go", NEW), turn(action, NEW)], domain=domain)
    assert told == ["kept", "empty_action" if is_empty else "kept"]


def test_a_screen_that_does_not_change_is_masked_and_a_terminal_may_stay_as_it_is(dataset: Dataset) -> None:
    turns = [turn("click('1')", PAGE), turn("click('2')", PAGE, is_noop=True), turn("wait()", PAGE, is_noop=False)]
    for domain in ("android", "terminal"):
        record_turns(dataset, a_header(domain, domain=domain), turns)
    compact(dataset, "r1")
    assert reasons(dataset) == {"android": ["kept", "no_change", "kept"], "terminal": ["kept"] * 3}


def test_an_answer_that_is_an_image_is_masked_and_silence_is_not(dataset: Dataset, tmp_path: Path) -> None:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Look."}]
    for number, content in enumerate([[{"type": "image_url", "image_url": {"url": "a.png"}}], "", NEW]):
        called = {"id": f"c{number}", "function": {"name": "look", "arguments": f'{{"at": {number}}}'}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [called]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": content})
    chats = tmp_path / "chats.jsonl"
    chats.write_text(json.dumps({"messages": messages}) + "\n")
    import_trajectories(dataset, "messages", [chats], licence="MIT")
    assert list(reasons(dataset).values()) == [["truncated", "silence", "kept"]]


def test_a_truncated_observation_is_masked(dataset: Dataset) -> None:
    turns = [turn("cat small", NEW), turn("cat big", NEW, truncated=True)]
    assert told_of(dataset, turns) == ["kept", "truncated"]
    assert reasons(dataset, Filters(truncated=False), "off")["t"] == ["kept", "kept"]


# What holds for all of them


def test_of_several_reasons_the_first_in_the_order_of_the_codes_is_told(dataset: Dataset) -> None:
    turns = [
        turn("", NEW, truncated=True),
        turn("cat", NEW, truncated=True, error_kind=ENVIRONMENT),
        turn(call("drop"), NEW, truncated=True),
        turn("ls", NEW),
    ]
    assert told_of(dataset, turns, domain="mcp", tools=DECLARED) == ["undeclared_tool"] * 4
    assert reasons(dataset, Filters(undeclared_tool=Scope.TURN, sandbox_died=Scope.TURN), "turn")["t"] == [
        "empty_action",
        "sandbox_died",
        "undeclared_tool",
        "kept",
    ]
    assert reasons(dataset, Filters(few_turns=5, undeclared_tool=Scope.OFF), "few")["t"] == ["few_turns"] * 4


def test_what_cannot_be_read_is_told_before_all_else(dataset: Dataset) -> None:
    record_turns(dataset, a_header("t", domain="mcp", tools=DECLARED), [turn("a", NEW, truncated=True)])
    compact(dataset, "r1")
    part = dataset.turn_parts()[0].path
    table = pq.read_table(part, partitioning=None)
    for name in ("action", "action_json", "observation"):
        place = table.schema.get_field_index(name)
        broken = pa.array([b'{"a": "\xff\xc3(", "name": "drop"}'], pa.binary()).view(pa.string())
        table = table.set_column(place, pa.field(name, pa.string()), broken)
    pq.write_table(table, part)
    assert reasons(dataset)["t"] == ["unreadable"]


def test_a_part_without_a_column_is_refused_by_name(dataset: Dataset) -> None:
    record(dataset, "t", [("go", NEW)])
    compact(dataset, "r1")
    part = dataset.turn_parts()[0].path
    pq.write_table(pq.read_table(part, partitioning=None).drop_columns(["error_kind"]), part)
    with pytest.raises(DamagedFileError, match=r"lacks the column error_kind \(.*part-"):
        curate(Dataset(dataset.folder))


def test_every_reason_says_what_it_means() -> None:
    assert set(MEANINGS) == set(REASONS)


def test_the_report_counts_turns_by_reason_and_says_what_each_means(dataset: Dataset) -> None:
    record_turns(dataset, a_header("t"), [turn("cat", NEW), turn("cat big", NEW, truncated=True)])
    record(dataset, "u", [("ls", NEW)])
    compact(dataset, "r1")
    page = write_report(dataset, curate(dataset, profile=CurationProfile(searches=ALONE)).sidecar)
    told = json.loads(page.with_name("report.json").read_text())["reasons"]
    assert [(reason["name"], reason["num_turns"]) for reason in told] == [
        ("few_turns", 1),
        ("truncated", 1),
        ("kept", 1),
    ]
    assert told[0]["by_domain"] == {"terminal": 1}
    assert MEANINGS[Reason.TRUNCATED] in page.read_text()


def record_mixed(dataset: Dataset) -> None:
    """Trajectories of three domains in which everything that filters look for occurs."""
    places = [(domain, size) for domain in ("terminal", "mcp", "web") for size in range(1, 9)]
    for number, (domain, size) in enumerate(places):
        turns = [
            turn(
                action,
                observation,
                error_kind=ENVIRONMENT if (number + place) % 7 == 0 else None,
                truncated=(number + place) % 11 == 0,
                is_noop=(number + place) % 5 == 0,
                tree_status="failed" if (number + place) % 13 == 0 else None,
            )
            for place, (action, observation) in enumerate(some_texts(number, size))
        ]
        turns[0] = turn(call("drop" if number % 5 == 0 else "read", path=str(number)), NEW)
        if size > 3:
            turns[2:] = [*[turn(BAD, NEW, error_kind=AGENT)] * (size - 3), turn(RETRY, NEW)]
        record_turns(dataset, a_header(f"{domain}-{number:02d}", domain=domain, tools=DECLARED), turns)
    for attempt, status in ((1, Status.INTERRUPTED), (2, Status.COMPLETED)):
        record_attempt(dataset, 5, attempt, status)
    compact(dataset, "r1")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    dataset = Dataset(tmp_path_factory.mktemp("mixed"))
    record_mixed(dataset)
    return dataset


def judged(dataset: Dataset, filters: Filters) -> pl.DataFrame:
    profile = CurationProfile(filters=filters, searches=ALONE)
    name = f"by-{profile.fingerprint}"
    return curate(dataset, name=name, profile=profile).sidecar.scan().sort("trajectory_id", "turn").collect()


def test_every_filter_finds_something_in_the_mixed_data(mixed: Dataset) -> None:
    assert set(judged(mixed, Filters(few_turns=3))["reason"]) == set(REASONS) - {Reason.UNREADABLE, *NOT_IN_TURNS}


some_filters = st.builds(
    Filters,
    superseded=st.booleans(),
    few_turns=st.integers(0, 4),
    undeclared_tool=st.sampled_from(Scope),
    gui_failure=st.sampled_from(Scope),
    sandbox_died=st.sampled_from(Scope),
    empty_action=st.booleans(),
    retry=st.booleans(),
    no_change=st.booleans(),
    truncated=st.booleans(),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filters=some_filters, switch=st.sampled_from(sorted(Filters.model_fields.keys() & {*REASONS} - NOT_IN_TURNS)))
def test_switching_a_filter_off_only_gives_back_the_turns_it_masked(
    mixed: Dataset, filters: Filters, switch: str
) -> None:
    off = filters.model_copy(update={switch: getattr(Filters.none(), switch)})
    with_it, without = judged(mixed, filters), judged(mixed, off)
    untouched = [name for name in with_it.columns if name not in ("kept", "reason")]
    assert with_it.select(untouched).equals(without.select(untouched))
    assert (without["kept"] | ~with_it["kept"]).all()
    changed = with_it.filter(with_it["reason"] != without["reason"])
    assert set(changed["reason"]) <= {switch}


def test_with_every_filter_off_a_turn_is_kept_by_its_draw_alone(mixed: Dataset) -> None:
    rows = judged(mixed, Filters.none())
    assert (rows["kept"] == (rows["u"] < rows["keep_ratio"])).all()
    assert set(rows["reason"]) == {"kept", "silence", "drawn_out"}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows_a_group=st.integers(1, 40), scope=st.sampled_from([Scope.TURN, Scope.TRAJECTORY]))
def test_the_result_does_not_depend_on_row_groups_or_how_the_work_is_cut(
    mixed: Dataset, rows_a_group: int, scope: Scope
) -> None:
    filters = Filters(undeclared_tool=scope, gui_failure=scope, sandbox_died=scope)
    profile = CurationProfile(filters=filters, searches=ALONE)
    whole = judged(mixed, profile.filters)
    cut_row_groups(mixed, rows_a_group)
    made = [
        curate(mixed, name=name, profile=profile, overwrite=True, sizes=sizes).sidecar
        for name, sizes in (("fine", ONE_BY_ONE), ("coarse", None))
    ]
    assert made[0].scan().sort("trajectory_id", "turn").collect().equals(whole)
    parts = [{part: (sidecar.folder / part).read_bytes() for part in sidecar.parts()} for sidecar in made]
    assert parts[0] == parts[1]


@pytest.mark.slow
def test_the_bytes_are_the_same_with_one_and_with_two_workers(mixed: Dataset) -> None:
    cut_row_groups(mixed, 3)
    sizes = JobSizes(task_bytes=1, in_process_bytes=0)
    made = [curate(mixed, name=f"with-{workers}", workers=workers, sizes=sizes).sidecar for workers in (1, 2)]
    one, two = ({part: (sidecar.folder / part).read_bytes() for part in sidecar.parts()} for sidecar in made)
    assert one == two
