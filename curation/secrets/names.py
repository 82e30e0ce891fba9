"""Whether the name of a variable, field or option says that its value is a secret."""

from __future__ import annotations

import re
from functools import lru_cache

NAME_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PASSWORDS = (
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "passwort",
    "kennwort",
    "wachtwoord",
    "contrasena",
    "senha",
)
_PASSES = frozenset({"pass", "pw", "dbpass", "userpass", "rootpass", "adminpass", "sshpass", "psk"})
KEYS_OF = frozenset(
    {
        *("access", "account", "admin", "aes", "api", "app", "application", "auth", "cipher", "cookie", "crypt"),
        *("decryption", "deploy", "encryption", "fernet", "function", "hmac", "jwt", "license", "master", "preshared"),
        *("private", "sdk", "secret", "security", "server", "service", "session", "shared", "signing", "storage"),
        *("subscription", "webhook", "write"),
        *("anthropic", "aws", "azure", "claude", "cohere", "gemini", "github", "gitlab", "google", "groq", "mailgun"),
        *("mistral", "openai", "sendgrid", "stripe", "twilio"),
    }
)
"""A key of these is a secret."""
_SECRETS = ("secret", "token", "credential", "credentials", *(f"{of}key" for of in sorted(KEYS_OF)))
_FORMS = frozenset({"again", "b", "base", "confirm", "confirmation", "pem", "plain", "raw", "value"})
"""Words after the name of a secret that say how it is written: ``SECRET_KEY_BASE``, ``PRIVATE_KEY_B64``."""
_ABOUT = frozenset(
    {
        *("checksum", "digest", "etag", "fingerprint", "hash", "integrity", "md5", "salt", "sha"),
        *("arn", "dir", "endpoint", "file", "id", "ids", "name", "names", "path", "ref", "uri", "url", "version"),
        *("field", "format", "label", "pattern", "policy", "regex", "type"),
        *("count", "expiration", "expires", "expiry", "index", "len", "length", "limit", "size", "ttl"),
    }
)
"""A name that ends so is one of something about a secret."""
_OF_OTHER_KINDS = frozenset(
    {
        *("continuation", "correlation", "cursor", "idempotency", "next", "page", "request", "resume", "sync", "trace"),
        *("bos", "eos", "invalid", "pad", "sample", "unexpected"),
        *("etag", "field", "index", "label", "max", "min", "name", "num", "path", "public", "regex", "type"),
    }
)
"""Just before the last word: a ``next_page_token``, an ``eos_token`` and a ``public_key`` are none."""


@lru_cache(maxsize=4096)
def is_password_name(name: bytes) -> bool:
    """As in ``DB_PASSWORD``, ``userPwd``, ``ssh_pass``; not ``password_hash``, ``bypass``."""
    words = _words(name)
    return _is_of_a_secret(words) and (words[-1].endswith(_PASSWORDS) or words[-1] in _PASSES)


@lru_cache(maxsize=4096)
def is_secret_name(name: bytes) -> bool:
    """As in ``API_KEY``, ``clientSecret``, ``_authToken``; not ``max_tokens``, ``page_token``, ``secretName``."""
    words = _words(name)
    if words[-2:] == ["secret", "id"]:
        return True  # Vault's, which is as good as a password
    if not _is_of_a_secret(words):
        return False
    if words[-1] in {"key", "keys"}:
        return bool(KEYS_OF.intersection(words[:-1])) and "public" not in words
    if words[-1] in {"auth", "pat"}:
        return len(words) > 1 or name.startswith(b"_")
    return words[-1].endswith(_SECRETS)


def _is_of_a_secret(words: list[str]) -> bool:
    """Whether the last words are not those of something else."""
    return bool(words) and words[-1] not in _ABOUT and not _OF_OTHER_KINDS.intersection(words[-2:-1])


def is_qualified(name: bytes) -> bool:
    """Whether it says of what the secret is, as ``SNYK_TOKEN`` does and ``token`` does not."""
    return len(_words(name)) > 1


def _words(name: bytes) -> list[str]:
    words = [word.lower() for word in _WORD.findall(name.decode("ascii"))]
    return words[:-1] if len(words) > 1 and words[-1] in _FORMS else words
