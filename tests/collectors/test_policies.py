"""The same seed makes the same choices; another seed, task or episode makes others."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Sequence

import pytest

from collectors.policies import POLICY_NAMES, History, make_policy
from collectors.policies.grammar import Grammar
from collectors.policies.shell_grammar import GRAMMAR, OPENING, TOPICS, Keys, Production
from collectors.tasks import Task
from sandboxes.base import SandboxFacts
from trajectories import Action, ErrorKind, InputError, JsonValue, Observation, SystemPrompt

TOOLS: Sequence[dict[str, JsonValue]] = [
    {
        "name": f"tool_{number}",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    }
    for number in range(9)
]


def task(domain: str, task_id: str = "t", **fields: object) -> Task:
    return Task.model_validate({"id": task_id, "domain": domain, "instruction": "x", **fields})


async def actions_of(task: Task, *, policy: str = "explore", seed: int = 0, episode: int = 0) -> list[Action]:
    """What a policy does in a world that answers nothing."""
    facts = SandboxFacts(
        domain=task.domain, sandbox="none@1", engine=None, image_digest=None, prompt=SystemPrompt(), tools=TOOLS
    )
    silence = Observation(text="", renderer="none@1")
    history = History(facts=facts, initial=silence)
    chooser = make_policy(policy, task, seed=seed, episode=episode)
    while (action := await chooser.next_action(history)) is not None:
        history.steps.append((action, silence))
    return [action for action, _ in history.steps]


@pytest.mark.parametrize("domain", ["terminal", "mcp"])
async def test_the_same_seed_task_and_episode_make_the_same_actions(domain: str) -> None:
    first = await actions_of(task(domain), seed=3, episode=1)
    assert await actions_of(task(domain), seed=3, episode=1) == first
    for other in (
        await actions_of(task(domain), seed=4, episode=1),
        await actions_of(task(domain), seed=3, episode=2),
        await actions_of(task(domain, "u"), seed=3, episode=1),
    ):
        assert other != first


@pytest.mark.parametrize("domain", ["terminal", "mcp"])
async def test_an_exploration_takes_as_many_turns_as_its_task_says(domain: str) -> None:
    assert len(await actions_of(task(domain, turns=7))) == 7
    assert len(await actions_of(task(domain))) == 20


async def test_a_script_is_done_in_order_and_then_over() -> None:
    assert await actions_of(task("terminal", actions=["a", "b"]), policy="scripted") == [
        Action.keys(("a\n", 5.0)),
        Action.keys(("b\n", 5.0)),
    ]


async def test_episodes_together_call_every_tool_whatever_the_number_of_turns() -> None:
    called = set()
    for episode in range(4):
        actions = await actions_of(task("mcp", turns=4), episode=episode)
        called |= {json.loads(action.text)["name"] for action in actions}
    assert called >= {str(tool["name"]) for tool in TOOLS}


async def test_an_exploration_of_servers_without_a_tool_is_refused() -> None:
    facts = SandboxFacts(domain="mcp", sandbox="none@1", engine=None, image_digest=None, prompt=SystemPrompt())
    chooser = make_policy("explore", task("mcp"), seed=0, episode=0)
    with pytest.raises(InputError, match="the servers list no tool to explore; name other servers"):
        await chooser.next_action(History(facts=facts, initial=Observation(text="", renderer="none@1")))


async def test_an_exploration_stops_where_the_sandbox_has_ended() -> None:
    dead = Observation(text="", renderer="none@1", ended=True, error_kind=ErrorKind.ENVIRONMENT)
    facts = SandboxFacts(domain="mcp", sandbox="none@1", engine=None, image_digest=None, prompt=SystemPrompt())
    for domain in ("terminal", "mcp"):
        chooser = make_policy("explore", task(domain), seed=0, episode=0)
        assert await chooser.next_action(History(facts=facts, initial=dead)) is None


def test_every_policy_names_its_version() -> None:
    for name in POLICY_NAMES:
        policy = make_policy(name, task("terminal", actions=["ls"]), seed=0, episode=0)
        assert re.fullmatch(rf"{name}@\d+", policy.name)


def test_a_domain_that_nobody_explores_is_refused() -> None:
    with pytest.raises(InputError, match="nobody explores the domain 'phone'"):
        make_policy("explore", task("phone"), seed=0, episode=0)


def productions() -> list[Production]:
    return [*OPENING, *(production for topic in TOPICS for production in topic.productions)]


def texts_of(production: Production) -> list[str]:
    return [step.text if isinstance(step, Keys) else step for step in production]


def test_every_symbol_of_the_shell_grammar_is_defined() -> None:
    sources = [text for production in productions() for text in texts_of(production)]
    sources += [text for rule in GRAMMAR.rules.values() if not callable(rule) for text in rule]
    symbols = {symbol for text in sources for symbol in re.findall(r"<(?:new |gone |other )?([a-z]+)>", text)}
    assert symbols <= GRAMMAR.rules.keys() | GRAMMAR.kinds.keys()
    assert len(productions()) >= 150


async def test_an_exploration_leaves_no_symbol_in_what_it_types() -> None:
    for seed in range(8):
        for action in await actions_of(task("terminal", turns=60), seed=seed):
            assert not re.search(r"<(?:new |gone |other )?[a-z]+>", action.text)


def is_shell_syntax(line: str) -> bool:
    return subprocess.run(["bash", "-n"], input=line, text=True, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
async def test_most_of_what_an_exploration_types_is_the_syntax_of_a_shell() -> None:
    lines = [
        entry["keystrokes"]
        for seed in range(3)
        for action in await actions_of(task("terminal", turns=60), seed=seed)
        for entry in json.loads(action.text)
        if entry["duration"] == 5.0
    ]
    wrong = [line for line in lines if not is_shell_syntax(line)]
    assert len(wrong) / len(lines) < 0.03, wrong


async def test_an_exploration_of_a_task_with_files_uses_them() -> None:
    files = {"app.log": "x", "sub/people.csv": "a,b"}
    typed = "".join(action.text for action in await actions_of(task("terminal", files=files, turns=40)))
    assert "app.log" in typed
    assert "sub/people.csv" in typed


def test_a_thing_exists_from_the_sentence_that_made_it_to_the_one_that_removed_it() -> None:
    grammar = Grammar(rules={}, kinds={"file": ("f*",)})
    memory, rng = grammar.memory(), random.Random(0)
    assert not grammar.applies(["cat <file>"], memory)
    assert grammar.expand(["touch <new file>", "ls <new file>"], memory, rng) == ["touch f1", "ls f1"]
    assert grammar.expand(["cat <file>"], memory, rng) == ["cat f1"]
    assert not grammar.applies(["diff <file> <other file>"], memory)
    assert grammar.expand(["rm <gone file>"], memory, rng) == ["rm f1"]
    assert not grammar.applies(["cat <file>"], memory)
