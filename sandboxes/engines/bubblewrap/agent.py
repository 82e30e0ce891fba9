"""The first process inside a bubblewrap sandbox: it starts and ends the processes the host asks for.

It runs under the sandbox's own Python and imports little, for its start is part of every sandbox's.

The host sends JSON messages over one inherited ``SOCK_SEQPACKET`` socket, with file descriptors attached:

    {"uid": …, "own": […], "lifetime_s": …, "rlimits": {…}, "cpus": […]}    once, at first
    {"start": ID, "argv": […], "env": {…}, "cwd": …}                        with stdin, stdout and stderr
    {"start": ID, …, "size": [ROWS, COLUMNS]}                               on a terminal of its own
    {"end": ID}                                                             ends it and everything it started
    {"ping": NUMBER}

and hears ``{"ready": true}`` once, then for each process ``{"started": ID}`` (with the terminal's master side) or
``{"refused": ID, "reason": …}``, ``{"exit": ID, "code": N}`` when it ends, ``{"gone": ID}`` in answer to ``end``, and
``{"pong": NUMBER}``.

When the host's end of the socket closes, or its time is up, the agent exits, and since it is process 1 of its
namespace, the kernel ends everything in the sandbox with it. For the same reason no process in the sandbox can kill
it, and it inherits every orphan.

A process hands its resource limits down to all it starts: its id, set as one that Linux does not enforce, marks them.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import io
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import termios
from typing import Any

PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
CAPABILITY_VERSION_3 = 0x20080522
RLIMIT_LOCKS = 10

MESSAGE_BYTES = 2**20
FDS_A_MESSAGE = 3
MOST_FDS = 2**20
NOT_FOUND, NOT_EXECUTABLE = 127, 126

# Well above the agent's own 0: when memory runs out, the kernel shall end a guest and not the house.
GUEST_OOM_SCORE = b"500"

libc = ctypes.CDLL(None, use_errno=True)
Message = dict[str, Any]


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    first = control.recv(MESSAGE_BYTES)
    if not first:
        return
    settings: Message = json.loads(first)
    limit_itself(settings)
    drop_privileges(settings)
    libc.prctl(PR_SET_DUMPABLE, 0)  # no guest may trace it or take its descriptors
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.alarm(settings["lifetime_s"])
    serve(control)


def limit_itself(settings: Message) -> None:
    for name, value in settings["rlimits"].items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if settings["cpus"]:
        os.sched_setaffinity(0, settings["cpus"])


def drop_privileges(settings: Message) -> None:
    """Become the sandbox's user. Without privileges on the host it is that user already."""
    if os.getuid() != 0:
        return
    uid = settings["uid"]
    for folder in settings["own"]:
        os.chown(folder, uid, uid)
    for capability in range(64):  # beyond the last one the kernel refuses, which is as good
        libc.prctl(PR_CAPBSET_DROP, capability)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)  # this clears all but the inheritable set
    libc.capset((ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)())


def serve(control: socket.socket) -> None:
    child_ended, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(child_ended, select.POLLIN)
    guests: dict[int, int] = {}
    send(control, {"ready": True})
    while True:
        ready = dict(poll.poll())
        if child_ended in ready:
            os.read(child_ended, 4096)
            reap(control, guests)
        if control.fileno() in ready:
            data, fds, _, _ = socket.recv_fds(control, MESSAGE_BYTES, FDS_A_MESSAGE)
            if not data:
                return
            answer(control, json.loads(data), fds, guests)


def answer(control: socket.socket, request: Message, fds: list[int], guests: dict[int, int]) -> None:
    if "start" in request:
        start(control, request, fds, guests)
    elif "ping" in request:
        send(control, {"pong": request["ping"]})
    else:
        end_marked(request["end"])
        reap(control, guests)
        send(control, {"gone": request["end"]})


def reap(control: socket.socket, guests: dict[int, int]) -> None:
    """Collect the dead: the host's processes, and orphans."""
    with contextlib.suppress(ChildProcessError):  # nobody is left
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            if pid in guests:
                code = os.waitstatus_to_exitcode(status)
                send(control, {"exit": guests.pop(pid), "code": code if code >= 0 else 128 - code})


def start(control: socket.socket, request: Message, fds: list[int], guests: dict[int, int]) -> None:
    terminal: list[int] = []
    try:
        os.chdir(request["cwd"])
        if "size" in request:
            master, slave = os.openpty()
            terminal, fds = [master], [slave]
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *request["size"], 0, 0))
        # Before the fork, so that there is no moment at which the guest does not have it.
        resource.setrlimit(RLIMIT_LOCKS, (request["start"], resource.RLIM_INFINITY))
        pid = os.fork()
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        send(control, {"refused": request["start"], "reason": reason})
    else:
        if pid == 0:
            become_guest(request, fds)
        guests[pid] = request["start"]
        send(control, {"started": request["start"]}, terminal)
    for fd in fds + terminal:
        os.close(fd)


def become_guest(request: Message, fds: list[int]) -> None:
    """Turn this process into the requested one. Never returns."""
    code = NOT_EXECUTABLE
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        for target in range(3):
            os.dup2(fds[target % len(fds)], target)
        if len(fds) == 1:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        os.closerange(3, MOST_FDS)
        libc.prctl(PR_SET_DUMPABLE, 1)
        with io.FileIO("/proc/self/oom_score_adj", "w") as file:
            file.write(GUEST_OOM_SCORE)
        os.execvpe(request["argv"][0], request["argv"], request["env"])
    except OSError as error:
        code = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE
        os.write(2, f"{request['argv'][0]}: {error.strerror}\n".encode())
    finally:
        os._exit(code)


def end_marked(mark: int) -> None:
    """Kill every process that has the mark, and wait until they are dead.

    Stopped first, for a stopped process cannot fork: a pass that finds no new one has found them all.
    """
    handles: dict[int, int] = {}
    while found := marked(mark) - handles.keys():
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                handles[pid] = os.pidfd_open(pid)
                signal.pidfd_send_signal(handles[pid], signal.SIGSTOP)
    for handle in handles.values():
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    for handle in handles.values():
        select.select([handle], [], [])
        os.close(handle)


def marked(mark: int) -> set[int]:
    found = set()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and entry.name != "1" and mark_of(entry.name) == b"%d" % mark:
            found.add(int(entry.name))
    return found


def mark_of(pid: str) -> bytes | None:
    """None where the process has gone meanwhile."""
    try:
        with io.FileIO(f"/proc/{pid}/limits") as file:
            limits = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return limits.partition(b"Max file locks")[2].split(maxsplit=1)[0]


def send(control: socket.socket, message: Message, fds: list[int] | None = None) -> None:
    try:
        socket.send_fds(control, [json.dumps(message).encode()], fds or [])
    except (BrokenPipeError, ConnectionResetError):
        os._exit(0)  # the host is gone


if __name__ == "__main__":
    main()
