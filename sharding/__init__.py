"""Render, tokenise, pack and write shards; read them back for training.

The names load what they need when they are first used: reading shards takes NumPy and PyArrow, packing also Numba,
transformers and the curation. PyTorch is never imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from trajectories import MissingExtraError

if TYPE_CHECKING:
    from sharding.job import PackSummary, pack
    from sharding.packed import NO_LABEL, PackedDataset, PackedSample
    from sharding.shards import Document, TokenShards

_HOME = {
    "NO_LABEL": "sharding.packed",
    "Document": "sharding.shards",
    "PackSummary": "sharding.job",
    "PackedDataset": "sharding.packed",
    "PackedSample": "sharding.packed",
    "TokenShards": "sharding.shards",
    "pack": "sharding.job",
}

__all__ = ["NO_LABEL", "Document", "PackSummary", "PackedDataset", "PackedSample", "TokenShards", "pack"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOME[name]), name)
    except ModuleNotFoundError as error:
        raise MissingExtraError("pack", error.name or _HOME[name]) from error
