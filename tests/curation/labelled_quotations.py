"""Texts that quote a benchmark, and texts that only look like it, with the truth about each; the same for a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.curation.quoted_texts import rewrapped, sentence, vocabulary


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
