"""The terminal sandbox in real containers: what is typed, what is seen, and when a turn is over."""

from __future__ import annotations

import pytest

from sandboxes.engines import Engine
from sandboxes.terminal import TerminalSandbox
from tests.sandboxes.terminal_support import PROMPT, enter, feed, last_output, opened, press
from trajectories import Action, ErrorKind, InputError
from trajectories.renderers import Screen


async def test_the_first_observation_is_the_prompt(engine: Engine) -> None:
    sandbox = TerminalSandbox(engine)
    first = await sandbox.start()
    await sandbox.close()
    assert first.text == PROMPT
    assert first.renderer == "terminal-screen@1"


async def test_the_initial_state_describes_the_machine_and_ends_with_the_first_prompt(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        machine, _, screen = sandbox.facts.prompt.initial_state.partition("\n\n")
    assert [line.partition(":")[0] for line in machine.split("\n")] == [
        "Operating system",
        "Kernel",
        "Disk",
        "Memory",
        "Working directory",
    ]
    assert "unknown" not in machine
    assert "512 MiB may be used here" in machine
    assert screen == PROMPT


async def test_the_facts_name_engine_image_and_screen_size(engine: Engine) -> None:
    async with opened(engine, rows=24, columns=80) as sandbox:
        facts = sandbox.facts
    assert (facts.domain, facts.sandbox, facts.engine) == ("terminal", "terminal@1", engine.name)
    assert facts.image_digest
    assert facts.versions["bash"].startswith("5.")
    assert (facts.recording_header["width"], facts.recording_header["height"]) == (80, 24)
    assert "24 rows and 80 columns" in facts.prompt.task_description


async def test_a_turn_shows_the_prompt_the_command_its_output_and_the_next_prompt(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        seen = await enter(sandbox, "echo hello")
    assert seen.text == f"{PROMPT} echo hello\nhello\n{PROMPT}"
    assert (seen.exit_code, seen.timed_out, seen.truncated, seen.error_kind, seen.ended) == (
        0,
        False,
        False,
        None,
        False,
    )


async def test_files_and_setup_are_there_before_the_first_turn_and_not_in_the_recording(engine: Engine) -> None:
    async with opened(engine, files={"a/b.txt": "naïve 漢字\n".encode()}, setup=["cp a/b.txt c.txt"]) as sandbox:
        seen = await enter(sandbox, "cat c.txt")
    assert seen.text == f"{PROMPT} cat c.txt\nnaïve 漢字\n{PROMPT}"


async def test_a_command_returns_at_once_not_after_its_duration(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        seen = await enter(sandbox, *(f"echo {number}" for number in range(20)), wait_s=60)
    assert not seen.timed_out, "a wait that goes on beyond its command is longer than a step may take"


async def test_nothing_is_entered_without_a_newline(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        typed = await press(sandbox, "echo hello")
        entered = await press(sandbox, "\n")
    assert (typed.text, typed.exit_code) == (f"{PROMPT} echo hello", None)
    assert entered.text == f"{PROMPT} echo hello\nhello\n{PROMPT}"


async def test_an_early_capture_shows_the_echo_and_the_next_wait_the_rest(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        early = await enter(sandbox, "sleep 0.6; echo done", wait_s=0.1)
        late = await press(sandbox, "", wait_s=30)
    assert (early.text, early.exit_code, early.timed_out) == (f"{PROMPT} sleep 0.6; echo done", None, False)
    assert (last_output(late), late.exit_code) == ("done", 0)


async def test_lines_typed_ahead_are_waited_for_all_together(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        seen = await press(sandbox, "sleep 0.3; echo one\nsleep 0.3; echo two\n")
    assert seen.text.split("\n")[-2:] == ["two", PROMPT]


async def test_a_here_document_and_a_loop_over_several_lines_return_at_the_last_prompt(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await press(sandbox, "cat > poem <<EOF\nroses\nviolets\nEOF\n")
        seen = await press(sandbox, "for word in $(cat poem)\ndo echo $word; sleep 0.2\ndone\n")
    assert seen.text.split("\n")[-3:] == ["roses", "violets", PROMPT]


async def test_the_exit_code_is_the_commands(engine: Engine) -> None:
    exit_codes = {
        "true": 0,
        "false": 1,
        "sh -c 'exit 42'": 42,
        "no-such-command": 127,
        "sh -c 'kill -9 $$'": 137,
        "if ;": 2,
    }
    async with opened(engine) as sandbox:
        seen = {line: (await enter(sandbox, line)).exit_code for line in exit_codes}
    assert seen == exit_codes


async def test_an_empty_line_has_no_exit_code(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, "false")
        assert (await enter(sandbox, "")).exit_code is None


async def test_control_c_interrupts_a_command(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, "sleep 1000", wait_s=0.5)
        interrupted = await press(sandbox, "C-c")
    assert (interrupted.text.split("\n")[1:], interrupted.exit_code) == (["^C", PROMPT], 130)


async def test_control_z_suspends_and_fg_resumes(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, "cat", wait_s=0.5)
        suspended = await press(sandbox, "C-z")
        resumed = await enter(sandbox, "fg", wait_s=0.5)
        left = await press(sandbox, "C-d")
    assert suspended.exit_code == 148
    assert resumed.exit_code is None
    assert left.exit_code == 0


async def test_control_l_clears_the_screen(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, "seq 20")
        assert (await press(sandbox, "C-l")).text == PROMPT


async def test_the_marks_disturb_neither_status_nor_history_nor_trace(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, "false")
        status = await enter(sandbox, "echo $?")
        trace = await enter(sandbox, "set -x", "echo hello")
        history = await enter(sandbox, "set +x", "history")
    assert last_output(status) == "1"
    assert last_output(trace) == "+ echo hello\nhello"
    commands = ["false", "echo $?", "set -x", "echo hello", "set +x", "history"]
    assert last_output(history).split("\n") == [f"{number:5}  {line}" for number, line in enumerate(commands, 1)]


async def test_commands_get_a_plain_environment(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        seen = await enter(sandbox, "env | cut -d= -f1 | sort | grep -v HOSTNAME | xargs")
        values = await enter(sandbox, "echo $HOME $TERM $LANG ${HISTFILE-none} ${PROMPT_COMMAND-none} $LINES $COLUMNS")
    assert last_output(seen) == "HOME LANG PATH PWD SHLVL TERM _"
    assert last_output(values) == "/home/user xterm-256color C.UTF-8 none none 40 160"


async def test_bash_keeps_its_own_variables(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        seen = await enter(sandbox, "false | true | (exit 3); echo ${PIPESTATUS[*]} $SHLVL $0")
        open_files = await enter(sandbox, "echo /proc/$$/fd/*")
    assert last_output(seen) == "1 0 3 1 bash"
    assert "/fd/9" not in last_output(open_files)


async def test_the_shell_goes_on_where_it_was(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, "cd /tmp", "name=value")
        seen = await enter(sandbox, "echo $name")
    assert seen.text.split("\n")[-2:] == ["value", "user@sandbox:/tmp$"]


async def test_an_editor_on_the_alternate_screen(engine: Engine) -> None:
    async with opened(engine, rows=10) as sandbox:
        editor = await enter(sandbox, "vim.tiny note", wait_s=10)
        typed = await press(sandbox, "ihello", "Escape")
        left = await enter(sandbox, ":wq")
        saved = await enter(sandbox, "cat note")
    assert '"note" [New]' in editor.text
    assert typed.text.startswith("hello\n~\n~")
    assert left.text == f"{PROMPT} vim.tiny note\n{PROMPT}"
    assert last_output(saved) == "hello"


async def test_a_pager_takes_cursor_keys(engine: Engine) -> None:
    async with opened(engine, rows=5) as sandbox:
        first = await enter(sandbox, "seq 100 | less", wait_s=10)
        second = await press(sandbox, "Down", "Down")
        left = await press(sandbox, "q")
    assert first.text == "1\n2\n3\n4\n:"
    assert second.text == "3\n4\n5\n6\n:"
    assert left.exit_code == 0


async def test_a_python_prompt_returns_when_it_has_come_to_rest(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        banner = await enter(sandbox, "python3 -q", wait_s=1)
        answer = await enter(sandbox, "6 * 7", wait_s=600)
        left = await press(sandbox, "C-d")
    assert banner.text.endswith("\n>>>")
    assert answer.text.endswith("\n>>> 6 * 7\n42\n>>>")
    assert not answer.timed_out, "its wait is longer than a step may take"
    assert left.exit_code == 0


async def test_a_shell_whose_prompt_was_replaced_is_still_watched(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, "PS1='% '", wait_s=0.5)
        seen = await enter(sandbox, "echo hello")
    assert seen.text.endswith("\n% echo hello\nhello\n%")
    assert seen.exit_code is None


async def test_wide_and_combining_characters_stand_where_they_belong(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        seen = await enter(sandbox, "printf '日本|e\\u0301|👍|\\n'")
    assert last_output(seen) == "日本|e\u0301|👍|"


async def test_long_input_arrives_whole(engine: Engine) -> None:
    lines = "".join(f"line {number:04} {'x' * 88}\n" for number in range(1000))
    async with opened(engine, step_timeout_s=300) as sandbox:
        await press(sandbox, f"cat > long <<'EOF'\n{lines}EOF\n", wait_s=200)
        many_lines = await enter(sandbox, "wc -c long; tail -n 1 long | cut -c 1-9")
        one_line = await enter(sandbox, f"printf %s {'x' * 100_000} | wc -c", wait_s=100)
    assert last_output(many_lines) == f"{len(lines)} long\nline 0999"
    assert one_line.text.endswith(f"x | wc -c\n100000\n{PROMPT}")


async def test_the_screen_is_what_its_renderer_makes_of_the_raw_events(engine: Engine) -> None:
    screen = Screen(40, 160)
    sandbox = TerminalSandbox(engine)
    first = await sandbox.start()
    assert feed(screen, first) == first.text
    for keys in (
        "seq 500\n",
        "printf '\\e[31m\\e[5;9Hx\\e[s\\e[1;1Hy\\e[uz\\n'\n",
        "head -c 3000 /dev/urandom\n",
        "ls",
        "C-c",
    ):
        seen = await press(sandbox, keys)
        assert feed(screen, seen) == seen.text
    await sandbox.close()


async def test_the_raw_events_hold_input_and_output_in_the_order_of_their_times(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, "echo one")
        seen = await enter(sandbox, "echo two")
        assert seen.raw is not None
        events = list(seen.raw)
    assert (events[0].kind, events[0].data) == ("i", "echo two\r")
    assert {event.kind for event in events[1:]} == {"o"}
    assert [event.seconds for event in events] == sorted(event.seconds for event in events)
    assert seen.bytes_total == sum(len(event.data.encode()) for event in events[1:])


async def test_an_unchanged_screen_has_the_same_state(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        before = await enter(sandbox, "echo hello")
        unchanged = await sandbox.step(Action.of([]))
        changed = await press(sandbox, "x")
    assert before.state == unchanged.state != changed.state
    assert unchanged.text == before.text


async def test_a_malformed_action_is_an_observation_with_the_agents_error(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        refused = await sandbox.step(Action.of({"keystrokes": "ls\n"}))
        after = await enter(sandbox, "echo hello")
    assert (refused.text, refused.error_kind, refused.ended) == (PROMPT, ErrorKind.AGENT, False)
    assert refused.error is not None
    assert refused.error.startswith("a terminal action is an array")
    assert last_output(after) == "hello"


async def test_a_file_outside_the_workspace_is_refused_before_anything_starts(engine: Engine) -> None:
    with pytest.raises(InputError):
        await TerminalSandbox(engine, files={"../outside": b""}).start()
