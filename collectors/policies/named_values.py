"""Strings that mean something to a tool, by the name of the parameter they are for: paths, branches, SQL, text."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from collectors.policies.shell_contents import WORDS

_KINDS: Mapping[str, str] = {
    "path": "path",
    "paths": "path",
    "file_path": "path",
    "source": "path",
    "directory": "path",
    "destination": "new_path",
    "repo_path": "repo_path",
    "files": "repo_file",
    "branch": "branch",
    "branch_name": "branch",
    "base_branch": "branch",
    "branch_type": "branch_type",
    "revision": "revision",
    "target": "revision",
    "commit": "revision",
    "contains": "revision",
    "not_contains": "revision",
    "query": "query",
    "sql": "query",
    "table": "table",
    "table_name": "table",
    "pattern": "glob",
    "exclude_patterns": "glob",
    "start_timestamp": "date",
    "end_timestamp": "date",
    "content": "lines",
    "old_text": "known_text",
    "new_text": "sentence",
    "message": "sentence",
    "insight": "sentence",
    "text": "sentence",
}
"""What a parameter of that name (in snake case) is about."""

_FALLBACKS: Mapping[str, Sequence[str]] = {
    "path": ("/workspace", "/workspace/notes.txt"),
    "repo_path": ("/workspace/repo",),
    "repo_file": (".", "README.md"),
    "branch": ("main", "feature/search", "fix-typo"),
    "branch_type": ("local", "remote", "all"),
    "revision": ("HEAD", "HEAD~1", "main"),
    "table": ("items", "sales"),
    "column": ("id", "name", "amount"),
    "glob": ("*.txt", "**/*.md", "*.py", "notes*", "**/*"),
    "date": ("2026-01-01", "yesterday", "2 weeks ago", "2026-01-15T14:30:25"),
    "known_text": ("hello", "TODO", "# "),
}
"""Likely values of a kind that the context says nothing about."""

_ELSEWHERE = ("/etc/passwd", "/workspace/../etc/hostname", "/root/.ssh/id_rsa", "../outside.txt")
_ABSENT = "missing"
_EXTENSIONS = ("txt", "md", "csv", "json", "py")
_SELECTS: Sequence[str] = (
    "SELECT * FROM {table}",
    "SELECT COUNT(*) FROM {table}",
    "SELECT {column} FROM {table} ORDER BY {column} LIMIT {number}",
    "SELECT {column}, COUNT(*) AS n FROM {table} GROUP BY {column}",
    "SELECT name, sql FROM sqlite_master WHERE type = 'table'",
    "SELECT {number} * {number} AS product, upper('{word}') AS word",
)
_WRITES: Sequence[str] = (
    "INSERT INTO {table} ({column}) VALUES ('{word}')",
    "INSERT INTO {table} ({column}) VALUES ({number})",
    "UPDATE {table} SET {column} = '{word}' WHERE rowid = {number}",
    "DELETE FROM {table} WHERE rowid > {number}",
)
_CREATES: Sequence[str] = (
    "CREATE TABLE {word}s (id INTEGER PRIMARY KEY, name TEXT NOT NULL, amount REAL)",
    "CREATE TABLE IF NOT EXISTS {word}_log (day TEXT, {word} INTEGER)",
    "CREATE TABLE {table} (id INTEGER, name TEXT)",
)


class NamedValues:
    """Makes strings for well-known parameters.

    Args:
        rng: where every choice comes from.
        context: known values by kind: ``path``, ``repo_path``, ``repo_file``, ``branch``, ``revision``, ``table``,
            ``column``, ``known_text`` (text that stands in some file), or by a parameter's own name.
    """

    def __init__(self, rng: random.Random, context: Mapping[str, Sequence[str]]) -> None:
        self._rng = rng
        self._context = context
        self._makers: Mapping[str, Callable[[str], str]] = {
            "path": lambda _: self._path(),
            "new_path": lambda _: self._new_path(),
            "query": self._query,
            "lines": lambda _: self._lines(),
            "sentence": lambda _: self.sentence(),
        }

    def make(self, name: str, description: str) -> str | None:
        """A value for the parameter ``name``, or None where the name says nothing. It need not exist in the world."""
        kind = _KINDS.get(_snake_case(name), name)
        if maker := self._makers.get(kind):
            return maker(description)
        values = self._context.get(kind) or _FALLBACKS.get(kind)
        return self._rng.choice(values) if values else None

    def sentence(self) -> str:
        return " ".join(self._rng.choice(WORDS) for _ in range(self._rng.randint(1, 6))).capitalize()

    def _one_of(self, kind: str) -> str:
        return self._rng.choice(self._context.get(kind) or _FALLBACKS[kind])

    def _path(self) -> str:
        """Mostly one that is known, now and then a new, an absent or a forbidden one."""
        draw = self._rng.random()
        if draw < 0.75:
            return self._one_of("path")
        if draw < 0.85:
            return self._new_path()
        return f"{self._folder()}/{_ABSENT}.txt" if draw < 0.93 else self._rng.choice(_ELSEWHERE)

    def _new_path(self) -> str:
        return f"{self._folder()}/{self._rng.choice(WORDS)}.{self._rng.choice(_EXTENSIONS)}"

    def _folder(self) -> str:
        path = self._one_of("path")
        parent, _, last = path.rpartition("/")
        return parent if parent and "." in last else path

    def _lines(self) -> str:
        return "".join(f"{self.sentence()}\n" for _ in range(self._rng.randint(1, 5)))

    def _query(self, description: str) -> str:
        templates = _WRITES
        for word, templates_of_word in (("SELECT", _SELECTS), ("CREATE", _CREATES)):
            if word in description:
                templates = templates_of_word
        return self._rng.choice(templates).format(
            table=self._one_of("table"),
            column=self._one_of("column"),
            word=self._rng.choice(WORDS),
            number=self._rng.randint(1, 20),
        )


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
