"""What the names of an agent's tools say: which domain they act in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from trajectories.importers.loss import LossReport
from trajectories.importers.values import Object
from trajectories.model import JsonValue, canonical_json

_SHELL_TOOLS: Final = frozenset(
    {"bash", "execute_bash", "terminal", "shell", "run", "run_ipython", "run_shell_command"}
)
_FILE_TOOLS: Final = frozenset(
    {"str_replace_editor", "str_replace_based_edit_tool", "file_editor", "edit", "create", "apply_patch", "find_file"}
    | {"read", "write", "read_file", "write_file", "multiedit", "open"}
)
_DOMAINS: Final[Mapping[str, frozenset[str]]] = {
    "terminal": frozenset({"bash_command", "mark_task_complete"}),
    "swe": _SHELL_TOOLS | _FILE_TOOLS,
    "web": frozenset({"goto", "click", "fill", "scroll", "browse", "browse_interactive"}),
    "search": frozenset({"web_search", "web_extractor"}),
}


def domain_of(names: Iterable[str], loss: LossReport) -> str:
    """The domain whose tools these are; ``mcp`` where they are of no known set. Noted as inferred."""
    found = {name.lower() for name in names}
    loss.infer("domain")
    return next((domain for domain, tools in _DOMAINS.items() if found & tools), "mcp")


def action_space(tools: Sequence[Object]) -> str:
    """The tools as text: a line of JSON each."""
    return "\n".join(map(canonical_json, tools))


def tool_objects(value: JsonValue, loss: LossReport) -> list[Object]:
    """The declared tools; what is no object is noted."""
    if not isinstance(value, list):
        return []
    loss.skip("tool declaration that is no object", sum(not isinstance(tool, Mapping) for tool in value))
    return [tool for tool in value if isinstance(tool, Mapping)]
