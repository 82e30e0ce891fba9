"""Texts that quote a benchmark, and texts that only look like it, with the truth about each; the same for a seed."""

from __future__ import annotations

import json
import random
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.curation.quoted_texts import cut_into_rows, numbered, rewrapped, sentence, vocabulary


class Labelled(NamedTuple):
    """A text, what was done to make it, and the item that it quotes, None if none."""

    kind: str
    text: str
    item: str | None


class Fixture(NamedTuple):
    """A benchmark, its items by name, and the texts to judge."""

    items: dict[str, str]
    texts: list[Labelled]


def labelled_fixture(seed: int, num_items: int = 60) -> Fixture:
    """A benchmark whose items have an opening and a closing in common, each as one of few variants."""
    rng = random.Random(seed)
    words = vocabulary(rng, 800)
    openings, closings = ([sentence(rng, words, 45) for _ in range(4)] for _ in range(2))
    bodies = {f"task-{number:03d}": sentence(rng, words, rng.randint(15, 150)) for number in range(num_items)}
    items = {name: f"{rng.choice(openings)}\n\n{body}\n\n{rng.choice(closings)}" for name, body in bodies.items()}

    def around(text: str) -> str:
        return f"{sentence(rng, words, rng.randint(0, 300))}.\n{text}\n{sentence(rng, words, rng.randint(0, 300))}"

    texts = [
        *(case for name, body in bodies.items() for case in _quoting(rng, name, body, around)),
        *(case for body in bodies.values() for case in _alike(rng, body, words, around)),
        *(Labelled("boilerplate", around(rng.choice(openings) + "\n" + rng.choice(closings)), None) for _ in bodies),
    ]
    rng.shuffle(texts)
    return Fixture(items, texts)


def _quoting(rng: random.Random, name: str, body: str, around: Callable[[str], str]) -> Iterator[Labelled]:
    words = body.split(" ")
    yield Labelled("verbatim", around(body), name)
    yield Labelled("re-wrapped", around(rewrapped(body, rng.randint(30, 100), rng.choice(("", "> ", "# ")))), name)
    yield Labelled("escaped", json.dumps({"ok": True, "text": around(body.replace(" ", "\n"))}), name)
    yield Labelled("cut into rows", cut_into_rows(around(body), rng.choice((80, 97, 100, 120, 160))), name)
    yield Labelled("cut and alone", cut_into_rows(f"$ cat task.md\n{body}", 80), name)
    viewed = textwrap.fill(around(body), rng.randint(30, 100))
    behind = rng.choice(("\t", "  ", ":", " │ ", " | ", "→"))
    yield Labelled("numbered", numbered(viewed, behind, rng.randint(1, 6)), name)
    yield Labelled("numbered in JSON", json.dumps({"content": numbered(viewed, "\t")}, ensure_ascii=False), name)
    yield Labelled("numbered, then cut", cut_into_rows(numbered(viewed.replace("\n", " "), "  "), 80), name)
    if len(words) > 40:
        start = rng.randrange(len(words) - 30)
        yield Labelled("in part", around(" ".join(words[start : start + 30])), name)
        misspelt = [word + "x" if place % 35 == 34 else word for place, word in enumerate(words)]
        yield Labelled("misspelt", around(" ".join(misspelt)), name)


def _alike(rng: random.Random, body: str, known: list[str], around: Callable[[str], str]) -> Iterator[Labelled]:
    words = body.split(" ")
    yield Labelled("other order", around(" ".join(rng.sample(words, len(words)))), None)
    yield Labelled("same words", around(sentence(rng, known, len(words))), None)
    if len(words) > 60:
        yield Labelled("a phrase", around(" ".join(words[20:34])), None)
        every_tenth = [word if place % 10 else "other" for place, word in enumerate(words)]
        yield Labelled("rewritten", around(" ".join(every_tenth)), None)


class RowsFixture(NamedTuple):
    """Benchmarks as rows of many fields, by the names of their files, and the texts to judge."""

    benchmarks: dict[str, list[dict[str, Any]]]
    texts: list[Labelled]


def labelled_rows(seed: int, num_items: int = 30) -> RowsFixture:
    """Rows in the shapes of OSWorld, SWE-bench and AgentWorldBench, each with a short task among other fields."""
    rng = random.Random(seed)
    words = vocabulary(rng, 800)
    shared = sentence(rng, words, 60)
    shapes = {"osworld.json": _osworld_row, "swe.jsonl": _swe_row, "awb.jsonl": _agent_world_row}
    benchmarks: dict[str, list[dict[str, Any]]] = {}
    texts: list[Labelled] = []

    def around(text: str) -> str:
        return f"{sentence(rng, words, rng.randint(0, 300))}.\n{text}\n{sentence(rng, words, rng.randint(0, 300))}"

    for file, shape in shapes.items():
        tasks = {f"{file[:3]}-{number:03d}": sentence(rng, words, rng.randint(13, 16)) for number in range(num_items)}
        long = {name: sentence(rng, words, rng.randint(100, 400)) for name in tasks}
        benchmarks[file] = [
            shape(name, number, task, long[name], shared) for number, (name, task) in enumerate(tasks.items())
        ]
        for number, (name, task) in enumerate(tasks.items()):
            texts += [
                *_quoting(rng, name, task, around),
                Labelled("alone", task, name),
                Labelled("a long field in part", around(" ".join(long[name].split(" ")[40:70])), name),
                *_alike(rng, task, words, around),
                Labelled("a phrase", around(" ".join(long[name].split(" ")[20:34])), None),
                Labelled("boilerplate", around(shared), None),
                Labelled("technical", around("\n".join(_technical(number))), None),
            ]
    rng.shuffle(texts)
    return RowsFixture(benchmarks, texts)


def _technical(number: int) -> list[str]:
    """What is no text: an address of many words, a command, a path, names."""
    address = f"https://drive.example.com/uc/a/b/c/d/e?export=download&id=1x{number}&confirm=t&at=3&key=a-b-c-d"
    return [address, "google-chrome", f"--remote-debugging-port={number}", f"/home/user/sheet{number}.xlsx", "chrome"]


def _osworld_row(name: str, number: int, task: str, long: str, shared: str) -> dict[str, Any]:
    address, *command, path, app = _technical(number)
    return {
        "id": name,
        "snapshot": app,
        "instruction": task,
        "source": address,
        "config": [
            {"type": "launch", "parameters": {"command": command}},
            {"type": "execute", "parameters": {"command": ["python", "-c", shared]}},
            {"type": "download", "parameters": {"files": [{"url": address, "path": path}]}},
        ],
        "related_apps": [app, "os"],
        "evaluator": {"func": "exact_match", "expected": {"type": "rule", "rules": {"expected": long}}},
    }


def _swe_row(name: str, number: int, task: str, long: str, shared: str) -> dict[str, Any]:
    return {
        "repo": "some/project",
        "instance_id": name,
        "base_commit": f"{number:040x}",
        "patch": f"diff --git a/m{number}.py b/m{number}.py\n+" + long.replace(",", "\n+"),
        "test_patch": f"diff --git a/test_m{number}.py\n+" + shared,
        "problem_statement": task,
        "hints_text": "",
        "FAIL_TO_PASS": json.dumps([f"tests/test_m{number}.py::test_it"]),
        "version": "3.1",
    }


def _agent_world_row(name: str, number: int, task: str, long: str, shared: str) -> dict[str, Any]:
    prompt = [{"role": "system", "content": shared}, {"role": "user", "content": task}]
    return {"id": name, "turn_idx": number % 3, "prompt": prompt, "response": long, "links": _technical(number)[:1]}
