from __future__ import annotations

from pathlib import Path

import pytest

from sharding.schemas import DOCUMENTS, PACKS

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(("schema", "name"), [(DOCUMENTS, "documents"), (PACKS, "packs")])
def test_a_schema_changes_only_with_its_golden_file(schema: object, name: str) -> None:
    """Raise ``SCHEMA_VERSION`` too, and teach the reader the older one."""
    assert f"{schema}\n" == (GOLDEN / f"{name}.schema.txt").read_text()
