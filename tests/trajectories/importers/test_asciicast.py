"""Recordings of terminals as trajectories: published ones of other projects, and the way into a data set."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard

from tests.trajectories.importers.asciicast_support import Session, keystrokes, lines_of
from tests.trajectories.importers.fetch_support import archive
from tests.trajectories.importers.import_support import case
from trajectories import Dataset, replay
from trajectories.importers import Imported, Problem, UnreadableError, import_trajectories
from trajectories.importers.asciicast import read

HERE_DOCUMENT_LINES = 12


def published(name: str) -> Imported:
    """The trajectory of a published recording."""
    (found,) = (result for result in read(case(f"asciicast/{name}.cast")) if isinstance(result, Imported))
    return found


def last_screen(imported: Imported) -> str:
    return imported.turns[-1].observation.text if imported.turns else imported.initial.text


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        (
            "v2-zsh-git-prompt",
            ["./bin/enex2md\n", "./bin/enex2md -i Tutorials.enex -o Tutorials\n", "ls -la Tutorials/\n"],
        ),
        ("v2-tmux-marker", ["ls\n", "du -h *\n", "du -c -h * | grep total\n"]),
        (
            "v2-cjk-prismer",
            [
                "curl -s prismer.cloud/api/im/evolution/analyze -X POST -H 'Content-Type: application/json' "
                """-d '{"error": "error:timeout connection refused after 30s"}'\n"""
            ],
        ),
        ("v2-tui-htop", []),
        ("v2-broken-line", []),
        ("v3-input-resize", []),
        ("v3-comments-blank-lines", []),
    ],
)
def test_the_commands_of_a_published_recording_are_found(name: str, commands: list[str]) -> None:
    assert lines_of(published(name)) == commands


def test_comments_and_empty_lines_go_with_the_commands_that_follow_them() -> None:
    entries = keystrokes(published("v2-bash-resize-kwok"))
    flat = [text for turn in entries for text in turn]
    assert len(entries) == 9
    assert (len(flat), sum(text.startswith("#") for text in flat), flat.count("\n")) == (28, 10, 9)
    commands = [turn[-1] for turn in entries]
    assert commands[0] == "kwokctl create cluster\n"
    assert commands[7] == "kubectl describe pod high-priority-pod | awk '/Events:/,/pod to node/'\n"
    assert commands[8] == "kwokctl delete cluster\n"


def test_recorded_input_gives_six_commands_of_which_one_is_a_here_document() -> None:
    found = published("v2-input-and-markers-tcut")
    commands = lines_of(found)
    assert commands[0] == "cd $(mktemp -d) && export BAT_STYLE=plain BAT_PAGER=cat\n"
    assert commands[1].startswith("cat > demo.video.ts <<'TS'\n")
    assert commands[1].count("\n") == HERE_DOCUMENT_LINES
    assert commands[2:] == ["clear\n", "bat demo.video.ts\n", "tcut demo.video.ts\n", "du -h demo.*\n"]
    assert found.loss.no_place == {"header.bunVideo": 1, "header.scriptHash": 1}


def test_the_cells_of_ipython_are_commands() -> None:
    found = published("v2-repl-ipython")
    commands = lines_of(found)
    assert [commands[0], commands[2]] == ["import time\n", "exit\n"]
    assert commands[1].startswith("for i in range(40):\n    print(")
    assert commands[1].endswith("\n    time.sleep(0.1)\n")
    assert "=======================================+=\n\nIn [3]:" in found.turns[1].observation.text


def test_a_demo_script_that_types_at_itself_has_five_commands() -> None:
    commands = lines_of(published("v3-emoji-table-hasscheck"))
    beginnings = ["check --path", "explain manifest.domain", "scaffold diagnostics", "scaffold diagnostics", "check"]
    assert all(
        command.startswith(f"uv run hasscheck {start}") for command, start in zip(commands, beginnings, strict=True)
    )
    assert [command.rstrip().rpartition(" ")[2] for command in commands[2:4]] == ["--dry-run", "--force"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("v2-zsh-git-prompt", "-rw-r--r--  1 enex2md enex2md 2382 Feb 28 21:21 wordpress-theme.md\n"),
        ("v2-bash-resize-kwok", "\nCluster is deleted "),
        ("v2-input-and-markers-tcut", "4.0K    demo.video.ts\n>"),
        ("v2-tmux-marker", "Goodbye"),
        ("v2-cjk-prismer", 'docs/demo-script.sh: 第 56 行： printf: "\\": 无效的格式字符\n    Confidence: 0'),
        ("v2-tui-htop", ""),
        ("v2-broken-line", "foo barżółć jaźń"),
        ("v3-emoji-table-hasscheck", "\nDone. See docs/demo.md for the full walkthrough."),
        ("v3-input-resize", "foo barbaz quxżółć jaźń"),
        ("v3-comments-blank-lines", "foo barbaz quxżółć jaźńbye!"),
    ],
)
def test_the_last_observation_of_a_published_recording_is_its_last_screen(name: str, shown: str) -> None:
    assert shown in last_screen(published(name))


def test_what_cannot_be_told_or_kept_is_reported() -> None:
    full_screen = published("v2-tui-htop").loss
    assert full_screen.skipped["segment: full-screen program whose keys were not recorded"] == 1
    assert full_screen.inferred["time of the recording"] == 1
    broken = list(read(case("asciicast/v2-broken-line.cast")))
    assert [result.line for result in broken if isinstance(result, Problem)] == [3]
    assert published("v2-bash-resize-kwok").loss.skipped["denoise: resize to the size it has"] == 3
    assert published("v3-emoji-table-hasscheck").outcome["exit_status"] == "0"


def session() -> Session:
    return (
        Session(header={"title": "A tour", "env": {"SHELL": "/bin/sh"}}).command("ls", "a\r\n").command("pwd", "/\r\n")
    )


def import_one(tmp_path: Path, source: Path, *, strict: bool = False) -> Dataset:
    dataset = Dataset(tmp_path / "data")
    import_trajectories(dataset, "asciicast", [source], strict=strict)
    return dataset


def written(folder: Path, session: Session, name: str = "a.cast") -> Path:
    path = folder / name
    path.write_text(session.text())
    return path


def test_a_replay_of_what_was_stored_gives_the_observations(tmp_path: Path) -> None:
    made = session().event("r", "20x5").event("m", "turn 7").event("m", "chapter").command("echo x", "x\r\n").out("$ ")
    dataset = import_one(tmp_path, written(tmp_path, made))
    (trajectory_id,) = dataset.scan_trajectories().collect()["trajectory_id"]
    trajectory = dataset.trajectory(trajectory_id)
    assert [text for _, text in replay(dataset.recording(trajectory_id))] == [
        trajectory.row["initial_state"],
        *trajectory.turns["observation"],
    ]
    kept = [event.data for event in dataset.recording(trajectory_id) if event.kind == "m"]
    assert kept == ["turn 1", "chapter", "turn 2", "turn 3"] or kept == ["turn 1", "turn 2", "chapter", "turn 3"]


def test_a_trajectory_says_where_it_comes_from_and_how_each_stage_went(tmp_path: Path) -> None:
    dataset = import_one(tmp_path, written(tmp_path, session().out("$ ")))
    row = dataset.scan_trajectories().collect().to_dicts()[0]
    assert (row["domain"], row["source_format"], row["instruction"]) == ("terminal", "asciicast", "A tour")
    assert row["source"].endswith("a.cast")
    assert '"turns_segmented": 2, "turns_aligned": 2' in row["outcome_json"]
    turns = dataset.scan_turns().collect()
    assert turns["renderer"].to_list() == ["terminal-screen@1"] * 2
    assert turns["action"][0] == '[{"keystrokes": "ls\\n", "duration": 0.02}]'


def test_a_broken_line_costs_itself_or_where_strict_the_import(tmp_path: Path) -> None:
    made = session()
    made.lines.insert(3, "lol!")
    source = written(tmp_path, made.out("$ "))
    assert import_one(tmp_path, source).scan_turns().collect().height == 2
    with pytest.raises(UnreadableError, match=r"not JSON.*a\.cast:5"):
        import_one(tmp_path / "strict", source, strict=True)


@pytest.mark.parametrize("end", [".zip", ".tar.gz"])
def test_an_archive_brings_its_recordings(end: str, tmp_path: Path) -> None:
    other = Session().command("id", "0\r\n").out("$ ")
    casts = archive(tmp_path / f"casts{end}", {"x/b.cast": session().text().encode(), "a.cast": other.text().encode()})
    rows = import_one(tmp_path, casts).scan_trajectories().collect()
    assert sorted(rows["source"]) == [f"{casts}!a.cast", f"{casts}!x/b.cast"]
    assert rows["num_turns"].sum() == 3


def test_a_compressed_file_is_read_as_what_it_holds(tmp_path: Path) -> None:
    compressed = tmp_path / "a.cast.zst"
    compressed.write_bytes(zstandard.compress(session().text().encode()))
    (found,) = read(compressed)
    assert isinstance(found, Imported)
    assert lines_of(found) == ["ls\n", "pwd\n"]
    (plain,) = read(written(tmp_path, session()))
    assert isinstance(plain, Imported)
    assert plain.digest == found.digest
