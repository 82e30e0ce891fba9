"""Packs as training samples, in a seeded endless order that resumes exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sharding.manifest import PACKS_FILE, Overflow
from sharding.order import permutation
from sharding.packs import Packs, Slices, check_context, cut_to_context, pack_slices, read_packs
from sharding.shards import TokenShards
from trajectories import InputError, JsonValue

NO_LABEL = -100
"""The label of a position that trains nothing, as PyTorch's cross entropy and transformers have it."""
NO_DOCUMENT = -1


@dataclass(frozen=True, slots=True)
class PackedSample:
    """One pack: arrays of shape ``(context,)``, but ``cu_seqlens``. The end is padding, a segment of its own.

    ``labels`` are unshifted: position ``i`` holds the token *at* ``i`` where it is in the loss, else ``NO_LABEL``; the
    first token of a slice is never a label, because its predecessor belongs to another document.
    """

    input_ids: NDArray[np.int64]
    position_ids: NDArray[np.int64]
    """0, 1, 2 … within each segment."""
    labels: NDArray[np.int64]
    document_ids: NDArray[np.int64]
    """The document of each token; ``NO_DOCUMENT`` for padding."""
    cu_seqlens: NDArray[np.int32]
    """Where the segments begin, and ``context``: shape ``(num_segments + 1,)``."""


class PackedDataset:
    """An endless iterator over the packs of token shards: every pack once an epoch, in an order of (seed, epoch).

    The order is one stream for all ranks: of ``n`` packs, the sample at global position ``p`` is number ``p % n`` of
    the permutation of epoch ``p // n``, and rank ``r`` of ``w`` takes every ``w``-th position from ``r`` on. So the
    state is one number, and it resumes on any world size, in any epoch.

    Args:
        shards: what ``pack`` wrote.
        context: tokens a sample; another one than the shards were packed for repacks them now, without tokenising.
        overflow: what becomes of longer documents when repacking.
        seed: of the order.
        epoch: where to begin.
        rank: which of the ``world_size`` readers this one is; all take their samples in step.

    Raises:
        InputError: a context or rank out of range, or nothing to train on at this context.
        DamagedFileError: the packs are not those of the documents; or, from a sample, a token id out of range.
    """

    def __init__(
        self,
        shards: TokenShards,
        *,
        context: int | None = None,
        overflow: Overflow | None = None,
        seed: int = 0,
        epoch: int = 0,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        if not 0 <= rank < world_size:
            raise InputError(f"rank {rank} of {world_size} does not exist", mend="give a rank from 0 to world_size - 1")
        recorded = shards.manifest.packs
        self.shards = shards
        self.context = recorded.context if context is None else context
        self.overflow: Overflow = overflow or recorded.overflow
        self.seed, self.rank, self.world_size = seed, rank, world_size
        self._packs = self._load_packs()
        self._position = epoch * len(self._packs)
        self._order = permutation(len(self._packs), seed=seed, epoch=epoch)
        self._order_epoch = epoch

    def __len__(self) -> int:
        """The number of packs, which is the number of samples an epoch over all ranks."""
        return len(self._packs)

    @property
    def epoch(self) -> int:
        """The epoch of the next sample."""
        return (self._position + self.rank) // len(self)

    def __iter__(self) -> PackedDataset:
        return self

    def __next__(self) -> PackedSample:
        sample = self.sample_at(self._position + self.rank)
        self._position += self.world_size
        return sample

    def sample_at(self, position: int) -> PackedSample:
        """The sample at a global position of the endless order."""
        epoch, place = divmod(position, len(self))
        if epoch != self._order_epoch:
            self._order, self._order_epoch = permutation(len(self), seed=self.seed, epoch=epoch), epoch
        return self.sample(int(self._order[place]))

    def sample(self, number: int) -> PackedSample:
        """The pack with this number, whatever the order."""
        first, last = self._packs.offsets[number : number + 2]
        slices = self._packs.slices.take(np.arange(first, last))
        return _assembled(self.shards, slices, self.context)

    def state_dict(self) -> dict[str, JsonValue]:
        """Where the stream is, in samples of all ranks, and what makes its order; JSON values only."""
        return {"position": self._position, **self._identity()}

    def load_state_dict(self, state: Mapping[str, JsonValue]) -> None:
        """Go on where ``state`` was taken, on this or any other world size.

        Raises:
            InputError: the state is of other shards, another context, overflow policy or seed.
        """
        for key, value in self._identity().items():
            if state.get(key) != value:
                raise InputError(
                    f"cannot resume: {key} was {state.get(key)!r} and is {value!r}",
                    where=str(self.shards.path),
                    mend=f"resume with the same {key}, or start a new run",
                )
        position = state.get("position")
        assert isinstance(position, int)
        self._position = position

    def _identity(self) -> dict[str, JsonValue]:
        manifest = self.shards.manifest
        tokens_sha256 = manifest.files[self.shards.data_file.name].sha256
        return {
            "tokens_sha256": tokens_sha256,
            "context": self.context,
            "overflow": self.overflow,
            "num_packs": len(self),
            "seed": self.seed,
        }

    def _load_packs(self) -> Packs:
        check_context(self.context)
        recorded = self.shards.manifest.packs
        if (self.context, self.overflow) == (recorded.context, recorded.overflow):
            return self._recorded_packs()
        packs = pack_slices(cut_to_context(self.shards, self.context, self.overflow).slices, self.context)
        if not len(packs):
            raise InputError(
                f"no document fits a context of {self.context} tokens",
                where=str(self.shards.path),
                mend="give a longer context or overflow='split'",
            )
        return packs

    def _recorded_packs(self) -> Packs:
        packs = read_packs(self.shards.path / PACKS_FILE)
        if not packs.are_of(self.shards, self.context):
            raise self.shards.damaged(f"{PACKS_FILE} speaks of tokens that are not there")
        return packs


def _assembled(shards: TokenShards, slices: Slices, context: int) -> PackedSample:
    input_ids = np.full(context, shards.manifest.tokenizer.pad_token_id, np.int64)
    labels = np.full(context, NO_LABEL, np.int64)
    document_ids = np.full(context, NO_DOCUMENT, np.int64)
    begin = 0
    for number, start, length in zip(slices.document, slices.start, slices.length, strict=True):
        document = shards.document(int(number))
        tokens = document.tokens[start : start + length].astype(np.int64)
        if tokens.max() >= shards.manifest.tokenizer.vocabulary_size:
            raise shards.damaged(f"document {number} has the token id {tokens.max()}, which its tokenizer has not")
        loss = document.loss[start : start + length].copy()
        loss[0] = False
        here = np.s_[begin : begin + length]
        input_ids[here] = tokens
        labels[here] = np.where(loss, tokens, NO_LABEL)
        document_ids[here] = number
        begin += int(length)
    starts = np.cumsum(slices.length) - slices.length
    cu_seqlens = np.unique(np.concatenate([starts, [begin, context]])).astype(np.int32)
    position_ids = np.arange(context) - np.repeat(cu_seqlens[:-1], np.diff(cu_seqlens))
    return PackedSample(input_ids, position_ids.astype(np.int64), labels, document_ids, cu_seqlens)
