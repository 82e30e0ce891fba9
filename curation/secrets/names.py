"""Whether the name of a variable, field or option says that its value is a secret."""

from __future__ import annotations

import re
from functools import lru_cache

NAME_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PASSWORDS = ("password", "passwd", "passphrase", "pwd", "passwort")
_PASSES = frozenset({"pass", "dbpass", "userpass", "rootpass", "adminpass", "sshpass", "psk"})
KEYS_OF = frozenset(
    {
        *("access", "account", "admin", "aes", "api", "app", "application", "auth", "encryption", "function", "hmac"),
        *("license", "master", "preshared", "private", "sdk", "secret", "server", "service", "session", "shared"),
        *("signing", "storage", "subscription", "webhook"),
    }
)
"""A key of these is a secret."""
_SECRETS = ("secret", "token", "credential", "credentials", *(f"{of}key" for of in sorted(KEYS_OF)))
_FORMS = frozenset({"b", "base", "pem", "plain", "raw", "value"})
"""Words after the name of a secret that say how it is written: ``SECRET_KEY_BASE``, ``PRIVATE_KEY_B64``."""
_NOT_SECRET = frozenset(
    {
        *("checksum", "digest", "etag", "fingerprint", "hash", "integrity", "md5", "salt", "sha"),
        *("continuation", "correlation", "cursor", "idempotency", "next", "page", "request", "resume", "sync", "trace"),
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


@lru_cache(maxsize=4096)
def is_password_name(name: bytes) -> bool:
    """As in ``DB_PASSWORD``, ``userPwd``, ``ssh_pass``; not ``password_hash``, ``bypass``."""
    words = _words(name)
    if not words or _NOT_SECRET.intersection(words):
        return False
    return words[-1].endswith(_PASSWORDS) or words[-1] in _PASSES


@lru_cache(maxsize=4096)
def is_secret_name(name: bytes) -> bool:
    """As in ``API_KEY``, ``clientSecret``, ``_authToken``; not ``max_tokens``, ``page_token``, ``secretName``."""
    words = _words(name)
    if not words or _NOT_SECRET.intersection(words):
        return False
    if words[-1] in {"key", "keys"}:
        return bool(KEYS_OF.intersection(words[:-1]))
    return words[-1].endswith(_SECRETS) or (words[-1] == "pat" and len(words) > 1)


def is_qualified(name: bytes) -> bool:
    """Whether it says of what the secret is, as ``SNYK_TOKEN`` does and ``token`` does not."""
    return len(_words(name)) > 1


def _words(name: bytes) -> list[str]:
    words = [word.lower() for word in _WORD.findall(name.decode("ascii"))]
    return words[:-1] if len(words) > 1 and words[-1] in _FORMS else words
