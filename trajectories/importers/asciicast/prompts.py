"""Which of the logged lines were entered at a prompt: each kind of evidence has a weight, and a line a score.

Evidence that is independent adds up as chances do: the score is 1 − ∏ (1 − weight). What falls below ``THRESHOLD`` is
left alone: a command that was missed costs a turn, one that was invented teaches a falsehood.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from trajectories.importers.asciicast.line_log import LoggedLine, Rest

THRESHOLD: Final = 0.65
"""Least score of a line that counts as entered, and of a recording whose turns are imported."""

_TOLD_BY_SHELL: Final = 0.9
_TOLD_BY_EDITOR: Final = 0.7
_TYPED: Final = 0.5
_SEEN_OFTEN: Final = 0.5
_SEEN_TWICE: Final = 0.35
_TITLED: Final = 0.4
_SIGNED: Final = 0.35
_WAITED: Final = 0.2
_DOUBT: Final = 0.15
"""How much of a command's weight a line has that looks typed and was not taken."""

_SIGN: Final = re.compile(r"(?:[$#>❯➜λ»›⟩▶❱→⇒✗✘☞]|(?<![\d.])%|\w\]:)\s*\Z")
"""What prompts end with."""
_WEAK_SIGN: Final = re.compile(r"[(\[][^()\[\]]+[)\]]\s+|[❯➜λ»▶→⚡].*\s", re.DOTALL)
"""Prompts that other texts may look like: in brackets, or behind an arrow."""
_CONTINUATION: Final = re.compile(
    r"\s*(?:\.{3,}(?::|>)?|\w*\s*->|>(?!>)|(?:(?:if|then|elif|else|for|while|until|do|case|select|function|array|quote"
    r"|[dpb]quote|bquote|heredoc|heredocd|pipe|cmdand|cmdor|cmdsubst|mathsubst|cursh|subsh|braceparam|always|repeat)"
    r" ?)+>) ?"
)
_DIALOGUE: Final = re.compile(r"(?:>>>|In \[\d+\]:|\w+(?:\([^)]*\))*(?::\d+)*(?:>|=[#>*])|\(\w+\))\s*")
"""Prompts of what is no shell: Python, IPython, irb, psql, mysql, sqlite, gdb …"""
_HOST_PART: Final = re.compile(r"[^\s:/~]+")
_DIGITS: Final = re.compile(r"\d+")
_MOST_CHARACTERS_A_PIECE: Final = 8
_MANY_PIECES: Final = 50


@dataclass(frozen=True, slots=True)
class Judgement:
    """The likeliest reading of a line: where its prompt ends, and how sure that is (0 to 1)."""

    line: LoggedLine
    rest: Rest
    score: float

    @property
    def prompt(self) -> str:
        return prompt_of(self.line, self.rest)

    @property
    def command(self) -> str:
        return self.line.text[self.rest.length :]

    @property
    def is_entered(self) -> bool:
        return self.score >= THRESHOLD

    @property
    def is_doubtful(self) -> bool:
        """It looks typed, and yet it does not count as entered."""
        return not self.is_entered and _looks_typed(self.line, self.rest)


def prompt_of(line: LoggedLine, rest: Rest) -> str:
    return line.text.ljust(rest.length)[: rest.length]


def is_of_interest(line: LoggedLine) -> bool:
    """Whether a line can reach the threshold, or be one of those that make a prompt known."""
    return (
        line.num_stands > 2
        or line.edited
        or line.ran
        or is_continuation_prompt(line.text)
        or any(rest.marked or _SIGN.search(prompt_of(line, rest)) for rest in line.rests)
    )


def is_continuation_prompt(prompt: str) -> bool:
    """Whether a prompt is one that asks for the rest of a command, such as ``> ``, ``...`` or ``quote> ``."""
    return _CONTINUATION.fullmatch(prompt) is not None


def without_continuation_prompt(text: str) -> str:
    """A line's text behind the prompt that asks for the rest of a command."""
    found = _CONTINUATION.match(text)
    return text[found.end() :] if found else text


def is_dialogue_prompt(prompt: str) -> bool:
    """Whether the prompt is that of an interpreter that is no shell."""
    return _DIALOGUE.fullmatch(prompt) is not None


def families(prompt: str) -> set[str]:
    """What a prompt has in common with the next one of its kind: its text but for numbers; its host and its sign."""
    text = _DIGITS.sub("0", prompt.strip())
    if not text:
        return set()
    host = _HOST_PART.match(text)
    if _SIGN.search(text) is None or host is None:
        return {text}
    return {text, f"{host[0]}\0{text[-1]}"}


def judge(lines: Sequence[LoggedLine]) -> list[Judgement]:
    """The likeliest reading of each line, in order."""
    seen = Counter(key for line in lines for key in _all_families(line))
    return [
        max(
            (Judgement(line, rest, _score(line, rest, seen)) for rest in line.rests),
            key=lambda judgement: judgement.score,
        )
        for line in lines
    ]


def recording_score(judgements: Iterable[Judgement]) -> float:
    """How far the commands of a recording can be trusted: their mean score, less for each kind of line in doubt."""
    judged = list(judgements)
    scores = [judgement.score for judgement in judged if judgement.is_entered]
    num_doubtful = len({judgement.line.text for judgement in judged if judgement.is_doubtful})
    return sum(scores) / (len(scores) + _DOUBT * num_doubtful) if scores else 0.0


def _all_families(line: LoggedLine) -> set[str]:
    return {key for rest in line.rests for key in families(prompt_of(line, rest))}


def _score(line: LoggedLine, rest: Rest, seen: Counter[str]) -> float:
    prompt, command = prompt_of(line, rest), line.text[rest.length :].strip()
    keys = families(prompt)
    if not command or not keys:
        return 0.0
    times = max(seen[key] for key in keys)
    told, edited = rest.marked or line.ran, rest.in_editor and line.edited
    typed, waited = _looks_typed(line, rest), _waited(line, rest)
    signed = _SIGN.search(prompt) is not None and (prompt[-1:].isspace() or times > 1)
    weakly_signed = not signed and _WEAK_SIGN.fullmatch(prompt) is not None
    if not (told or edited or (signed and (typed or waited)) or (weakly_signed and typed)):
        return 0.0
    doubt = 1.0
    for weight, holds in (
        (_TOLD_BY_SHELL, told),
        (_TOLD_BY_EDITOR, edited),
        (_TYPED, typed),
        (_SIGNED, signed or weakly_signed),
        (_SEEN_OFTEN, times > 2),
        (_SEEN_TWICE, times == 2),
        (_TITLED, line.title != "" and line.title.split()[:1] == command.split()[:1]),
        (_WAITED, waited),
    ):
        doubt *= 1 - weight if holds else 1
    return 1 - doubt


def _looks_typed(line: LoggedLine, rest: Rest) -> bool:
    """Whether what follows the prompt came in small pieces."""
    length, pieces = len(line.text[rest.length :].strip()), rest.pieces_after
    if length < 2 or pieces < min(3, length):
        return False
    return pieces >= _MANY_PIECES or length <= _MOST_CHARACTERS_A_PIECE * (pieces + 1)


def _waited(line: LoggedLine, rest: Rest) -> bool:
    """Whether the terminal stood still at the prompt for longer than a program needs to go on."""
    later = [other.seconds for other in line.rests if other.event > rest.event]
    return min(later, default=line.ended_seconds) - rest.seconds >= 0.1
