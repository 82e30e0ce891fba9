"""How a Bash tells a terminal what it is doing: OSC 133 marks in its prompts, and the tracker that reads them.

The marks are those of FinalTerm's shell integration, which many terminals know: ``A`` before a prompt, ``B`` after it,
``C`` when a command starts, ``D;STATUS`` when it has ended. They carry a nonce, yet any program can print one: they
are a hint about time, never proof. They live in PS0, PS1 and PS2 alone, so that neither ``$?``, the history, ``set -x``
nor a DEBUG trap sees them; a shell whose PS1 was replaced simply stops giving them.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

COMMAND: Final[Sequence[str]] = ("bash", "-c", 'exec bash --rcfile /dev/fd/9 9<<< "$WORLDTAPE_SET_UP"')
PROMPT: Final = r"user@sandbox:\w\$ "

# What the machine is, gathered by the shell itself before its first prompt: a second process would cost 50 ms.
_PRINT_FACTS: Final = r"""(
    . /etc/os-release
    read -r _ memory _ < /proc/meminfo
    printf '%s=%s\n' os "$PRETTY_NAME" kernel "$(uname -srm)" disk "$(( $(stat -f -c '%b * %S' .) ))" \
        memory "$(( memory * 1024 ))" directory "$PWD" bash "$BASH_VERSION"
) 2> /dev/null"""

_SIGNAL: Final = re.compile(r"\x1b\]133;([ABCD]);?([^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b\[\?([\d;]+)([hl])")
_UNFINISHED_SIGNAL: Final = re.compile(
    r"\x1b(?:\](?:1(?:3(?:3(?:;[^\x07\x1b]{0,200}\x1b?)?)?)?)?|\[(?:\?[\d;]{0,32})?)?\Z"
)
_LONGEST_SIGNAL: Final = 256
_STATUS: Final = re.compile(r"[0-9]{1,3}")

_ENTER: Final = re.compile(rb"[\r\n]")
_INTERRUPT: Final = re.compile(rb"\x03")
_INTERRUPT_PROGRAM: Final = re.compile(rb"[\x03\x1a\x1c]")


def new_nonce() -> str:
    return secrets.token_hex(8)


def environment(nonce: str) -> Mapping[str, str]:
    """Environment variables under which ``COMMAND`` prints the machine's facts, and then marks its prompts.

    They carry Bash's start-up file, which removes itself: nothing of it is left to the commands, and no file is needed
    in the container. (PROMPT_COMMAND would be simpler, but one that runs before any command leaves PIPESTATUS empty
    for good.)
    """
    # EPOCHREALTIME is expanded once a prompt: it tells a new prompt from the same one drawn again by readline.
    begin, end = rf"\e]133;A;aid={nonce};at=$EPOCHREALTIME\a", rf"\e]133;B;aid={nonce}\a"
    ps1 = rf"\[\e]133;D;$?;aid={nonce}\a{begin}\]{PROMPT}\[{end}\]"
    set_up = (
        "exec 9<&-",
        "unset WORLDTAPE_SET_UP HISTFILE",
        rf"PS0='\e]133;C;aid={nonce}\a'",
        f"PS1='{ps1}'",
        rf"PS2='\[{begin}\]> \[{end}\]'",
        _PRINT_FACTS,
    )
    return {"WORLDTAPE_SET_UP": "\n".join(set_up)}


def parse_facts(greeting: str) -> Mapping[str, str]:
    """What the shell printed before its first prompt: ``os``, ``kernel``, ``disk`` and ``memory`` (bytes) …"""
    pairs = (line.partition("=") for line in greeting.splitlines())
    return {name: value for name, _, value in pairs if value}


def first_mark(nonce: str) -> re.Pattern[str]:
    """What begins the first prompt, and with it the session."""
    return re.compile(rf"\x1b\]133;D;[^\x07\x1b]*aid={nonce}\x07")


@dataclass(slots=True)
class ShellTracker:
    """Who has the terminal, the shell or a program, as far as the output says it."""

    nonce: str
    running: bool = False
    """A command has started and not ended."""
    num_prompts: int = 0
    """Prompts shown so far, continuation prompts among them."""
    owed_prompts: int = 0
    """Prompts that the keys typed so far can still bring, at most."""
    exit_code: int | None = None
    """Status of the last command that ended since this was last set to None."""
    alternate_screen: bool = False
    application_cursor: bool = False
    _status: int | None = field(default=0, init=False)
    _drawn_at: str = field(default="", init=False)
    _counted_at: str = field(default="", init=False)
    _unfinished: str = field(default="", init=False)

    def typed(self, keys: bytes) -> None:
        """Take note of keys before they are sent.

        Each Enter brings at most one prompt; an interrupt brings one and discards what was typed before it.
        """
        *interrupted, rest = (_INTERRUPT_PROGRAM if self.running else _INTERRUPT).split(keys)
        pending = 1 if interrupted else self.owed_prompts
        self.owed_prompts = pending + len(_ENTER.findall(rest))

    def feed(self, output: str) -> None:
        """Take note of output; a mark may be split over any number of calls."""
        text = self._unfinished + output
        for match in _SIGNAL.finditer(text):
            mark, fields, modes, switch = match.groups()
            if mark is None:
                self._switch(modes.split(";"), on=switch == "h")
            elif f"aid={self.nonce}" in fields.split(";"):
                self._mark(mark, fields.split(";"))
        unfinished = _UNFINISHED_SIGNAL.search(text, max(0, len(text) - _LONGEST_SIGNAL))
        self._unfinished = unfinished[0] if unfinished else ""

    def _switch(self, modes: Sequence[str], *, on: bool) -> None:
        if "1" in modes:
            self.application_cursor = on
        if not {"47", "1047", "1049"}.isdisjoint(modes):
            self.alternate_screen = on

    def _mark(self, mark: str, fields: Sequence[str]) -> None:
        if mark == "C":
            self.running = True
        elif mark == "D":
            self._command_ended(int(fields[0]) if _STATUS.fullmatch(fields[0]) else None)
        elif mark == "A":
            self._drawn_at = fields[-1]
        elif self._drawn_at != self._counted_at:
            self._counted_at = self._drawn_at
            self.num_prompts += 1
            self.owed_prompts = max(0, self.owed_prompts - 1)

    def _command_ended(self, status: int | None) -> None:
        # A line that Bash refuses to parse runs nothing and still sets the status.
        if self.running or status != self._status:
            self.exit_code = status
        self.running = False
        self._status = status
