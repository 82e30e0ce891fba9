"""The places that imports note as the source of a trajectory: a file, and which line or element of it."""

from __future__ import annotations

from typing import Final

import polars as pl

_PLACE_IN_FILE: Final = r"(?s)^(.*[./\\].*?|datasets:.*?)(:\d+)?(#subagent-\d+)*$"
"""A file or collection, and which line or element of it; other names with numbers, such as ``ECLI:NL:1``, are none. The
source of a trajectory that was imported from a file of a bare name begins with ``./``.
"""
_PORT: Final = r"://[^/]*:\d+$"


def file_of(source: pl.Expr) -> pl.Expr:
    """The file or collection that sources name, without the line or element in it."""
    is_host = source.str.contains(_PORT)
    return pl.when(is_host).then(source).otherwise(source.str.replace(_PLACE_IN_FILE, "${1}"))
