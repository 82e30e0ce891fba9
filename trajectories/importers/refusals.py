"""Answers by which a harness refuses a call as it was made: a tool that it lacks, arguments that are not what it takes.

Chats tell no kinds of errors; such an answer shows by its own words that nothing was carried out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from trajectories.importers.loss import LossReport
from trajectories.model import Action, ErrorKind, Observation

_HEAD: Final = 400
"""A refusal says so in its first words; further down stands what a program has put out."""
_BEFORE: Final = r"\A\s*(?:<\w+>\s*)?(?:\{\"(?:error|message)\": ?\")?(?:\[?error\]?:?\s+)?"
_REFUSALS: Final = re.compile(
    _BEFORE
    + "(?:"
    + "|".join(
        (
            # Model Context Protocol: JSON-RPC's own codes, and its Python and TypeScript kits
            r"(?:mcp error |error code:? )?-3260[0-2]\b",
            r"input validation error\b",
            r"executing tool \S+ \d+ validation errors? for\b",
            # a tool that there is not
            r"unknown (?:tool|function)\b",
            r"unsupported (?:custom tool )?call\b",
            r"no such tool\b",
            r"(?:tool|function) \S+ (?:is )?(?:not found|not available|does not exist|doesn't exist|unknown)\b",
            r"\S+ is not a valid (?:tool|function)\b",
            # arguments that are not what the tool takes
            r"inputvalidationerror\b",
            r"(?:failed|unable|could not|cannot|couldn't) (?:to )?(?:parse|decode) (?:the )?"
            r"(?:\w+ )?(?:arguments|parameters|tool call|function call)",
            r"(?:validating|invalid|missing required|malformed) (?:\w+ ){0,2}"
            r"(?:arguments?|args|parameters?|params|tool call|function call|tool input)\b",
            r"params must have required property\b",
            r"missing value for required parameter\b",
            r"(?:arguments|parameters|tool input) (?:is|are) not valid json\b",
        )
    )
    + ")",
    re.IGNORECASE,
)
"""How harnesses begin what they answer to a call that they refuse: those of the Model Context Protocol, Claude Code,
Codex, Gemini CLI, OpenHands, LangGraph, smolagents and Cline."""
_ABOUT_JSON: Final = re.compile(r"json|pars|argument|parameter|format|decod|expected|invalid|malformed", re.IGNORECASE)


def marked_refused(action: Action, observation: Observation, loss: LossReport) -> Observation:
    """The observation, as the answer to a malformed action where its text says that; only of calls of tools."""
    payload = action.payload
    is_call = isinstance(payload, Mapping) and isinstance(payload.get("name"), str)
    if not is_call or observation.error_kind not in (None, ErrorKind.TOOL):
        return observation
    head = observation.text[:_HEAD]
    # Arguments that are no JSON are what an error about them is about.
    is_broken = isinstance(payload, Mapping) and isinstance(payload.get("arguments"), str)
    is_about_them = is_broken and observation.error_kind is not None and _ABOUT_JSON.search(head) is not None
    if not is_about_them and _REFUSALS.match(head) is None:
        return observation
    loss.infer("call refused, by the words of its answer")
    return replace(observation, error_kind=ErrorKind.AGENT, error=observation.error or observation.text)
