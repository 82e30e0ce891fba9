"""What a world model is told about a terminal before the first action."""

from __future__ import annotations

from collections.abc import Mapping

from sandboxes.engines.base import Limits
from trajectories import SystemPrompt

_TASK_DESCRIPTION = """\
The environment is a terminal of {rows} rows and {columns} columns, at which an agent works in a Bash shell on Linux. \
The shell lives from the first turn to the last: its working directory, variables, background jobs and files persist. \
There is no network. Each observation is the screen as it is visible at the end of the turn, with blanks at the ends \
of lines and empty lines below the last one left out; what has scrolled off the top is gone."""

_ACTION_SPACE = """\
An action is a JSON array of {"keystrokes": string, "duration": seconds}, performed in order; one observation follows \
the last.
- Keystrokes are typed as they are. Only a newline presses Enter: without it a command stays on the line.
- Keystrokes that are, as a whole, the name of a key press that key, in tmux's notation: "C-c", "C-d", "C-z", "C-l", \
"M-x", "Escape", "Tab", "Up", "PageDown", "F1" and so on. The escape character may also be written as \\u001b.
- Duration is how long to watch the screen, at most: the turn ends early once the shell is back at its prompt, or a \
program has come to rest. Output of a command that takes longer comes with a later action.
- Empty keystrokes only wait. An empty array says that the task is complete."""


def system_prompt(
    machine: Mapping[str, str], limits: Limits, first_screen: str, *, rows: int, columns: int
) -> SystemPrompt:
    """The parts of the context that the sandbox itself knows; ``machine`` is what the shell found out about itself."""
    state = (
        f"Operating system: {machine.get('os', 'unknown')}",
        f"Kernel: {machine.get('kernel', 'unknown')}",
        f"Disk: {_mebibytes(machine.get('disk'))} for the working directory",
        f"Memory: {_mebibytes(machine.get('memory'))}, of which {limits.memory_bytes // 2**20} MiB may be used here",
        f"Working directory: {machine.get('directory', 'unknown')}",
        "",
        first_screen,
    )
    return SystemPrompt(
        task_description=_TASK_DESCRIPTION.format(rows=rows, columns=columns),
        action_space=_ACTION_SPACE,
        initial_state="\n".join(state),
    )


def _mebibytes(num_bytes: str | None) -> str:
    return f"{int(num_bytes) // 2**20} MiB" if num_bytes and num_bytes.isdecimal() else "unknown"
