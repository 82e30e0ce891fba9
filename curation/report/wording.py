"""How figures and recorded texts are written on a page for people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import datetime

_VISIBLE: dict[int, int] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), 0xFFFE, 0xFFFF), 0xFFFD),
    **dict.fromkeys((0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}
"""Pictures for control characters; a replacement for those that turn the direction of writing."""

NOTHING = "–"


def visible(text: str) -> str:
    """A recorded text with its control characters made visible."""
    return text.translate(_VISIBLE)


def count(number: int | None) -> str:
    """``12,345``, or a dash."""
    return NOTHING if number is None else f"{number:,}"


def share(part: int | None, whole: int | None) -> str:
    """``12.3%`` of the whole, or a dash where there is no such."""
    return f"{part / whole:.1%}" if whole and part is not None else NOTHING


def percent(value: float | None) -> str:
    """``12.3%``, or a dash."""
    return NOTHING if value is None else f"{value:.1%}"


def points(difference: float | None) -> str:
    """``+1.2 pp``: a difference of shares in percentage points, or a dash."""
    return NOTHING if difference is None else f"{_signed(difference, '.1f')} pp"


def more(difference: int | None) -> str:
    """``+12``: a difference of counts, or a dash."""
    return NOTHING if difference is None else _signed(difference, ",")


def _signed(number: float, form: str) -> str:
    written = format(abs(number), form)
    if not any(digit in "123456789" for digit in written):
        return f"±{written}"
    return f"{'+' if number > 0 else '−'}{written}"


def tally(counts: Mapping[str, int]) -> str:
    """``20 × completed, 1 × failed``, or a dash. A line breaks between the names, and not before them."""
    return ", ".join(f"{number:,}\u00a0×\u00a0{visible(name)}" for name, number in counts.items()) or NOTHING


def instant(moment: datetime) -> str:
    """``30 November 2026, 06:00``."""
    return f"{moment.day} {moment:%B %Y, %H:%M}"


def decimal(value: float | None) -> str:
    """Two places, or a dash."""
    if value is None:
        return NOTHING
    return "∞" if value == math.inf else f"{value:.2f}"


def setting(value: object) -> str:
    """A value of a profile, as TOML and JSON write it."""
    return json.dumps(value, ensure_ascii=False)
