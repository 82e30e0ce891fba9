"""Packs: which slices of which documents make up one training sample. An index over the shards, not a copy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sharding.manifest import Overflow
from sharding.schemas import PACKS
from sharding.shards import MappedDocuments
from trajectories import InputError, MissingExtraError
from trajectories.part_files import PARQUET_OPTIONS, read_part, reading_part


@dataclass(frozen=True, slots=True)
class Slices:
    """Runs of tokens of documents: parallel arrays, shape ``(num_slices,)``; ``start`` counts within the document."""

    document: NDArray[np.int64]
    start: NDArray[np.int64]
    length: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.document)

    def take(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Slices:
        return Slices(self.document[chosen], self.start[chosen], self.length[chosen])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Documents cut to a context, and what that did to them."""

    slices: Slices
    num_split_documents: int
    num_dropped_documents: int
    num_dropped_tokens: int


@dataclass(frozen=True, slots=True)
class Packs:
    """Pack ``p`` is the slices ``offsets[p]`` to ``offsets[p + 1]``; together at most a context long."""

    slices: Slices
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def num_tokens(self) -> int:
        return int(self.slices.length.sum())

    def are_of(self, documents: MappedDocuments, context: int) -> bool:
        """Whether every slice lies within its document, and every pack within the context."""
        slices, lengths = self.slices, documents.lengths()
        if not ((slices.document >= 0) & (slices.document < len(lengths)) & (slices.start >= 0)).all():
            return False
        ends = np.concatenate([[0], np.cumsum(slices.length)])
        return bool(
            (slices.length > 0).all()
            and (slices.start + slices.length <= lengths[slices.document]).all()
            and (np.diff(ends[self.offsets]) <= context).all()
        )


def check_context(context: int) -> None:
    """Raises ``InputError`` for a number of tokens that cannot be a pack's."""
    if context < 2:
        raise InputError(f"a context of {context} tokens trains nothing", mend="give a context of at least 2")
    if context > np.iinfo(np.int32).max:
        raise InputError(f"a context of {context} tokens is beyond what attention can index", mend="give a smaller one")


def cut_to_context(documents: MappedDocuments, context: int, overflow: Overflow) -> Cut:
    """Every document as slices of at most ``context`` tokens.

    ``split`` cuts a longer document every ``context`` tokens; a slice that trains nothing is left out and counted.
    ``drop`` leaves a longer document out and counts it.
    """
    lengths = documents.lengths()
    too_long = lengths > context
    if overflow == "drop":
        fitting = np.flatnonzero(~too_long)
        return Cut(
            slices=Slices(fitting, np.zeros_like(fitting), lengths[fitting]),
            num_split_documents=0,
            num_dropped_documents=int(too_long.sum()),
            num_dropped_tokens=int(lengths[too_long].sum()),
        )
    slices = _split(lengths, context)
    trains = np.ones(len(slices), np.bool_)
    for index in np.flatnonzero(too_long[slices.document]):
        trains[index] = _has_label(documents, slices.document[index], slices.start[index], slices.length[index])
    return Cut(
        slices=slices.take(trains),
        num_split_documents=int(too_long.sum()),
        num_dropped_documents=0,
        num_dropped_tokens=int(slices.length[~trains].sum()),
    )


def pack_slices(slices: Slices, context: int) -> Packs:
    """Pack slices best-fit-decreasing.

    Raises:
        MissingExtraError: Numba is not installed; serving packs as they were recorded does without it.
    """
    try:
        from sharding.packing import best_fit_decreasing
    except ModuleNotFoundError as error:
        raise MissingExtraError("pack", "numba") from error
    # Room beyond all of them together would only cost the memory to keep track of it.
    packing = best_fit_decreasing(slices.length, max(1, min(context, int(slices.length.sum()))))
    return Packs(slices.take(packing.items), packing.offsets)


def write_packs(packs: Packs, file: BinaryIO) -> None:
    """Write the pack index: a row a pack."""
    fields = list(PACKS.field("slices").type.value_type)
    columns = [packs.slices.document, packs.slices.start, packs.slices.length]
    slices = pa.StructArray.from_arrays([pa.array(column) for column in columns], fields=fields)
    lists = pa.LargeListArray.from_arrays(pa.array(packs.offsets), slices, type=PACKS.field("slices").type)
    table = pa.table([pa.array(np.arange(len(packs))), lists], schema=PACKS)
    pq.write_table(table, file, **PARQUET_OPTIONS)


def read_packs(path: Path) -> Packs:
    """Read the pack index that :func:`write_packs` wrote. Raises ``DamagedFileError`` where it is none."""
    with reading_part(path, mend="copy the shards again, or pack again"):
        lists = read_part(path, columns=["slices"]).column("slices").combine_chunks()
    slices = lists.flatten()
    document, start, length = (slices.field(name).to_numpy() for name in ("document", "start", "length"))
    return Packs(Slices(document, start, length), np.asarray(lists.offsets, np.int64))


def _split(lengths: NDArray[np.int64], context: int) -> Slices:
    num_slices = -(-lengths // context)
    document = np.repeat(np.arange(len(lengths)), num_slices)
    first = np.repeat(np.cumsum(num_slices) - num_slices, num_slices)
    start = (np.arange(len(document)) - first) * context
    return Slices(document, start, np.minimum(context, lengths[document] - start))


def _has_label(documents: MappedDocuments, number: int, start: int, length: int) -> bool:
    """Whether a slice trains anything: its first token has no predecessor to predict it, so it does not count."""
    return bool(documents.document(number).loss[start + 1 : start + length].any())
