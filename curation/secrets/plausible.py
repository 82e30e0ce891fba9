"""Whether a value can be a secret at all, or stands for one: placeholders, code, hashes, identifiers.

Every function here takes ASCII bytes of bounded length.
"""

from __future__ import annotations

import math
import re
from collections import Counter

_PLACEHOLDER = re.compile(
    rb"""[<\[{%#*]                                     # <token>, [secret:NAME], {{ var }}, %(pw)s, ****
    |\$[\w{(]                                          # $VAR, ${VAR}, $(command)
    |.*(?:\.\.\.|\*\*\*|xxxx|----|____|<|>|\$\{|\{\{|\x00)
    |.*(?:your|my|the|some|any|insert|enter|add|put|replace|change)[_\- ]?
       (?:api|app|own|me|this|here|key|token|secret|pass|pw|auth|access)
    |.*(?:placeholder|redacted|masked|hidden|removed|dummy|fake|todo|fixme|not[_-]?set|undefined|example[_.-]|[_-]here\Z)
    |(?:pass(?:word|wd)?|pwd|secret|token|key|none|null|nil|true|false|n/a)\d{0,3}\Z""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CODE = re.compile(
    rb"""(?:[A-Za-z_]+\d{0,3}(?:\.|::|->))+[A-Za-z_]+\d{0,3}\Z   # config.password2
    |.*(?:environ|getenv|process\.env|\(|\)|\[["'])     # a call or a look-up
    |[a-z]+:/*\Z""",
    re.VERBOSE | re.DOTALL,
)
_PATH = re.compile(rb"(?:\.{0,2}|~|[A-Za-z]:|file:/)[/\\](?:[\w.@-]+[/\\])*[\w.@-]+\Z|https?://")
_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_DIGEST = re.compile(rb"(?:sha(?:1|224|256|384|512)|md5|h1)[-:~]", re.IGNORECASE)
_HEX = re.compile(rb"[0-9a-fA-F]+\Z")
_WORDS = re.compile(
    rb"""(?:[a-z]+\d{0,3}[-_.])+(?:[a-z]+|v?\d+|[a-z]+\d{1,3})\Z   # entity_mask2_token, step-12
    | (?:[a-z]+[-_.])*[a-z]+\Z | (?:[A-Z]+_)*[A-Z]+\Z
    | (?:[A-Z][a-z]+\d*){2,6}\Z                             # Ed25519PrivateKey""",
    re.VERBOSE,
)
_RUN = re.compile(rb"(.)\1{5}", re.DOTALL)
_MIN_BITS = 3.0
_MIN_HEX_BITS = 2.5
_MIN_DISTINCT = 7
_LOOKED_AT = 256
"""So many bytes of a value are enough to tell a placeholder."""


def entropy(value: bytes) -> float:
    """Shannon's, of the bytes of ``value``, in bits a byte."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def is_made_up(value: bytes) -> bool:
    """Whether the body of a key of fixed form is filler, as in ``ghp_xxxx…`` or ``AKIA0000…``."""
    return len(set(value)) < min(_MIN_DISTINCT, len(value) // 2) or _RUN.search(value) is not None


def stands_for_a_secret(value: bytes) -> bool:
    """Whether ``value`` is a placeholder, a variable, an expression, a path or an address, but no secret itself."""
    value = value[:_LOOKED_AT]
    return any(pattern.match(value) for pattern in (_PLACEHOLDER, _CODE, _PATH, _DIGEST)) or len(set(value)) <= 2


def is_placeholder(value: bytes) -> bool:
    """Whether a person is to put something in its place, or a shell or template will."""
    return _PLACEHOLDER.match(value[:_LOOKED_AT]) is not None


def is_uuid(value: bytes) -> bool:
    return _UUID.match(value) is not None


def is_hex(value: bytes) -> bool:
    return _HEX.match(value) is not None


def is_password(value: bytes) -> bool:
    """Whether people would take it for a password: letters with digits, or with a sign and both cases."""
    if stands_for_a_secret(value) or is_uuid(value) or _WORDS.match(value):
        return False
    has_letter = re.search(rb"[A-Za-z]", value) is not None
    has_digit = re.search(rb"\d", value) is not None
    has_sign = re.search(rb"[^\w.:/-]", value) is not None
    return has_letter and (has_digit or has_sign)


def is_random(value: bytes) -> bool:
    """Whether a machine drew it: long, letters and digits, as mixed as chance makes them."""
    if len(value) < 16 or stands_for_a_secret(value) or is_uuid(value) or _WORDS.match(value):
        return False
    if not (re.search(rb"\d", value) and re.search(rb"[A-Za-z]", value)):
        return False
    if is_hex(value):
        return len(value) >= 32 and entropy(value) >= _MIN_HEX_BITS
    return entropy(value) >= _MIN_BITS
