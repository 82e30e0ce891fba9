"""Where the tables of a curation lie."""

from __future__ import annotations

from pathlib import Path

from trajectories.dataset import Dataset, check_name
from trajectories.folders import final_name


def curation_folder(dataset: Dataset, name: str) -> Path:
    """The folder of a curation, whether it is there yet or not; or the one beside it where what takes its place is made
    (`trajectories.folders`), by that folder's name.

    Raises:
        InputError: the name cannot be a folder's, or the data set is not a local folder.
    """
    check_name(final_name(name), "curation")
    return dataset.folder / "curation" / name
