"""Who typed what: from prompts where only output was recorded, from keys where input was too."""

from pathlib import Path

import pytest

from tests.trajectories.importers.asciicast_support import Session, keystrokes, lines_of
from trajectories.importers.asciicast.prompts import THRESHOLD


def test_commands_are_what_was_typed_at_a_prompt(tmp_path: Path) -> None:
    session = Session().command("ls", "a  b\r\n").command("cat a", "text\r\n").out("$ ")
    found = session.imported(tmp_path)
    assert lines_of(found) == ["ls\n", "cat a\n"]
    assert found.initial.text == "$"
    assert [turn.observation.text for turn in found.turns] == [
        "$ ls\na  b\n$",
        "$ ls\na  b\n$ cat a\ntext\n$",
    ]
    assert found.loss.inferred == {"action from a prompt": 2}


def test_a_command_is_seen_through_colours_deletions_completions_and_rewritten_letters(tmp_path: Path) -> None:
    session = Session(prompt="\x1b[1;32mme@host\x1b[0m:\x1b[34m~\x1b[0m$ ")
    session.out(session.prompt).typed("lx").out("\b \b").typed("s -l").out("\b\b\b\b\bLS -l").out("\b\b\b\b\bls")
    session.out("\x1b[3C /\x1b[31mtmp\x1b[0m/", " \x07", "\b\x1b[K", "\r\n", "total 0\r\n").out(session.prompt)
    session.line("pwd", "/\r\n").out(session.prompt)
    assert lines_of(session.imported(tmp_path)) == ["ls -l /tmp/\n", "pwd\n"]


def test_a_command_that_wraps_over_the_right_edge_is_one_line(tmp_path: Path) -> None:
    session = Session(columns=12)
    session.out("$ ").typed("echo 12345").out(" \r", "6").typed("789 abcdefghijklm").out("\r\n", "ok\r\n", "$ ")
    session.line("ls", "\r\n").out("$ ")
    assert lines_of(session.imported(tmp_path)) == ["echo 123456789 abcdefghijklm\n", "ls\n"]


def test_comments_and_empty_lines_are_entered_on_the_way_to_the_next_command(tmp_path: Path) -> None:
    session = Session().command("# first").command("").command("ls", "a\r\n").command("# bye").out("$ ")
    found = session.imported(tmp_path)
    assert keystrokes(found) == [["# first\n", "\n", "ls\n"]]
    assert found.turns[0].observation.text == "$ # first\n$\n$ ls\na\n$"
    assert found.loss.skipped == {"segment: comment line": 1}


def test_a_prompt_that_changes_and_is_drawn_again_is_a_prompt(tmp_path: Path) -> None:
    session = Session(columns=60)
    for second, (command, branch) in enumerate([("git init", ""), ("touch a", "(main)"), ("ls", "(main *)")]):
        session.out(f"\r\x1b[J10:00:0{second} me $ \x1b[K", "\x1b[?2004h")
        session.out(f"\r\r\x1b[J10:00:0{second} me {branch} $ \x1b[K", after=0.3)
        session.typed(command).out("\x1b[?2004l\r\r\n", f"\x1b]2;{command}\x07", "done\r\n")
    assert lines_of(session.imported(tmp_path)) == ["git init\n", "touch a\n", "ls\n"]


def test_a_prompt_of_two_lines_and_one_at_the_right_edge_are_not_part_of_the_command(tmp_path: Path) -> None:
    session = Session(columns=30, prompt="\r\n~/project on main\r\n❯ \x1b[24C[0]\x1b[27D")
    session.command("ls", "a\r\n").command("echo hi", "hi\r\n").out(session.prompt)
    assert lines_of(session.imported(tmp_path)) == ["ls\n", "echo hi\n"]


@pytest.mark.parametrize("second_prompt", ["> ", "heredoc> ", ""])
def test_a_here_document_is_one_command(second_prompt: str, tmp_path: Path) -> None:
    session = Session().command("ls", "a\r\n").command("cat > f <<'END'")
    for line in ("it's one", "  two", "END"):
        session.out(*([second_prompt] if second_prompt else [])).line(line)
    session.command("pwd", "/\r\n").out("$ ")
    assert lines_of(session.imported(tmp_path)) == ["ls\n", "cat > f <<'END'\nit's one\n  two\nEND\n", "pwd\n"]


def test_quotes_loops_and_pipes_that_go_on_below_are_one_command(tmp_path: Path) -> None:
    session = (
        Session(rows=30).command("for i in 1 2; do").out("> ").line("echo $i").out("> ").line("done", "1\r\n2\r\n")
    )
    session.command("echo 'a").out("> ").line("b'", "a\r\nb\r\n").command("ls |").out("> ").line("wc", "3\r\n").out(
        "$ "
    )
    assert lines_of(session.imported(tmp_path)) == ["for i in 1 2; do\necho $i\ndone\n", "echo 'a\nb'\n", "ls |\nwc\n"]


def test_the_cells_of_an_interpreter_are_commands_too(tmp_path: Path) -> None:
    session = Session(rows=30, prompt=">>> ").out("$ ").line("python3")
    session.command("x = 1").command("if x:").out("... ").line("    print('it')").out("... ").line("", "it\r\n")
    session.command("exit()").out("$ ").line("ls", "a\r\n").out("$ ")
    assert lines_of(session.imported(tmp_path)) == [
        "python3\n",
        "x = 1\n",
        "if x:\n    print('it')\n\n",
        "exit()\n",
        "ls\n",
    ]


def test_an_interpreter_whose_prompt_looks_like_a_shells_may_ask_for_more(tmp_path: Path) -> None:
    session = Session(prompt="> ").out("$ ").line("node").command("[1,").out("... ").line("2]", "[ 1, 2 ]\r\n")
    session.command("4 + 5", "9\r\n").out("> ")
    assert lines_of(session.imported(tmp_path)) == ["node\n", "[1,\n2]\n", "4 + 5\n"]


def test_the_shells_own_marks_tell_commands_and_their_exit_codes(tmp_path: Path) -> None:
    session = Session()
    for command, code in (("false", 1), ("true", 0)):
        session.out("\x1b]133;A\x07at your service: \x1b]133;B\x07").out(f"{command}\r\n\x1b]133;C\x07")
        session.out(f"\x1b]133;D;{code}\x07")
    found = session.imported(tmp_path)
    assert lines_of(found) == ["false\n", "true\n"]
    assert [turn.observation.exit_code for turn in found.turns] == [1, 0]


def test_a_session_may_end_without_a_prompt_or_in_the_middle_of_a_command(tmp_path: Path) -> None:
    ended = Session().command("ls", "a\r\n").command("exit").imported(tmp_path)
    assert lines_of(ended) == ["ls\n", "exit\n"]
    cut = Session().command("ls", "a\r\n").command("pwd", "/\r\n").out("$ ").typed("rm -r").imported(tmp_path)
    assert lines_of(cut) == ["ls\n", "pwd\n"]
    assert cut.turns[1].observation.text.endswith("$ pwd\n/\n$")
    assert cut.loss.skipped == {"segment: unfinished line": 1}


def test_a_line_that_was_given_up_is_no_command(tmp_path: Path) -> None:
    session = (
        Session().command("ls", "a\r\n").out("$ ").typed("rm -r x").out("^C\r\n").command("pwd", "/\r\n").out("$ ")
    )
    found = session.imported(tmp_path)
    assert keystrokes(found) == [["ls\n", "rm -r x\x03"], ["pwd\n"]]
    assert found.turns[0].observation.text == "$ ls\na\n$ rm -r x^C\n$"


def test_a_line_at_a_prompt_that_cannot_be_told_ends_the_turns_before_it(tmp_path: Path) -> None:
    session = (
        Session().command("ls", "a\r\n").command("pwd", "/\r\n").out("$ ").out("date\b\b\b\bwhoami", "\r\n", "me\r\n")
    )
    found = session.command("id", "7\r\n").out("$ ").imported(tmp_path)
    assert lines_of(found) == ["ls\n", "pwd\n"]
    assert found.turns[1].observation.text.endswith("$ pwd\n/\n$")
    assert found.loss.skipped == {"segment: command": 1, "segment: line at a prompt that cannot be told": 1}


@pytest.mark.parametrize("marks", [("\x1b[200~", "\x1b[201~"), ("\x1b[200~", "\x1b[201~ ")])
def test_a_paste_of_several_lines_is_one_action(tmp_path: Path, marks: tuple[str, str]) -> None:
    begin, end = marks
    session = Session(with_input=True).command("ls", "a\r\n").out("$ ")
    session.keys(f"{begin}echo one\recho two{end}", "echo one\r\necho two").keys("\r", "\r\n")
    session.out("one\r\ntwo\r\n").command("pwd", "/\r\n").out("$ ")
    found = session.imported(tmp_path)
    assert lines_of(found) == ["ls\n", f"{begin}echo one\necho two{end}\n", "pwd\n"]
    assert found.turns[1].observation.text == "$ ls\na\n$ echo one\necho two\none\ntwo\n$"


def test_a_paste_of_one_line_is_what_was_typed(tmp_path: Path) -> None:
    session = Session(with_input=True).out("$ ").keys("\x1b[200~echo one\x1b[201~", "echo one").keys("\r", "\r\n")
    assert lines_of(session.out("one\r\n$ ").imported(tmp_path)) == ["echo one\n"]


def test_what_was_pasted_in_several_lines_and_changed_is_kept_as_keys(tmp_path: Path) -> None:
    session = Session(with_input=True).command("ls", "a\r\n").out("$ ")
    session.keys("\x1b[200~echo one\recho twx\x1b[201~", "echo one\r\necho twx").keys("\x7f", "\b \b").typed("o")
    session.keys("\r", "\r\n").out("one\r\ntwo\r\n$ ")
    found = session.imported(tmp_path)
    assert lines_of(found) == ["ls\n\x1b[200~echo one\necho twx\x1b[201~\x7fo\n"]


def test_commands_that_were_pasted_with_another_are_no_part_of_its_observation(tmp_path: Path) -> None:
    session = Session(prompt="me@host:~$ ").command("ls", "a\r\n").command("pwd", "/\r\n")
    session.out("me@host:~$ ").typed("id").out("\r\n", "7\r\nme@host:~$ date\r\nFriday\r\n")
    found = session.command("true").out("me@host:~$ ").imported(tmp_path)
    assert lines_of(found) == ["ls\n", "pwd\n"]
    assert found.turns[1].observation.text.endswith("me@host:~$ pwd\n/\nme@host:~$")


def test_a_here_document_whose_lines_were_not_seen_ends_the_turns_before_it(tmp_path: Path) -> None:
    session = Session().command("ls", "a\r\n").command("cat <<END").out("> x\r\n> END\r\nx\r\n").command("pwd", "/\r\n")
    found = session.out("$ ").imported(tmp_path)
    assert lines_of(found) == ["ls\n"]
    assert found.loss.skipped["segment: unfinished line"] == 1


OUTPUT = [
    pytest.param(["$ ls\r\n", "$ npm install\r\n", "$ make\r\n"], id="prompts in a text that is put out by the line"),
    pytest.param(["Name: ", "B", "o", "b", "\r\n", "Hello Bob\r\n"], id="an answer to a question"),
    pytest.param(["Loading ", ".", ".", ".", ".", " done", "\r\n"] * 4, id="dots of progress"),
    pytest.param([f"\r{n}%" for n in range(0, 101, 5)] + ["\r\n"], id="a percentage on one line"),
    pytest.param(["H", "e", "l", "l", "o", " ", "w", "o", "r", "l", "d", "\r\n"] * 3, id="text that types itself"),
    pytest.param(
        ["\x1b[?1049h\x1b[H", "$ ", "l", "s", "\r\n", "$ ", "\x1b[?1049l"], id="a full-screen program", marks=[]
    ),
    pytest.param(["test_a.py ", ".", "F", ".", "\r\n"] * 3, id="a test runner"),
    pytest.param(["a > ", "b c\r\n"] * 4, id="output cut in two"),
    pytest.param(["[INFO] ", "all is well\r\n"] * 4, id="a log"),
]


@pytest.mark.parametrize("output", OUTPUT)
def test_nothing_is_invented_from(output: list[str], tmp_path: Path) -> None:
    session = Session().command("run", *output).command("ls", "a\r\n").out("$ ")
    assert lines_of(session.imported(tmp_path)) == ["run\n", "ls\n"]


def test_a_recording_in_which_most_typed_lines_are_no_commands_is_dropped_and_counted(tmp_path: Path) -> None:
    session = Session(rows=30).command("./wizard")
    for question in ("Name", "Town", "Street", "Country"):
        session.out(f"{question}? ").line("an answer")
    found = session.imported(tmp_path)
    assert lines_of(found) == []
    assert found.loss.skipped[f"score: turn of a recording below {THRESHOLD}"] == 1
    assert found.initial.text.endswith("Country? an answer")


def typing(**options: str) -> Session:
    return Session(rows=20, with_input=True, **options)  # type: ignore[arg-type]


def test_keys_are_the_actions_where_they_were_recorded(tmp_path: Path) -> None:
    session = typing(prompt="anything at all ").command("ls", "a\r\n").command("pwd", "/\r\n")
    found = session.out(session.prompt).imported(tmp_path)
    assert lines_of(found) == ["ls\n", "pwd\n"]
    assert found.loss.inferred == {"action from the keys": 2}


def test_replies_of_the_terminal_are_no_keys(tmp_path: Path) -> None:
    session = typing().out("$ ")
    for reply in ("\x1b[?62;22c", "\x1b[>0;276;0c", "\x1b[24;80R", "\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1b[I"):
        session.event("i", reply)
    session.line("ls", "a\r\n").out("$ ").event("i", "\x1bP>|term 1\x1b\\\x1b[?2026;2$y")
    found = session.imported(tmp_path)
    assert lines_of(found) == ["ls\n"]
    assert found.loss.skipped["denoise: reply of the terminal"] == 7


def test_deleted_and_killed_letters_were_not_entered(tmp_path: Path) -> None:
    session = typing().out("$ ").typed("rx").keys("\x7f", "\b \b").typed("m x").keys("\x17", "\b \b").typed("y")
    session.keys("\x15", "\r$ \x1b[K").line("ls -a", ".\r\n").out("$ ")
    assert lines_of(session.imported(tmp_path)) == ["ls -a\n"]


def test_a_line_from_the_history_or_completed_is_what_the_screen_shows(tmp_path: Path) -> None:
    session = typing().command("cat file", "x\r\n").out("$ ").keys("\x1b[A", "cat file").keys("\r", "\r\n").out("x\r\n")
    session.out("$ ").typed("ls fi").keys("\t", "le ").keys("\r", "\r\n").out("file\r\n", "$ ")
    assert lines_of(session.imported(tmp_path)) == ["cat file\n", "cat file\n", "ls file\n"]


def test_keys_at_a_full_screen_program_are_part_of_the_action_that_opened_it(tmp_path: Path) -> None:
    session = typing().command("less f", "\x1b[?1049h\x1b[Htext").keys(" ", "more").keys("q", "\x1b[?1049l")
    session.command("ls", "f\r\n").out("$ ")
    found = session.imported(tmp_path)
    assert keystrokes(found) == [["less f\n", " q"], ["ls\n"]]


def test_an_interrupt_is_part_of_the_action_that_it_ends(tmp_path: Path) -> None:
    session = typing().command("sleep 9").keys("\x03", "^C\r\n").command("ls", "a\r\n").out("$ ")
    assert keystrokes(session.imported(tmp_path)) == [["sleep 9\n", "\x03"], ["ls\n"]]


@pytest.mark.parametrize("newline", ["\r\n", ""])
def test_a_password_that_the_terminal_did_not_show_is_kept_nowhere(newline: str, tmp_path: Path) -> None:
    session = typing().command("sudo -i").out("Password: ")
    for letter in "hunter2":
        session.keys(letter, "")
    session.keys("\r", newline).command("ls", "a\r\n").out("$ ")
    found = session.imported(tmp_path)
    assert lines_of(found) == ["sudo -i\n", "ls\n"]
    kept = [event for turn in found.turns if turn.observation.raw for event in turn.observation.raw]
    assert "".join(event.data for event in kept if event.kind == "i") == "sudo -i\rls\r"
    assert found.loss.skipped["segment: hidden line"] == 1


def test_keys_that_were_never_shown_are_not_kept_where_nothing_else_was_typed(tmp_path: Path) -> None:
    session = typing().out("Password: ")
    for letter in "hunter2\r":
        session.keys(letter, "")
    found = session.out("Welcome").imported(tmp_path)
    assert lines_of(found) == []
    assert found.initial.raw is not None
    assert [event.kind for event in found.initial.raw] == ["o", "o"]


def test_type_ahead_is_entered_when_its_line_is_shown(tmp_path: Path) -> None:
    session = typing().command("sleep 1").line("ls").out("$ ls\r\n", "a\r\n").command("pwd", "/\r\n").out("$ ")
    assert lines_of(session.imported(tmp_path)) == ["sleep 1\n", "ls\n", "pwd\n"]


def test_a_bare_enter_without_a_prompt_is_no_turn(tmp_path: Path) -> None:
    found = Session().out("foo").event("i", "\r").out("bar").imported(tmp_path)
    assert lines_of(found) == []
    assert found.initial.text == "foobar"
