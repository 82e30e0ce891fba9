"""Secrets as they are kept: hashes of passwords, seeds of second factors, keys of wallets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from curation.secrets.boundaries import shifted
from curation.secrets.notation import OPENED
from curation.secrets.plausible import is_made_up
from curation.secrets.rule import Rank, Rule, Run
from curation.secrets.triggers import ALNUM, Trigger, any_case, exact, one_of

_BASE58 = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_BEFORE_KEY = (frozenset(range(256)) - ALNUM[0]) | frozenset(b"nrt")
"""What may stand before a wallet's key; n, r and t may end an escape."""
_STOP_WORDS = frozenset(b"and are for has its not that the this was will with you your".split())
"""Of ordinary sentences; a few of them are words of seeds too, but no seed has two."""

_CRYPT_HASHES = (
    (("$1$", "$apr1$"), rb"\$(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"),
    (("$5$", "$6$"), rb"\$[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$(?:[./A-Za-z0-9]{86}|[./A-Za-z0-9]{43})"),
    (("$y$", "$gy$", "$7$"), rb"\$(?:g?y|7)\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"),
    (("$2a$", "$2b$", "$2x$", "$2y$"), rb"\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}"),
    (
        ("$argon2",),
        rb"\$argon2(?:id|i|d)\$(?:v=\d{1,3}\$)?m=\d{1,9},t=\d{1,9},p=\d{1,9}\$[A-Za-z0-9+/]{11,64}\$[A-Za-z0-9+/]{16,86}",
    ),
    (("$P$", "$H$", "$S$"), rb"\$(?:[PH]\$[./A-Za-z0-9]{31}|S\$[./A-Za-z0-9]{52})"),
    (("pbkdf2_sha",), rb"pbkdf2_sha\d{1,3}\$\d{1,9}\$[A-Za-z0-9]{1,64}\$[A-Za-z0-9+/]{27,86}={0,2}"),
    (("pbkdf2:sha", "scrypt:"), rb"(?:pbkdf2:sha\d{1,3}|scrypt)(?::\d{1,9}){0,3}\$[A-Za-z0-9]{1,64}\$[a-f0-9]{40,128}"),
    (("SCRAM-SHA-",), rb"SCRAM-SHA-\d{1,3}\$\d{1,9}:[A-Za-z0-9+/=]{8,64}\$[A-Za-z0-9+/=]{28,88}:[A-Za-z0-9+/=]{28,88}"),
    (("{SHA", "{SSHA"), rb"\{S?SHA(?:256|512)?\}[A-Za-z0-9+/]{27,100}={0,2}"),
)
"""By what they begin with: crypt(5), Argon2's, phpass's, Django's, Werkzeug's, PostgreSQL's, LDAP's."""


def _hash(
    name: str,
    triggers: tuple[Trigger, ...],
    pattern: bytes,
    *,
    begin: Callable[[bytes, int], int] | None = None,
    follows: Run | None = None,
) -> Rule:
    return Rule(
        name=name,
        kind="password-hash",
        triggers=triggers,
        pattern=re.compile(pattern + rb"(?![A-Za-z0-9+/])"),
        accepts=lambda match: not is_made_up(match[0]),
        begin=begin,
        follows=follows,
        rank=Rank.STRUCTURE,
    )


def _is_wallet_key(match: re.Match[bytes]) -> bool:
    """Whether the check sum of the wallet import format is right: that of Base58Check, twice SHA-256."""
    number = 0
    for byte in match["secret"]:
        number = number * 58 + _BASE58.index(byte)
    payload, check = number.to_bytes(40, "big").lstrip(b"\0")[:-4], number.to_bytes(40, "big")[-4:]
    return hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4] == check


def _is_seed(match: re.Match[bytes]) -> bool:
    """Whether it has as many words as a seed has, and is no sentence."""
    words = match["secret"].split()
    return len(words) % 3 == 0 and len(_STOP_WORDS.intersection(words)) < 2


_HASHES = (
    *(_hash(beginnings[0], tuple(map(exact, beginnings)), pattern) for beginnings, pattern in _CRYPT_HASHES),
    _hash("Windows", (exact(":::"),), rb"[a-fA-F0-9]{32}:[a-fA-F0-9]{32}(?=:::)", begin=shifted(65)),
    _hash("MySQL", (exact("*"),), rb"\*[A-F0-9]{40}", follows=Run(frozenset(b"0123456789ABCDEF"), 40)),
)
_WALLETS = (
    Rule(
        name="WIF",
        kind="wallet-key",
        triggers=((_BEFORE_KEY, *one_of("5KL")),),
        pattern=re.compile(rb"(?P<secret>5[1-9A-HJ-NP-Za-km-z]{50}|[KL][1-9A-HJ-NP-Za-km-z]{51})(?![A-Za-z0-9])"),
        accepts=_is_wallet_key,
        begin=shifted(-1),
        alone=True,
        follows=Run(frozenset(_BASE58), 50),
        rank=Rank.STRUCTURE,
    ),
    Rule(
        name="xprv",
        kind="wallet-key",
        triggers=tuple(map(exact, ("xprv", "yprv", "zprv", "tprv"))),
        pattern=re.compile(rb"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}(?![A-Za-z0-9])"),
        accepts=lambda match: not is_made_up(match[0]),
        alone=True,
        follows=Run(frozenset(_BASE58), 100),
        rank=Rank.VENDOR,
    ),
    Rule(
        name="words",
        kind="wallet-seed",
        triggers=tuple(
            any_case(word) for word in ("mnemonic", "seed phrase", "seed_phrase", "seedphrase", "recovery phrase")
        ),
        pattern=re.compile(
            rb"(?i:mnemonic|seed[ _]?phrase|recovery phrase)[\"'`\\]{0,4}(?: is)?\s{0,4}[:=]?\s{0,4}"
            + OPENED
            + rb"(?P<secret>[a-z]{3,8}(?: [a-z]{3,8}){11,23}+)(?! ?[a-z])"
        ),
        accepts=_is_seed,
        rank=Rank.NAMED,
    ),
)
_FACTORS = (
    Rule(
        name="otpauth://",
        kind="totp-seed",
        triggers=(exact("otpauth://"),),
        pattern=re.compile(rb"otpauth://[ht]otp/[^\s\"'<>]{0,256}?[?&]secret=(?P<secret>[A-Za-z2-7]{16,128})"),
        rank=Rank.STRUCTURE,
    ),
    Rule(
        name="secret key is",
        kind="totp-seed",
        triggers=(any_case("secret key is"), any_case("setup key"), any_case("manual entry key")),
        pattern=re.compile(rb"(?i:secret key is|setup key|manual entry key):? (?P<secret>[A-Z2-7]{16,64})(?!\w)"),
        accepts=lambda match: not is_made_up(match["secret"]),
        rank=Rank.NAMED,
    ),
)

STORED_RULES = (*_HASHES, *_WALLETS, *_FACTORS)
