"""Small sources of every format, made for these tests, with what makes them awkward in the wild."""

from __future__ import annotations

from typing import Any

Json = Any

ATIF: Json = {
    "schema_version": "ATIF-v1.6",
    "session_id": "a/b+c",
    "agent": {
        "name": "tester",
        "version": "2",
        "model_name": "m",
        "tool_definitions": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
    },
    "steps": [
        {"step_id": 1, "source": "system", "message": "You look."},
        {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Look around."}]},
        {
            "step_id": 3,
            "source": "agent",
            "timestamp": "2026-01-01T10:00:00Z",
            "message": "North, then south.",
            "tool_calls": [
                {"tool_call_id": "x", "function_name": "look", "arguments": {"at": "north"}},
                {"tool_call_id": "x", "function_name": "look", "arguments": {"at": "south"}},
            ],
            "observation": {
                "results": [
                    {"source_call_id": "x", "content": "a wall"},
                    {"source_call_id": "x", "content": [{"type": "text", "text": "a door"}, {"type": "image"}]},
                ]
            },
        },
        {"step_id": 4, "source": "agent", "is_copied_context": True, "message": "an old one"},
        {
            "step_id": 5,
            "source": "agent",
            "message": '{"analysis": "a", "plan": "p", "commands": [{"keystrokes": "ls\\n", "duration": 0.5}]}',
            "observation": {"results": [{"content": "$ ls"}]},
        },
        {
            "step_id": 6,
            "source": "agent",
            "message": "Done.",
            "tool_calls": [{"tool_call_id": "y", "function_name": "finish", "arguments": {}}],
        },
    ],
}

ADP: Json = {
    "id": "web/1+2",
    "content": [
        {"class_": "text_observation", "content": "Buy it.", "source": "user"},
        {"class_": "web_observation", "html": "[1] button 'Buy'", "axtree": None, "url": "http://shop.test/"},
        {"class_": "message_action", "content": "I shall click.", "description": None},
        {"class_": "api_action", "function": "click", "kwargs": {"bid": "1"}, "description": "to buy"},
        {"class_": "web_observation", "html": None, "axtree": "[2] text 'Bought'"},
        {"class_": "code_action", "language": "bash", "content": "date", "description": ""},
        {"class_": "text_observation", "content": "Monday", "source": "user"},
        {"class_": "api_action", "function": "stop", "kwargs": {"answer": "yes"}, "description": ""},
    ],
    "details": {"score": 1},
}

CHAT: Json = {
    "id": "chat-1",
    "tools": [{"type": "function", "function": {"name": "add"}}],
    "messages": [
        {"role": "system", "content": "You add."},
        {"role": "user", "content": [{"type": "text", "text": "Add up."}, {"type": "image_url", "image_url": {}}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "0", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}},
                {"id": "0", "type": "function", "function": {"name": "add", "arguments": "1, 2"}},
            ],
        },
        {"role": "tool", "tool_call_id": "0", "content": "3"},
        {"role": "tool", "tool_call_id": "0", "content": "not JSON", "error": "bad arguments"},
        {"role": "user", "content": "Again."},
        {"role": "assistant", "content": "No.", "function_call": {"name": "add", "arguments": "{}"}},
        {"role": "function", "name": "add", "content": "nothing to add"},
    ],
}

SHELL_CHAT: Json = [
    {"role": "user", "content": "Say hello."},
    {"role": "assistant", "content": "I shall.\n\n```mswea_bash_command\necho hello\n```"},
    {"role": "user", "content": "<returncode>1</returncode>\nhello"},
    {"role": "assistant", "content": "And out.\n\n```mswea_bash_command\nexit\n```"},
]

RESPONSE: Json = {
    "responses_create_params": {"input": "Roll a die.", "tools": [{"type": "function", "name": "roll"}]},
    "response": {
        "id": "r1",
        "object": "response",
        "status": "completed",
        "created_at": 1767225600,
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "function_call", "call_id": "c", "name": "roll", "arguments": '{"sides": 6}'},
            {"type": "custom_tool_call", "call_id": "d", "name": "patch", "input": "*** free text"},
            {"type": "custom_tool_call_output", "call_id": "d", "output": "patched"},
            {"type": "function_call_output", "call_id": "c", "output": "4"},
            {"type": "function_call_output", "call_id": "lost", "output": "?"},
            {"type": "web_search_call"},
        ],
    },
    "reward": 0.5,
}

SWE_AGENT: Json = {
    "environment": "main",
    "trajectory": [
        {
            "action": "cat empty\n",
            "observation": "",
            "thought": "look",
            "state": '{"open_file": "n/a"}',
            "query": [{"role": "user", "content": "all of it, again"}],
        },
        {"action": "submit", "observation": "\r\ndiff --git", "response": "out", "execution_time": 0.25, "state": {}},
    ],
    "history": [
        {"role": "system", "content": "You mend."},
        {"role": "user", "content": "a demonstration", "is_demo": True},
        {"role": "user", "content": "Mend it."},
    ],
    "info": {"exit_status": "submitted (exit_cost)", "submission": "diff --git"},
}

OPENHANDS_V0: Json = [
    {"id": 0, "source": "user", "action": "message", "args": {"content": "Make it."}},
    {
        "id": 4,
        "source": "agent",
        "action": "run",
        "timestamp": "2026-01-01T10:00:00",
        "args": {"command": "make", "thought": "try", "blocking": True},
    },
    {"id": 5, "source": "agent", "action": "write", "args": {"path": "a", "content": "b"}},
    {"id": 6, "cause": 5, "observation": "error", "content": "read-only"},
    {
        "id": 7,
        "cause": 4,
        "observation": "run",
        "timestamp": "2026-01-01T10:00:03",
        "content": "made",
        "extras": {"metadata": {"exit_code": 2}},
    },
    {"id": 8, "source": "environment", "observation": "agent_state_changed", "content": ""},
    {"id": 9, "source": "agent", "action": "finish", "args": {"outputs": {}}},
]

OPENHANDS_V1: list[Json] = [
    {
        "kind": "SystemPromptEvent",
        "id": "s",
        "system_prompt": {"text": "You run."},
        "tools": [{"kind": "TerminalTool", "title": "terminal"}],
    },
    {
        "kind": "MessageEvent",
        "id": "m",
        "source": "user",
        "llm_message": {"content": [{"type": "text", "text": "Run."}]},
    },
    {
        "kind": "ActionEvent",
        "id": "a",
        "timestamp": "2026-01-01T10:00:00",
        "thought": [],
        "reasoning_content": "hm",
        "action": {"command": "true", "kind": "TerminalAction"},
        "tool_name": "terminal",
        "tool_call_id": "t1",
        "tool_call": {"arguments": '{"command": "true", "security_risk": "LOW", "summary": "run"}'},
    },
    {
        "kind": "ObservationEvent",
        "id": "o",
        "timestamp": "2026-01-01T10:00:01.5",
        "action_id": "a",
        "observation": {"content": [{"type": "text", "text": ""}], "is_error": False, "exit_code": 0},
    },
    {"kind": "ActionEvent", "id": "b", "tool_name": "edit", "tool_call_id": "t2", "action": {"path": "x"}},
    {"kind": "AgentErrorEvent", "id": "e", "tool_name": "edit", "tool_call_id": "t2", "error": "no such tool"},
    {"kind": "ObservationEvent", "id": "p", "action_id": "cut away", "observation": {"content": []}},
    {"kind": "ActionEvent", "id": "f", "tool_name": "finish", "tool_call_id": "t3", "action": {}},
    {"kind": "ObservationEvent", "id": "g", "action_id": "f", "observation": {"content": []}},
    {"kind": "SomethingNewEvent", "id": "n"},
]

OSWORLD: list[Json] = [
    {
        "step_num": 1,
        "action_timestamp": "20260101@100000",
        "action": "pyautogui.click(1, 2)",
        "response": "click",
        "reward": 0,
        "done": False,
        "screenshot_file": "step_1.png",
    },
    {"step_num": 2, "action_timestamp": "20260101@100001123456", "action": "WAIT", "screenshot_file": "../step.png"},
    {"step_num": 3, "action": "DONE", "reward": 1, "done": True, "screenshot_file": "step_3.png"},
]

WORLD_BENCH: Json = {
    "task": "terminal",
    "id": "t-1",
    "turn_idx": 2,
    "total_turns": 5,
    "system_str": "You are a terminal.",
    "prompt": [
        '### Turn 1\n\n**Task Instruction:**\nList.\n\n**Current State:**\n$ \n\n**Action:**\n```json\n[{"a": 1}]\n```',
        "### Turn 2\n\n**Action:**\n```python\nimport os\n```",
    ],
    "response": [
        "**Environment Observation:**\na\nb",
        "<think>so</think><predicted_observation>\nc\n</predicted_observation>",
    ],
    "current_prompt": "### Turn 2",
}

CLAUDE_CODE: list[Json] = [
    {"type": "summary", "summary": "s", "leafUuid": "z"},
    {
        "type": "user",
        "uuid": "1",
        "sessionId": "s",
        "message": {"role": "user", "content": "<command-name>x</command-name>"},
    },
    {"type": "user", "uuid": "2", "sessionId": "s", "message": {"role": "user", "content": "Do it."}},
    {
        "type": "assistant",
        "uuid": "3",
        "timestamp": "2026-01-01T10:00:00Z",
        "message": {
            "model": "m",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I shall."},
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "false"}},
            ],
        },
    },
    {
        "type": "user",
        "uuid": "4",
        "timestamp": "2026-01-01T10:00:02Z",
        "message": {
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t",
                    "content": [{"type": "text", "text": "no"}],
                    "is_error": True,
                }
            ]
        },
    },
    {
        "type": "user",
        "uuid": "4",
        "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "again"}]},
    },
    {"type": "assistant", "uuid": "5", "isSidechain": True, "message": {"content": "elsewhere"}},
]

CODEX: list[Json] = [
    {"type": "session_meta", "payload": {"id": "s", "timestamp": "2026-01-01T10:00:00Z", "instructions": "Be brief."}},
    {"type": "turn_context", "payload": {"model": "m"}},
    {
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "<environment_context>"}],
        },
    },
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it."}]},
    },
    {"type": "event_msg", "payload": {"type": "agent_reasoning", "text": "hm"}},
    {
        "timestamp": "2026-01-01T10:00:01Z",
        "type": "response_item",
        "payload": {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c", "input": "*** Begin"},
    },
    {
        "timestamp": "2026-01-01T10:00:03Z",
        "type": "response_item",
        "payload": {"type": "custom_tool_call_output", "call_id": "c", "output": "Done"},
    },
    {"type": "response_item", "payload": {"type": "tool_search_call", "call_id": "d", "arguments": {"query": "files"}}},
    {"type": "response_item", "payload": {"type": "tool_search_output", "call_id": "d", "tools": [{"name": "read"}]}},
]

GEMINI_CLI: Json = {
    "sessionId": "s",
    "startTime": "2026-01-01T10:00:00Z",
    "messages": [
        {"type": "info", "content": "notice"},
        {"type": "user", "content": [{"text": "Read it."}]},
        {
            "type": "gemini",
            "model": "m",
            "thoughts": [{"subject": "Plan", "description": "read first"}],
            "content": "I shall.",
            "toolCalls": [
                {
                    "id": "c",
                    "name": "read_file",
                    "args": {"path": "a"},
                    "result": [{"functionResponse": {"response": {"error": "no such file"}}}],
                    "status": "error",
                },
                {"id": "d", "name": "read_file", "args": {"path": "b"}, "status": "cancelled"},
            ],
        },
    ],
}

SHAREGPT: Json = {
    "system": "You add.",
    "tools": '[{"name": "add", "parameters": {"type": "object"}}]',
    "conversations": [
        {"from": "human", "value": "Add up."},
        {"from": "function_call", "value": '{"name": "add", "arguments": {"a": 1, "b": 2}}'},
        {"from": "observation", "value": "3"},
        {"from": "function_call", "value": '[{"name": "add", "arguments": "{}"}, {"name": "add"}]'},
        {"from": "observation", "value": "nothing to add"},
        {"from": "observation", "value": "still nothing"},
        {"from": "gpt", "value": "It is 3.", "weight": 1},
    ],
}

HERMES: Json = {
    "id": "h",
    "conversations": [
        {"from": "system", "value": "You call."},
        {"from": "human", "value": "Look it up."},
        {
            "from": "gpt",
            "value": 'Both.\n<tool_call>\n{"name": "find", "arguments": {"q": "a"}}\n</tool_call>\n'
            '<tool_call>\n{"name": "find", "arguments": {"q": "b"}}\n</tool_call>',
        },
        {
            "from": "tool",
            "value": '<tool_response>\n{"hits": 1}\n</tool_response>\n<tool_response>\nnone\n</tool_response>',
        },
        {"from": "gpt", "value": "One."},
    ],
}

ANTHROPIC: Json = {
    "messages": [
        {"role": "user", "content": "Read it."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I shall."},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a"}},
                {"type": "tool_use", "id": "t2", "name": "read", "input": {"path": "b"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t2", "content": "no such file", "is_error": True},
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "A"}]},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
    ],
}

LAWS: list[Json] = [
    {
        "id": 7,
        "title": "Water Act",
        "text": "1. Water is free.\n2. Wells are not.",
        "date": "1883-05-01",
        "url": "https://laws.example/water",
        "license": "CC0-1.0",
        "court": "none",
    },
    {
        "id": "8",
        "content": "# Fire Act\n\nFire is not.",
        "metadata": {"licence": "CC-BY-4.0", "source": "fire brigade"},
    },
    {"text": "Untitled.", "meta": '{"license": ["MIT", "Apache-2.0"], "year": 1999}'},
]

ROWS: dict[str, list[Json]] = {
    "atif": [ATIF],
    "adp": [ADP],
    "messages": [CHAT, SHELL_CHAT, ANTHROPIC],
    "sharegpt": [SHAREGPT, HERMES],
    "responses": [RESPONSE],
    "swe-agent": [SWE_AGENT],
    "openhands-v0": [{"history": OPENHANDS_V0}],
    "openhands": OPENHANDS_V1,
    "osworld": OSWORLD,
    "agentworldbench": [WORLD_BENCH],
    "claude-code": CLAUDE_CODE,
    "codex": CODEX,
    "gemini-cli": [GEMINI_CLI],
    "corpus": LAWS,
}
"""Format → the lines of a file."""
