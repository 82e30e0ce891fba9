"""How a name and its value are written in shells, JSON, YAML, XML and code, also escaped once or twice."""

from __future__ import annotations

QUOTE = rb"""\\{0,3}["'`]"""
OPENED = rb"(?:" + QUOTE + rb")?"
"""Where a value begins, in quotes or not."""
ASSIGNED = OPENED + rb"\]?[ \t]{0,8}(?:=>|:=|==?|:|>|[ \t]value=)[ \t]{0,8}"
"""Between a name and its value."""
