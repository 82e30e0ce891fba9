"""How a name and its value are written in shells, JSON, YAML, XML and code, also escaped once or twice."""

QUOTE = rb"""\\{0,3}["'`]"""
OPENED = rb"(?:" + QUOTE + rb")?"
"""Where a value begins, in quotes or not."""
NAME = rb"(?P<name>[A-Za-z0-9_.\-]{2,96}+)"
_STRING = rb" ?(?:&(?:'static )?)?(?:[Ss]tr(?:ing)?|Optional\[str\]|Option<String>|SecretStr|bytes)[?!]? ?=(?!=)"
"""The type of a variable that gets a value."""
_TEXT_OF_ELEMENT = rb">(?=[^<>\s]{6,4096}+</)"
_PREFIX = rb"(?:[bBfFrRuU]{1,2}(?=[\"']))?"
"""Of a string in Python."""
_COLOUR = rb"(?:(?:\x1b\[[\d;]{0,24}m|(?:\*\*|__)(?![*_]))[ \t]{0,8}){0,4}+"
"""Codes by which a terminal changes colours, and the marks of bold letters in Markdown."""
ASSIGNED = (
    OPENED
    + rb"\]?[ \t]{0,8}"
    + _COLOUR
    + rb"(?>=>|:=|==?|\xef\xbc\x9a|:(?!:)(?:"
    + _STRING
    + rb")?|[ \t]value=|"
    + _TEXT_OF_ELEMENT
    + rb")[ \t]{0,8}"
    + _COLOUR
    + _PREFIX
)
"""Between a name and its value."""
BEFORE_OPERATOR = rb"[\"'`\\\] \t]"
"""A byte that may be between a name and its ``=`` or ``:``."""
BARE = rb"[^\s\x1b\"'`\\,;&<>|(){}\[\]]"
"""A byte of a value that may be without quotes."""
UNQUOTED = rb"[^\s\x1b\"'`\\]"
"""A byte of an argument, in quotes or not."""
PASSWORD = OPENED + rb"(?P<secret>" + UNQUOTED + rb"{6,128})"
"""An argument that may be a password."""
TOKEN = OPENED + rb"(?P<secret>[\w.~+/=-]{16,4096})"
"""An argument that may be a token."""
_IN_QUOTES = rb"(?:[^\\\"'`\n]|(?!(?P=quote))[\"'`]|\\{1,4}u[0-9A-Fa-f]{4}|(?(slash)(?!)|\\[\"'`\\/])){6,4096}+"
"""What a string holds: blanks, quotes of the other kinds, and what is escaped in it."""
_OPENING, _CLOSING = rb"(?P<slash>\\{1,3})?(?P<quote>[\"'`])", rb"\\{0,3}(?P=quote)"
QUOTED_VALUE = _OPENING + rb"(?P<secret>" + _IN_QUOTES + rb")" + _CLOSING
"""A value in quotes."""
_TO_LINE_END = rb"(?:[^\s\x1b\"'`\\&;]|[&;](?!\w{1,32}=)){6,512}+(?<![,;)}])(?=[ \t\r]{0,8}(?:\n|\Z)|\\{1,2}[nr]|[\"'])"
"""No further parameter is in it."""
BARE_VALUE = rb"(?P<secret>(?:(?<=\w[=:])|(?<=[=:] ))" + _TO_LINE_END + rb"|" + BARE + rb"{6,4096}+(?![(\[]))"
"""A value without quotes; one that goes on to the end of its line may hold what would else end it."""
_EITHER = rb"(?(quote)" + _IN_QUOTES + rb"|" + BARE + rb"{6,4096}+)"
VALUE = rb"(?:" + _OPENING + rb")?(?P<secret>" + _EITHER + rb")(?(quote)" + _CLOSING + rb")"
"""A value, in quotes or not."""
