"""Answers by which a harness refuses a call as it was made: a tool that it lacks, arguments that are not what it takes.

Chats tell no kinds of errors; such an answer shows by its own words that nothing was carried out. A program that a tool
has run may say nearly the same, so only answers count that begin as a harness's do, and name the tool or what a call is
made of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from trajectories.importers.loss import LossReport
from trajectories.model import Action, ErrorKind, JsonValue, Observation

_HEAD: Final = 400
"""A refusal says so in its first words; further down stands what a program has put out."""
_BEFORE: Final = r"\A\s*(?:<\w+>\s*)?(?:\[?error\]?:?\s+)?"
_NAMING_THE_TOOL: Final = (
    r"executing tool {tool}: (?:\d+ validation errors? for|unknown tool)\b",
    r"(?:unknown|unsupported) (?:custom )?(?:tool|function)(?: call)?:? {tool}",
    r"unsupported (?:custom tool )?call: {tool}",
    r"no such tool(?: available)?: {tool}",
    r"(?:tool|function) {tool} (?:is )?(?:not found|not available|does not exist|doesn't exist|unknown)\b",
    r"{tool} is not a valid (?:tool|function)\b",
    r"(?:invalid|validating) (?:args|arguments|parameters)\b[^\n]{{0,200}} (?:for|of) (?:tool |function )?{tool}",
    r"\[?missing (?:required )?(?:parameters|arguments) for (?:tool|function) {tool}",
    r"\d+ validation errors? for {name}(?:arguments)?\b",
    r"invoking tool {tool} with kwargs\b",
)
"""The Model Context Protocol's kits, Claude Code, Codex, Gemini CLI, OpenHands, LangGraph and smolagents."""
_OF_CALLS: Final = (
    r"inputvalidationerror: ",
    r"(?:failed|unable) to parse (?:the )?(?:tool|function)(?: call)? arguments\b",
    r"(?:tool|function) call arguments are not valid json\b",
)
_OF_VALUES: Final = (
    r"mcp error -3260[0-2]\b",
    r"input validation error: ",
    r"params must have required property '",
    r"missing value for required parameter '",
)
"""What is said of arguments alone: a program may be a client that says so of its own."""
_RUNS_A_PROGRAM: Final = frozenset({"command", "cmd", "code", "script", "keystrokes"})
"""Arguments of tools whose answers are what a program has put out."""
_ABOUT_JSON: Final = re.compile(r"json|pars|argument|parameter|format|decod|expected|invalid|malformed", re.IGNORECASE)


def marked_refused(action: Action, observation: Observation, loss: LossReport) -> Observation:
    """The observation, as the answer to a malformed action where its text says that; only of calls of tools."""
    call = action.payload
    name = call.get("name") if isinstance(call, Mapping) else None
    if not isinstance(name, str) or not _may_be_refused(observation):
        return observation
    given = call.get("arguments") if isinstance(call, Mapping) else None
    head = observation.text[:_HEAD]
    if not _is_about_no_json(given, head, observation) and not _refuses(head, name, given):
        return observation
    loss.infer("call refused, by the words of its answer")
    return replace(observation, error_kind=ErrorKind.AGENT, error=observation.error or observation.text)


def _may_be_refused(observation: Observation) -> bool:
    """Not where a program has ended, or where the source says already whose fault it was."""
    return observation.exit_code is None and observation.error_kind in (None, ErrorKind.TOOL)


def _is_about_no_json(given: JsonValue, head: str, observation: Observation) -> bool:
    """Arguments that are no JSON are what an error about arguments is about."""
    return isinstance(given, str) and observation.error_kind is not None and _ABOUT_JSON.search(head) is not None


def _refuses(head: str, name: str, given: JsonValue) -> bool:
    runs_a_program = isinstance(given, Mapping) and not _RUNS_A_PROGRAM.isdisjoint(given)
    return _pattern(name, runs_a_program).match(head) is not None


@lru_cache(maxsize=256)
def _pattern(name: str, runs_a_program: bool) -> re.Pattern[str]:
    tool = rf"[\"'`]?{re.escape(name)}[\"'`]?(?!\w)"
    naming = (form.format(tool=tool, name=re.escape(name)) for form in _NAMING_THE_TOOL)
    forms = (*naming, *_OF_CALLS, *(() if runs_a_program else _OF_VALUES))
    return re.compile(_BEFORE + "(?:" + "|".join(forms) + ")", re.IGNORECASE)
