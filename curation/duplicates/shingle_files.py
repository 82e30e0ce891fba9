"""The shingle sets of the candidates, in one file on disk for turns and one for trajectories, mapped into memory."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from curation.duplicates.kernel import Flags, ShingleSets
from curation.duplicates.numbering import SignedTurns, WholeTrajectories
from curation.duplicates.signatures import sorted_set
from curation.pieces import Piece
from curation.selected_rows import SelectedFiles, SelectedRows
from curation.text_buffers import Ends
from trajectories.files import storage_errors


def wanted_turns(wanted: Flags, turns: SignedTurns, pieces: Sequence[Piece]) -> list[SelectedRows]:
    """Which rows of each piece are wanted, for the pieces that have one; ``wanted`` is by the number of the turn."""
    rows = np.sort(turns.rows[wanted])
    ends = turns.piece_ends
    places = np.searchsorted(rows, ends)
    found = [SelectedRows(piece, rows[places[k] : places[k + 1]] - ends[k]) for k, piece in enumerate(pieces)]
    return [one for one in found if one.rows.size]


def turn_sets(wanted: Flags, turns: SignedTurns, files: Sequence[SelectedFiles], target: Path) -> ShingleSets:
    """The sets of the wanted turns, by their numbers; the others' are empty. The pieces' files are used up.

    Args:
        files: `curation.duplicates.signatures.shingle_sets` of the pieces that have wanted turns, in order.
        target: the file to make.

    Raises:
        StorageError: the disk is full or fails.
    """
    with storage_errors(target), target.open("wb") as file:
        for of_piece in files:
            with of_piece.values.open("rb") as shingles:
                shutil.copyfileobj(shingles, file)
            of_piece.values.unlink()
    numbers = np.argsort(turns.rows)
    sizes = [np.load(of_piece.sizes) // np.uint64().nbytes for of_piece in files]
    return _sets(numbers[wanted[numbers]], sizes, target, wanted.size)


def trajectory_sets(wanted: Flags, trajectories: WholeTrajectories, turns: ShingleSets, target: Path) -> ShingleSets:
    """The sets of the wanted trajectories, by their numbers: the union of their turns'; the others' are empty.

    Raises:
        StorageError: the disk is full or fails.
    """
    by_trajectory = np.argsort(trajectories.of_turns, kind="stable")
    ends = np.searchsorted(trajectories.of_turns[by_trajectory], np.arange(wanted.size + 1))
    numbers = np.flatnonzero(wanted)
    sizes: list[Ends] = []
    with storage_errors(target), target.open("wb") as file:
        for number in numbers:
            of_turns = [
                turns.shingles[turns.starts[turn] : turns.starts[turn] + turns.sizes[turn]]
                for turn in by_trajectory[ends[number] : ends[number + 1]]
            ]
            union = sorted_set(np.concatenate(of_turns))
            sizes.append(np.array([union.size]))
            file.write(union.data)
    return _sets(numbers, sizes, target, wanted.size)


def _sets(numbers: Ends, parts: Sequence[Ends], path: Path, num_texts: int) -> ShingleSets:
    """The sets of the texts of these numbers, whose sizes and shingles come in the same order, mapped into memory."""
    sizes = np.zeros(num_texts, np.int64)
    starts = np.zeros(num_texts, np.int64)
    if not numbers.size:
        return ShingleSets(np.empty(0, np.uint64), starts, sizes)
    of_numbers = np.concatenate(parts)
    sizes[numbers] = of_numbers
    starts[numbers] = np.cumsum(of_numbers) - of_numbers
    return ShingleSets(np.memmap(path, np.uint64, mode="r"), starts, sizes)
