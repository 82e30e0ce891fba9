from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sharding import TokenShards
from sharding.packs import cut_to_context, pack_slices, read_packs, write_packs

LOSSES = st.lists(st.lists(st.booleans(), min_size=1, max_size=30), min_size=1, max_size=20).filter(
    lambda losses: any(any(loss[1:]) for loss in losses)
)
CONTEXTS = st.integers(2, 40)


def masks(*lengths: int) -> list[list[bool]]:
    """Documents of these lengths whose last token is in the loss."""
    return [[False] * (length - 1) + [True] for length in lengths]


def test_a_document_longer_than_the_context_is_cut_and_counted(
    shards_of: Callable[..., TokenShards], tmp_path: Path
) -> None:
    cut = cut_to_context(shards_of(tmp_path, [[True] * 10, [True] * 4], context=20), 4, "split")
    assert list(zip(cut.slices.document, cut.slices.start, cut.slices.length, strict=True)) == [
        (0, 0, 4),
        (0, 4, 4),
        (0, 8, 2),
        (1, 0, 4),
    ]
    assert (cut.num_split_documents, cut.num_dropped_documents, cut.num_dropped_tokens) == (1, 0, 0)


def test_or_it_is_dropped_and_counted(shards_of: Callable[..., TokenShards], tmp_path: Path) -> None:
    cut = cut_to_context(shards_of(tmp_path, masks(10, 4), context=20), 4, "drop")
    assert cut.slices.document.tolist() == [1]
    assert (cut.num_split_documents, cut.num_dropped_documents, cut.num_dropped_tokens) == (0, 1, 10)


def test_a_slice_that_trains_nothing_is_left_out_and_counted(
    shards_of: Callable[..., TokenShards], tmp_path: Path
) -> None:
    """The second slice has none in the loss; the third only its first token, which nothing predicts."""
    loss = [False, True, False, False, True, False]
    cut = cut_to_context(shards_of(tmp_path, [loss], context=20), 2, "split")
    assert cut.slices.start.tolist() == [0]
    assert cut.num_dropped_tokens == 4


@given(losses=LOSSES, context=CONTEXTS)
def test_no_label_is_lost_but_the_first_tokens_of_slices(
    shards_of: Callable[..., TokenShards], losses: list[list[bool]], context: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shards = shards_of(Path(folder), losses, context=40)
        slices = cut_to_context(shards, context, "split").slices
    covered = {
        (document, start + offset)
        for document, start, length in zip(slices.document, slices.start, slices.length, strict=True)
        for offset in range(1, length)
    }
    trainable = {
        (document, place)
        for document, loss in enumerate(losses)
        for place, on in enumerate(loss)
        if on and place % context
    }
    assert trainable <= covered


@given(losses=LOSSES, context=CONTEXTS)
def test_the_index_reads_back_as_it_was_written(
    shards_of: Callable[..., TokenShards], losses: list[list[bool]], context: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shards = shards_of(Path(folder), losses, context=40)
        packs = pack_slices(cut_to_context(shards, context, "split").slices, context)
        path = Path(folder) / "again.parquet"
        with path.open("wb") as file:
            write_packs(packs, file)
        read = read_packs(path)
    np.testing.assert_array_equal(read.offsets, packs.offsets)
    for name in ("document", "start", "length"):
        np.testing.assert_array_equal(getattr(read.slices, name), getattr(packs.slices, name))
