"""A generative grammar with a memory: it makes sentences about things that earlier sentences brought into being.

A production is text with symbols in angle brackets:

``<word>``         a rule: one of its alternatives, expanded in turn, or what a maker function writes;
``<file>``         a kind of thing: one that exists. ``<other file>`` is another one than ``<file>``;
``<new file>``     a thing that does not exist yet, and does from now on;
``<gone file>``    one that exists, and does not from now on.

Within one production a symbol always means the same, so ``touch <new file>; ls -l <new file>`` is about one file.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Maker = Callable[[random.Random], str]

_SYMBOL = re.compile(r"<(?:(new|gone|other) )?([a-z]+)>")


@dataclass(slots=True)
class Memory:
    """What exists: the names of each kind, in the order they came to be."""

    names: dict[str, list[str]]
    num_made: int = 0

    def of(self, kind: str) -> list[str]:
        return self.names[kind]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules (symbol → alternatives, or a function that writes one) and kinds (symbol → names it may get, with ``*``
    for a number that makes it unique)."""

    rules: Mapping[str, Sequence[str] | Maker]
    kinds: Mapping[str, Sequence[str]]

    def memory(self) -> Memory:
        return Memory({kind: [] for kind in self.kinds})

    def applies(self, texts: Sequence[str], memory: Memory) -> bool:
        """Whether everything the production's texts speak of exists."""
        needed: dict[str, set[str]] = {}
        for prefix, symbol in _SYMBOL.findall("".join(texts)):
            if symbol in self.kinds:
                needed.setdefault(symbol, set()).add(prefix)
            elif not self.alternatives(symbol, memory):
                return False
        return all(len(memory.of(kind)) >= len(prefixes - {"new"}) for kind, prefixes in needed.items())

    def alternatives(self, symbol: str, memory: Memory) -> Sequence[str | Maker]:
        """What a rule may become now."""
        rule = self.rules[symbol]
        return [rule] if callable(rule) else [text for text in rule if self.applies([text], memory)]

    def expand(self, texts: Sequence[str], memory: Memory, rng: random.Random) -> list[str]:
        """The production's texts with every symbol replaced, all about the same things."""
        expansion = _Expansion(self, memory, rng)
        expanded = [expansion.replace(text) for text in texts]
        expansion.commit()
        return expanded


@dataclass(slots=True)
class _Expansion:
    grammar: Grammar
    memory: Memory
    rng: random.Random
    bound: dict[str, str] = field(default_factory=dict)
    appeared: list[tuple[str, str]] = field(default_factory=list)
    vanished: list[tuple[str, str]] = field(default_factory=list)

    def replace(self, text: str) -> str:
        return _SYMBOL.sub(self._value, text)

    def commit(self) -> None:
        """What the production made or removed counts for the next one."""
        for kind, name in self.vanished:
            self.memory.of(kind).remove(name)
        for kind, name in self.appeared:
            self.memory.of(kind).append(name)

    def _value(self, match: re.Match[str]) -> str:
        symbol = match.group(0)
        if symbol not in self.bound:
            prefix, name = match.group(1), match.group(2)
            self.bound[symbol] = self._thing(prefix, name) if name in self.grammar.kinds else self._phrase(name)
        return self.bound[symbol]

    def _thing(self, prefix: str | None, kind: str) -> str:
        if prefix == "new":
            self.memory.num_made += 1
            name = self.rng.choice(self.grammar.kinds[kind]).replace("*", str(self.memory.num_made))
            self.appeared.append((kind, name))
            return name
        taken = {value for symbol, value in self.bound.items() if symbol.endswith(f"{kind}>")}
        free = [name for name in self.memory.of(kind) if name not in taken]
        name = self.rng.choice(free or self.memory.of(kind))
        if prefix == "gone":
            self.vanished.append((kind, name))
        return name

    def _phrase(self, name: str) -> str:
        chosen = self.rng.choice(self.grammar.alternatives(name, self.memory))
        return chosen(self.rng) if callable(chosen) else self.replace(chosen)
