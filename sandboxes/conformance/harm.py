"""What a program that misbehaves can harm: its own sandbox, for a while."""

from __future__ import annotations

import time

from sandboxes.conformance.check import of_container, require
from sandboxes.engines.base import Container, Limits

_FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
_SPEND_CPU = """
import time
end = time.monotonic() + 1
while time.monotonic() < end:
    pass
print(time.process_time())
"""


async def _require_usable(container: Container) -> None:
    result = await container.exec(["sh", "-c", "echo $(ls -d /tmp)"])
    require(result.stdout == b"/tmp\n", result)


@of_container()
async def a_program_that_kills_all_it_can_leaves_the_sandbox_usable(container: Container) -> None:
    script = "kill -STOP -1; kill -9 -1; for pid in $(seq 1 20); do kill -STOP $pid; kill -9 $pid; done; true"
    await container.exec(["bash", "-c", script], timeout_s=10)
    started = time.monotonic()
    await _require_usable(container)
    await container.close()
    require(time.monotonic() - started < 5, f"it took {time.monotonic() - started} s")


@of_container()
async def a_program_cannot_reach_the_descriptors_of_what_guards_it(container: Container) -> None:
    script = 'for fds in /proc/[0-9]*/fd; do [[ $fds == /proc/$$/fd ]] || ls "$fds"; done'
    result = await container.exec(["bash", "-c", script])
    require(result.stdout == b"" and b"Permission denied" in result.stderr, result)


@of_container(Limits(num_processes=48))
async def a_fork_bomb_ends_with_its_time_and_leaves_the_sandbox_usable(container: Container) -> None:
    started = time.monotonic()
    result = await container.exec(["python3", "-c", _FORK_BOMB], timeout_s=1)
    require(result.timed_out, result)
    require(time.monotonic() - started < 30, f"it took {time.monotonic() - started} s")
    await _require_usable(container)


@of_container(Limits(num_processes=48))
async def a_fork_bomb_of_short_lives_ends_with_its_time(container: Container) -> None:
    result = await container.exec(["bash", "-c", "bomb() { bomb | bomb & }; bomb; sleep 300"], timeout_s=1)
    require(result.timed_out, result)
    await _require_usable(container)


@of_container(Limits(memory_bytes=128 * 2**20))
async def a_memory_hog_is_ended_and_counted(container: Container) -> None:
    before = await container.oom_kills()
    result = await container.exec(["python3", "-c", "hog = bytearray(2**30)"])
    require(result.exit_code == 137, result)
    require(await container.oom_kills() > before == 0, "the kill was not counted")
    await _require_usable(container)


@of_container(Limits(tmpfs_bytes=8 * 2**20))
async def a_full_disk_is_an_error_to_the_writer_only(container: Container) -> None:
    result = await container.exec(["sh", "-c", "head -c 100000000 /dev/zero > /workspace/big"])
    require(result.exit_code not in (0, None) and b"No space left" in result.stderr, result)
    size = await container.exec(["stat", "-c", "%s", "/workspace/big"])
    require(0 < int(size.stdout) <= 8 * 2**20, size)
    await _require_usable(container)


@of_container(Limits(num_cpus=0.25))
async def a_busy_loop_gets_its_share_of_a_processor(container: Container) -> None:
    result = await container.exec(["python3", "-c", _SPEND_CPU])
    require(float(result.stdout) < 0.6, result)
