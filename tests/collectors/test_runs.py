"""Settling a run: whatever can be is in Parquet afterwards, and what cannot is named."""

import pytest

from collectors.runs import exclusive_run, settle_run
from tests.trajectories.store_support import RUN, header, observation, record, turn
from trajectories import DamagedFileError, Dataset, JournalWriter, Status


@pytest.mark.parametrize("names", [("x", "x.lock"), ("x.lock", "x")])
def test_a_run_may_be_named_as_if_it_were_the_lock_of_another(dataset: Dataset, names: tuple[str, str]) -> None:
    for name in names:
        with exclusive_run(dataset, name):
            record(dataset, f"of-{name}", run=name)
    for name in names:
        assert dataset.recorded(name) == {f"of-{name}": Status.COMPLETED}


def test_a_damaged_journal_is_named_once_all_the_others_are_in_parquet(dataset: Dataset) -> None:
    record(dataset, "damaged")
    record(dataset, "ended")
    with JournalWriter(dataset, header("left"), observation("$")) as journal:
        journal.append(turn(1))
    damaged = dataset.journal_path(RUN, "damaged")
    lines = damaged.read_bytes().splitlines(keepends=True)
    damaged.write_bytes(b"".join([lines[0], b"?", *lines[1:]]))
    with pytest.raises(DamagedFileError, match=r"damaged\.journal, line 2\); move the file out"):
        settle_run(dataset, RUN)
    assert dataset.journal_paths(RUN) == [damaged]
    statuses = dataset.scan_trajectories().select("trajectory_id", "status").collect().rows()
    assert sorted(statuses) == [("ended", Status.COMPLETED), ("left", Status.INTERRUPTED)]
