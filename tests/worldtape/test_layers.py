"""Who may import whom: the table in the README, enforced."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_package_imports_only_those_it_may() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"[1-9]\d* kept, 0 broken", done.stdout)


def test_help_loads_no_heavy_library() -> None:
    heavy = {"torch", "transformers", "numba", "dask", "distributed", "matplotlib", "docker", "mcp", "jinja2"}
    script = f"import sys, worldtape.cli; print(*({heavy!r} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", script], text=True).split() == []
