"""How fast secrets and personal data are found on one core, beside detect-secrets in the same run.

The ordinary texts are the turns of the statistics benchmark: real ones, which speak of passwords, tokens and addresses
often. The dense ones are made up, of the kinds in which nearly every line holds what could be a secret or a datum.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable
from functools import partial

import pyarrow as pa
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import default_settings

from benchmarks.bench_statistics import sample_turns, speed
from benchmarks.table import Row, Table
from curation.secrets import find, redact_trajectory

_NUM_TURNS = 4000
_PEER_TURNS = 16
_TURNS_A_TRAJECTORY = 20
_PASSES = 3
_DENSE_TEXTS = 100
_LINES_A_TEXT = 200
_TARGET = "30 MB/s, goal 100"

_Line = Callable[[random.Random], str]


def run() -> Table:
    """Measure; takes some ten seconds."""
    turns = sample_turns().slice(0, _NUM_TURNS)
    some = turns.slice(0, _PEER_TURNS)
    find("")  # compiles, or loads what was compiled
    peer = speed(some, lambda: _detect_secrets(_texts(some)), passes=1)
    found = speed(turns, lambda: _find(turns), passes=_PASSES)
    redacted = speed(turns, lambda: _redact(_texts(turns)), passes=_PASSES)
    dense = {kind: dense_turns(kind) for kind in _KINDS}
    speeds = {kind: speed(texts, partial(_find, texts), passes=_PASSES) for kind, texts in dense.items()}
    rows = [
        Row("detect-secrets, line by line", (f"{peer:.2f}",), 1.0),
        Row("find: ordinary recordings", (f"{found:.0f}",), found / peer, _TARGET),
        *(Row(f"find: {kind}", (f"{figure:.0f}",), figure / peer, "30 MB/s") for kind, figure in speeds.items()),
        Row("redact_trajectory: ordinary recordings", (f"{redacted:.0f}",), redacted / peer),
    ]
    return Table("secrets and personal data, one core", ("MB/s of text",), "detect-secrets", rows)


def dense_turns(kind: str) -> pa.Table:
    """Turns without actions whose observations are texts of this kind."""
    rng = random.Random(kind)
    texts = ["\n".join(_KINDS[kind](rng) for _ in range(_LINES_A_TEXT)) for _ in range(_DENSE_TEXTS)]
    return pa.table({"action": [""] * len(texts), "observation": texts})


def _access_log(rng: random.Random) -> str:
    status, size = rng.choice([200, 200, 200, 304, 404, 500]), rng.randrange(100, 90_000)
    agent = (
        f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{rng.randrange(90, 131)}.0.{rng.randrange(4000, 7000)}.{rng.randrange(200)} Safari/537.36"
    )
    path = f"/api/v{rng.randrange(1, 4)}/items/{rng.randrange(100_000)}?page={rng.randrange(50)}"
    return f'{_address(rng)} - - [{_time(rng)} +0000] "GET {path} HTTP/1.1" {status} {size} "-" "{agent}"'


def _ip_addr(rng: random.Random) -> str:
    number, host = rng.randrange(2, 90), rng.randrange(2, 250)
    mac = ":".join(f"{rng.randrange(256):02x}" for _ in range(6))
    groups = ":".join(f"{rng.randrange(65536):x}" for _ in range(4))
    return (
        f"{number}: veth{rng.randrange(16**7):07x}@if{number + 1}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc\n"
        f"    link/ether {mac} brd ff:ff:ff:ff:ff:ff link-netnsid 0\n"
        f"    inet 172.{rng.randrange(16, 32)}.{host}.1/16 brd 172.31.255.255 scope global docker{number}\n"
        f"    inet {_address(rng)}/24 scope global secondary eth{number}\n"
        f"    inet6 2a01:4f8:{rng.randrange(65536):x}::{groups}/64 scope global\n"
        f"    inet6 fe80::{groups}/64 scope link\n       valid_lft forever preferred_lft forever"
    )


def _mail_headers(rng: random.Random) -> str:
    one, other = _person(rng), _person(rng)
    signature = "".join(rng.choices("ABCDEFabcdefghijklmnopqrstuvwxyz0123456789+/", k=172))
    return (
        f"Received: from mx{rng.randrange(9)}.acme.com (mx.acme.com [{_address(rng)}])\n"
        f"\tby mail.corp.org (Postfix) with ESMTPS id {rng.randrange(16**11):011X}\n"
        f"\tfor <{one}>; {_time(rng)} +0100 (CET)\n"
        f"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=acme.com; s=s1; b={signature}=\n"
        f"Message-ID: <{rng.randrange(10**14)}.{rng.randrange(10**6)}@mail.acme.com>\n"
        f"From: {other}\nTo: {one}, {other}\nSubject: Re: invoice {rng.randrange(10**6)}\n"
    )


def _customers(rng: random.Random) -> str:
    phone = f"+1 {rng.randrange(212, 900)}-{rng.randrange(212, 900)}-{rng.randrange(10_000):04d}"
    return f"{rng.randrange(10**6)},Jane Doe,{_person(rng)},{phone},{_address(rng)},{rng.random() * 1000:.2f}"


def _numbers(rng: random.Random) -> str:
    return ",".join(
        [
            f"{rng.randrange(10**9)}",
            f"{rng.randrange(4 * 10**15, 5 * 10**15)}",
            f"{rng.random():.6f}",
            f"{rng.uniform(-90, 90):.8f}",
            f"{rng.randrange(100, 999)}-{rng.randrange(100, 999)}-{rng.randrange(1000, 9999)}",
            f"17{rng.randrange(10**11):011d}",
            f"{rng.randrange(10**4):04d} {rng.randrange(10**4):04d} {rng.randrange(10**4):04d}",
        ]
    )


def _hex_dump(rng: random.Random) -> str:
    digits = f"{rng.getrandbits(128):032x}"
    pairs = " ".join(digits[place : place + 4] for place in range(0, 32, 4))
    return f"{rng.randrange(16**8):08x}: {pairs}  ...E..{rng.randrange(100)}.@.."


def _uuids(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _json_numbers(rng: random.Random) -> str:
    drawn = [rng.random(), rng.uniform(-1, 1), rng.randrange(10**6), rng.randrange(10**16), 1.7e12 + rng.random()]
    return json.dumps([*drawn, {"id": rng.randrange(10**12), "bbox": [round(rng.random() * 1000, 3)] * 2}])


def _lock_file(rng: random.Random) -> str:
    digest = f"{rng.getrandbits(256):064x}"
    return f"pkg{rng.randrange(99)}=={rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(9)} --hash=sha256:{digest}"


def _model_log(rng: random.Random) -> str:
    usage = {"prompt_tokens": rng.randrange(10**5), "completion_tokens": rng.randrange(10**4), "max_tokens": 4096}
    return f"{_time(rng)} INFO token usage {json.dumps(usage)} tokens/s={rng.random() * 99:.1f} next_token='the'"


def _ssh_log(rng: random.Random) -> str:
    pid, port = rng.randrange(1000, 99_999), rng.randrange(1024, 65_535)
    failure = f"Failed password for root from {_address(rng)} port {port} ssh2"
    return f"Nov 30 12:00:{rng.randrange(60):02d} web-1 sshd[{pid}]: {failure}"


def _git_log(rng: random.Random) -> str:
    return (
        f"commit {rng.getrandbits(160):040x}\nAuthor: Jane Doe <{_person(rng)}>\n"
        f"Date:   Sun Nov 30 12:00:{rng.randrange(60):02d} 2025 +0100\n\n    Mend the parser (#{rng.randrange(9999)})\n"
    )


def _address(rng: random.Random) -> str:
    """An IPv4 address, public or private."""
    first = rng.choice([10, 192, 45, 93, 141, 185, 212])
    return f"{first}.{168 if first == 192 else rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(256)}"


def _person(rng: random.Random) -> str:
    name = f"{rng.choice(['jane', 'bob', 'li', 'amina'])}.{rng.choice(['doe', 'smith', 'wei', 'okafor'])}"
    return f"{name}{rng.randrange(99)}@{rng.choice(['acme.com', 'mail.corp.org', 'startup.io', 'uni-bonn.de'])}"


def _time(rng: random.Random) -> str:
    return f"30/Nov/2025:{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"


_KINDS: dict[str, _Line] = {
    "access log": _access_log,
    "`ip addr`": _ip_addr,
    "mail headers": _mail_headers,
    "customers CSV": _customers,
    "numbers CSV": _numbers,
    "hex dump": _hex_dump,
    "UUIDs": _uuids,
    "JSON numbers": _json_numbers,
    "lock file": _lock_file,
    "model's log": _model_log,
    "sshd's log": _ssh_log,
    "`git log`": _git_log,
}


def _find(turns: pa.Table) -> None:
    for text in _texts(turns):
        find(text)


def _texts(turns: pa.Table) -> list[str]:
    """Actions and observations, those of a turn after each other."""
    pairs = zip(turns["action"].to_pylist(), turns["observation"].to_pylist(), strict=True)
    return [text for pair in pairs for text in pair]


def _detect_secrets(texts: list[str]) -> None:
    with default_settings():
        for text in texts:
            for line in text.split("\n"):
                list(scan_line(line))


def _redact(texts: list[str]) -> None:
    step = 2 * _TURNS_A_TRAJECTORY
    for first in range(0, len(texts), step):
        redact_trajectory(texts[first : first + step])
