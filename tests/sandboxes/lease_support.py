"""Real processes that hold a lease."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

_HOLD_A_LEASE = """
import json, sys
from pathlib import Path
from sandboxes.leases import Lease
with Lease.acquire("held", state=Path(sys.argv[1])) as lease:
    print(json.dumps(lease.labels(60)), flush=True)
    sys.stdin.read()
"""


def hold_in_another_process(state: Path) -> tuple[subprocess.Popen[str], dict[str, str]]:
    """A process that holds a lease until its standard input closes, and the lease's labels."""
    command = [sys.executable, "-c", _HOLD_A_LEASE, str(state)]
    owner = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    return owner, json.loads(owner.stdout.readline())


def kill(owner: subprocess.Popen[str]) -> None:
    """As an accident would, and wait until it is gone."""
    owner.send_signal(signal.SIGKILL)
    owner.communicate()
