"""Whether a value can be a secret at all, or stands for one: placeholders, code, hashes, identifiers.

Every function here takes ASCII bytes of bounded length.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from curation.secrets.words import is_hyphenated_words, is_joined_words, is_numbered_words, is_phrase

_PLACEHOLDER = re.compile(
    rb"""<.*>\Z | </?\w+(?:\s|/?>) | <%                   # <token>, a tag
    |(?:ENC)?\[.*\]\Z | \{.*\}\Z | \{[{%] | [\[{]\s{0,8}["'\[{]  # [secret:NAME], {{ var }}, a list or an object
    |%[\w()]+%\Z | %[sdrv](?!\w) | %\( | \#?\{[\w.]+\} | [*?]+\Z  # %USER%, %(pw)s, #{var}, ****
    |\$(?:[({]|\d+\Z|(?-i:[A-Za-z_]+\d{0,3}|[A-Z\d_]+|[a-z\d]+(?:_[a-z\d]+)+|[a-z]+(?:\d?[A-Z][a-z]+)+)(?!\w))
    |arn:aws | ![A-Za-z:.]+\Z                                    # !vault, a tag of YAML
    |(?:pass(?:word|wd)?|pwd|secret|token|key|none|null|nil|true|false|n/a)\d{0,8}\Z""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_FILLER = re.compile(
    rb"""\.\.\.|\*\*\*|xxxx|-{5}|_{5}|</?[a-z]{2,}\d?/?>|\0|\$\{[^}]*\}|\{\{[^}]*\}|[{][a-z_.]{4,}[}]|%\(\w+\)
    |(?:your|my|the|some|any|insert|enter|add|put|replace|change)[_\- ]?
     (?:api|app|own|me|this|here|key|token|secret|pass|pw|auth|access)
    |placeholder|redacted|masked|hidden|removed|dummy|fake|todo|fixme|not[_-]?set|undefined|example[_.-]|[_-]here\Z""",
    re.VERBOSE,
)
"""Anywhere, in small letters, in what a person is to replace, or has hidden."""
_CODE = re.compile(
    rb"""(?:[A-Za-z_]+\d{0,3}(?:\.|::|->))+[A-Za-z_]+\d{0,3}\Z   # config.password2
    |[A-Z]?[a-z_]+\d?(?::[\w,]+)?(?:\|[A-Z]?[a-z_]+\d?(?::[\w,]+)?)+\Z  # required|min:8
    |(?:[a-z_]+\d*\.)+(?:[A-Z][a-z]+\d*){2,6}\Z           # ed25519.Ed25519PrivateKey
    |\w+[=!<>]=\w+\Z | (?:[\w.]+\()?[a-z_]+=\Z                         # a comparison, the next name
    |@?[A-Za-z_](?:[\w.]|::)*[\[(][bfru]?\Z                             # of a string in which another begins
    |[a-z]+:/*\Z | ["'`](?:\Z|\s?[+.,&|)\]}$<])            # "+password+"
    |(?:\#|0x)[0-9A-Fa-f]{3,8}\Z | \[[^\]]+\][{*+?]             # a colour, a number, an expression""",
    re.VERBOSE | re.DOTALL,
)
_CALL = re.compile(
    rb"""environ|getenv|process\.env|\[(?:["']|[a-z-]+[*^$~|]?=)|\(\)|[)\]](?:\.[a-z]{2}|\[\d)
    |\A\([^()]*\)\Z | \A\w{1,2}\([^()]*\)\Z
    |\A(?:await[ ]|new[ ])?(?=[\w.]*(?:[a-z]{3}|[A-Z]{3}))[A-Za-z_](?:[\w.]|::|->)*+[(\[]
     (?:.*[)\]](?:\.\w+|\W)*+|[^()]*[,(\[])\Z""",
    re.VERBOSE | re.DOTALL,
)
"""A call or a look-up: after its last bracket are no letters or digits but those of an attribute."""
_PROSE = re.compile(rb"(?:\A|\s)[(*-]?[A-Za-z'/]{2,}[),.:;!?]?(?=\s|\Z)|\s[=+<>|&?:*/-]{1,3}\s")
"""A word between blanks, or an operator."""
_PATH = re.compile(rb"(?:\.{0,2}|~|[A-Za-z]:|file:/)[/\\](?:[\w.@-]+[/\\])*[\w.@-]+\Z|https?://")
_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_DIGEST = re.compile(rb"(?:sha(?:1|224|256|384|512)|md5|h1)[-:~]", re.IGNORECASE)
_HEX = re.compile(rb"[0-9a-fA-F]+\Z")
_WORDS = re.compile(
    rb"""(?:[a-z]+\d{0,3}[-_.+])+(?:[a-z]+|v?\d+|[a-z]+\d{1,3})\Z   # entity_mask2_token, step-12
    | (?:[a-z]+[-_.])*[a-z]+\Z | (?:[A-Z]+_)*[A-Z]+\Z | (?:[A-Z][A-Z\d]*+_){2,}[A-Z\d]*[A-Z]\Z
    | (?:[A-Z][a-z]+\d*){2,6}\Z                             # Ed25519PrivateKey""",
    re.VERBOSE,
)
_MARKS = b"#*?<[{%$"
"""Before a word: the name of an element, of an alias, of what is optional."""
_LETTER, _DIGIT = re.compile(rb"[A-Za-z]"), re.compile(rb"\d")
_DIGIT_OR_SIGN = re.compile(rb"\d|[^\w.:/-]")
_RUN = re.compile(rb"(.)\1{5}", re.DOTALL)
_WORD_AND_NUMBER = re.compile(rb"[A-Za-z]+\d{1,4}\Z|\d{1,4}[A-Za-z]+\Z")
_OPENS_CALL = re.compile(rb"[A-Za-z]{3}[(\[]")
_MIN_BITS = 3.0
_MIN_HEX_BITS = 2.5
_MIN_DISTINCT = 7
_SHORTEST_HEX = 20
_SHORTEST_UNMISTAKABLE = 8
_SHORTEST_HYPHENATED = 16
_LOOKED_AT = 256
"""So many bytes of a value are enough to tell a placeholder."""


def entropy(value: bytes) -> float:
    """Shannon's, of the bytes of ``value``, in bits a byte."""
    length = len(value)
    return math.log2(length) - sum(count * math.log2(count) for count in Counter(value).values()) / length


def is_made_up(value: bytes) -> bool:
    """Whether the body of a key of fixed form is filler, as in ``ghp_xxxx…`` or ``AKIA…EXAMPLE``."""
    return (
        b"EXAMPLE" in value or len(set(value)) < min(_MIN_DISTINCT, len(value) // 2) or _RUN.search(value) is not None
    )


def stands_for_a_secret(value: bytes) -> bool:
    """Whether ``value`` is a placeholder, a variable, an expression, a sentence or a path, but no secret itself."""
    value = value[:_LOOKED_AT]
    if is_placeholder(value) or any(pattern.match(value) for pattern in (_CODE, _PATH, _DIGEST)):
        return True
    if b" " in value and (_PROSE.search(value) or not _DIGIT.search(value)):
        return True
    return _CALL.search(value) is not None or len(set(value)) <= 2 or b"EXAMPLE" in value


def is_placeholder(value: bytes) -> bool:
    """Whether a person is to put something in its place, or a shell or template will."""
    value = value[:_LOOKED_AT]
    return _PLACEHOLDER.match(value) is not None or _FILLER.search(value.lower()) is not None


def is_uuid(value: bytes) -> bool:
    return _UUID.match(value) is not None


def is_hex(value: bytes) -> bool:
    return _HEX.match(value) is not None


def is_password(value: bytes) -> bool:
    """Whether people would take it for a password: letters with digits, or with a sign and both cases."""
    if stands_for_a_secret(value) or is_uuid(value):
        return False
    words = value.lstrip(_MARKS)
    if _WORDS.match(words) and not is_numbered_words(words):
        return False
    return _LETTER.search(value) is not None and _DIGIT_OR_SIGN.search(value) is not None


def is_random(value: bytes) -> bool:
    """Whether a machine drew it: long, letters and digits, as mixed as chance makes them."""
    if len(value) < 16 or stands_for_a_secret(value) or is_uuid(value) or _WORDS.match(value):
        return False
    if not (_DIGIT.search(value) and _LETTER.search(value)):
        return False
    if is_hex(value):
        return len(value) >= _SHORTEST_HEX and entropy(value) >= _MIN_HEX_BITS
    return entropy(value) >= _MIN_BITS


def is_unmistakable(value: bytes) -> bool:
    """Whether what reads like this secret elsewhere is this secret, and no part of what is told.

    It has eight bytes or more, and is neither a word with a number, as ``postgres15``, nor two short words in small
    letters, nor code; ``Welcome2024!``, ``BlueHarbor42`` and ``copper-kettle-lantern`` are unmistakable.
    """
    if len(value) < _SHORTEST_UNMISTAKABLE or _OPENS_CALL.search(value):
        return False
    if is_uuid(value) or is_phrase(value) or is_numbered_words(value):
        return True
    if is_password(value):
        return _WORD_AND_NUMBER.match(value) is None
    if stands_for_a_secret(value):
        return False
    return is_joined_words(value) or (len(value) >= _SHORTEST_HYPHENATED and is_hyphenated_words(value))
