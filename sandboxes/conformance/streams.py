"""Terminals and pipes: two-way streams to a running process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from sandboxes.conformance.check import ConformanceError, of_container, require
from sandboxes.conformance.commands import count_processes
from sandboxes.engines.base import Container, Stream

_DEADLINE_S = 10.0
_PROMPT = b"ready> "


async def _read_until(output: AsyncIterator[bytes], mark: bytes) -> bytes:
    seen = b""
    try:
        async with asyncio.timeout(_DEADLINE_S):
            while mark not in seen:
                seen += await anext(output)
    except (TimeoutError, StopAsyncIteration) as error:
        raise ConformanceError(f"{mark!r} did not come, but {seen[-500:]!r}") from error
    return seen


async def _rest(output: AsyncIterator[bytes]) -> bytes:
    try:
        async with asyncio.timeout(_DEADLINE_S):
            return b"".join([chunk async for chunk in output])
    except TimeoutError as error:
        raise ConformanceError("the output does not end") from error


async def _shell(container: Container) -> tuple[Stream, AsyncIterator[bytes]]:
    env = {"PS1": _PROMPT.decode()}
    shell = await container.open_pty(["bash", "--norc", "--noprofile"], rows=24, columns=80, env=env)
    output = aiter(shell)
    await _read_until(output, _PROMPT)
    return shell, output


@of_container()
async def a_terminal_echoes_what_is_typed_and_answers(container: Container) -> None:
    shell, output = await _shell(container)
    await shell.write("echo ü漢 $((40 + 2))\n".encode())
    seen = await _read_until(output, b"42\r\n")
    require(seen.startswith(b"echo") and "ü漢 42\r\n".encode() in seen, seen)
    await shell.close()


@of_container()
async def a_terminal_has_the_size_it_was_given_and_can_be_resized(container: Container) -> None:
    shell, output = await _shell(container)
    await shell.write(b"stty size\n")
    await _read_until(output, b"24 80\r\n")
    await shell.resize(40, 160)
    await shell.write(b"stty size\n")
    await _read_until(output, b"40 160\r\n")
    await shell.close()


@of_container()
async def control_c_interrupts_the_command_and_not_the_shell(container: Container) -> None:
    shell, output = await _shell(container)
    await shell.write(b"sh -c 'echo begun; exec sleep 300'\n")  # says so itself, when it is in the foreground
    await _read_until(output, b"begun\r\n")
    await shell.write(b"\x03")
    await _read_until(output, _PROMPT)
    await shell.write(b"echo $?\n")
    await _read_until(output, b"130\r\n")
    await shell.close()


@of_container()
async def control_d_leaves_the_shell_and_its_exit_code_is_known(container: Container) -> None:
    shell, output = await _shell(container)
    await shell.write(b"(exit 9)\n")
    await _read_until(output, _PROMPT)
    await shell.write(b"\x04")
    await _rest(output)
    code = await shell.exit_code()
    require(code == 9, code)
    await shell.close()


@of_container()
async def nothing_typed_is_lost_while_much_is_printed(container: Container) -> None:
    shell, output = await _shell(container)
    await shell.write(b"seq 1 200000\necho typed-$((1 + 1))-meanwhile\n")
    seen = await _read_until(output, b"typed-2-meanwhile\r\n")
    require(b"\r\n199999\r\n200000\r\n" in seen, seen[-200:])
    await shell.close()


@of_container()
async def closing_a_terminal_ends_what_was_started_on_it(container: Container) -> None:
    shell, output = await _shell(container)
    await shell.write(b"nohup setsid bash -c 'exec -a left-behind sleep 300' >/dev/null 2>&1 &\n")
    await shell.write(b"echo started-$((1 + 1))\n")
    await _read_until(output, b"started-2\r\n")
    await shell.close()
    await shell.close()
    left = await count_processes(container, "left-behind")
    require(left == 0, f"{left} processes left")
    require(await shell.exit_code() is None, "an exit code")


@of_container()
async def a_terminal_that_never_stops_printing_can_be_closed(container: Container) -> None:
    started = time.monotonic()
    pty = await container.open_pty(["yes"], rows=24, columns=80)
    await _read_until(aiter(pty), b"y\r\n")
    await pty.close()
    require(time.monotonic() - started < 2, f"it took {time.monotonic() - started} s")


@of_container()
async def pipes_carry_bytes_both_ways(container: Container) -> None:
    pipes = await container.open_pipes(["cat"])
    output = aiter(pipes)
    await pipes.write(b"one\0\xff\n")
    require(await _read_until(output, b"\n") == b"one\0\xff\n", "other bytes")
    await pipes.write(b"two\n")
    require(await _read_until(output, b"\n") == b"two\n", "other bytes")
    await pipes.close()


@of_container()
async def pipes_carry_megabytes_both_ways_at_once(container: Container) -> None:
    pipes = await container.open_pipes(["cat"])
    sent = b"x" * 2**23 + b"\n"
    writing = asyncio.create_task(pipes.write(sent))
    received = await _read_until(aiter(pipes), b"\n")
    await writing
    require(received == sent, f"{len(received)} of {len(sent)} bytes")
    await pipes.close()


@of_container()
async def closing_a_process_that_has_ended_by_itself_keeps_its_exit_code(container: Container) -> None:
    pipes = await container.open_pipes(["sh", "-c", "exit 5"])
    terminal = await container.open_pty(["sh", "-c", "exit 6"], rows=24, columns=80)
    for stream, code in ((pipes, 5), (terminal, 6)):
        await _rest(aiter(stream))
        require(await stream.exit_code() == code, "another exit code")
        await stream.close()
        require(await stream.exit_code() == code, "another exit code once it is closed")


@of_container()
async def the_end_of_standard_error_is_kept_beside_a_pipe(container: Container) -> None:
    pipes = await container.open_pipes(["sh", "-c", "seq 1 100000 >&2; echo bye >&2; echo out; exit 5"])
    output = await _rest(aiter(pipes))
    require(output == b"out\n", output)
    require(await pipes.exit_code() == 5, "another exit code")
    require(pipes.stderr_tail.endswith(b"100000\nbye\n"), pipes.stderr_tail[-100:])
    require(len(pipes.stderr_tail) == 2**16, len(pipes.stderr_tail))
    await pipes.close()
