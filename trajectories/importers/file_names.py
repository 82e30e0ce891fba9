"""Names of files: the same however a file is compressed, and in whatever letters its ending is written."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

from trajectories.importers.packing import COMPRESSED, unpacked_name


def unpacked_stem(name: str) -> str:
    """The name of a file without its ending either: a file has the same one however it is compressed."""
    return Path(unpacked_name(name)).stem


def packed_file(path: Path) -> Path | None:
    """The file of a name or, where there is none, one that holds it compressed."""
    names = (path, *(path.with_name(path.name + end) for end in COMPRESSED))
    return next((file for file in names if file.is_file()), None)


def files_named(*patterns: str) -> Callable[[Path], list[Path]]:
    """``Importer.sources`` of a format whose sources are files with such names (see ``is_named``)."""

    def sources(folder: Path) -> list[Path]:
        return sorted(path for path in folder.rglob("*") if is_named(path, *patterns) and path.is_file())

    return sources


def is_named(path: Path, *patterns: str) -> bool:
    """Whether a file is named like a pattern (in small letters), compressed or not, in letters of any case."""
    name = unpacked_name(path.name).lower()
    return any(fnmatchcase(name, pattern) for pattern in patterns)
