"""The system calls a sandbox has no use for, as a filter the kernel applies (classic BPF, see seccomp(2)).

What the filter takes away is mostly what a user namespace of the guest's own would give it: the parts of the kernel
that only root can reach elsewhere.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

from sandboxes.errors import SandboxError

_LOAD_WORD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL_WITH = 0x7FFF0000, 0x00050000
_NUMBER_OFFSET, _MACHINE_OFFSET, _FIRST_ARGUMENT_OFFSET = 0, 4, 16

_CLONE_NEWUSER = 0x10000000
_FOREIGN_ABI = 0x40000000
"""Numbers from here on are x32's, which would slip past a list of x86_64's."""


@dataclass(frozen=True, slots=True)
class _Machine:
    audit_id: int
    clone: int
    clone3: int
    denied: tuple[int, ...]


# In this order: mount, umount2, pivot_root, unshare, setns, bpf, perf_event_open, userfaultfd, keyctl, add_key,
# request_key, kexec_load, init_module, finit_module, delete_module, open_by_handle_at, io_uring_setup, and of the newer
# mount calls open_tree, move_mount, fsopen, fsmount.
_NEWER = (425, 428, 429, 430, 432)
_MACHINES = {
    "x86_64": _Machine(
        0xC000003E,
        56,
        435,
        (165, 166, 155, 272, 308, 321, 298, 323, 250, 248, 249, 246, 175, 313, 176, 304, *_NEWER),
    ),
    "aarch64": _Machine(
        0xC00000B7,
        220,
        435,
        (40, 39, 41, 97, 268, 280, 241, 282, 219, 217, 218, 104, 105, 273, 106, 265, *_NEWER),
    ),
}


def seccomp_filter() -> bytes:
    """The filter for this machine, as bwrap takes it. Raises ``SandboxError`` where there is none."""
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        raise SandboxError(
            "bubblewrap sandboxes have no system call filter for this machine",
            where=platform.machine(),
            mend="use the Docker engine",
        )
    denied = [instruction for number in machine.denied for instruction in _fail(number, errno.EPERM)]
    return b"".join(
        (
            _instruction(_LOAD_WORD, _MACHINE_OFFSET),
            _instruction(_JUMP_EQUAL, machine.audit_id, if_true=1),
            _instruction(_RETURN, _FAIL_WITH | errno.ENOSYS),
            _instruction(_LOAD_WORD, _NUMBER_OFFSET),
            _instruction(_JUMP_AT_LEAST, _FOREIGN_ABI, if_false=1),
            _instruction(_RETURN, _FAIL_WITH | errno.ENOSYS),
            *denied,
            # Its flags lie behind a pointer, out of a filter's reach; the C library falls back to clone.
            *_fail(machine.clone3, errno.ENOSYS),
            _instruction(_JUMP_EQUAL, machine.clone, if_false=3),
            _instruction(_LOAD_WORD, _FIRST_ARGUMENT_OFFSET),
            _instruction(_JUMP_ANY_BIT, _CLONE_NEWUSER, if_false=1),
            _instruction(_RETURN, _FAIL_WITH | errno.EPERM),
            _instruction(_RETURN, _ALLOW),
        )
    )


def _fail(number: int, error: int) -> tuple[bytes, bytes]:
    return _instruction(_JUMP_EQUAL, number, if_false=1), _instruction(_RETURN, _FAIL_WITH | error)


def _instruction(code: int, operand: int, *, if_true: int = 0, if_false: int = 0) -> bytes:
    """``struct sock_filter``: the jumps are counts of instructions to skip."""
    return struct.pack("=HBBI", code, if_true, if_false, operand)
