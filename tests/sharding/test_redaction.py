"""What is packed holds placeholders for secrets and personal data; what is stored is not touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from curation import curate
from sharding import PackSummary, TokenShards, pack
from sharding.chat import load_tokenizer
from sharding.conversation import ContextText, TurnText
from sharding.masks import Mask
from sharding.redaction import redacted
from tests.sharding.conftest import decoded, record
from trajectories import Dataset, compact
from worldtape.cli import app

_SECRET = "".join(("ghp_", "a1B2c3D4e5F6", "g7H8i9J0k1L2", "m3N4o5P6q7R8"))


@pytest.fixture
def telling(tmp_path: Path) -> Dataset:
    """A data set whose one trajectory shows a key and an address."""
    dataset = Dataset(str(tmp_path))
    turns = [(f"export K={_SECRET}\n", "$ "), ("cat mail\n", f"to: jane@acme.io\nkey {_SECRET} for all of you\n$ ")]
    record(dataset, "t0", turns)
    compact(dataset, "r1")
    curate(dataset)
    return dataset


def test_placeholders_are_packed_unless_told_otherwise(telling: Dataset, tiny_tokenizer: Path) -> None:
    summary = pack(telling, tokenizer=str(tiny_tokenizer), context=4096)
    text = _packed_text(summary, tiny_tokenizer)
    assert _SECRET not in text
    assert text.count("[secret:github-token:1]") == 2
    assert "to: [personal:email:1]\n" in text
    assert summary.manifest.redactions == {"email": 1, "github-token": 2}


def test_secrets_can_be_kept(telling: Dataset, tiny_tokenizer: Path) -> None:
    summary = pack(telling, tokenizer=str(tiny_tokenizer), context=4096, keep_secrets=True)
    assert _packed_text(summary, tiny_tokenizer).count(_SECRET) == 2
    assert summary.manifest.redactions == {}


def test_the_command_line_says_what_was_replaced(telling: Dataset, tiny_tokenizer: Path) -> None:
    command = ["pack", telling.url, "--tokenizer", str(tiny_tokenizer), "--context", "4096"]
    result = CliRunner().invoke(app, command)
    assert "1 email, 2 github-token" in result.output


def test_the_store_is_not_touched(telling: Dataset, tiny_tokenizer: Path) -> None:
    pack(telling, tokenizer=str(tiny_tokenizer), context=4096)
    assert _SECRET in telling.trajectory("t0").turns["observation"][1]


def test_every_part_of_a_trajectory_is_gone_through_and_the_mask_stays() -> None:
    context = ContextText("mcp", *[f"{name} {_SECRET}" for name in ContextText._fields[1:]])
    turns = [TurnText(f"a {_SECRET}", "b", Mask(True)), TurnText("c", f"d {_SECRET}", Mask(False))]
    without, said, counts = redacted(context, turns)
    placeholder = "[secret:github-token:1]"
    assert without == ContextText("mcp", *[f"{name} {placeholder}" for name in ContextText._fields[1:]])
    assert said == [TurnText(f"a {placeholder}", "b", Mask(True)), TurnText("c", f"d {placeholder}", Mask(False))]
    assert counts == {"github-token": 8}


def _packed_text(summary: PackSummary, tokenizer: Path) -> str:
    return decoded(load_tokenizer(str(tokenizer)), TokenShards(summary.path).document(0).tokens)
