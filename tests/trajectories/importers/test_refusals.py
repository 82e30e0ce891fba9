"""A chat does not say that a call was malformed; the answer of the harness does."""

from __future__ import annotations

import pytest

from trajectories.importers import LossReport
from trajectories.importers.refusals import marked_refused
from trajectories.importers.turn_list import answer
from trajectories.importers.values import arguments
from trajectories.model import Action, ErrorKind

REFUSED = [
    # the tool that was called, the answer
    ("add", "MCP error -32602: Invalid arguments for tool add: a is required"),
    ("add", "Error executing tool add: 1 validation error for addArguments\na\n  Field required"),
    ("add", "1 validation error for addArguments\na\n  Field required"),
    ("add", "Input validation error: 'a' is a required property"),
    ("ad", "Unknown tool: ad"),
    ("ad", "Error executing tool ad: Unknown tool: ad"),
    ("Read", "<tool_use_error>InputValidationError: Read failed: `file_path` is missing</tool_use_error>"),
    ("Raed", "<tool_use_error>Error: No such tool available: Raed</tool_use_error>"),
    ("shell", "failed to parse function arguments: missing field `cmd`"),
    ("shel", "unsupported call: shel"),
    ("raed_file", 'Tool "raed_file" not found in registry.'),
    ("read_file", "params must have required property 'path'"),
    ("edit", "Error validating args {} for tool 'edit': 1 error"),
    ("edit", "Missing required parameters for function 'edit': path"),
    ("edit", "[Missing parameters for function edit: path]"),
    ("raed", "Error: raed is not a valid tool, try one of [read]."),
    ("read", "Error invoking tool 'read' with kwargs {'file': 1} with error:\n path: Field required"),
    ("raed", "Unknown tool raed, should be one of: read."),
    ("read", "Function call arguments are not valid JSON"),
    ("read", "[ERROR] Missing value for required parameter 'path'."),
    ("run", "ERROR: Cannot execute multiple commands at once.\nPlease run each command separately"),
    ("run", 'Missing required argument "command" in tool call execute_bash'),
    ("raed", "Tool raed is not registered. (arguments: {}). Please check the tool name"),
    ("raed", "Action raed does not exist."),
]
BROKEN_CALL = [
    "Error: invalid JSON in arguments",
    "Invalid JSON in tool arguments: Expecting ',' delimiter",
    "Error: Failed to parse arguments: Unterminated string",
    "Error parsing tool call arguments",
    "Error: Malformed function call",
    "json.decoder.JSONDecodeError: Expecting value",
    "The arguments were not valid JSON",
    "Could not decode what you sent",
    "<error>Unexpected end of input</error>",
]
"""What is said of arguments that are no JSON, by harnesses that nobody has heard of."""
OF_PROGRAMS = [
    "psql: unknown function lower",
    "ERROR:  function lower(integer) does not exist\nLINE 1: SELECT lower(1);",
    "\nError: Missing required argument\n\n  on main.tf line 3",
    "\nError: Invalid function argument\n\n  on main.tf line 3",
    "error: missing required argument 'file'\n",
    '{"error": "Missing required parameter: q", "status": 400}',
    "-32601 is the JSON-RPC code for method not found, as notes.md says",
    "Error: unknown function: foo()",
    "Invalid arguments are reported by raise ValueError (see docs/errors.md)",
    "Error: unable to parse arguments file x",
    "Invalid parameter handling\n=====\nThis page says how the API answers",
    "unknown function foo called from CMakeLists.txt:3",
    "Tool clang-format not found in PATH, skipping\n",
    "MCP error -32602: what my client was told",
    "Input validation error: 'age' is a required property",
]
CALL = Action.call("add", {"b": 2})


def _called(written: str) -> Action:
    """A call whose arguments are a string in the source."""
    return Action.of({"name": "add", "arguments": arguments(written)})


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_the_words_by_which_harnesses_refuse_a_call_say_whose_fault_it_is(name: str, text: str) -> None:
    loss = LossReport()
    assert marked_refused(Action.call(name, {"b": 2}), answer(text), loss).error_kind is ErrorKind.AGENT
    assert loss.inferred.total() == 1


@pytest.mark.parametrize("text", OF_PROGRAMS)
def test_what_a_program_puts_out_is_no_refusal_of_the_call_that_ran_it(text: str) -> None:
    call = Action.call("bash", {"command": "make"})
    for shown in (answer(text), answer(text, error_kind=ErrorKind.TOOL, error=text)):
        assert marked_refused(call, shown, LossReport()) is shown


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_a_program_that_ended_was_carried_out(name: str, text: str) -> None:
    ended = answer(text, exit_code=1)
    assert marked_refused(Action.call(name, {"command": "x"}), ended, LossReport()) is ended


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
        "Unknown tool: address",
        "Tool add-apt-repository not found",
        "Invalid credentials",
    ],
)
def test_an_error_of_what_was_carried_out_is_the_tools(text: str) -> None:
    failed = answer(text, error_kind=ErrorKind.TOOL, error=text)
    assert marked_refused(CALL, failed, LossReport()) is failed


def test_an_error_about_arguments_that_are_no_json_is_theirs() -> None:
    broken = _called('{"a": 1')
    text = "Expecting ',' delimiter: line 1 column 8; the arguments must be JSON"
    failed = answer(text, error_kind=ErrorKind.TOOL, error=text)
    assert marked_refused(broken, failed, LossReport()).error_kind is ErrorKind.AGENT
    assert marked_refused(CALL, failed, LossReport()) is failed


@pytest.mark.parametrize("text", BROKEN_CALL)
def test_arguments_that_are_no_json_are_what_an_error_is_about(text: str) -> None:
    broken = _called('{"a": 1, "b"}')
    assert marked_refused(broken, answer(text), LossReport()).error_kind is ErrorKind.AGENT
    whole = _called('{"a": 1, "b": 2}')
    assert marked_refused(whole, answer("Error: invalid JSON in the file"), LossReport()).error_kind is None


@pytest.mark.parametrize("text", ["3", "No errors.", "Error: ENOENT: no such file or directory, open 'a'", "3 failed"])
def test_a_harness_that_mends_arguments_carries_the_call_out(text: str) -> None:
    broken = _called('{"a": 1, "b"}')
    assert marked_refused(broken, answer(text), LossReport()).error_kind is None


def test_a_text_that_a_tool_takes_is_no_broken_json() -> None:
    patch = Action.of({"name": "apply_patch", "arguments": "*** Begin Patch"})
    assert marked_refused(patch, answer("error: invalid hunk at line 2"), LossReport()).error_kind is None
