"""How much there is of something, and how much of it stays in the loss: in turns, in characters, in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

import polars as pl
from pydantic import BaseModel, Field

Count: TypeAlias = Annotated[int, Field(ge=0, lt=2**63)]
Tokens: TypeAlias = Mapping[str, Mapping[str, tuple[int, int]]]
"""Domain → class → (tokens of its observations, those of them in the loss), as packing counts them."""


class Amounts(BaseModel):
    """Turns, and the code points and tokens of their observations. Tokens are those of packed documents, and None where
    nobody has packed; an unreadable turn has no code points."""

    num_turns: Count
    num_kept: Count
    code_points: Count
    code_points_kept: Count
    num_tokens: Count | None = None
    num_tokens_kept: Count | None = None


def tally(rows: pl.LazyFrame) -> pl.DataFrame:
    """Turns and code points by domain, run, class, reason and fate: all that shares are made of, in one pass.

    Args:
        rows: the scan of a whole sidecar.
    """
    groups = ["domain", "run", "class", "reason", "kept"]
    return (
        rows.group_by(groups)
        .agg(pl.len().cast(pl.Int64).alias("turns"), pl.col("len_observation").sum().alias("code_points"))
        .sort(groups)
        .collect(engine="streaming")
    )


def amounts(tallied: pl.DataFrame, tokens: tuple[int, int] | None = None) -> Amounts:
    """What some rows of a `tally` come to, and beside it the tokens that were counted for them."""
    kept = tallied.filter("kept")
    return Amounts(
        num_turns=int(tallied["turns"].sum()),
        num_kept=int(kept["turns"].sum()),
        code_points=int(tallied["code_points"].sum()),
        code_points_kept=int(kept["code_points"].sum()),
        num_tokens=tokens[0] if tokens else None,
        num_tokens_kept=tokens[1] if tokens else None,
    )


def tokens_of(tokens: Tokens | None, *, domain: str | None = None, name: str | None = None) -> tuple[int, int] | None:
    """The tokens of one domain, of one class, of both, or all of them; None where none were counted."""
    if tokens is None:
        return None
    chosen = [
        counts
        for of_domain, classes in tokens.items()
        if domain in (None, of_domain)
        for of_class, counts in classes.items()
        if name in (None, of_class)
    ]
    return sum(of_text for of_text, _ in chosen), sum(in_loss for _, in_loss in chosen)
