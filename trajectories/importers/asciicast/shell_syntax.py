"""Whether a shell would ask for another line: open quotes, here-documents, compound commands, trailing operators."""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<newline>\n)
      | (?P<comment>(?:(?<=\s)|(?<=[;&|()])|^)\#[^\n]*)
      | (?P<string><<<)
      | (?P<document><<(?P<dash>-?)[ \t]*(?P<quote>['"\\]?)(?P<end>[\w.!%+-]+)['"]?)
      | (?P<quoted>'[^']*' | "(?:\\.|[^"\\])*" | `(?:\\.|[^`\\])*` | \\.)
      | (?P<quote_left_open>['"`])
      | (?P<operator>&&|\|\|?|;;|[;&])
      | (?P<function>\(\)\s*\{)
      | (?P<opened>\$?\()
      | (?P<closed>\))
      | (?P<word>[^\s;&|()<'"`\\]+)
      | (?P<blank>[ \t\r]+)
      | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_FISH_END: Final = "end"
_OPENS: Final = {
    "if": "fi",
    "for": "done",
    "while": "done",
    "until": "done",
    "select": "done",
    "case": "esac",
    "{": "}",
} | {"begin": _FISH_END, "switch": _FISH_END}
_CLOSES: Final = frozenset(_OPENS.values())
_BEFORE_COMMAND: Final = frozenset({"then", "do", "else", "elif", "!", "time", *_OPENS})
_ODD_BACKSLASHES: Final = re.compile(r"(?<!\\)(?:\\\\)*\\\Z")


def is_complete(command: str) -> bool:
    """Whether a POSIX shell would run ``command`` once its last line is entered.

    An approximation that errs towards yes: what it cannot follow (a ``case`` pattern in a substitution, an arithmetic
    shift) does not keep a command open.
    """
    return _ODD_BACKSLASHES.search(command) is None and _Parse(command).is_closed


class _Parse:
    """One pass over a command, counting what it opens and closes."""

    def __init__(self, command: str) -> None:
        self._command = command
        self._place = self._depth = 0
        self._open_words: list[str] = []
        self._documents: list[tuple[str, bool]] = []
        self._begins_command, self._trails = True, False
        self.is_closed = self._run() and not (self._open_words or self._documents or self._depth or self._trails)

    def _run(self) -> bool:
        """False where a quotation or a here-document has no end."""
        while (token := _TOKEN.match(self._command, self._place)) is not None:
            self._place = token.end()
            kind = token.lastgroup
            if kind == "quote_left_open" or (kind == "newline" and not self._skip_documents()):
                return False
            if kind == "document":
                self._documents.append((token["end"], token["dash"] == "-"))
            elif kind not in {"blank", "comment"}:
                self._count(str(kind), token[0])
        return True

    def _count(self, kind: str, text: str) -> None:
        if kind in {"newline", "operator"}:
            self._begins_command = True
            self._trails = text in {"&&", "||", "|"} or (kind == "newline" and self._trails)
            return
        if kind == "function":
            self._open_words.append("}")
        elif kind in {"opened", "closed"}:
            self._depth = max(0, self._depth + (1 if kind == "opened" else -1))
        elif self._begins_command and text in _OPENS:
            self._open_words.append(_OPENS[text])
        elif self._begins_command and text in _CLOSES and self._open_words:
            self._close(text)
        self._begins_command = kind in {"opened", "function"} or (self._begins_command and text in _BEFORE_COMMAND)
        self._trails = False

    def _close(self, word: str) -> None:
        """Close what ``word`` ends; in fish, ``end`` ends whatever was opened last."""
        if word == _FISH_END:
            self._open_words.pop()
        elif word in self._open_words:
            del self._open_words[self._open_words.index(word) :]

    def _skip_documents(self) -> bool:
        """Go behind the here-documents that begin at this line's end; False where one goes on."""
        for end, is_indented in self._documents:
            tabs = r"\t*" if is_indented else ""
            found = re.compile(rf"^{tabs}{re.escape(end)}$", re.MULTILINE).search(self._command, self._place)
            if found is None:
                return False
            self._place = found.end()
        self._documents = []
        return True
