"""Looking at a data set: everything in it can be found, and nothing in it can harm the terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import fsspec
import pytest

from curation import CurationProfile, KeepRatios, curate
from tests.curation.recordings import record
from tests.trajectories.importers.import_support import written
from tests.worldtape.conftest import HOSTILE, Worldtape
from trajectories import (
    Action,
    Dataset,
    Ending,
    Header,
    JournalWriter,
    Observation,
    Status,
    SystemPrompt,
    Turn,
    compact,
)
from worldtape.console import harmless

OBEYED = set(HOSTILE) - {character for character in HOSTILE if character.isprintable()}


def test_the_overview_lists_what_there_is(worldtape: Worldtape, recorded: Dataset) -> None:
    done = worldtape("inspect", recorded.folder, "--json")
    assert done.json["num_trajectories"] == 3
    assert [row["trajectory_id"] for row in done.json["trajectories"]] == ["t-one", "t-two", "u-three"]
    assert {row["run"]: row["turns"] for row in done.json["runs"]} == {"r1": 4, "r2": 1}


def test_the_overview_counts_the_turns_of_each_domain_and_those_in_the_loss(
    worldtape: Worldtape, recorded: Dataset
) -> None:
    record(recorded, "tools", [("{}", "a new and long answer")], run="r2", domain="mcp")
    compact(recorded, "r2")
    mcp, terminal = ({"domain": name, "trajectories": 1, "turns": 1} for name in ("mcp", "terminal"))
    terminal |= {"trajectories": 3, "turns": 5}
    assert worldtape("inspect", recorded.folder, "--json").json["domains"] == [mcp, terminal]
    keep_silence = KeepRatios(**dict.fromkeys(KeepRatios.model_fields, 0.0))
    curate(recorded, profile=CurationProfile(keep_ratios=keep_silence))
    mcp["in_the_loss"], terminal["in_the_loss"] = 0, 1
    assert worldtape("inspect", recorded.folder, "--json").json["domains"] == [mcp, terminal]
    assert "in the loss" in worldtape("inspect", recorded.folder).out


def test_the_list_is_cut_and_says_so(worldtape: Worldtape, recorded: Dataset) -> None:
    done = worldtape("inspect", recorded.folder, "--limit", 2)
    assert done.out.startswith("The first 2 of 3 trajectories")
    assert "t-two" in done.out
    assert "u-three" not in done.out
    assert "\n2 runs\n" in done.out
    cut = worldtape("inspect", recorded.folder, "--limit", 2, "--json").json
    assert (cut["num_trajectories"], len(cut["trajectories"])) == (3, 2)


def test_the_table_of_runs_is_cut_and_says_so(worldtape: Worldtape, recorded: Dataset) -> None:
    done = worldtape("inspect", recorded.folder, "--limit", 1)
    assert "\nThe first 1 of 2 runs\n" in done.out
    assert "r2" not in done.out
    cut = worldtape("inspect", recorded.folder, "--limit", 1, "--json").json
    assert (cut["num_trajectories"], cut["num_runs"]) == (3, 2)
    assert [row["run"] for row in cut["runs"]] == ["r1"]


def test_what_a_trajectory_does_not_say_has_no_heading(worldtape: Worldtape, tmp_path: Path) -> None:
    path = written(tmp_path, "laws.jsonl", {"text": "A law.", "licence": "MIT"})
    worldtape("import", "corpus", path, "--dataset", tmp_path / "data", "--field", "law")
    out = worldtape("inspect", tmp_path / "data", "corpuslaw").out
    assert "Instruction" not in out
    assert "Initial state" not in out
    assert "A law." in out


def test_one_trajectory_is_shown_turn_by_turn_with_class_mask_and_reason(
    worldtape: Worldtape, recorded: Dataset
) -> None:
    keep_nothing = KeepRatios(**dict.fromkeys(KeepRatios.model_fields, 0.0))
    curate(recorded, profile=CurationProfile(keep_ratios=keep_nothing))
    out = worldtape("inspect", recorded.folder, "t-one").out
    heads = [line for line in out.splitlines() if line.startswith("### Turn")]
    assert [head.partition("; ")[2] for head in heads] == [
        "retrieval, masked: empty_action)",
        "timed out; retrieval, masked: drawn_out)",
        "tool error: ; other, in the loss: silence)",
    ]
    assert "a new and long answer" in out


def test_a_trajectory_is_valid_json_even_where_a_ratio_is_infinite(worldtape: Worldtape, curated: Dataset) -> None:
    """And the recorded text is in it unchanged."""
    shown = worldtape("inspect", curated.folder, "t-one", "--json")
    assert [turn["turn"] for turn in shown.json["turns"]] == [1, 2, 3]
    assert shown.json["turns"][2]["reason"] == "silence"
    assert shown.json["turns"][1]["observation"] == HOSTILE
    assert "NaN" not in shown.out
    assert ": Infinity" not in shown.out


def test_nothing_recorded_is_obeyed_by_the_terminal(worldtape: Worldtape, tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "data")
    now = datetime(2026, 11, 30, tzinfo=UTC)
    header = Header(
        trajectory_id="hostile",
        run="r1",
        domain="terminal",
        task_id=HOSTILE,
        task_sha256="0" * 64,
        instruction=HOSTILE,
        prompt=SystemPrompt(initial_state=HOSTILE),
        policy=HOSTILE,
        seed=0,
        sandbox="terminal@1",
        started_at=now,
    )
    said = Observation(text=HOSTILE, renderer="plain@1")
    with JournalWriter(dataset, header, said) as journal:
        turn = Turn(number=1, action=Action(HOSTILE, HOSTILE), observation=said, started_at=now, duration_s=0.1)
        journal.append(turn)
        journal.end(Ending(status=Status.FAILED, ended_at=now, error=HOSTILE))
    compact(dataset, "r1")
    for arguments in ([], ["hostile"], ["hostile\x1b[2J"]):
        done = worldtape("inspect", dataset.folder, *arguments)
        assert OBEYED.isdisjoint(done.out + done.err)
        assert "\\x1b" in done.out + done.err


def test_harmless_text_stays_as_it_is() -> None:
    text = "naïve 零\ttabs\nand lines ✓"
    assert harmless(text) == text
    assert harmless("\x1b[0m\u202e") == "\\x1b[0m\\u202e"


def test_a_trajectory_is_found_by_the_beginning_of_its_id(worldtape: Worldtape, recorded: Dataset) -> None:
    assert worldtape("inspect", recorded.folder, "u", "--json").json["trajectory"]["trajectory_id"] == "u-three"
    several = worldtape("inspect", recorded.folder, "t-")
    assert several.code == 2
    assert several.error.endswith("say more: t-one, t-two")
    none = worldtape("inspect", recorded.folder, "x")
    assert none.code == 2
    assert "there is no trajectory x" in none.error


def test_a_trajectory_that_is_still_in_its_journal_is_shown(worldtape: Worldtape, tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "data")
    record(dataset, "open-one", [("ls\n", "notes.txt")])
    assert "notes.txt" in worldtape("inspect", dataset.folder, "open-one").out
    overview = worldtape("inspect", dataset.folder)
    assert overview.code == 2
    assert "no trajectory is compacted yet" in overview.error


def test_turns_without_a_curation_are_shown_unless_one_was_asked_for(worldtape: Worldtape, recorded: Dataset) -> None:
    shown = worldtape("inspect", recorded.folder, "t-two")
    assert "retrieval" not in shown.out
    assert shown.err == f"inspect: not curated yet; run: worldtape curate {recorded.folder}\n"
    asked = worldtape("inspect", recorded.folder, "t-two", "--curation", "other")
    assert asked.code == 2
    assert asked.error.endswith(f"run: worldtape curate {recorded.folder} --name other")


@pytest.mark.parametrize("arguments", [[], ["t-two"]])
def test_a_curation_that_is_not_there_is_refused_with_those_that_are(
    worldtape: Worldtape, curated: Dataset, arguments: list[str]
) -> None:
    curate(curated, name="second")
    asked = worldtape("inspect", curated.folder, *arguments, "--curation", "NOPE")
    assert (asked.code, asked.out) == (2, "")
    assert asked.error.endswith("there are: default, second")
    assert worldtape("inspect", curated.folder, *arguments).err == ""


@pytest.mark.parametrize("arguments", [[], ["t-two"]])
def test_a_data_set_behind_a_url_can_be_looked_at(
    worldtape: Worldtape, recorded: Dataset, arguments: list[str]
) -> None:
    memory = fsspec.filesystem("memory")
    memory.put(str(recorded.folder), "/looked-at", recursive=True)
    try:
        done = worldtape("inspect", "memory://looked-at", *arguments)
    finally:
        memory.rm("/looked-at", recursive=True)
    assert done.code == 0
    assert "t-two" in done.out
