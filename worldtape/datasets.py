"""Data sets as the user names them: a local folder to write into, or any URL to read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from trajectories import Dataset, InputError, WorldtapeError
from trajectories.importers.urls import check_url, failure
from trajectories.urls import is_local, shown_url, without_login


def local_dataset(name: str) -> Dataset:
    """The data set in a local folder. Raises ``InputError`` for a URL of elsewhere."""
    if not is_local(name):
        raise InputError(
            "this needs a data set in a local folder", where=shown_url(name), mend="work on one and copy it there"
        )
    return Dataset(name)


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
