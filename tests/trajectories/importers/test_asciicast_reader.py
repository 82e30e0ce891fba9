"""asciicast files, line by line: what is read, what is named as broken, and what is refused."""

from functools import partial
from pathlib import Path

import pytest

from trajectories.importers import UnreadableError
from trajectories.importers.asciicast.reader import CastReader
from trajectories.importers.sources import opened

V2 = '{"version": 2, "width": 80, "height": 24}'
V3 = '{"version": 3, "term": {"cols": 80, "rows": 24}}'


class Read:
    """A file's events and what was said about its lines."""

    def __init__(self, folder: Path, *lines: str | bytes) -> None:
        path = folder / "file.cast"
        path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + b"\n")
        self.problems: list[tuple[int, str]] = []
        self.reader = CastReader(partial(opened, path), "file.cast", self._note)
        self.events = [tuple(event) for event in self.reader]
        self.counts = self.reader.counts

    def _note(self, line: int, reason: str, _mend: str | None) -> None:
        self.problems.append((line, reason))


def test_version_2_has_absolute_times_and_version_3_intervals(tmp_path: Path) -> None:
    events = ['[1.5, "o", "a"]', '[2.0, "o", "b"]']
    assert Read(tmp_path, V2, *events).events == [(1.5, "o", "a"), (2.0, "o", "b")]
    assert Read(tmp_path, V3, *events).events == [(1.5, "o", "a"), (3.5, "o", "b")]


def test_version_3_has_comments_blank_lines_and_an_exit_status(tmp_path: Path) -> None:
    read = Read(tmp_path, V3, "# hello", "", '[1, "o", "a"]', "  ", "# bye", '[0.5, "x", "3"]')
    assert read.events == [(1.0, "o", "a")]
    assert (read.counts.comments, read.counts.exit_status, read.problems) == (2, "3", [])


def test_keys_and_kinds_that_the_format_does_not_know_are_counted(tmp_path: Path) -> None:
    header = '{"version": 2, "width": 80, "height": 24, "studio": {"width": 1}, "title": "t"}'
    read = Read(tmp_path, header, '[0, "z", {"any": "thing"}]', '[0, "z", 1]', '[0, "o", "a"]')
    assert read.reader.header.unknown_keys == ["studio"]
    assert read.counts.unknown_kinds == {"z": 2}
    assert read.events == [(0.0, "o", "a")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("lol!", "not JSON"),
        (b'[1, "o", "\xff"]', "not UTF-8"),
        ('[1, "o"', "not JSON"),
        ('{"version": 2}', "not an event"),
        ('[1, "o"]', "not an event"),
        ('["1", "o", "a"]', "not a number of seconds"),
        ('[true, "o", "a"]', "not a number of seconds"),
        ('[NaN, "o", "a"]', "not a number of seconds"),
        ('[1e999, "o", "a"]', "not a number of seconds"),
        ('[1, 5, "a"]', "kind is not text"),
        ('[1, "o", null]', "is text"),
        ('[1, "r", "80"]', "no size of a terminal"),
        ('[1, "r", "0x24"]', "no size of a terminal"),
        ('[1, "r", "99999x24"]', "no size of a terminal"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_broken_line_is_named_and_the_rest_is_read(line: str | bytes, reason: str, tmp_path: Path) -> None:
    read = Read(tmp_path, V2, '[0, "o", "a"]', line, '[2, "o", "b"]')
    assert read.events == [(0.0, "o", "a"), (2.0, "o", "b")]
    ((number, said),) = read.problems
    assert number == 3
    assert reason in said


def test_a_time_that_goes_back_is_a_contradiction_and_its_output_is_kept(tmp_path: Path) -> None:
    read = Read(tmp_path, V2, '[5, "o", "a"]', '[4, "o", "b"]', '[6, "o", "c"]')
    assert read.events == [(5.0, "o", "a"), (5.0, "o", "b"), (6.0, "o", "c")]
    assert (read.counts.wrong_times, read.problems) == (1, [])


def test_a_sum_of_intervals_that_no_session_lasts_is_no_time(tmp_path: Path) -> None:
    read = Read(tmp_path, V3, *['[9e8, "o", "a"]'] * 3)
    assert [seconds for seconds, _, _ in read.events] == [9e8] * 3
    assert (read.counts.wrong_times, read.problems) == (2, [])


def test_a_resize_to_the_size_it_has_is_no_event(tmp_path: Path) -> None:
    read = Read(tmp_path, V2, *(f'[1, "r", "{size}"]' for size in ("80x24", "90x30", "90x30", "80x24")))
    assert [data for _, _, data in read.events] == ["90x30", "80x24"]
    assert read.counts.repeated_sizes == 2


def test_half_a_surrogate_pair_becomes_a_replacement_character(tmp_path: Path) -> None:
    read = Read(tmp_path, V2, r'[0, "o", "a\ud83d"]')
    assert read.events == [(0.0, "o", "a\ufffd")]
    assert read.counts.replaced_surrogates == 1


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("", "empty"),
        ("not json", "not JSON"),
        ("[1, 2]", "not an asciicast v2 or v3"),
        ('{"version": 1, "width": 80, "height": 24, "stdout": []}', "not an asciicast v2 or v3"),
        ('{"version": 4, "width": 80, "height": 24}', "not an asciicast v2 or v3"),
        ('{"version": true, "width": 80, "height": 24}', "not an asciicast v2 or v3"),
        ('{"version": 2, "height": 24}', "width is not a number"),
        ('{"version": 2, "width": 80, "height": 0}', "height is not a number"),
        ('{"version": 3, "width": 80, "height": 24}', "cols is not a number"),
        ('{"version": 2, "width": 80, "height": 24, "timestamp": "today"}', "timestamp is not a time"),
        ('{"version": 2, "width": 80, "height": 24, "timestamp": 1e300}', "timestamp is not a time"),
        ("version https://git-lfs.github.com/spec/v1", "Git pointer"),
    ],
)
def test_a_file_without_a_good_header_is_refused_in_one_line(header: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=reason) as refused:
        Read(tmp_path, header)
    assert "\n" not in str(refused.value)
