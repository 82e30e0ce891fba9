"""The terminal sandbox when things go wrong: floods, wedged programs, hostile output, and every way to die."""

from __future__ import annotations

import asyncio
import gc
import resource

import pytest

from sandboxes.engines import Engine, Limits
from sandboxes.errors import SandboxError
from sandboxes.leases import Lease
from sandboxes.terminal import TerminalSandbox
from tests.sandboxes.terminal_support import PROMPT, enter, feed, last_output, opened, press
from tests.sandboxes.watched_engine import WatchedEngine
from trajectories import Action, ErrorKind
from trajectories.renderers import Screen


async def test_leaving_the_shell_ends_the_sandbox_without_an_error(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        left = await enter(sandbox, "exit 3")
        after = await enter(sandbox, "echo hello")
    assert (left.ended, left.exit_code, left.error_kind) == (True, 3, None)
    assert left.text == f"{PROMPT} exit 3\nexit"
    assert (after.ended, after.error_kind, after.text) == (True, ErrorKind.AGENT, left.text)


async def test_control_d_at_the_prompt_leaves_the_shell(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        left = await press(sandbox, "C-d")
    assert (left.ended, left.error_kind) == (True, None)


async def test_a_killed_shell_is_the_environments_failure(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        killed = await enter(sandbox, "kill -9 $$")
    assert (killed.ended, killed.error_kind) == (True, ErrorKind.ENVIRONMENT)


async def test_a_shell_that_gave_up_its_terminal_does_not_hold_us_up(engine: Engine) -> None:
    async with opened(engine, step_timeout_s=2) as sandbox:
        seen = await enter(sandbox, "exec sleep 1000 < /dev/null > /dev/null 2>&1", wait_s=100)
    assert seen.timed_out or seen.error_kind is ErrorKind.ENVIRONMENT


async def test_a_container_that_dies_within_a_turn_is_reported_with_what_was_seen(engine: Engine, lease: Lease) -> None:
    watched = WatchedEngine(engine, lease)
    async with opened(watched) as sandbox:
        assert watched.container is not None
        turn = asyncio.create_task(enter(sandbox, "echo begun; touch /tmp/begun; sleep 1000"))
        await watched.container.exec(["bash", "-c", "until [[ -e /tmp/begun ]]; do sleep 0.02; done"])
        await watched.container.kill()
        died = await turn
    assert (died.ended, died.error_kind, died.error) == (True, ErrorKind.ENVIRONMENT, "the container died")
    assert died.text.endswith("sleep 1000\nbegun")


async def test_a_container_that_died_between_turns_is_reported_by_the_next(engine: Engine, lease: Lease) -> None:
    watched = WatchedEngine(engine, lease)
    async with opened(watched) as sandbox:
        before = await enter(sandbox, "echo hello")
        assert watched.container is not None
        await watched.container.kill()
        after = await enter(sandbox, "echo again")
        await sandbox.close()
    assert (after.ended, after.error_kind, after.error) == (True, ErrorKind.ENVIRONMENT, "the container died")
    assert after.text.startswith(before.text)


async def test_closing_twice_is_closing_once(engine: Engine) -> None:
    sandbox = TerminalSandbox(engine)
    await sandbox.start()
    await sandbox.close()
    await sandbox.close()


async def test_a_start_that_fails_leaves_no_container(engine: Engine, lease: Lease) -> None:
    watched = WatchedEngine(engine, lease)
    with pytest.raises(SandboxError, match=r"a set-up command failed with exit code 7: no \(echo no; exit 7\)"):
        await TerminalSandbox(watched, setup=["echo no; exit 7"]).start()
    assert watched.container is not None
    assert not await watched.container.alive()


async def test_a_step_out_of_time_keeps_what_was_seen_and_the_next_one_works(engine: Engine) -> None:
    async with opened(engine, step_timeout_s=1) as sandbox:
        late = await enter(sandbox, "echo begun; sleep 1000", wait_s=600)
        interrupted = await press(sandbox, "C-c")
        after = await enter(sandbox, "echo hello")
    assert (late.timed_out, late.error_kind, last_line(late.text)) == (True, None, "begun")
    assert interrupted.exit_code == 130
    assert (last_output(after), after.timed_out) == ("hello", False)


def last_line(text: str) -> str:
    return text.rpartition("\n")[2]


async def test_keys_that_no_program_takes_are_reported(engine: Engine) -> None:
    async with opened(engine, step_timeout_s=2) as sandbox:
        await enter(sandbox, "stty raw -echo; sleep 1000", wait_s=0.3)
        stuck = await press(sandbox, "x" * 20_000_000)
    assert stuck.timed_out
    assert (stuck.error_kind, stuck.error) == (ErrorKind.AGENT, "only 0 of 1 entries could be typed whole")


async def test_entries_after_the_end_of_the_shell_or_of_the_time_are_reported(engine: Engine) -> None:
    async with opened(engine, step_timeout_s=1) as sandbox:
        late = await enter(sandbox, "echo one", "sleep 1000", "echo two")
        await press(sandbox, "C-c")
        left = await enter(sandbox, "exit", "echo three")
    assert (late.timed_out, late.error) == (True, "only 2 of 3 entries could be typed whole")
    assert (left.ended, left.timed_out, left.error) == (True, False, "only 1 of 2 entries could be typed whole")


async def test_keys_are_not_lost_under_heavy_output(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, "yes & sleep 0.2", wait_s=0.5)
        await press(sandbox, "kill %1; wait; clear; echo sto", "pped\n", wait_s=1)
        stopped = await enter(sandbox, "echo stopped")
    assert stopped.text.split("\n")[-2:] == ["stopped", PROMPT]


@pytest.mark.slow
async def test_a_hundred_megabytes_of_output_neither_block_nor_fill_the_memory(engine: Engine) -> None:
    async with opened(engine, capture_bytes=8 * 2**20, step_timeout_s=300) as sandbox:
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        flood = await enter(sandbox, "yes $(printf '%0100d') | head -c 100000000; echo", wait_s=300)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        after = await enter(sandbox, "echo hello")
    assert flood.text.split("\n")[:37] == ["0" * 100] * 37
    assert flood.text.endswith(f"0\n{PROMPT}")
    assert flood.bytes_total > 100_900_000
    assert (flood.truncated, flood.timed_out, flood.exit_code) == (True, False, 0)
    assert grown < 50_000, f"{grown} KiB"
    assert last_output(after) == "hello"


async def test_a_truncated_turn_still_replays_to_the_same_screens(engine: Engine) -> None:
    screen = Screen(40, 160)
    sandbox = TerminalSandbox(engine, capture_bytes=10_000)
    feed(screen, await sandbox.start())
    cut = await enter(sandbox, "printf '\\e[1;32m'; seq 20000")
    assert feed(screen, cut) == cut.text
    whole = await enter(sandbox, "echo hello")
    assert feed(screen, whole) == whole.text
    await sandbox.close()
    assert (cut.truncated, whole.truncated) == (True, False)
    assert cut.bytes_total > 100_000


async def test_a_terminals_replies_cannot_be_provoked(engine: Engine) -> None:
    queries = r"\e[6n\e[5n\e[c\e[>c\e[18t\e[21t\e]10;?\a\e]52;c;?\a\eP$qm\e\\"
    async with opened(engine) as sandbox:
        asked = await enter(sandbox, f"printf '{queries}'")
        after = await enter(sandbox, "echo hello")
    assert asked.text.split("\n")[-1] == PROMPT
    assert last_output(after) == "hello"


async def test_hostile_sequences_leave_the_screen_its_size(engine: Engine) -> None:
    hostile = (
        r"\e[8;9999;9999t\e[3;9999;9999t\e[9;1t\e]52;c;aGVsbG8=\a\e[?3h\e[99999;99999H\e[99999S\e[1;1r\e]0;title\a"
    )
    async with opened(engine) as sandbox:
        await enter(sandbox, f"printf '{hostile}'; sleep 0.1")
        await enter(sandbox, "reset")
        after = await enter(sandbox, "clear; echo hello; stty size")
    assert after.text == f"hello\n40 160\n{PROMPT}"


async def test_a_forged_mark_cannot_do_more_than_end_a_turn_early(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        await enter(sandbox, r"printf '\e]133;D;99;aid=0\a\e]133;A;aid=0;at=1\a\e]133;B;aid=0\a'; sleep 0.3; false")
        seen = await enter(sandbox, "echo hello")
    assert (last_output(seen), seen.exit_code) == ("hello", 0)


async def test_a_fork_bomb_harms_only_its_sandbox(engine: Engine) -> None:
    limits = Limits(num_processes=32)
    async with opened(engine) as bystander, opened(engine, limits=limits, step_timeout_s=5) as victim:
        await enter(victim, "bomb() { bomb | bomb & }; bomb", wait_s=2)
        seen = await enter(bystander, "echo hello")
    assert (last_output(seen), seen.timed_out) == ("hello", False)


async def test_a_command_out_of_memory_is_killed_and_the_shell_goes_on(engine: Engine) -> None:
    async with opened(engine, limits=Limits(memory_bytes=64 * 2**20)) as sandbox:
        hog = await enter(sandbox, "python3 -c 'b\"x\" * 2**28'", wait_s=60)
        after = await enter(sandbox, "echo hello")
    assert hog.exit_code == 137
    assert last_output(after) == "hello"


async def test_turns_go_on_after_a_turn_that_was_cancelled(engine: Engine) -> None:
    async with opened(engine) as sandbox:
        turn = asyncio.create_task(enter(sandbox, "sleep 1000"))
        await asyncio.wait([turn], timeout=0.2)
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
        assert (await sandbox.step(Action.keys(("C-c", 10)))).exit_code == 130
