"""Data sets as the user names them: a local folder to write into, or any URL to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from trajectories import Dataset, InputError, WorldtapeError
from trajectories.importers.urls import check_url, failure
from trajectories.plurals import plural
from trajectories.urls import is_local, shown_url, without_login
from worldtape.console import note


def local_dataset(name: str) -> Dataset:
    """The data set in a local folder. Raises ``InputError`` for a URL of elsewhere."""
    if not is_local(name):
        raise InputError(
            "this needs a data set in a local folder", where=shown_url(name), mend="work on one and copy it there"
        )
    return Dataset(name)


def note_uncommitted(verb: str, dataset: Dataset) -> None:
    """Tell of turns that do not count."""
    parts = dataset.uncommitted_turn_parts()
    if parts:
        count = plural(len(parts), "part")
        why = "a run is being written, or a copy is not whole"
        note(f"{verb}: {count} of turns left out, without the file of the same trajectories ({parts[0]}): {why}")


def note_unjudged(verb: str, dataset: Dataset, num_parts: int) -> None:
    """Tell of turns that are not curated as they are now."""
    if num_parts:
        told = f"{plural(num_parts, 'part')} of turns not judged as now; run: worldtape curate {dataset.url}"
        note(f"{verb}: the data set has changed since it was curated, {told}")


@contextmanager
def reading(name: str) -> Iterator[Dataset]:
    """The data set in a folder or at a URL, to be read inside.

    Raises:
        WorldtapeError: what a URL's library raises, whatever it is, and damage, which is named.
    """
    if is_local(name):
        dataset = Dataset(name)
        with dataset.naming_damage():
            yield dataset
        return
    check_url(name)
    try:
        dataset = Dataset(name)
        with dataset.naming_damage():
            yield dataset
    except InputError as error:
        if isinstance(error.__cause__, ImportError):
            raise failure(error.__cause__, name) from error
        error.reword(lambda text: without_login(text, name))
        raise
    except WorldtapeError as error:
        error.reword(lambda text: without_login(text, name))
        raise
    except typer.Exit:
        raise
    except Exception as error:  # the file systems are others', and raise whatever their libraries do
        raise failure(error, name) from error
