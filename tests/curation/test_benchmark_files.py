"""Benchmarks as they come: compressed, with a row a turn, and with files among them that are no text."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.contamination.benchmark_files import BenchmarkItem, read_benchmark, unread_files
from curation.contamination.index import build_index
from curation.search_settings import ContaminationSettings
from trajectories import DamagedFileError, InputError

ROW = json.dumps({"id": "q1", "problem": "plain words in here"}).encode() + b"\n"


def zstd(content: bytes) -> bytes:
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(content)
    return bytes(packed.getvalue())


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_files_are_read_as_what_they_hold_named_or_in_a_folder(tmp_path: Path, ending: str) -> None:
    pack = PACKERS[ending]
    (tmp_path / "bench").mkdir()
    rows, whole = tmp_path / "bench" / f"rows.jsonl{ending}", tmp_path / "bench" / f"whole.json{ending}"
    rows.write_bytes(pack(ROW))
    whole.write_bytes(pack(b'{"instruction": "Mark the sums."}'))
    assert list(read_benchmark(rows)) == [BenchmarkItem(rows.name, "q1", "plain words in here")]
    assert list(read_benchmark(tmp_path / "bench")) == [
        BenchmarkItem("bench", f"{rows.name}#q1", "plain words in here"),
        BenchmarkItem("bench", whole.name, "Mark the sums."),
    ]
    assert unread_files(tmp_path / "bench") == []


def test_compressed_files_of_a_task_are_texts_of_it(tmp_path: Path) -> None:
    (tmp_path / "task.md").write_text("Say hello.")
    (tmp_path / "solution.sh.gz").write_bytes(gzip.compress(b"echo hello"))
    assert {item.text for item in read_benchmark(tmp_path)} == {"Say hello.", "echo hello"}


@pytest.mark.parametrize("ending", PACKERS)
def test_a_compressed_file_that_was_cut_is_one_clear_line(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rows.jsonl{ending}"
    path.write_bytes(PACKERS[ending](ROW * 1000)[:-9])
    for benchmark in (path, tmp_path):
        with pytest.raises(DamagedFileError, match=rf"cannot be unpacked .*rows\.jsonl\{ending}"):
            list(read_benchmark(benchmark))


def test_a_compressed_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl.gz").write_bytes(gzip.compress(ROW + b'{"id": \n'))
    with pytest.raises(InputError, match=r"not JSON .*bad\.jsonl\.gz, line 2"):
        list(read_benchmark(tmp_path))


def test_every_file_of_a_folder_of_which_nothing_is_read_is_named(tmp_path: Path) -> None:
    for name in ("pictures", "task/data", ".git"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "rows.jsonl").write_bytes(ROW)
    (tmp_path / "all.tar.gz").write_bytes(gzip.compress(b"member\0\0"))
    (tmp_path / "rows.parquet.gz").write_bytes(gzip.compress(b"PAR1\0"))
    (tmp_path / "pictures" / "a.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "rows.jsonl")
    (tmp_path / "folder").symlink_to(tmp_path / "pictures")
    (tmp_path / "task" / "task.yaml").write_text("instruction: say hello")
    (tmp_path / "task" / "data" / "table.parquet").write_bytes(b"PAR1\0\0")
    (tmp_path / ".git" / "index").write_bytes(b"\0")
    assert unread_files(tmp_path) == [
        "all.tar.gz",
        "folder",
        "link.jsonl",
        "pictures/a.png",
        "rows.parquet.gz",
        "task/data/table.parquet",
    ]
    assert unread_files(tmp_path / "rows.jsonl") == []
    assert {item.item for item in read_benchmark(tmp_path)} == {"rows.jsonl#q1", "task"}


TEXT = "Où est l'été ? Les jours sont longs."
WIDE = {"utf-16": "UTF-16", "utf-16-le": "UTF-16LE", "utf-32-be": "UTF-32BE"}
LATIN = "if all of it is Latin-1, convert it: iconv -f ISO-8859-1 -t UTF-8 FILE > NEW_FILE"


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("codec", WIDE)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.txt", "a"])
def test_a_file_in_wide_characters_is_told_with_what_converts_it(
    tmp_path: Path, name: str, codec: str, ending: str
) -> None:
    path = tmp_path / f"{name}{ending}"
    content = json.dumps(TEXT, ensure_ascii=False).encode(codec)
    path.write_bytes(gzip.compress(content) if ending else content)
    encoding = WIDE[codec]
    with pytest.raises(InputError) as refused:
        list(read_benchmark(path))
    assert str(refused.value) == (
        f"a benchmark is not UTF-8, but {encoding} ({path}); convert it: iconv -f {encoding} -t UTF-8 FILE > NEW_FILE"
    )
    assert (list(read_benchmark(tmp_path)), unread_files(tmp_path)) == ([], [path.name])


@pytest.mark.parametrize(("name", "line"), [("a.jsonl", ", line 1"), ("a.json", ""), ("a.txt", ""), ("a.md.gz", "")])
def test_bytes_that_are_not_utf8_are_named_with_what_would_convert_them(tmp_path: Path, name: str, line: str) -> None:
    path = tmp_path / name
    content = json.dumps(TEXT, ensure_ascii=False).encode("latin-1")
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(InputError) as refused:
        list(read_benchmark(path))
    assert str(refused.value) == f"a benchmark is not UTF-8: byte 0xf9 at 2 ({path}{line}); {LATIN}"


def test_texts_of_a_folder_in_other_encodings_are_named_and_rows_are_refused(tmp_path: Path) -> None:
    (tmp_path / "task").mkdir()
    for name in ("alone.txt", "task/task.md", "task/rows.jsonl", "task/wide.txt", "task/cut.txt"):
        (tmp_path / name).write_text(TEXT, encoding="utf-16" if "wide" in name else "latin-1")
    (tmp_path / "task" / "cut.txt").write_bytes("é".encode()[:1])
    (tmp_path / "task" / "plain.txt").write_text(TEXT)
    assert unread_files(tmp_path) == ["alone.txt", "task/cut.txt", "task/rows.jsonl", "task/task.md", "task/wide.txt"]
    assert list(read_benchmark(tmp_path)) == [BenchmarkItem(tmp_path.name, "task", TEXT)]
    (tmp_path / "rows.jsonl").write_text(json.dumps(TEXT, ensure_ascii=False), encoding="latin-1")
    with pytest.raises(InputError, match=r"not UTF-8: byte 0xf9 at 2 .*rows\.jsonl, line 1"):
        list(read_benchmark(tmp_path))


@given(st.text(), st.sampled_from(["utf-8", "latin-1", "utf-16"]))
def test_a_text_of_a_folder_is_read_as_it_is_or_named(text: str, codec: str) -> None:
    with TemporaryDirectory() as folder:
        (Path(folder) / "a.txt").write_bytes(text.encode(codec, errors="replace"))
        read = [item.text for item in read_benchmark(Path(folder))]
        assert bool(read) != bool(unread_files(Path(folder)))


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl"])
def test_a_byte_order_mark_of_utf8_is_no_part_of_the_text(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(json.dumps("some plain words"), encoding="utf-8-sig")
    assert {item.text.strip('"') for item in read_benchmark(tmp_path / name)} == {"some plain words"}


@pytest.mark.parametrize("key", ["trajectory_id", "episode_id", "conversation_id"])
def test_rows_of_the_turns_of_one_trajectory_are_one_item_and_their_task_is_no_boilerplate(
    tmp_path: Path, key: str
) -> None:
    task = " ".join(f"w{number}" for number in range(60))
    rows = [{key: "x", "turn": turn, "task": task, "observation": f"o {turn}"} for turn in range(8)]
    (tmp_path / "turns.jsonl").write_text("\n".join(map(json.dumps, rows)))
    _, facts = build_index(read_benchmark(tmp_path / "turns.jsonl"), ContaminationSettings())
    assert (facts["turns.jsonl"].num_items, facts["turns.jsonl"].num_common) == (1, 0)
    assert facts["turns.jsonl"].num_ngrams > 40


DELIMITERS = {"csv": ",", "tsv": "\t"}
FIELDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
MMLU = "Which of these is the name that a town on the far side of this river was given by its first settlers?"


def table(rows: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows(rows)
    return written.getvalue().encode()


@pytest.mark.parametrize("ending", DELIMITERS)
@given(st.lists(st.tuples(FIELDS, FIELDS, FIELDS), max_size=4), st.sampled_from(["", *PACKERS]), st.booleans())
def test_a_row_of_a_table_is_what_it_is_as_a_line_of_json(
    ending: str, rows: list[tuple[str, str, str]], packing: str, in_folder: bool
) -> None:
    columns = ("task_id", "problem", "answer")
    lines = "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
    written = {"jsonl": lines.encode(), ending: table([columns, *rows], DELIMITERS[ending])}
    read = []
    with TemporaryDirectory() as folder:
        for name, content in written.items():
            path = Path(folder) / name / f"rows.{name}{packing}"
            path.parent.mkdir()
            path.write_bytes(PACKERS[packing](content) if packing else content)
            items = read_benchmark(path.parent if in_folder else path)
            read.append([(item.item.replace(path.name, ""), item.text) for item in items])
    assert read[0] == read[1]


def test_a_table_without_names_of_columns_has_its_first_row_read_too(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_bytes(table([[MMLU, "Old Ferry", "B"], ["What is it?", "A boat", "A"]]))
    assert list(read_benchmark(tmp_path / "test.csv")) == [
        BenchmarkItem("test.csv", item, text)
        for item, text in (("row 1", MMLU), ("row 1", "Old Ferry"), ("row 2", "What is it?"), ("row 2", "A boat"))
    ]


def test_columns_of_one_name_or_of_none_are_all_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("\ufeffid,,text,text,id\nq1,one more,two more,three more,four more\n", "utf-8")
    assert list(read_benchmark(tmp_path / "a.csv")) == [
        BenchmarkItem("a.csv", "q1", f"{number} more") for number in ("one", "two", "three", "four")
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (b"3,too few\n", r"has 2 fields, and the first row 3 \(.*a\.csv, line 5\)"),
        (b"3,too,many,fields\n", r"has 4 fields, and the first row 3 \(.*a\.csv, line 5\)"),
        (b'3,"a" b,c\n', r"no table: .* \(.*a\.csv, line 5\)"),
        (b'3,"never closed,c\n4,b,c\n', r"no table: .* \(.*a\.csv, line 5\)"),
        (b"3,\xf9,c\n", r"not UTF-8: byte 0xf9 at 2 \(.*a\.csv, line 5\)"),
    ],
)
def test_a_row_of_a_table_that_cannot_be_understood_is_named(tmp_path: Path, rows: bytes, said: str) -> None:
    (tmp_path / "a.csv").write_bytes(b'id,problem,answer\n1,"two\nlines",a\n\n' + rows)
    for benchmark in (tmp_path / "a.csv", tmp_path):
        with pytest.raises(InputError, match=said):
            list(read_benchmark(benchmark))


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_a_field_of_a_table_may_be_long_and_hold_nul_and_lines_may_end_in_any_way(
    tmp_path: Path, line_end: bytes
) -> None:
    long = "as long as a book " * 20_000 + "\0 the end"
    (tmp_path / "a.csv").write_bytes(line_end.join([b"id,problem", f"q1,{long}".encode(), b"q2,short one", b""]))
    assert list(read_benchmark(tmp_path / "a.csv")) == [
        BenchmarkItem("a.csv", "q1", long),
        BenchmarkItem("a.csv", "q2", "short one"),
    ]
