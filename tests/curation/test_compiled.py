"""Compiled code is kept, and never outlives what it was made of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import curation

_SOURCES = Path(curation.__file__).parent
_MARK = "CONTEXTUAL = 0xFFFFFFFF"
_MODULE = """
from curation.compiled import compiled
from curation.words import CONTEXTUAL

@compiled
def is_marked(entry):
    return entry == CONTEXTUAL
"""
_CALL = """
from curation.marks import is_marked
from curation.words import CONTEXTUAL
assert is_marked(CONTEXTUAL)
print(sum(is_marked.stats.cache_hits.values()), sum(is_marked.stats.cache_misses.values()))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a copy of curation, in which ``curation.marks`` has a constant of ``curation.words`` compiled."""
    copy = tmp_path / "curation"
    shutil.copytree(_SOURCES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "marks.py").write_text(_MODULE, encoding="utf-8")
    return tmp_path


def _hits_and_misses(root: Path) -> str:
    paths = os.pathsep.join([str(root), str(_SOURCES.parent)])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(root / "kept")}
    command = [sys.executable, "-P", "-c", _CALL]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def test_what_was_compiled_with_a_constant_of_another_module_is_compiled_again_where_that_changes(root: Path) -> None:
    assert [_hits_and_misses(root), _hits_and_misses(root)] == ["0 1", "1 0"]
    words = root / "curation" / "words.py"
    source = words.read_text(encoding="utf-8")
    assert _MARK in source
    words.write_text(source.replace(_MARK, "CONTEXTUAL = 0xFFFFFFFE"), encoding="utf-8")
    assert [_hits_and_misses(root), _hits_and_misses(root)] == ["0 1", "1 0"]
