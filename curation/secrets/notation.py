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
ASSIGNED = (
    OPENED
    + rb"\]?[ \t]{0,8}(?>=>|:=|==?|\xef\xbc\x9a|:(?:"
    + _STRING
    + rb")?|[ \t]value=|"
    + _TEXT_OF_ELEMENT
    + rb")[ \t]{0,8}"
    + _PREFIX
)
"""Between a name and its value."""
BEFORE_OPERATOR = rb"[\"'`\\\] \t]"
"""A byte that may be between a name and its ``=`` or ``:``."""
BARE = rb"[^\s\"'`\\,;&<>|(){}\[\]]"
"""A byte of a value that may be without quotes."""
UNQUOTED = rb"[^\s\"'`\\]"
"""A byte of a value that may be in quotes, or is an argument."""
