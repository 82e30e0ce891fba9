from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sharding import NO_LABEL, PackedDataset, PackedSample, TokenShards
from sharding.manifest import Overflow
from sharding.packs import Packs, Slices, write_packs
from trajectories import DamagedFileError, InputError

PAD = 9999
LOSSES = st.lists(st.lists(st.booleans(), min_size=1, max_size=30), min_size=1, max_size=20)


class Options(TypedDict, total=False):
    """How a data set is asked for."""

    context: int
    overflow: Overflow
    seed: int
    rank: int
    world_size: int


@pytest.fixture(scope="module")
def shards(shards_of: Callable[..., TokenShards], tmp_path_factory: pytest.TempPathFactory) -> TokenShards:
    """Seven packs of at most nine tokens, a document each: no two fit together."""
    losses = [[False] + [True] * (length - 1) for length in (9, 8, 7, 6, 5, 9, 8)]
    return shards_of(tmp_path_factory.mktemp("seven"), losses, context=9)


def first_tokens(samples: Iterable[PackedSample]) -> list[int]:
    """What tells the packs of ``shards`` apart."""
    return [int(sample.input_ids[0]) for sample in samples]


def trainable(losses: list[list[bool]], context: int) -> list[tuple[int, int]]:
    """Document and place of the tokens in the loss, but for the first ones of slices."""
    return [
        (document, place)
        for document, loss in enumerate(losses)
        for place, on in enumerate(loss)
        if on and place % context
    ]


def test_a_sample_is_laid_out_as_written_here(shards_of: Callable[..., TokenShards], tmp_path: Path) -> None:
    shards = shards_of(tmp_path, [[False, True, True], [True, False, True, False]], context=9)
    sample = PackedDataset(shards).sample(0)
    assert sample.input_ids.tolist() == [100, 101, 102, 103, 0, 1, 2, PAD, PAD]
    assert sample.labels.tolist() == [NO_LABEL, NO_LABEL, 102, NO_LABEL, NO_LABEL, 1, 2, NO_LABEL, NO_LABEL]
    assert sample.position_ids.tolist() == [0, 1, 2, 3, 0, 1, 2, 0, 1]
    assert sample.document_ids.tolist() == [1, 1, 1, 1, 0, 0, 0, -1, -1]
    assert sample.cu_seqlens.tolist() == [0, 4, 7, 9]


@given(losses=LOSSES, context=st.integers(2, 40))
def test_every_label_is_trained_once_an_epoch_whatever_the_context(
    shards_of: Callable[..., TokenShards], losses: list[list[bool]], context: int
) -> None:
    assume(trainable(losses, context))
    with tempfile.TemporaryDirectory() as folder:
        dataset = PackedDataset(shards_of(Path(folder), losses, context=40), context=context)
        samples = list(islice(dataset, len(dataset)))
    labels = sorted(label for sample in samples for label in sample.labels.tolist() if label != NO_LABEL)
    assert labels == [100 * document + place for document, place in trainable(losses, context)]


@given(losses=LOSSES, context=st.integers(2, 40))
def test_segments_begin_where_positions_do(
    shards_of: Callable[..., TokenShards], losses: list[list[bool]], context: int
) -> None:
    assume(trainable(losses, context))
    with tempfile.TemporaryDirectory() as folder:
        dataset = PackedDataset(shards_of(Path(folder), losses, context=context))
        for sample in islice(dataset, len(dataset)):
            assert sample.cu_seqlens[-1] == context
            assert np.flatnonzero(sample.position_ids == 0).tolist() == sample.cu_seqlens[:-1].tolist()
            assert (sample.labels[sample.cu_seqlens[:-1]] == NO_LABEL).all()
            padding = sample.document_ids == -1
            assert (sample.labels[padding] == NO_LABEL).all()
            assert (sample.input_ids[padding] == PAD).all()


def test_a_pad_token_that_is_in_the_text_too_is_trained_there(
    shards_of: Callable[..., TokenShards], tmp_path: Path
) -> None:
    """The last token of document 99 has the id of the padding, as where the pad token is the stop token."""
    dataset = PackedDataset(shards_of(tmp_path, [[True] * 2] * 99 + [[True] * 100], context=110))
    sample = next(sample for sample in map(dataset.sample, range(len(dataset))) if 99 in sample.document_ids)
    assert sample.input_ids[99] == PAD
    assert sample.labels[99] == PAD
    padded = dataset.sample(len(dataset) - 1)
    assert padded.input_ids[-1] == PAD
    assert padded.labels[-1] == NO_LABEL


def test_an_epoch_visits_every_pack_once_and_each_in_its_own_order(shards: TokenShards) -> None:
    dataset = PackedDataset(shards, seed=1)
    epochs = [first_tokens(islice(dataset, len(dataset))) for _ in range(3)]
    assert len({tuple(sorted(epoch)) for epoch in epochs}) == 1
    assert len({tuple(epoch) for epoch in epochs}) == 3
    assert dataset.epoch == 3
    assert first_tokens(islice(PackedDataset(shards, seed=1, epoch=2), len(dataset))) == epochs[2]


@given(world_size=st.integers(1, 9), taken=st.integers(0, 4))
def test_ranks_share_one_order(shards: TokenShards, world_size: int, taken: int) -> None:
    ranks = [PackedDataset(shards, rank=rank, world_size=world_size) for rank in range(world_size)]
    together = first_tokens(next(rank) for _ in range(taken) for rank in ranks)
    assert together == first_tokens(islice(PackedDataset(shards), world_size * taken))


@given(before=st.integers(0, 20), old_size=st.integers(1, 5), new_size=st.integers(1, 5), seed=st.integers(0, 3))
def test_a_run_resumes_exactly_mid_epoch_after_epochs_and_on_another_world_size(
    shards: TokenShards, before: int, old_size: int, new_size: int, seed: int
) -> None:
    old = [PackedDataset(shards, seed=seed, rank=rank, world_size=old_size) for rank in range(old_size)]
    for rank in old:
        for _ in range(before):
            next(rank)
    states = [json.loads(json.dumps(rank.state_dict())) for rank in old]
    assert states == states[:1] * old_size
    new = [PackedDataset(shards, seed=seed, rank=rank, world_size=new_size) for rank in range(new_size)]
    for rank in new:
        rank.load_state_dict(states[0])
    resumed = first_tokens(next(rank) for _ in range(9) for rank in new)
    uninterrupted = PackedDataset(shards, seed=seed)
    expected = first_tokens(islice(uninterrupted, before * old_size + 9 * new_size))
    assert resumed == expected[before * old_size :]


@pytest.mark.parametrize("change", [{"seed": 1}, {"context": 5}, {"overflow": "drop"}])
def test_a_state_of_another_order_is_refused(shards: TokenShards, change: Options) -> None:
    state = PackedDataset(shards).state_dict()
    with pytest.raises(InputError, match=f"cannot resume: {next(iter(change))} was"):
        PackedDataset(shards, **change).load_state_dict(state)


def test_repacking_to_the_recorded_context_gives_the_recorded_packs(
    shards: TokenShards, shards_of: Callable[..., TokenShards], tmp_path: Path
) -> None:
    losses = [shards.document(number).loss.tolist() for number in range(shards.num_documents)]
    for_six = PackedDataset(shards_of(tmp_path, losses, context=6))
    repacked = PackedDataset(shards, context=6)
    assert len(for_six) == len(repacked)
    for number in range(len(repacked)):
        np.testing.assert_array_equal(for_six.sample(number).input_ids, repacked.sample(number).input_ids)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"context": 1}, "a context of 1 tokens trains nothing"),
        ({"context": 2**31}, "a context of 2147483648 tokens is beyond"),
        ({"rank": 2, "world_size": 2}, "rank 2 of 2 does not exist"),
        ({"context": 4, "overflow": "drop"}, "no document fits a context of 4 tokens"),
    ],
)
def test_what_cannot_be_served_is_refused(shards: TokenShards, options: Options, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        PackedDataset(shards, **options)


def test_a_token_id_out_of_range_is_one_clear_line(shards_of: Callable[..., TokenShards], tmp_path: Path) -> None:
    shards = shards_of(tmp_path, [[False, True], [False, True]], context=4, vocabulary_size=100)
    with pytest.raises(DamagedFileError, match="document 1 has the token id 101, which its tokenizer has not"):
        next(PackedDataset(shards))


@pytest.mark.parametrize(
    ("document", "start", "length"), [(2, 0, 1), (-1, 0, 1), (0, -1, 1), (0, 0, 0), (0, 1, 2), (1, 0, 9)]
)
def test_packs_of_tokens_that_are_not_there_are_one_clear_line(
    shards_of: Callable[..., TokenShards], tmp_path: Path, document: int, start: int, length: int
) -> None:
    shards = shards_of(tmp_path, [[False, True], [False] * 9], context=4)
    wrong = Slices(*(np.array([value]) for value in (document, start, length)))
    with (tmp_path / "packs.parquet").open("wb") as file:
        write_packs(Packs(wrong, np.array([0, 1])), file)
    with pytest.raises(DamagedFileError, match=r"packs\.parquet speaks of tokens that are not there"):
        PackedDataset(shards)


def test_packs_that_cannot_be_read_are_one_clear_line(shards_of: Callable[..., TokenShards], tmp_path: Path) -> None:
    shards = shards_of(tmp_path, [[False, True]], context=4)
    (tmp_path / "packs.parquet").write_bytes(bytes(500))
    with pytest.raises(DamagedFileError, match=r"cannot be read .*packs\.parquet.*pack again"):
        PackedDataset(shards)
