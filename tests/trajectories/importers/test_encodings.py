"""A file that is not UTF-8 is refused by the name of its encoding, with the command that converts it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trajectories.importers import corpus_support
from trajectories.importers import FORMATS, Problem, UnreadableError, open_importer
from trajectories.importers.encodings import wide_encoding
from trajectories.importers.sources import opened

_WIDE = {
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "utf-32": "UTF-32",
    "utf-32-le": "UTF-32LE",
    "utf-32-be": "UTF-32BE",
}
_ROWS = '{"version": 2, "text": "où est l\'été ?"}\n' * 2


@pytest.mark.parametrize("codec", _WIDE)
@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.md", "a.cast"])
def test_a_file_in_wide_characters_is_told_with_what_converts_it(tmp_path: Path, name: str, codec: str) -> None:
    path = tmp_path / name
    path.write_bytes(_ROWS.encode(codec))
    with pytest.raises(UnreadableError) as refused, opened(path):
        pass
    assert str(refused.value) == (
        f"not UTF-8, but {_WIDE[codec]} ({path}); convert it: iconv -f {_WIDE[codec]} -t UTF-8 FILE > NEW_FILE"
    )


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"openhands", "osworld"}))
def test_every_format_tells_the_encoding_of_its_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(_ROWS.encode("utf-16"))
    try:
        told = [str(result) for result in open_importer(name).read(path)]
    except UnreadableError as error:
        told = [str(error)]
    assert "iconv -f UTF-16 -t UTF-8" in told[0]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.txt", "a.md"])
def test_bytes_that_are_not_utf8_are_named_with_what_would_convert_them(tmp_path: Path, name: str) -> None:
    content = _ROWS.encode("latin-1")
    path = tmp_path / name
    path.write_bytes(content)
    problems: list[str] = []
    try:
        problems += [problem.told for problem in corpus_support.problems(path)]
    except UnreadableError as error:
        problems.append(str(error))
    assert f"not UTF-8: byte 0xf9 at {content.index(0xF9)}" in problems[0]
    assert problems[0].endswith("if all of it is Latin-1, convert it: iconv -f ISO-8859-1 -t UTF-8 FILE > NEW_FILE")


@pytest.mark.parametrize("in_header", [True, False])
def test_a_recording_of_a_terminal_tells_it_too(tmp_path: Path, in_header: bool) -> None:
    title, text = ("où", "ou") if in_header else ("ou", "où")
    path = tmp_path / "a.cast"
    header = f'{{"version": 2, "width": 80, "height": 24, "title": "{title}"}}\n'
    path.write_bytes(f'{header}[0, "o", "{text}"]\n[1, "o", "b"]\n'.encode("latin-1"))
    try:
        told = [result.told for result in open_importer("asciicast").read(path) if isinstance(result, Problem)]
    except UnreadableError as error:
        told = [str(error)]
    assert len(told) == 1
    assert "not UTF-8: byte 0xf9 at " in told[0]
    assert told[0].endswith("if all of it is Latin-1, convert it: iconv -f ISO-8859-1 -t UTF-8 FILE > NEW_FILE")


@given(st.text(st.characters(min_codepoint=1, max_codepoint=0x7F), min_size=4), st.sampled_from(sorted(_WIDE)))
def test_ascii_is_told_in_any_wide_encoding_and_is_none_in_utf8(text: str, codec: str) -> None:
    assert wide_encoding(text.encode(codec)) == _WIDE[codec]
    assert wide_encoding(text.encode()) is None


@given(st.binary(max_size=64).map(lambda some: some.replace(b"\0", b"a")))
def test_what_has_neither_a_mark_nor_zero_bytes_is_not_wide(content: bytes) -> None:
    assert wide_encoding(b" " + content) is None


def test_zero_bytes_alone_are_no_encoding() -> None:
    assert wide_encoding(bytes(4096)) is None
    assert wide_encoding(b'{"text": "' + bytes(4096)) is None
