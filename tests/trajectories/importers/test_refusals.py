"""A chat does not say that a call was malformed; the answer of the harness does."""

from __future__ import annotations

import pytest

from trajectories.importers import LossReport
from trajectories.importers.base import answer
from trajectories.importers.refusals import marked_refused
from trajectories.model import Action, ErrorKind

REFUSED = [
    "MCP error -32602: Invalid arguments for tool add: a is required",
    "Error executing tool add: 1 validation error for addArguments\na\n  Field required",
    "Input validation error: 'a' is a required property",
    "Unknown tool: ad",
    "<tool_use_error>InputValidationError: Read failed: `file_path` is missing</tool_use_error>",
    "<tool_use_error>Error: No such tool available: Raed</tool_use_error>",
    "failed to parse function arguments: missing field `cmd`",
    "unsupported call: shel",
    'Tool "raed_file" not found in registry.',
    "params must have required property 'path'",
    "Error validating args {} for tool 'edit': 1 error",
    "Missing required parameters for function 'edit': path",
    "Error: raed is not a valid tool, try one of [read].",
    "Unknown tool raed, should be one of: read.",
    "[ERROR] Missing value for required parameter 'path'.",
    '{"error": "Invalid parameters: a must be a number"}',
]
CALL = Action.call("add", {"b": 2})


@pytest.mark.parametrize("text", REFUSED)
def test_the_words_by_which_harnesses_refuse_a_call_say_whose_fault_it_is(text: str) -> None:
    loss = LossReport()
    assert marked_refused(CALL, answer(text), loss).error_kind is ErrorKind.AGENT
    assert loss.inferred.total() == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "grep: invalid option -- 'y'",
        "<tool_use_error>String to replace not found in file.</tool_use_error>",
        "def test():\n    raise InputValidationError('Unknown tool')",
        "2026-11-30 ERROR worker: invalid arguments were seen twice",
        "Error: ENOENT: no such file or directory, open 'a'",
        "The tool was not found in the shed.",
        "Invalid credentials",
    ],
)
def test_an_error_of_what_was_carried_out_is_the_tools(text: str) -> None:
    failed = answer(text, error_kind=ErrorKind.TOOL, error=text)
    assert marked_refused(CALL, failed, LossReport()) is failed


def test_what_a_command_prints_is_no_refusal() -> None:
    shown = answer("Unknown tool: ad")
    assert marked_refused(Action("cat log", "cat log"), shown, LossReport()) is shown


def test_an_error_about_arguments_that_are_no_json_is_theirs() -> None:
    broken = Action.of({"name": "add", "arguments": '{"a": 1'})
    text = "Expecting ',' delimiter: line 1 column 8; the arguments must be JSON"
    failed = answer(text, error_kind=ErrorKind.TOOL, error=text)
    assert marked_refused(broken, failed, LossReport()).error_kind is ErrorKind.AGENT
    assert marked_refused(CALL, failed, LossReport()) is failed
