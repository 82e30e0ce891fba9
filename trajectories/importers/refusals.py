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

from trajectories.importers.json_text import BrokenJson
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
    r"missing required argument \"\w+\" in tool call\b",
    r"tool \S{1,100} is not registered\. \(arguments: ",
    r"action \w+ (?:does not exist|is not supported in the current runtime)\.",
    r"cannot execute multiple commands at once\.",
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
_ERROR: Final = re.compile(
    r"\A\W*(?:<\w+>\W*)?(?:(?:an? |the )?[\w.]*(?:error|exception)\b|invalid|malformed|unparsable|unexpected"
    r"|expect(?:ed|ing)|fail(?:ed|ure)|unable to|could ?n[o']t|cannot|can't|missing|\d+ validation errors?|traceback"
    r"|(?:\w+ ){0,3}(?:is|are|was|were) (?:not|in)[ -]?valid)",
    re.IGNORECASE,
)
"""How an answer begins that is an error."""
_OF_THE_WORLD: Final = re.compile(
    r"no such file|permission denied|timed out|\bE(?:NOENT|ACCES|EXIST|ISDIR|NOTDIR)\b"
    r"|\bexit(?:ed)? (?:code|status|with)|connection (?:refused|reset)|path [^\n]{1,200} does not exist|file not found",
    re.IGNORECASE,
)
"""What is said of what was carried out, by a harness that has mended the arguments itself."""
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
    """Arguments that are no JSON are what an error is about that does not say otherwise."""
    if not isinstance(given, BrokenJson):
        return False
    is_error = (observation.error_kind is not None and _ABOUT_JSON.search(head)) or _ERROR.match(head)
    return bool(is_error) and _OF_THE_WORLD.search(head) is None


def _refuses(head: str, name: str, given: JsonValue) -> bool:
    runs_a_program = isinstance(given, Mapping) and not _RUNS_A_PROGRAM.isdisjoint(given)
    return _pattern(name, runs_a_program).match(head) is not None


@lru_cache(maxsize=256)
def _pattern(name: str, runs_a_program: bool) -> re.Pattern[str]:
    tool = rf"[\"'`]?{re.escape(name)}[\"'`]?(?!\w)"
    naming = (form.format(tool=tool, name=re.escape(name)) for form in _NAMING_THE_TOOL)
    forms = (*naming, *_OF_CALLS, *(() if runs_a_program else _OF_VALUES))
    return re.compile(_BEFORE + "(?:" + "|".join(forms) + ")", re.IGNORECASE)
