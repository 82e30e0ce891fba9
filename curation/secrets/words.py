"""Whether joined words are a password that a person made of them, or the name of something in a program."""

from __future__ import annotations

import re

_WORD = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CAMEL_CASE = re.compile(rb"[A-Z]?[a-z]+\d{0,4}(?:[A-Z][a-z]+\d{0,4}){1,6}\Z")
_CAPITALISED = re.compile(rb"[A-Z][a-z]+(?:[-_.][A-Z][a-z]+){1,5}\Z")
_HYPHENATED = re.compile(rb"[A-Za-z]{2,}(?:-[A-Za-z]{2,}){1,7}\Z")
_SPACED = re.compile(rb"[a-z]{2,}(?: [a-z]{2,}){2,7}\Z")
_DIGIT = re.compile(rb"\d")
_LEAST_LETTERS = 8
"""Of a password that has nothing but letters."""
_ENDS_IN_NUMBER = re.compile(rb"(?:[Pp]ass|[Tt]est|[Aa]dmin|[Rr]oot|[Ss]ecret)(?=\d|[A-Z])(?=\w*\d\Z)")
"""What people like to call passwords that end in a number, as in ``EmilysPass1``."""
_OF_PROGRAMS = frozenset(
    (
        b"access account activity actual adapter aes already api app application apply are arg argument array "
        b"attribute auth base basic bcrypt bearer builder button bytes callback cannot change changed char "
        b"characters check choose cipher class click client code component config configuration confirm context "
        b"control controller cookie correct create credential credentials crypt current data database db decrypt "
        b"decrypted default delete des dialog dict digest do does dto edit element empty encode encoded encoder "
        b"encrypt encrypted enter entity enum error event example exception expected expired factory failed field "
        b"file forgot form format fragment function generator get handler has hash hashed have helper hint hmac "
        b"host hostname icon id incorrect input int interface invalid is json key layout least length listener "
        b"loader login mail manager match matches md method mismatch missing model module must my name need new "
        b"node none not null number oauth object option optional options output param parameter parser pass "
        b"passcode passphrase passwd password pbkdf placeholder please policy private prompt property provide "
        b"provider public pw pwd random reader ref reference regex registry repeat request require required reset "
        b"resolver response result role root rsa sample schema scrypt secret security server service session set "
        b"setting settings sha should ssh ssl sso str strategy string template test text tls toggle token type uint "
        b"unset update uri url use user username utf util utils uuid valid validate validation validator value "
        b"varchar variable verify view weak widget will wrapper writer wrong xml yaml your"
    ).split()
)
"""Words of names, types and messages."""


def is_name_of_program(value: bytes) -> bool:
    """Whether one of the words that a value is joined of is a word of programs: ``Ed25519PrivateKey``."""
    return not _OF_PROGRAMS.isdisjoint(word.lower() for word in _WORD.findall(value))


def is_numbered_words(value: bytes) -> bool:
    """Capitalised words with a number among them, as in ``BlueHarbor42``, but not ``Sha256Digest``."""
    if _CAMEL_CASE.match(value) is None or _DIGIT.search(value) is None:
        return False
    return not is_name_of_program(_ENDS_IN_NUMBER.sub(b"", value))


def is_joined_words(value: bytes) -> bool:
    """As in ``BlueHarborDoor`` or ``Oyster_Shell``: a password only where nothing but a text can stand."""
    if len(value) < _LEAST_LETTERS or is_name_of_program(value):
        return False
    return _CAMEL_CASE.match(value) is not None or _CAPITALISED.match(value) is not None


def is_hyphenated_words(value: bytes) -> bool:
    """As in ``oatmeal-bowl``."""
    return len(value) >= _LEAST_LETTERS and _HYPHENATED.match(value) is not None and not is_name_of_program(value)


def is_phrase(value: bytes) -> bool:
    """Three words or more in small letters, as in ``purple monkey dishwasher``."""
    return _SPACED.match(value) is not None and not is_name_of_program(value)
