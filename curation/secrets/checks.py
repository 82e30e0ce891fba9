"""What rules ask of a match, by its group ``secret`` and the group ``name`` beside it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from curation.secrets.names import is_password_name, is_qualified, is_secret_name
from curation.secrets.plausible import is_made_up, is_password, is_random, is_uuid, stands_for_a_secret

Check: TypeAlias = Callable[[re.Match[bytes]], bool]


def genuine(match: re.Match[bytes]) -> bool:
    """Nothing that stands for a secret: for what only a secret can be."""
    return not is_made_up(match["secret"]) and not stands_for_a_secret(match["secret"])


def password(match: re.Match[bytes]) -> bool:
    return is_password(match["secret"])


def token(match: re.Match[bytes]) -> bool:
    return is_random(match["secret"])


def token_or_uuid(match: re.Match[bytes]) -> bool:
    return is_random(match["secret"]) or is_uuid(match["secret"])


def named_password(match: re.Match[bytes]) -> bool:
    return is_password_name(match["name"]) and is_password(match["secret"])


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
