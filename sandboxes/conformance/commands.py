"""Commands: what goes in, what comes out, and how they end."""

from __future__ import annotations

import asyncio

from sandboxes.conformance.check import of_container, require
from sandboxes.engines.base import Container
from sandboxes.errors import SandboxError

_LEAVE_A_DAEMON = "(setsid env -i bash -c 'exec -a left-behind sleep 300' >/dev/null 2>&1 &)"
"""Starts a process in the way of daemons: another session, another parent, no environment."""


async def count_processes(container: Container, name: str) -> int:
    """How many processes go by that name."""
    result = await container.exec(["sh", "-c", "for file in /proc/[0-9]*/cmdline; do cat $file; echo; done"])
    return sum(line.startswith(name.encode() + b"\0") for line in result.stdout.splitlines())


@of_container()
async def a_command_answers_with_its_output_and_exit_code(container: Container) -> None:
    result = await container.exec(["sh", "-c", "echo out; echo err >&2; exit 7"])
    require((result.exit_code, result.stdout, result.stderr) == (7, b"out\n", b"err\n"), result)
    require(result.bytes_total == 8 and not result.timed_out and not result.truncated, result)


@of_container()
async def a_command_ended_by_a_signal_answers_with_128_and_its_number(container: Container) -> None:
    result = await container.exec(["sh", "-c", "kill -TERM $$"])
    require(result.exit_code == 143, result)


@of_container()
async def a_command_that_is_not_there_answers_with_127(container: Container) -> None:
    result = await container.exec(["no-such-command"])
    require(result.exit_code == 127 and result.stderr != b"", result)


@of_container()
async def standard_input_arrives_and_ends(container: Container) -> None:
    result = await container.exec(["cat"], stdin=b"one\0two\xff\n")
    require(result.stdout == b"one\0two\xff\n", result)
    empty = await container.exec(["cat"])
    require(empty.exit_code == 0 and empty.stdout == b"", empty)


@of_container()
async def large_standard_input_arrives_whole(container: Container) -> None:
    data = bytes(range(256)) * 2**15
    result = await container.exec(["cat"], stdin=data, output_cap=2**24)
    require(result.stdout == data, f"{len(result.stdout)} of {len(data)} bytes")


@of_container()
async def input_that_nobody_reads_holds_nothing_up(container: Container) -> None:
    result = await container.exec(["true"], stdin=bytes(2**23), timeout_s=10)
    require(result.exit_code == 0, result)


@of_container()
async def a_folder_and_an_environment_can_be_given(container: Container) -> None:
    result = await container.exec(["sh", "-c", 'echo "$PWD $GIVEN"'], cwd="/tmp", env={"GIVEN": "a b=ü"})
    require(result.stdout.decode() == "/tmp a b=ü\n", result)


@of_container()
async def a_folder_that_is_not_there_is_an_error_and_harms_nothing(container: Container) -> None:
    nowhere = "/no/such/folder"
    for start in (
        container.exec(["true"], cwd=nowhere),
        container.open_pty(["true"], rows=24, columns=80, cwd=nowhere),
        container.open_pipes(["true"], cwd=nowhere),
    ):
        try:
            result: object = await start
        except SandboxError:
            continue
        require(False, result)
    require(await container.alive(), "the container is dead")


@of_container()
async def unicode_and_wide_characters_pass_unchanged(container: Container) -> None:
    text = "naïve Ω 漢字 🧑‍🔬 e\u0301 \u202eright-to-left\u202c ﷽\n".encode()
    result = await container.exec(["cat"], stdin=text)
    require(result.stdout == text, result)
    printed = await container.exec(["printf", "%s", text.decode()])
    require(printed.stdout == text, printed)


@of_container()
async def hostile_escape_sequences_pass_unchanged(container: Container) -> None:
    hostile = b"\x1b]0;title\x07\x1b[2J\x1b[999;999H\x1bP1$r\x1b\\\x1b[6n\x9b31m\x00\x08\x7f\r\x1b[?1049h"
    result = await container.exec(["cat"], stdin=hostile)
    require(result.stdout == hostile, result)


@of_container()
async def a_time_out_keeps_the_partial_output(container: Container) -> None:
    result = await container.exec(["sh", "-c", "echo before; echo error >&2; sleep 300; echo after"], timeout_s=0.5)
    require(result.timed_out and result.exit_code is None, result)
    require((result.stdout, result.stderr, result.bytes_total) == (b"before\n", b"error\n", 13), result)
    require(result.duration_s < 5, f"it took {result.duration_s} s")


@of_container()
async def a_time_out_ends_the_children_and_the_daemons_among_them(container: Container) -> None:
    child = "bash -c 'exec -a left-behind sleep 300' &"
    result = await container.exec(["bash", "-c", f"{child} {_LEAVE_A_DAEMON}; sleep 300"], timeout_s=0.7)
    require(result.timed_out, result)
    left = await count_processes(container, "left-behind")
    require(left == 0, f"{left} processes left")


@of_container()
async def a_time_out_spares_what_other_commands_have_started(container: Container) -> None:
    await container.exec(["bash", "-c", _LEAVE_A_DAEMON])
    result = await container.exec(["sleep", "300"], timeout_s=0.3)
    require(result.timed_out, result)
    left = await count_processes(container, "left-behind")
    require(left == 1, f"{left} processes left of 1")


@of_container()
async def a_time_out_ends_a_command_that_never_stops_printing(container: Container) -> None:
    result = await container.exec(["yes"], timeout_s=0.5, output_cap=1000)
    require(result.timed_out and result.truncated and result.bytes_total > 1000, result)
    require(result.duration_s < 2, f"it took {result.duration_s} s")


@of_container()
async def a_time_out_at_once_leaves_nothing_running(container: Container) -> None:
    for timeout_s in (0.0, 0.01, 0.03, 0.06):
        result = await container.exec(["bash", "-c", "exec -a left-behind sleep 300"], timeout_s=timeout_s)
        require(result.timed_out, result)
    left = await count_processes(container, "left-behind")
    require(left == 0, f"{left} processes left")


@of_container()
async def a_command_that_closes_its_outputs_is_waited_for(container: Container) -> None:
    result = await container.exec(["sh", "-c", "echo said; exec >&- 2>&-; sleep 0.5; exit 3"])
    require((result.exit_code, result.stdout) == (3, b"said\n"), result)


@of_container()
async def a_command_does_not_wait_for_what_it_leaves_in_the_background(container: Container) -> None:
    result = await container.exec(["sh", "-c", "sleep 300 & echo said"], timeout_s=20)
    require((result.exit_code, result.stdout) == (0, b"said\n"), result)
    require(result.duration_s < 5, f"it took {result.duration_s} s")


@of_container()
async def a_cancelled_command_ends_with_its_children(container: Container) -> None:
    pty_less = container.exec(["bash", "-c", f"{_LEAVE_A_DAEMON}; echo > /tmp/started; sleep 300"])
    command = asyncio.create_task(pty_less)
    await container.exec(["bash", "-c", "until [[ -e /tmp/started ]]; do sleep 0.02; done"])
    command.cancel()
    await asyncio.wait([command])
    require(command.cancelled(), command)
    left = await count_processes(container, "left-behind")
    require(left == 0, f"{left} processes left")


@of_container()
async def output_beyond_the_cap_is_flagged_with_its_true_size(container: Container) -> None:
    command = ["sh", "-c", "head -c 70000 /dev/zero; head -c 30000 /dev/zero >&2"]
    result = await container.exec(command, output_cap=1000)
    require((len(result.stdout), len(result.stderr)) == (1000, 1000), (len(result.stdout), len(result.stderr)))
    require(result.truncated and result.bytes_total == 100_000, result.bytes_total)
    whole = await container.exec(command, output_cap=70_000)
    require(not whole.truncated and whole.bytes_total == 100_000, whole.bytes_total)


@of_container()
async def a_hundred_megabytes_of_output_are_counted_and_not_kept(container: Container) -> None:
    result = await container.exec(["head", "-c", "100000000", "/dev/zero"], output_cap=10, timeout_s=60)
    require(result.exit_code == 0 and result.bytes_total == 100_000_000, result)
    require(result.stdout == bytes(10) and result.truncated, result)


@of_container()
async def commands_at_the_same_time_do_not_mix(container: Container) -> None:
    numbers = range(8)
    results = await asyncio.gather(
        *(container.exec(["sh", "-c", f"cat; echo {number}; exit {number}"], stdin=b"in ") for number in numbers)
    )
    seen = [(result.exit_code, result.stdout) for result in results]
    require(seen == [(number, f"in {number}\n".encode()) for number in numbers], seen)
