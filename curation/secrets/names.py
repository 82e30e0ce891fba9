"""Whether the name of a variable, field or option says that its value is a secret."""

from __future__ import annotations

import re

NAME_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PASSWORDS = ("password", "passwd", "passphrase", "pwd", "passwort")
_PASSES = frozenset({"pass", "dbpass", "userpass", "rootpass", "adminpass", "sshpass"})
_SECRETS = (
    "secret",
    "token",
    "apikey",
    "accesskey",
    "authkey",
    "privatekey",
    "accountkey",
    "credential",
    "credentials",
)
_KEYS_OF = frozenset(
    {
        *("api", "access", "account", "app", "application", "auth"),
        *("encryption", "license", "master", "private", "secret", "signing"),
    }
)
_NOT_SECRET = frozenset(
    {
        *("checksum", "digest", "etag", "fingerprint", "hash", "integrity", "md5", "salt", "sha"),
        *("continuation", "cursor", "next", "page", "resume", "sync"),
        *("arn", "dir", "endpoint", "file", "id", "ids", "name", "names", "path", "ref", "uri", "url", "version"),
        *("field", "format", "label", "pattern", "policy", "public", "regex", "sample", "type"),
        *(
            "count",
            "expiration",
            "expires",
            "expiry",
            "index",
            "len",
            "length",
            "limit",
            "max",
            "min",
            "num",
            "size",
            "ttl",
        ),
        *("bos", "eos", "invalid", "pad", "unexpected"),
    }
)
"""Words that make the name one of something about a secret, or of another kind of token."""


def is_password_name(name: bytes) -> bool:
    """As in ``DB_PASSWORD``, ``userPwd``, ``ssh_pass``; not ``password_hash``, ``bypass``."""
    words = _words(name)
    if not words or _NOT_SECRET.intersection(words):
        return False
    return words[-1].endswith(_PASSWORDS) or words[-1] in _PASSES


def is_secret_name(name: bytes) -> bool:
    """As in ``API_KEY``, ``clientSecret``, ``_authToken``; not ``max_tokens``, ``page_token``, ``secretName``."""
    words = _words(name)
    if not words or _NOT_SECRET.intersection(words):
        return False
    if words[-1] in {"key", "keys"}:
        return bool(_KEYS_OF.intersection(words[:-1]))
    return words[-1].endswith(_SECRETS)


def _words(name: bytes) -> list[str]:
    return [word.lower() for word in _WORD.findall(name.decode("ascii"))]
