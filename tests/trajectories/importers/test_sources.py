"""Reading JSON of any layout and size."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from trajectories.importers import Problem, UnreadableError
from trajectories.importers import sources as sources_module
from trajectories.importers.json_arrays import array_elements
from trajectories.importers.json_text import RepeatedKeyError, count_numbers_as_written, parse
from trajectories.importers.sources import Layout, Row, read_rows
from trajectories.model import JsonValue

_MEBIBYTE = 2**20
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def _rows(path: Path, content: str | bytes) -> list[Row | Problem]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_rows(path))


def _values(path: Path, content: str | bytes) -> list[object]:
    rows = _rows(path, content)
    assert not [row for row in rows if isinstance(row, Problem)]
    return [row.value for row in rows if isinstance(row, Row)]


@pytest.mark.parametrize(
    ("content", "layout", "values"),
    [
        ('{"a": 1}\n{"a": 2}\n', Layout.LINES, [{"a": 1}, {"a": 2}]),
        ("\n[1]\n\n[2]", Layout.LINES, [[1], [2]]),
        ('[{"a": 1},\n {"a": 2}]', Layout.ARRAY, [{"a": 1}, {"a": 2}]),
        ("[1, 2]\n", Layout.ARRAY, [1, 2]),
        ('{"a": 1}', Layout.DOCUMENT, [{"a": 1}]),
        ('{\n "a": 1\n}\n', Layout.DOCUMENT, [{"a": 1}]),
        ("\ufeff[ ]", Layout.ARRAY, []),
    ],
)
def test_the_layout_of_a_file_is_seen_in_it(tmp_path: Path, content: str, layout: Layout, values: list[object]) -> None:
    rows = _rows(tmp_path / "a", content)
    assert [row.value for row in rows if isinstance(row, Row)] == values
    assert {row.layout for row in rows if isinstance(row, Row)} <= {layout}


def test_a_broken_line_is_named_and_the_rest_is_read(tmp_path: Path) -> None:
    first, broken, last = _rows(tmp_path / "a", b'{"a": 1}\n{"a": \xff}\n{"a": 3}\n')
    assert isinstance(broken, Problem)
    assert (broken.line, isinstance(first, Row), isinstance(last, Row)) == (2, True, True)


def test_a_broken_first_line_does_not_lose_the_others(tmp_path: Path) -> None:
    broken, whole = _rows(tmp_path / "a", '{"a": 1\n{"a": 2}\n')
    assert isinstance(broken, Problem)
    assert isinstance(whole, Row)


def test_an_array_is_read_up_to_where_it_is_broken(tmp_path: Path) -> None:
    *whole, broken = _rows(tmp_path / "a", '[{"a": 1}, {"a": 2}, {"a" 3}, {"a": 4}]')
    assert [row.value for row in whole if isinstance(row, Row)] == [{"a": 1}, {"a": 2}]
    assert isinstance(broken, Problem)
    assert broken.line == 3


def test_equal_rows_of_a_file_have_different_digests(tmp_path: Path) -> None:
    rows = _rows(tmp_path / "a", "[1, 1]")
    assert len({row.digest for row in rows if isinstance(row, Row)}) == 2


def test_a_compressed_file_is_read_as_what_it_holds(tmp_path: Path) -> None:
    assert _values(tmp_path / "a.jsonl.gz", gzip.compress(b"[1]\n[2]\n")) == [[1], [2]]
    assert _values(tmp_path / "a.jsonl.zst", zstandard.compress(b"[1]\n[2]\n")) == [[1], [2]]


@pytest.mark.parametrize(("end", "pack"), COMPRESSIONS.items())
def test_a_compressed_file_of_several_streams_is_read_to_its_end(
    end: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    assert _values(tmp_path / f"a.jsonl{end}", pack(b"[1]\n[2]\n") + pack(b"[3]\n")) == [[1], [2], [3]]


@pytest.mark.parametrize(("end", "pack"), COMPRESSIONS.items())
def test_a_compressed_file_that_was_cut_off_is_not_taken_for_a_shorter_one(
    end: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    packed = pack("".join(f'["{os.urandom(300).hex()}"]\n' for _ in range(1000)).encode())
    with pytest.raises(UnreadableError, match=f"the file cannot be read: .*{end}"):
        _rows(tmp_path / f"a.jsonl{end}", packed[: len(packed) // 2])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"),
        (gzip.compress(b"[1]\n[2]\n")[:-9], "cannot be read"),
        (b"nonsense", "not JSON"),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_one_error(tmp_path: Path, content: bytes, reason: str) -> None:
    name = "a.gz" if content.startswith(b"\x1f") else "a"
    with pytest.raises(UnreadableError, match=reason):
        _rows(tmp_path / name, content)


def test_what_json_cannot_say_becomes_a_string(tmp_path: Path) -> None:
    assert _values(tmp_path / "a", "[NaN, -Infinity, 1e999, 1e300]") == ["NaN", "-Infinity", "1e999", 1e300]


@pytest.mark.parametrize("digits", ["9" * 5000, f"-{'9' * 5000}", f"{'9' * 5000}.5"])
@pytest.mark.parametrize("layout", ['{{"a": {}}}\n{{"a": 1}}\n', '[{{"a": {}}}, {{"a": 1}}]', '{{"a":\n{}\n}}'])
def test_a_number_of_more_digits_than_python_reads_is_kept_as_written(tmp_path: Path, layout: str, digits: str) -> None:
    first, *others = _values(tmp_path / "a", layout.format(digits))
    assert first == {"a": digits}
    assert others in ([], [{"a": 1}])


def test_a_row_with_a_key_twice_and_a_long_number_is_one_problem(tmp_path: Path) -> None:
    (problem, row) = _rows(tmp_path / "a", f'[{{"a": {"9" * 5000}, "a": 1}}, {{"a": 1}}]')
    assert isinstance(problem, Problem)
    assert "the key 'a' twice" in problem.reason
    assert isinstance(row, Row)


def test_numbers_that_became_strings_are_counted_however_deep_they_are() -> None:
    deep: JsonValue = parse("[NaN]")
    for _ in range(10_000):
        deep = {"a": [deep, "NaN"]}
    assert count_numbers_as_written(deep) == 1


def test_a_line_beyond_the_limit_is_refused_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources_module, "MAX_ROW_BYTES", 1000)
    small, large, after = _rows(tmp_path / "a", f'{{"a": 1}}\n"{"x" * 5000}"\n{{"a": 2}}\n')
    assert isinstance(large, Problem)
    assert (isinstance(small, Row), isinstance(after, Row)) == (True, True)


@given(st.lists(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5)), st.integers(1, 9))
def test_an_array_has_the_same_elements_however_it_is_read(values: list[object], indent: int) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=False).encode(errors="surrogatepass")
    if b"\xed" in text:
        return
    assert list(array_elements(_Trickle(text), 2**20)) == values


@given(st.lists(st.sampled_from(['{"a": 1, "a": "\\u00e9"}', '[{"b": {"a": -1.5, "a": null}}]', '{"a": [true]}'])))
def test_an_element_with_a_key_twice_is_one_error_however_it_is_read(elements: list[str]) -> None:
    found = list(array_elements(_Trickle(f"[{','.join(elements)}]".encode()), 2**20))
    assert [isinstance(value, RepeatedKeyError) for value in found] == [
        element.count('"a"') > 1 for element in elements
    ]


def test_a_large_element_with_a_key_twice_does_not_lose_the_others(tmp_path: Path) -> None:
    twice = f'{{"meta": {{"a": 1, "a": 2}}, "text": "{"x" * 3 * _MEBIBYTE}"}}'
    rows = _rows(tmp_path / "a", f"[1, {twice}, 3, 4]")
    assert [row.value for row in rows if isinstance(row, Row)] == [1, 3, 4]
    assert [(row.line, row.reason) for row in rows if isinstance(row, Problem)] == [
        (2, "not JSON: an object has the key 'a' twice")
    ]


def test_an_element_with_a_key_twice_that_is_nested_too_deep_ends_the_array_as_a_problem(tmp_path: Path) -> None:
    deep = f'{{"a": 1, "b": {{"a": 1, "a": 2}}, "deep": {"[" * 200_000}{"]" * 200_000}}}'
    whole, broken = _rows(tmp_path / "a", f"[1, {deep}]")
    assert isinstance(whole, Row)
    assert isinstance(broken, Problem)
    assert "nested too deep" in broken.reason


@pytest.mark.parametrize("between", [",\n", ","], ids=["an element a line", "one line"])
def test_a_large_array_takes_the_memory_of_an_element(tmp_path: Path, between: str) -> None:
    path = tmp_path / "large.json"
    element = json.dumps({"text": "x" * 100_000})
    with path.open("w") as file:
        file.write("[" + between.join([element] * 400) + "]")
    tracemalloc.start()
    assert sum(1 for _ in read_rows(path)) == 400
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 38 * _MEBIBYTE
    assert peak < 12 * _MEBIBYTE


def test_a_long_line_is_not_held_beside_its_value(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text(2 * (json.dumps({"text": "x" * 20 * _MEBIBYTE}) + "\n"))
    tracemalloc.start()
    rows = read_rows(path)
    row = next(rows)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(row, Row)
    assert held < 25 * _MEBIBYTE
    assert peak < 65 * _MEBIBYTE


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        (f'["{"x" * 2**20}"]\n["b"]\n', Layout.LINES),
        (f'[{{"a": "{"x" * 2**20}"}},\n{{"b": 1}}]', Layout.ARRAY),
        (f'{{"a": "{"x" * 2**20}"}}\n\n{{"b": 1}}', Layout.LINES),
        (f'{{"a": "{"x" * 2**20}",\n"b": 1}}', Layout.DOCUMENT),
    ],
)
def test_the_layout_of_a_file_is_seen_though_its_first_line_is_long(
    tmp_path: Path, content: str, layout: Layout
) -> None:
    rows = _rows(tmp_path / "a", content)
    assert len(rows) == (1 if layout is Layout.DOCUMENT else 2)
    assert {row.layout for row in rows if isinstance(row, Row)} == {layout}


class _Trickle(io.BytesIO):
    """Gives three bytes at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(3 if size else size)
