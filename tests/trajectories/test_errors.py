from __future__ import annotations

import pickle

import pytest

from trajectories import InputError, MissingExtraError, WorldtapeError


@pytest.mark.parametrize(
    "error",
    [
        WorldtapeError("it broke", where="file 3", mend="mend it"),
        InputError("wrong key"),
        MissingExtraError("curate", "numba"),
    ],
)
def test_an_error_crosses_a_process_border_whole(error: WorldtapeError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert (back.what, back.where, back.mend) == (error.what, error.where, error.mend)


def test_an_error_is_one_line_that_says_what_where_and_how_to_mend_it() -> None:
    error = InputError("the key\nis unknown", where="tasks.yaml:3", mend="use 'files'")
    assert str(error) == "the key is unknown (tasks.yaml:3); use 'files'"
