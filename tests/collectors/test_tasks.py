"""A task file is read whole or refused in one line that says what, where and how to mend it."""

import os
from pathlib import Path

import pytest

from collectors.tasks import Task, load_tasks
from trajectories import Action, InputError

EXAMPLES = Path(__file__).parents[2] / "examples" / "tasks"


def write(folder: Path, text: str, name: str = "tasks.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def load_one(folder: Path, text: str) -> Task:
    (task,) = load_tasks([write(folder, text)])
    return task


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as error:
        load_tasks([write(folder, text)])
    assert error.value.exit_code == 2
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(folder) + "/", "")


def test_a_line_is_typed_with_enter(tmp_path: Path) -> None:
    task = load_one(tmp_path, "{id: t, domain: terminal, instruction: x, actions: [echo hi]}")
    assert task.actions == (Action.keys(("echo hi\n", 5.0)),)


def test_keys_are_pressed_as_they_are_alone_or_several_in_one_action(tmp_path: Path) -> None:
    task = load_one(
        tmp_path,
        """
id: t
domain: terminal
instruction: x
actions:
  - {keystrokes: C-c, duration: 0.5}
  - [{keystrokes: "a", duration: 0}, ls]
  - []
""",
    )
    assert task.actions == (Action.keys(("C-c", 0.5)), Action.keys(("a", 0.0), ("ls\n", 5.0)), Action.keys())


def test_a_call_names_a_tool_and_its_arguments(tmp_path: Path) -> None:
    task = load_one(
        tmp_path,
        "{id: t, domain: mcp, instruction: x, servers: [git], actions: [call: {name: log, arguments: {n: 1}}]}",
    )
    assert task.actions == (Action.call("log", {"n": 1}),)
    assert task.sandbox_options() == {"servers": ["git"]}


def test_files_are_inline_or_come_from_a_folder_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "seed" / "sub").mkdir(parents=True)
    (tmp_path / "seed" / "sub" / "blob").write_bytes(b"\x00\xff")
    task = load_one(
        tmp_path, "{id: t, domain: terminal, instruction: x, files_from: seed, files: {a.txt: 'größe'}, actions: [ls]}"
    )
    assert task.files == {"sub/blob": b"\x00\xff", "a.txt": "größe".encode()}


def test_a_file_holds_one_task_or_a_list_and_a_folder_holds_files(tmp_path: Path) -> None:
    write(tmp_path, "{id: b, domain: terminal, instruction: x}", "2.yaml")
    write(tmp_path, "tasks: [{id: a, domain: terminal, instruction: x}, {id: c, domain: mcp, instruction: x}]", "1.yml")
    write(tmp_path, "not a task", "notes.txt")
    assert [task.id for task in load_tasks([tmp_path])] == ["a", "c", "b"]


def test_the_hash_is_of_the_content_not_of_its_form(tmp_path: Path) -> None:
    first = load_one(tmp_path, "{id: t, domain: terminal, instruction: x, actions: [ls], files: {a: b, c: d}}")
    same = load_one(tmp_path, "files: {c: d, a: b}\ninstruction: x\nid: t\ndomain: terminal\nactions: ['ls\n\n']\n")
    other = load_one(tmp_path, "{id: t, domain: terminal, instruction: x, actions: [ls -a], files: {a: b, c: d}}")
    assert first.task_sha256 == same.task_sha256 != other.task_sha256


def test_an_unknown_key_is_refused_with_line_task_and_the_nearest_known_key(tmp_path: Path) -> None:
    message = refusal(tmp_path, "id: t\ndomain: terminal\ninstruction: x\naction: [ls]\n")
    assert message == "unknown key 'action' (tasks.yaml:4, task t); did you mean 'actions'?"


def test_an_unknown_key_of_an_action_is_refused_with_its_line(tmp_path: Path) -> None:
    message = refusal(
        tmp_path, "id: t\ndomain: terminal\ninstruction: x\nactions:\n  - ls\n  - {keystrokes: x, durration: 1}\n"
    )
    assert message == "actions.1: unknown key 'durration'; did you mean 'duration'? (tasks.yaml:6, task t)"


def test_a_line_that_yaml_takes_for_a_mapping_is_refused_with_advice(tmp_path: Path) -> None:
    message = refusal(tmp_path, "id: t\ndomain: terminal\ninstruction: x\nactions:\n  - echo a: b\n")
    assert "tasks.yaml:5" in message
    assert "into quotes" in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("id: t\ndomain: terminal\n", "instruction: Field required (tasks.yaml:1, task t)"),
        ("id: ../t\ndomain: terminal\ninstruction: x\n", "id: String should match pattern"),
        ("id: t\ndomain: terminal\ninstruction: x\nturns: 0\n", "turns: Input should be greater than or equal to 1"),
        (
            "id: t\ndomain: terminal\ninstruction: x\nfiles: {../up: x}\n",
            "a sandbox file must stay in its folder ('../up')",
        ),
        ("id: t\ndomain: terminal\ninstruction: x\nfiles: {'.': x}\n", "must stay in its folder ('.')"),
        (
            'id: t\ndomain: terminal\ninstruction: x\nfiles: {"a\\0b": x}\n',
            "a file's name cannot be stored ('a\\x00b')",
        ),
        ("id: t\ndomain: terminal\ninstruction: x\nfiles: {a: x, a/b: x}\n", "'a' is a file and a folder"),
        ("id: t\ndomain: terminal\ninstruction: x\nfiles: {a/b: x, a//b: x}\n", "'a/b' is given twice"),
        (
            "id: t\ndomain: terminal\ninstruction: x\noptions: {engine: docker, files: {}}\n",
            "options: 'engine' is not among a sandbox's options; it is chosen for the whole run (tasks.yaml:4, task t)",
        ),
        ("id: t\ndomain: terminal\ninstruction: x\nfiles_from: nowhere\n", "files_from: there is no folder"),
        ("id: t\nid: u\ndomain: terminal\ninstruction: x\n", "key 'id' is given twice (tasks.yaml:2)"),
        ("tasks: []\nextra: 1\n", "unknown key 'extra' beside 'tasks' (tasks.yaml:2)"),
        ("tasks: [3]\n", "a task must be a mapping of keys to values (tasks.yaml:1)"),
        ("id: [\n", "this is not YAML"),
        ("id: &a [*a]\n", "the values are nested more than 100 levels deep (tasks.yaml:1)"),
        ("id: " + "[" * 20_000 + "]" * 20_000, "the values are nested more than 100 levels deep (tasks.yaml)"),
        ("turns: " + "9" * 10_000, "a value cannot be read: Exceeds the limit (4300 digits)"),
        ("turns: !!bool maybe", "a value cannot be read: 'maybe' (tasks.yaml:1)"),
        ("? [a, b]\n: c\n", "a key must be a plain text (tasks.yaml:1)"),
        ("id: t\nfiles: !!python/object/apply:os.system [ls]\n", "could not determine a constructor for the tag"),
        ('id: t\nactions: ["\\ud800"]\n', "a text holds half a surrogate pair (tasks.yaml:2)"),
        (
            "l0: &l0 [x]\n" + "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 10)),
            "the aliases stand for too many values (tasks.yaml:2); write out what is meant",
        ),
        ("", "no tasks found (tasks.yaml)"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in refusal(tmp_path, text)


def test_a_few_aliases_are_what_they_stand_for(tmp_path: Path) -> None:
    task = load_one(tmp_path, "{id: t, domain: &d terminal, instruction: *d, actions: [&ls ls, *ls, *ls]}")
    assert (task.instruction, len(task.actions)) == ("terminal", 3)


@pytest.mark.parametrize("folder", ["..", "../outside", "/etc", "out"])
def test_files_come_from_no_folder_outside_the_task_files_own(tmp_path: Path, folder: str) -> None:
    own = tmp_path / "own"
    for place in (own, tmp_path / "outside"):
        place.mkdir()
    (own / "out").symlink_to(tmp_path / "outside")
    message = refusal(own, f"id: t\ndomain: terminal\ninstruction: x\nfiles_from: {folder}\n")
    assert message == f"files_from: '{folder}' lies outside the task file's own folder (tasks.yaml:4, task t)"


@pytest.mark.parametrize("target", ["/etc/passwd", "/etc", "../secret", "nothing", "file"])
def test_a_file_that_is_a_link_out_of_its_folder_or_cannot_be_read_is_named(tmp_path: Path, target: str) -> None:
    (tmp_path / "secret").write_text("s")
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed" / "file").symlink_to(target)
    message = refusal(tmp_path, "id: t\ndomain: terminal\ninstruction: x\nfiles_from: seed\n")
    reasons = {"nothing": "cannot be read: No such file or directory", "file": "cannot be read: Too many levels"}
    assert reasons.get(target, "the link 'seed/file' leaves its folder") in message
    assert "seed/file" in message


def test_a_pipe_among_the_files_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "seed").mkdir()
    os.mkfifo(tmp_path / "seed" / "pipe")
    assert "'seed/pipe' is not a file" in refusal(
        tmp_path, "id: t\ndomain: terminal\ninstruction: x\nfiles_from: seed\n"
    )


def test_a_link_within_the_folder_is_the_file_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed" / "a").write_text("1")
    (tmp_path / "seed" / "b").symlink_to("a")
    task = load_one(tmp_path, "{id: t, domain: terminal, instruction: x, files_from: seed}")
    assert task.files == {"a": b"1", "b": b"1"}


def test_an_id_used_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    message = refusal(
        tmp_path, "tasks:\n- {id: t, domain: mcp, instruction: x}\n- {id: t, domain: mcp, instruction: y}\n"
    )
    assert "task id 't' is used twice (tasks.yaml:2 and " in message
    assert "tasks.yaml:3)" in message


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such task file or folder"):
        load_tasks([tmp_path / "nothing.yaml"])


def test_the_examples_are_enough_for_the_demonstration() -> None:
    tasks = load_tasks([EXAMPLES])
    scripted = [task for task in tasks if task.actions]
    assert sum(task.domain == "terminal" for task in scripted) >= 8
    assert sum(task.domain == "mcp" for task in scripted) >= 6
    assert {task.domain for task in tasks if not task.actions} == {"terminal", "mcp"}
    assert all(task.licence for task in tasks)
