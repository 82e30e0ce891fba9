"""What rules ask of a match, by its group ``secret`` and the group ``name`` beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from curation.secrets.names import is_password_name, is_qualified, is_secret_name
from curation.secrets.plausible import (
    is_made_up,
    is_password,
    is_placeholder,
    is_random,
    is_unmistakable,
    is_uuid,
    stands_for_a_secret,
)
from curation.secrets.words import is_hyphenated_words, is_joined_words, is_phrase

Check: TypeAlias = Callable[[re.Match[bytes]], bool]

_OPENING = frozenset({b'"', b"'", b"`", b">"})
"""Before what is text, not code."""
_AFTER_SETTING = frozenset({b"", b" ", b"\t", b"\r", b"\n", b";", b"&", b'"', b"'"})
"""After a value in a file of settings, a string of parameters, or a command; not after that of an argument in code."""
_LINE_ENDS = frozenset({b"", b"\r", b"\n"})
_OF_VARIABLE = frozenset({b"=", b" "})
"""Before the value of an environment variable: ``NAME=value`` of a shell, ``NAME: value`` of a file for containers."""


def genuine(match: re.Match[bytes]) -> bool:
    """Nothing that stands for a secret: for what only a secret can be."""
    return not is_made_up(match["secret"]) and not stands_for_a_secret(match["secret"])


def password(match: re.Match[bytes]) -> bool:
    return is_password(match["secret"])


def text_password(match: re.Match[bytes]) -> bool:
    """Also of letters only: where nothing but a text can stand, and that text is a password."""
    return is_text_password(match["secret"])


def is_text_password(value: bytes) -> bool:
    return is_password(value) or (not stands_for_a_secret(value) and is_joined_words(value))


def argument_password(match: re.Match[bytes]) -> bool:
    """Also words with blanks between them, where all of an argument is the password: ``Hazel Mint 31``."""
    secret = match["secret"]
    if text_password(match) or is_phrase(secret):
        return True
    return b" " in secret and not is_placeholder(secret) and is_password(secret.replace(b" ", b"-"))


def unmistakable_password(match: re.Match[bytes]) -> bool:
    """None that a word with a number could be: where a word may stand as well."""
    return is_password(match["secret"]) and is_unmistakable(match["secret"])


def spoken_password(match: re.Match[bytes]) -> bool:
    """Also a phrase, where people tell each other one."""
    return text_password(match) or is_phrase(match["secret"])


def token(match: re.Match[bytes]) -> bool:
    return is_random(match["secret"])


def token_or_uuid(match: re.Match[bytes]) -> bool:
    return is_random(match["secret"]) or is_uuid(match["secret"])


def named_password(match: re.Match[bytes]) -> bool:
    return is_password_name(match["name"]) and is_password(match["secret"])


def named_text_password(match: re.Match[bytes]) -> bool:
    """A password of words too: in quotes or an element, as the value of an environment variable, as a passphrase."""
    name, secret = match["name"], match["secret"]
    if not is_password_name(name):
        return False
    if is_password(secret):
        return True
    if is_phrase(secret):
        return name.lower().endswith((b"passphrase", b"psk"))
    if stands_for_a_secret(secret):
        return False
    start, end = match.span("secret")
    before, following = match.string[start - 1 : start], match.string[end : end + 1]
    is_variable = name.isupper() and before in _OF_VARIABLE
    is_setting = before == b"=" and following in _AFTER_SETTING
    is_setting |= before == b" " and b"_" in name and following in _LINE_ENDS
    is_text = is_variable or is_setting or before in _OPENING
    return (is_text and is_joined_words(secret)) or (is_variable and is_hyphenated_words(secret))


def named_token(match: re.Match[bytes]) -> bool:
    """A value drawn by a machine, beside the name of a secret; a UUID only where the name says of what."""
    name, secret = match["name"], match["secret"]
    return is_secret_name(name) and (is_random(secret) or (is_uuid(secret) and is_qualified(name)))


def after(*words: bytes, within: int, check: Check) -> Check:
    """A check that holds only where one of the words stands in as many bytes before the match, in its line."""
    pattern = re.compile(rb"(?:" + b"|".join(words) + rb")[^\n]*\Z")

    def holds(match: re.Match[bytes]) -> bool:
        before = match.string[max(0, match.start() - within) : match.start()]
        return pattern.search(before) is not None and check(match)

    return holds
