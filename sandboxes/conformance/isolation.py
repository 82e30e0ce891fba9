"""What a container must not see, reach or change."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sandboxes.conformance.check import of_container, require
from sandboxes.engines.base import Container
from trajectories import InputError

_OWN_ENVIRONMENT = {"PATH", "HOME", "LANG", "TERM", "HOSTNAME", "PWD", "OLDPWD", "SHLVL", "_", "GIVEN"}


def _own_command_line() -> bytes:
    return Path("/proc/self/cmdline").read_bytes()


async def _status_fields(container: Container) -> dict[str, str]:
    result = await container.exec(["cat", "/proc/self/status"])
    fields = (line.partition(":") for line in result.stdout.decode().splitlines())
    return {name: value.strip() for name, _, value in fields}


@of_container()
async def the_environment_of_the_host_does_not_leak_in(container: Container) -> None:
    result = await container.exec(["env", "-0"], env={"GIVEN": "1"})
    names = {line.partition("=")[0] for line in result.stdout.decode().split("\0") if line}
    require(names <= _OWN_ENVIRONMENT and "GIVEN" in names, names)


@of_container()
async def there_is_no_network_but_its_own_loopback(container: Container) -> None:
    result = await container.exec(["sh", "-c", "tail -n +3 /proc/net/dev | cut -d: -f1"])
    require(result.stdout.split() == [b"lo"], result)


@of_container()
async def the_loopback_of_the_host_is_out_of_reach(container: Container) -> None:
    server = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        result = await container.exec(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}"], timeout_s=10)
    require(result.exit_code not in (0, None), result)


@of_container()
async def it_is_not_root_and_cannot_become_it(container: Container) -> None:
    fields = await _status_fields(container)
    require("0" not in fields["Uid"].split() + fields["Gid"].split(), fields)
    require(fields["NoNewPrivs"] == "1", fields)
    capabilities = {name: fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}
    require(all(int(value, 16) == 0 for value in capabilities.values()), capabilities)


@of_container()
async def the_root_is_read_only(container: Container) -> None:
    for folder in ("/", "/etc", "/usr/bin", "/var", "/opt"):
        result = await container.exec(["touch", f"{folder}/mine"])
        require(result.exit_code not in (0, None), f"{folder} could be written")


@of_container()
async def its_own_folders_can_be_written_and_run_from(container: Container) -> None:
    for folder in ("/workspace", "/tmp", "/home/user"):
        script = f"cd {folder} && printf '#!/bin/sh\\necho ran' > mine && chmod +x mine && ./mine"
        result = await container.exec(["sh", "-c", script])
        require(result.stdout == b"ran\n", result)


@of_container()
async def the_processes_of_the_host_are_out_of_sight(container: Container) -> None:
    result = await container.exec(["sh", "-c", "cat /proc/[0-9]*/cmdline"])
    require(_own_command_line() not in result.stdout, result)


@of_container()
async def files_arrive_where_they_are_sent(container: Container) -> None:
    files = {"a.txt": b"one\n", "deep/er/ü n.bin": bytes(range(256)) * 4096}
    await container.write_files(files)
    for path, content in files.items():
        result = await container.exec(["cat", path], cwd="/workspace", output_cap=2**21)
        require(result.stdout == content, f"{path}: {result.bytes_total} bytes")


@of_container()
async def files_cannot_leave_their_folder(container: Container) -> None:
    for path in ("/etc/mine", "../mine", "a/../../mine", "", "."):
        try:
            await container.write_files({path: b"x"})
        except InputError:
            continue
        require(False, f"{path!r} was taken")
