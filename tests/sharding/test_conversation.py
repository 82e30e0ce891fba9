from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharding.conversation import OBSERVATION_MARKER, ContextText, Message, TurnText, conversation
from sharding.masks import Mask

GOLDEN = Path(__file__).parent / "golden" / "conversation.txt"


def request_for(action: str, domain: str = "terminal") -> str:
    return conversation(ContextText(domain=domain), [TurnText(action, "", Mask(True))])[1].content


def as_text(messages: list[Message]) -> str:
    return "".join(
        f"=== {message.role}{' (kept)' if message.mask and message.mask.kept else ''}\n{message.content}\n"
        for message in messages
    )


def test_a_training_conversation_looks_like_the_golden_one() -> None:
    context = ContextText(
        domain="terminal",
        instruction="List the files, then say hello.",
        task_description="A bash terminal in a container.",
        action_space="A JSON array of keystrokes.",
        initial_state="Debian 12, 512 MB.",
        simulation_instruction="Answer with the screen.",
    )
    turns = [
        TurnText('[{"keystrokes": "ls\\n", "duration": 1.0}]', "user@host:~$ ls\nnotes.txt\nuser@host:~$ ", Mask(True)),
        TurnText('[{"keystrokes": "echo hello\\n", "duration": 1.0}]', "hello", Mask(False)),
        TurnText("[]", "", Mask(True)),
    ]
    assert as_text(conversation(context, turns)) == GOLDEN.read_text()


@pytest.mark.parametrize(
    ("domain", "action", "language"),
    [
        ("mcp", '{"name": "read", "arguments": {}}', "json"),
        ("terminal", '[{"keystrokes": "ls"', "text"),
        ("terminal", "[" * 100_000, "text"),
        ("web", "click('a51')", "text"),
        ("android", "<click index='3'/>", "xml"),
        ("os", "pyautogui.click(1, 2)", "python"),
    ],
)
def test_the_fence_names_the_language_of_the_action(domain: str, action: str, language: str) -> None:
    assert request_for(action, domain) == f"### Turn 1\n\n**Action:**\n```{language}\n{action}\n```"


@given(st.text(alphabet="`a\n", max_size=30))
def test_no_run_of_backticks_in_an_action_closes_its_fence(action: str) -> None:
    lines = request_for(action).split("**Action:**\n")[1].split("\n")
    fence = lines[-1]
    assert set(fence) == {"`"}
    assert len(fence) >= 3
    assert lines[0] == f"{fence}text"
    assert "\n".join(lines[1:-1]) == action
    assert fence not in action


def test_empty_parts_and_sections_are_left_out() -> None:
    system, *_ = conversation(ContextText(domain="mcp", action_space="tools"), [])
    assert system == Message("system", "# Actions\n\ntools")
    assert conversation(ContextText(domain="mcp"), []) == [Message("system", "")]


@given(st.text())
def test_an_observation_follows_its_marker_verbatim(observation: str) -> None:
    reply = conversation(ContextText(domain="mcp"), [TurnText("{}", observation, Mask(False))])[2]
    assert reply == Message("assistant", OBSERVATION_MARKER + observation, Mask(False))
