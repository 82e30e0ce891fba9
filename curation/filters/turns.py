"""The filters that look at turns: what each finds, in which columns, in which domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from curation.filters import calls, retries, screens
from curation.filters.domains import TOOLS
from curation.filters.settings import Filters, Scope
from curation.neighbours import Turns
from curation.reasons import Booleans, Codes, Reason, code_of, no_reasons
from trajectories.model import GUI_DOMAINS, ErrorKind

_SHELL: Final = r"(?i:bash|sh|shell|run|terminal|exec|(?:execute|run)_(?:bash|command|shell_command)|bash_command)"
_NO_COMMAND: Final = r'\{"command": "(?:\s|\\[nrt])*"\}'
_NOTHING: Final = (
    r'^\s*(""|null|\{\s*\})?\s*$|^\{\s*"name":\s*""'
    rf'|^{_NO_COMMAND}$|^\{{"name": "[^"]*", "arguments": {_NO_COMMAND}\}}$'
    rf'|^\{{"name": "{_SHELL}", "arguments": \{{\}}\}}$'
)
"""No text, no value, a call of nothing, or of a shell without a command."""
_POLL: Final = r'^\{"name": "(?:execute_bash|run|terminal)", "arguments": \{"command": '
"""OpenHands' shells, of which an empty command asks for what a program has put out since."""
_NO_ITEMS: Final = r"^\s*\[\s*\]\s*$"


@dataclass(frozen=True, slots=True)
class Findings:
    """What speaks against the turns of a row group."""

    turns: Codes
    """Against a turn itself."""
    trajectories: Codes
    """What a turn says against its whole trajectory."""


@dataclass(frozen=True, slots=True)
class _Filter:
    reason: Reason
    scope: Scope
    columns: tuple[str, ...]
    find: Callable[[Turns], Booleans]


class TurnFilters:
    """The filters that look at the turns of one part.

    Args:
        filters: which are switched on.
        domain: of the part.
        trajectories: the part that holds the trajectories' rows; it is read where their tools matter.
    """

    def __init__(self, filters: Filters, domain: str, trajectories: Path) -> None:
        every = _of_domain(filters, domain, trajectories)
        self._filters = [each for each in every if each.scope is not Scope.OFF]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a turn that they look at."""
        return tuple(dict.fromkeys(name for each in self._filters for name in each.columns))

    def find(self, turns: Turns) -> Findings:
        """What they find in a row group that has the `columns`."""
        size = len(turns.rows)
        findings = Findings(no_reasons(size), no_reasons(size))
        for each in self._filters if size else ():
            codes = findings.trajectories if each.scope is Scope.TRAJECTORY else findings.turns
            np.minimum(codes, code_of(each.reason), out=codes, where=each.find(turns))
        return findings


def _of_domain(filters: Filters, domain: str, trajectories: Path) -> Iterator[_Filter]:
    failing = Scope.OFF if filters.sandbox_died is Scope.OFF else Scope.TURN
    yield _Filter(Reason.SANDBOX_DIED, failing, ("error_kind",), _sandbox_failed)
    if filters.sandbox_died is Scope.TRAJECTORY:
        yield _Filter(Reason.SANDBOX_DIED, Scope.TRAJECTORY, ("trajectory_id", "error_kind"), _sandbox_died)
    empty = _NOTHING if domain == "terminal" else f"{_NOTHING}|{_NO_ITEMS}"
    yield _Filter(Reason.EMPTY_ACTION, _scope(filters.empty_action), ("action",), partial(_does_nothing, pattern=empty))
    retried = partial(retries.are_retried, similarity=filters.retry_similarity)
    yield _Filter(Reason.RETRY, _scope(filters.retry), retries.COLUMNS, retried)
    yield _Filter(Reason.TRUNCATED, _scope(filters.truncated), ("truncated",), partial(_is_set, flag="truncated"))
    if domain in GUI_DOMAINS:
        yield _Filter(Reason.NO_CHANGE, _scope(filters.no_change), ("is_noop",), partial(_is_set, flag="is_noop"))
        yield _Filter(Reason.GUI_FAILURE, filters.gui_failure, screens.COLUMNS, _show_failure)
    if domain in TOOLS and filters.undeclared_tool is not Scope.OFF:
        declared = calls.declared_tools(trajectories)
        undeclared = partial(_call_undeclared, declared=declared, also_refused=filters.undeclared_tool_refused)
        columns = (*calls.COLUMNS, "error_kind")
        yield _Filter(Reason.UNDECLARED_TOOL, filters.undeclared_tool, columns, undeclared)


def _scope(is_on: bool) -> Scope:
    return Scope.TURN if is_on else Scope.OFF


def _sandbox_failed(turns: Turns) -> Booleans:
    return _true(pc.equal(turns.rows["error_kind"], ErrorKind.ENVIRONMENT.value))


def _sandbox_died(turns: Turns) -> Booleans:
    """In which turns it failed and did not come back: the last ones of their trajectories."""
    failed = _sandbox_failed(turns)
    if not failed.any():
        return failed
    ids = turns.rows.select(["trajectory_id"])
    after = turns.first_after(ids.column_names) if failed[-1] else ids.slice(0, 0)
    following = pa.concat_tables([ids.slice(1), after])
    is_last = np.ones(len(ids), dtype=np.bool_)
    of_another = pc.not_equal(ids.slice(0, len(following))["trajectory_id"], following["trajectory_id"])
    is_last[: len(following)] = _true(of_another)
    return failed & is_last


def _does_nothing(turns: Turns, *, pattern: str) -> Booleans:
    actions = turns.rows["action"]
    found = _true(pc.match_substring_regex(actions, pattern))
    return found & ~_true(pc.match_substring_regex(actions, _POLL)) if found.any() else found


def _is_set(turns: Turns, *, flag: str) -> Booleans:
    return _true(turns.rows[flag])


def _show_failure(turns: Turns) -> Booleans:
    return screens.show_failure(turns.rows)


def _call_undeclared(turns: Turns, *, declared: calls.ToolNames, also_refused: bool) -> Booleans:
    found = calls.call_undeclared(turns.rows, declared)
    return found if also_refused else found & _true(pc.is_null(turns.rows["error_kind"]))


def _true(values: pa.ChunkedArray) -> Booleans:
    """Null is not true."""
    found: Booleans = pc.fill_null(values, False).to_numpy()
    return found
