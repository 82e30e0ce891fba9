"""What names turns and trajectories has to be there, and be text: judgements of others could not be told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from trajectories.dataset import Dataset
from trajectories.errors import DamagedFileError
from trajectories.part_files import part_batches, reading_part

_KEYS: Final = ("trajectory_id", "turn")
_OF_TURNS: Final = (*_KEYS, "error_kind")
"""Columns of turns for which a part is refused. Where an action or observation is wrong, its turn is masked."""

_OF_TRAJECTORIES: Final = (
    *("trajectory_id", "task_id", "task_sha256", "policy", "sandbox", "engine", "device_kind"),
    *("licence", "source", "source_format", "split_group", "status"),
)
"""Columns of trajectories by which filters, the report and pools know and count them."""


def require_keys(rows: pa.Table, path: Path) -> None:
    """Refuse rows of a turns part that cannot be told apart.

    Args:
        rows: with any of the columns of turns.
        path: of the part.

    Raises:
        DamagedFileError: a turn has no trajectory's id or no number from 1 on, or a name holds bytes that are not
            UTF-8.
    """
    for name in (name for name in _OF_TURNS if name in rows.column_names):
        _require_name(rows[name], name, path)
    if "turn" in rows.column_names and rows.num_rows and pc.min(rows["turn"]).as_py() < 1:
        raise _damaged("turns are numbered from 1, and one has a number below", path)


def require_names(dataset: Dataset) -> None:
    """Refuse trajectories that cannot be told apart.

    Raises:
        DamagedFileError: a row has no id, or a name holds bytes that are not UTF-8.
    """
    for part in dataset.trajectory_parts():
        path = Path(part.path)
        with reading_part(path):
            for batch in part_batches(path, columns=_OF_TRAJECTORIES):
                for name in _OF_TRAJECTORIES:
                    _require_name(batch[name], name, path)


def _require_name(column: pa.ChunkedArray | pa.Array, name: str, path: Path) -> None:
    if column.null_count and name in _KEYS:
        raise _damaged(f"a row has no {name}", path)
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        raise _damaged(f"{name} has bytes that are not UTF-8", path) from error


def _damaged(what: str, path: Path) -> DamagedFileError:
    return DamagedFileError(what, where=str(path), mend="copy the part again from its source, or write it anew")
