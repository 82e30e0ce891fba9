"""What a container may and may not, as the daemon's API takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandboxes.engines.base import BASE_ENVIRONMENT, ContainerSpec

_UID = _GID = 1000
GUEST = f"{_UID}:{_GID}"
"""Whom every process is run as, but the warden: as root, it is out of reach of their signals and their /proc."""


def container_config(
    spec: ContainerSpec, image_digest: str, command: Sequence[str], labels: Mapping[str, str]
) -> dict[str, object]:
    """The body of a create request: no network, no capabilities, read-only root, every limit set.

    The main process alone is root, with no capability but the one to end the others.
    """
    limits = spec.limits
    return {
        "Image": image_digest,
        "Cmd": list(command),
        "Entrypoint": [],
        "Env": [f"{name}={value}" for name, value in {**BASE_ENVIRONMENT, **spec.env}.items()],
        "Labels": dict(labels),
        "Hostname": spec.hostname,
        "User": "0:0",
        "WorkingDir": spec.workdir,
        # The warden's line; closed by the daemon when the process at its other end is gone.
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "HostConfig": {
            "AutoRemove": True,
            "Init": True,
            "LogConfig": {"Type": "none"},
            "NetworkMode": "none",
            "CapDrop": ["ALL"],
            "CapAdd": ["KILL"],
            "SecurityOpt": ["no-new-privileges"],
            "ReadonlyRootfs": True,
            "Tmpfs": {folder: _tmpfs_options(folder, limits.tmpfs_bytes) for folder in spec.writable},
            "ShmSize": limits.tmpfs_bytes,
            "Memory": limits.memory_bytes,
            "MemorySwap": limits.memory_bytes,
            "NanoCpus": round(limits.num_cpus * 1e9),
            "PidsLimit": limits.num_processes,
            "Ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}],
        },
    }


def _tmpfs_options(folder: str, size: int) -> str:
    mode = "1777" if folder == "/tmp" else "0755"
    return f"rw,exec,nosuid,nodev,size={size},mode={mode},uid={_UID},gid={_GID}"
