"""What a source does not say of an observation, its text may: that it was cut, and that nothing changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trajectories.importers.import_support import only, written
from trajectories import Dataset
from trajectories.importers import LossReport, import_trajectories
from trajectories.importers.observed import looks_truncated, marked_unchanged

Json = Any
MARKED = [
    "a\n[... Observation truncated due to length ...]\nb",
    "a <response clipped><NOTE>Observations should not exceed 100000 characters. 7 characters were elided.</NOTE>",
    "<output_head>\na\n</output_head>\n<elided_chars>\n7 characters elided\n</elided_chars>",
    "<warning>\nThe output of your last command was too long.\n</warning>",
    "a[... output limited to 10000 bytes; 7 interior bytes omitted ...]b",
    "a\n[... omitted 7 of 300 lines ...]\n\nb",
    "a…7 tokens truncated…b",
    "a\n... [7 lines truncated] ...\nb",
    "a [Output is truncated because the output is too long]\n",
    "a\n[Output truncated]",
    "Output truncated: 7 lines are left",
    "a\n[truncated]\n",
    "a ...(truncated)",
    "a... [truncated]",
    "a\n(truncated)",
    "a\n<...truncated...>\n\n",
    "a\r\n[Output Truncated]\r\nb",
    "a\n... [output truncated]",
    "[Output truncated: 7,000 characters in all, the first 300 are shown]\na",
    "a\n\n... [Output truncated: 3 of 7 lines] ...\n",
    "a\n(output truncated, 300 more lines)",
    "a\n<truncated 300 lines>\nb",
    "a\n... 300 more lines",
    "a\n… 3,000 more characters\n",
    "a\n--- output truncated ---",
    "a\n[TRUNCATED: 5000 chars]",
    "a and [Output truncated: 5000 more characters]",
]


@pytest.mark.parametrize("text", MARKED)
def test_the_marks_of_harnesses_say_that_a_text_was_cut(text: str) -> None:
    assert looks_truncated(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "TRUNCATE TABLE logs; -- 3 rows omitted",
        "the [truncated] icosahedron is a solid",
        "if output truncated by head, read on",
        "def clipped(values): ...",
        "# Output truncated to fit",
        "// output truncated\nint n;",
        "Output truncated to fit the page",
        "Output truncated: yes",
        "# --- output truncated ---",
        "    (output truncated, 300 more lines)",
        "E   ... 300 more lines",
        "... 300 more lines\nFAILED test_a.py::test_b",
        "...Full output truncated (300 lines hidden), use '-vv' to show",
        "... 300 more items",
        "... 12 more",
        "<truncated 300 lines> stands where lines were",
        "-- output truncated",
        "say('[Output truncated: 5000 more characters]')",
        "[Output truncated: 5000 more characters](cutting.md)",
        "[TRUNCATED: see log]",
        "[Output truncated](cutting.md) tells why",
        "[output truncated] is what the log says then",
        "print('[output truncated]')",
        "3 values written (truncated)",
        "name VARCHAR(20) [truncated]",
        "icosahedron <truncated>",
        "a [truncated]\n$ ",
        "a ... (truncated) b",
    ],
)
def test_words_about_cutting_are_no_marks(text: str) -> None:
    assert not looks_truncated(text)


@given(st.text(st.characters(blacklist_characters="eE")))
def test_no_text_without_a_mark_looks_truncated(text: str) -> None:
    assert not looks_truncated(text)


def _chat(name: str, *texts: str) -> Json:
    messages: list[Json] = [{"role": "user", "content": "go"}]
    for number, text in enumerate(texts):
        call = {"id": str(number), "function": {"name": name, "arguments": json.dumps({"n": number})}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": text})
    return {"messages": messages}


def test_turns_whose_text_was_cut_are_truncated_and_counted(tmp_path: Path) -> None:
    trajectory = only("messages", written(tmp_path, "a.jsonl", _chat("look", MARKED[0], "whole", MARKED[1])))
    assert [turn.observation.truncated for turn in trajectory.turns] == [True, False, True]
    assert trajectory.loss.inferred["truncated, by a mark in the text"] == 2


def test_what_a_source_says_itself_counts(tmp_path: Path) -> None:
    kept = {"extra": {"worldtape": {"truncated": False}}}
    step = {"source": "agent", "message": "look", "observation": {"results": [{"content": MARKED[0]}]}, **kept}
    document = {"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": [step]}
    trajectory = only("atif", written(tmp_path, "a.json", document))
    assert [turn.observation.truncated for turn in trajectory.turns] == [False]


def _noops(folder: Path, row: Json, domain: str | None = None) -> tuple[list[bool | None], dict[str, int]]:
    data = Dataset(folder / "data")
    path = written(folder, "a.jsonl", row)
    report = import_trajectories(data, "messages", [path], domain=domain, licence="MIT")
    return data.scan_turns().sort("turn").collect()["is_noop"].to_list(), dict(report.loss.inferred)


def test_the_same_page_again_is_a_turn_without_effect(tmp_path: Path) -> None:
    found, inferred = _noops(tmp_path, _chat("click", "a", "a", "b", "", "", "b", "b"))
    assert found == [None, True, None, None, None, None, True]
    assert inferred["turn without effect, by the same text"] == 2


def test_the_same_answer_of_a_shell_says_nothing_about_its_effect(tmp_path: Path) -> None:
    assert _noops(tmp_path, _chat("bash", "a", "a"))[0] == [None, None]


def test_the_domain_that_the_user_gives_decides(tmp_path: Path) -> None:
    assert _noops(tmp_path, _chat("tap", "a", "a"), domain="android")[0] == [None, True]


def test_what_was_visible_at_the_start_counts_and_what_the_source_says_stays(tmp_path: Path) -> None:
    trajectory = only("messages", written(tmp_path, "a.jsonl", _chat("click", "a")))
    loss = LossReport()
    (turn,) = marked_unchanged(trajectory.turns, "web", "a", loss)
    assert turn.is_noop is True
    assert list(marked_unchanged([turn], "web", "b", loss)) == [turn]
    assert loss.inferred == {"turn without effect, by the same text": 1}
