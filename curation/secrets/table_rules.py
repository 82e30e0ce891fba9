"""Secrets in columns, where the head of the column says so: tables that clients of databases draw, CSV, rows of SQL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from curation.secrets.checks import is_text_password
from curation.secrets.names import is_password_name, is_secret_name
from curation.secrets.national_phones import is_national_phone
from curation.secrets.plausible import is_random, is_uuid
from curation.secrets.rule import Rank, Rule
from curation.secrets.triggers import Trigger, any_case, exact, one_of

_Span: TypeAlias = tuple[int, int]
_Cells: TypeAlias = list[_Span]
_Read: TypeAlias = tuple[int, Sequence[_Span]]
_Judged: TypeAlias = tuple[Callable[[bytes], bool], Callable[[bytes], bool]]
"""Whether the head of a column says that secrets are in it, and whether a cell of it is one."""

_LONGEST_LINE = 2000
_HEAD = re.compile(rb"[`\"'\[*]{0,2}([A-Za-z_][\w.-]{1,63})[`\"'\]*]{0,2}\Z")
_SEPARATOR = re.compile(rb"\||\xe2\x94[\x82\x83]|\xe2\x95\x91")
_RULE_OF_TABLE = re.compile(rb"(?:[-+|:= \t]|\xe2[\x94\x95][\x80-\xbf])+\r?\Z")
_TAB = re.compile(rb"\t")
_RUN_OF_DASHES = re.compile(rb"-+")
_FIRST_CELL = re.compile(rb"\"?[A-Za-z_][\w.-]{0,63}\"?[,;\t|]")
_MARGIN = b" \t\r`\"'"
"""Around a value in its cell."""
_SQL_VALUE = re.compile(
    rb"\s*+(?:[NnEeBbUu]?'(?:[^'\\]|''|\\.){0,2000}+'|\"(?:[^\"\\]|\\.){0,2000}+\""
    rb"|[^,()'\"]{0,512}+(?:\([^()]{0,512}\))?+)\s*+",
    re.DOTALL,
)
_SQL_COLUMN = re.compile(rb"^\s{0,16}[`\"\[]?(\w{1,64})[`\"\]]?\s+\w", re.MULTILINE)
_NO_COLUMN = frozenset({b"PRIMARY", b"KEY", b"UNIQUE", b"CONSTRAINT", b"FOREIGN", b"INDEX", b"CHECK", b"FULLTEXT"})
_SQL_LOOK_BACK = 8000
"""So far before its rows the definition of a table may be."""


def _begin_of_line(data: bytes, position: int) -> int | None:
    begin = data.rfind(b"\n", max(0, position - _LONGEST_LINE), position) + 1
    return begin if begin or position <= _LONGEST_LINE else None


def _begin_of_csv(data: bytes, position: int) -> int | None:
    """The same where the line could be a head: code begins with blanks, or has other marks before its first comma."""
    begin = _begin_of_line(data, position)
    return begin if begin is not None and _FIRST_CELL.match(data, begin) else None


def _line_end(data: bytes, start: int) -> int:
    """Where a line ends, or where it is too long to be read."""
    limit = min(len(data), start + _LONGEST_LINE)
    end = data.find(b"\n", start, limit)
    return limit if end < 0 else end


def _lines(data: bytes, start: int) -> Iterator[_Span]:
    """The lines from ``start`` on, until an empty one."""
    while start < len(data):
        end = _line_end(data, start)
        if not data[start:end].strip():
            return
        yield start, end
        start = end + 1


def _wanted(heads: Sequence[bytes], says_so: Callable[[bytes], bool]) -> list[int]:
    """The numbers of the columns whose heads say so."""
    named = ((number, _HEAD.match(head.strip())) for number, head in enumerate(heads))
    return [number for number, name in named if name and says_so(name[1])]


def _trimmed(data: bytes, span: _Span) -> _Span:
    start, end = span
    while start < end and data[start] in _MARGIN:
        start += 1
    while start < end and data[end - 1] in _MARGIN:
        end -= 1
    return start, end


def _secrets_of(
    data: bytes, rows: Iterator[_Cells], wanted: Sequence[int], is_secret: Callable[[bytes], bool]
) -> Iterator[_Span]:
    for cells in rows:
        for number in wanted:
            start, end = _trimmed(data, cells[number])
            if end - start >= 6 and is_secret(data[start:end]):
                yield start, end


class _Reader:
    """Gives the rows of a table, each with as many cells as its head, and remembers where they ended."""

    def __init__(self, data: bytes, start: int, cut: Callable[[bytes, int, int], _Cells | None], count: int) -> None:
        self.data, self.end, self.cut, self.count = data, start, cut, count

    def rows(self) -> Iterator[_Cells]:
        for start, end in _lines(self.data, self.end):
            if not _RULE_OF_TABLE.match(self.data, start, end):
                cells = self.cut(self.data, start, end)
                if cells is None or len(cells) != self.count:
                    return
                yield cells
            self.end = end


def _read(match: re.Match[bytes], cut: Callable[[bytes, int, int], _Cells | None], judged: _Judged) -> _Read:
    """What is secret in the table whose head a match is."""
    says_so, is_secret = judged
    data = match.string
    heads = cut(data, *match.span("head")) or []
    wanted = _wanted([data[start:end] for start, end in heads], says_so)
    if not wanted:
        return match.end("head"), ()
    reader = _Reader(data, match.end(), cut, len(heads))
    found = list(_secrets_of(data, reader.rows(), wanted, is_secret))
    return reader.end, found


def _at_separators(data: bytes, start: int, end: int) -> _Cells | None:
    """The cells between the lines of a drawn table."""
    marks = [mark.span() for mark in _SEPARATOR.finditer(data, start, end)]
    edges = [(start, start), *marks, (end, end)]
    return [(before[1], after[0]) for before, after in pairwise(edges)] if marks else None


def _at_comma(mark: bytes) -> Callable[[bytes, int, int], _Cells | None]:
    """Cuts a line of CSV; in quotes the mark is a part of the value."""
    mark = re.escape(mark)
    cell = re.compile(
        rb"(?:\"(?:[^\"\n]|\"\")*+\"|[^" + mark + rb"\"\n][^" + mark + rb"\n]*+|)(?=" + mark + rb"|\r?\Z|\r?\n)"
    )

    def cut(data: bytes, start: int, end: int) -> _Cells | None:
        cells: _Cells = []
        while (match := cell.match(data, start, end)) is not None:
            cells.append(match.span())
            start = match.end() + 1
            if start > end:
                return cells
        return None

    return cut


def _drawn(match: re.Match[bytes], judged: _Judged) -> _Read:
    if _SEPARATOR.search(match["head"]) is None:
        return _aligned(match, judged)
    return _read(match, _at_separators, judged)


def _aligned(match: re.Match[bytes], judged: _Judged) -> _Read:
    """A table whose columns are below dashes, with nothing but blanks between."""
    line, _ = match.span("rule")
    starts = [run.start() - line for run in _RUN_OF_DASHES.finditer(match.string, *match.span("rule"))]

    def cut(_: bytes, start: int, end: int) -> _Cells:
        edges = [min(start + place, end) for place in starts]
        return list(pairwise([*edges, end]))

    return _read(match, cut, judged)


def _separated(match: re.Match[bytes], judged: _Judged) -> _Read:
    return _read(match, _CUTS[match["mark"]], judged)


_CUTS = {mark: _at_comma(mark) for mark in (b",", b";", b"\t", b"|")}


def _sql(match: re.Match[bytes], judged: _Judged) -> _Read:
    """The rows after ``VALUES``."""
    says_so, is_secret = judged
    columns = match["columns"]
    heads = columns.split(b",") if columns is not None else _defined(match)
    wanted = _wanted(heads, says_so)
    if not wanted:
        return match.end(), ()
    data, found, place = match.string, list[_Span](), match.end()
    while data[place : place + 1] == b"(":
        cells, place = _tuple_at(data, place)
        if len(cells) == len(heads):
            found += _secrets_of(data, iter([_in_quotes(data, cells)]), wanted, is_secret)
        place = _past_comma(data, place)
    return place, found


def _tuple_at(data: bytes, place: int) -> tuple[_Cells, int]:
    """The values between the bracket at ``place`` and its closing one, and where that ends."""
    cells: _Cells = []
    while data[place : place + 1] in {b"(", b","} and (value := _SQL_VALUE.match(data, place + 1)):
        cells.append(value.span())
        place = value.end()
    return cells, place + (data[place : place + 1] == b")")


def _in_quotes(data: bytes, cells: _Cells) -> _Cells:
    """The cells as they are where they are texts, and empty where they are not."""
    return [(start, end) if data[start:end].strip()[-1:] in {b"'", b'"'} else (start, start) for start, end in cells]


_BETWEEN_TUPLES = re.compile(rb"\s{0,64},\s{0,64}")


def _past_comma(data: bytes, place: int) -> int:
    between = _BETWEEN_TUPLES.match(data, place)
    return between.end() if between else place


def _defined(match: re.Match[bytes]) -> list[bytes]:
    """The columns of the table as its definition names them, where that is not far before."""
    data, table = match.string, match["table"].strip(b'`"[]')
    lowest = max(0, match.start() - _SQL_LOOK_BACK)
    begin = data.rfind(b"CREATE TABLE", lowest, match.start())
    opened = data.find(b"(", begin, match.start()) if begin >= 0 else -1
    if opened < 0 or table not in data[begin:opened]:
        return []
    names = (column[1] for column in _SQL_COLUMN.finditer(data, opened + 1, data.find(b";", opened) + 1 or opened))
    return [name for name in names if name.upper() not in _NO_COLUMN]


def _copied(match: re.Match[bytes], judged: _Judged) -> _Read:
    """The lines after ``COPY … FROM stdin``, as ``pg_dump`` writes them."""
    says_so, is_secret = judged
    heads = match["columns"].split(b",")
    wanted = _wanted(heads, says_so)
    if not wanted:
        return match.end(), ()
    reader = _Reader(match.string, match.end(), _at_tab, len(heads))
    found = list(_secrets_of(match.string, reader.rows(), wanted, is_secret))
    return reader.end, found


def _at_tab(data: bytes, start: int, end: int) -> _Cells:
    marks = [mark.start() for mark in _TAB.finditer(data, start, end)]
    return [(before + 1, after) for before, after in pairwise([start - 1, *marks, end])]


def _is_in_record(match: re.Match[bytes]) -> bool:
    """Whether it is a field of a record as ``psql`` writes one below the other."""
    lowest = max(0, match.start() - _LONGEST_LINE)
    return match.string.rfind(b"-[ RECORD ", lowest, match.start()) >= 0


def _triggers_of(names: Sequence[str], marks: Callable[[Trigger], tuple[Trigger, ...]]) -> tuple[Trigger, ...]:
    return tuple(trigger for name in names for trigger in marks(any_case(name)))


def _beside_lines(name: Trigger) -> tuple[Trigger, ...]:
    return (
        *(name + exact(after) for after in (" |", "  ", " \n", " │", " ┃", " ║")),
        name + one_of("\r\n"),
        exact("| ") + name + exact(" "),
    )


def _beside_commas(name: Trigger) -> tuple[Trigger, ...]:
    mark, quote = one_of(",;\t|"), exact('"')
    return name + mark, name + quote + mark, mark + name + one_of("\r\n"), mark + quote + name + quote + one_of("\r\n")


def _of_kind(kind: str, names: Sequence[str], judged: _Judged, rank: Rank = Rank.LOOSE) -> tuple[Rule, ...]:
    def rule(
        name: str,
        triggers: tuple[Trigger, ...],
        pattern: bytes,
        read: Callable[[re.Match[bytes], _Judged], _Read],
        begin: Callable[[bytes, int], int | None] | None = None,
    ) -> Rule:
        return Rule(
            name=f"{kind}, {name}",
            kind=kind,
            triggers=triggers,
            pattern=re.compile(pattern),
            read_on=lambda match: read(match, judged),
            begin=begin,
            rank=rank,
        )

    field = Rule(
        name=f"{kind}, in a record",
        kind=kind,
        triggers=tuple(any_case(name) + one_of(" ") + one_of(" |") for name in names),
        pattern=re.compile(_FIELD),
        accepts=lambda match: _is_in_record(match) and judged[0](match["name"]) and judged[1](match["secret"]),
        begin=_begin_of_line,
        rank=rank,
    )
    return (
        field,
        rule("in a drawn table", _triggers_of(names, _beside_lines), _DRAWN, _drawn, _begin_of_line),
        rule("in CSV", _triggers_of(names, _beside_commas), _CSV, _separated, _begin_of_csv),
        rule("in rows of SQL", (any_case("insert "), any_case("replace into ")), _INSERT, _sql),
        rule("in rows of COPY", (exact("COPY "),), _COPY, _copied),
    )


def _is_token(value: bytes) -> bool:
    return is_random(value) or is_uuid(value)


def _is_phone_name(name: bytes) -> bool:
    return _PHONE_NAME.match(name) is not None


def _is_phone(value: bytes) -> bool:
    return _PHONE.match(value) is not None and is_national_phone(value, is_marked=True)


_DRAWN = (
    rb"(?P<head>[^\n]{3,2000}+)\n(?P<rule>(?=[^\n]{0,16}(?:--|\xe2[\x94\x95][\x80-\xbf]))"
    rb"(?:[-+|:= \t]|\xe2[\x94\x95][\x80-\xbf]){3,4000}+)\r?\n"
)
_FIELD = rb"(?P<name>[A-Za-z_][\w.]{1,63}+) {0,64}+\| (?P<secret>[^\s|]{6,512}+)[ \t\r]*+(?:\n|\Z)"
_CELL = rb"\"?[A-Za-z_][\w.-]{0,63}\"?"
_CSV = rb"(?P<head>" + _CELL + rb"(?P<mark>[,;\t|])" + _CELL + rb"(?:(?P=mark)" + _CELL + rb"){0,60}+)\r?\n"
_TABLE_NAME = rb"(?P<table>[\w.`\"\[\]]{1,128}+)"
_INSERT = (
    rb"(?i:insert|replace)\s(?:[A-Za-z]{2,12}\s){0,3}?(?i:into)\s{1,8}" + _TABLE_NAME + rb"\s{0,8}"
    rb"(?:\((?P<columns>[^()]{1,2000}+)\)\s{0,40})?(?i:values)\s{0,40}(?=\()"
)
_COPY = rb"COPY " + _TABLE_NAME + rb" \((?P<columns>[^()]{1,2000}+)\) FROM stdin;\r?\n"
_PASSWORDS = ("password", "passwd", "passwort", "kennwort", "passphrase", "passcode", "pwd", "psk", "pass")
_PHONES = ("phone", "phone_number", "phonenumber", "mobile", "telephone", "tel", "handy", "telefon")
_PHONE_NAME = re.compile(rb"(?:\w{1,32}_)?(?i:phone|phone_?number|mobile|telephone|tel|handy|telefon)\Z")
_PHONE = re.compile(rb"\+?\(?\d[\d ()./-]{6,24}\Z")
_TOKENS = ("token", "secret", "api_key", "apikey", "secret_key", "private_key", "access_key")

TABLE_RULES = (
    *_of_kind("password", _PASSWORDS, (is_password_name, is_text_password)),
    *_of_kind("token", _TOKENS, (is_secret_name, _is_token)),
    *_of_kind("phone", _PHONES, (_is_phone_name, _is_phone), Rank.PERSONAL),
)
