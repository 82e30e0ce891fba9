"""The labelled texts that the detector is measured on: hand-written hard ones, and generated ones from a seed.

No key is real and none is in a file: templates such as ``ghp_{alnum:36}`` are filled by a seeded generator.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import string
import struct
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

WRITTEN = (
    "hard_cases.yaml",
    "held_out_cases.yaml",
    "format_cases.yaml",
    "later_cases.yaml",
    "blind_cases.yaml",
    "further_cases.yaml",
    "option_cases.yaml",
)
"""The files of cases written by hand."""
_HOLE = re.compile(r"\{(\w+)(?::(\d+))?\}")
_MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_URL_SAFE = string.ascii_letters + string.digits + "-_"
_ALPHABETS = {
    "digit": string.digits,
    "alpha": string.ascii_letters,
    "upper": string.ascii_uppercase + string.digits,
    "alnum": string.ascii_letters + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "url": _URL_SAFE,
    "base64": string.ascii_letters + string.digits + "+/",
    "base64url": string.ascii_letters + string.digits,
    "base32": string.ascii_uppercase + "234567",
    "base32lower": "0123456789abcdfghijklmnpqrsvwxyz",
    "bech32": "023456789acdefghjklmnpqrstuvwxyz",
    "BECH32": "023456789ACDEFGHJKLMNPQRSTUVWXYZ",
    "base58": _BASE58,
    "crypt": "./" + string.digits + string.ascii_letters,
}
_SEED_WORDS = (
    "abandon ability acid acoustic action afraid album alert alley amused ankle anxiety apple arctic army artist "
    "bacon badge balance banana beach bicycle blanket border bracket brother canvas captain carbon castle century"
)


class Label(NamedTuple):
    """``text[start:end]`` is to be found, and called by its kind."""

    kind: str
    start: int
    end: int


class Labelled(NamedTuple):
    """A text, and all that is to be found in it."""

    text: str
    labels: tuple[Label, ...] = ()


def written_cases(name: str) -> Iterator[Labelled]:
    """Those written by hand, from the file of this name."""
    rng = random.Random(1)
    cases = yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for case in cases["positives"]:
        yield _labelled(case["kind"], _filled(case["text"], rng))
    for text in cases["negatives"]:
        yield Labelled(_filled(text, rng))


def generated_cases(seed: int) -> Iterator[Labelled]:
    """Every kind of key in every kind of context that suits it, then look-alikes in the same contexts."""
    rng = random.Random(seed)
    for kind, template in _KEYS:
        for context in rng.sample(_CONTEXTS, 3):
            yield _labelled(kind, _filled(context.replace("VALUE", f"⟦{template}⟧"), rng))
    for kind, contexts in _NAMED.items():
        for context in contexts:
            yield _labelled(kind, _filled(context, rng))
    for make in _PERSONAL:
        for context in rng.sample(_PROSE, 4):
            kind, value = make(rng)
            yield _labelled(kind, context.replace("VALUE", f"⟦{value}⟧"))
    for template in _LOOK_ALIKES:
        for context in rng.sample(_CONTEXTS, 3):
            yield Labelled(_filled(context.replace("VALUE", template), rng))


def _labelled(kinds: str, marked: str) -> Labelled:
    """The text without its marks, and what was between them, of the kinds that blanks set apart."""
    labels = []
    for number, (kind, mark) in enumerate(zip(kinds.split(), _MARKED.finditer(marked), strict=True)):
        start = mark.start() - 2 * number
        labels.append(Label(kind, start, start + len(mark[1])))
    return Labelled(_MARKED.sub(lambda mark: mark[1], marked), tuple(labels))


def _filled(template: str, rng: random.Random) -> str:
    return _HOLE.sub(lambda hole: _drawn(hole[1], hole[2], rng) if hole[1] in _DRAWN else hole[0], template)


def _drawn(what: str, length: str | None, rng: random.Random) -> str:
    if what == "uuid":
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))
    if what == "jwt":
        return ".".join(
            [_encoded({"alg": "HS256", "typ": "JWT"}), _encoded({"sub": _letters(8, rng)}), _letters(43, rng)]
        )
    if what == "basic":
        return _base64(f"admin:{_letters(12, rng)}")
    if what == "openssh":
        return _openssh_key(rng)
    if what in ("b64pem", "b64cert"):
        label = "RSA PRIVATE KEY" if what == "b64pem" else "CERTIFICATE"
        return _base64(f"-----BEGIN {label}-----\n{_letters(64, rng)}\n{_letters(40, rng)}\n-----END {label}-----\n")
    if length is None:
        return f"{{{what}}}"
    if what == "b64of":
        return _base64(_letters(int(length), rng))
    if what == "words":
        return " ".join(rng.choices(_SEED_WORDS.split(), k=int(length)))
    if what == "wif":
        return _wallet_key(compressed=length == "52", rng=rng)
    return "".join(rng.choices(_ALPHABETS[what], k=int(length)))


_DRAWN = {*_ALPHABETS, "uuid", "jwt", "basic", "openssh", "b64pem", "b64cert", "b64of", "words", "wif"}


def _openssh_key(rng: random.Random) -> str:
    """A block as ``ssh-keygen`` writes it without a passphrase: its header is full of zeros."""
    public, private, check = rng.randbytes(32), rng.randbytes(32), rng.randbytes(4)
    pair = _strings(b"ssh-ed25519", public)
    secret = check + check + pair + _strings(private + public, b"user@box")
    secret += bytes(range(1, 1 + -len(secret) % 8))
    whole = b"openssh-key-v1\0" + _strings(b"none", b"none", b"") + struct.pack(">I", 1) + _strings(pair, secret)
    lines = re.findall(".{1,70}", base64.b64encode(whole).decode())
    return "\n".join(["-----BEGIN OPENSSH PRIVATE KEY-----", *lines, "-----END OPENSSH PRIVATE KEY-----"])


def _strings(*parts: bytes) -> bytes:
    """Each after its length, as SSH writes them (RFC 4251)."""
    return b"".join(struct.pack(">I", len(part)) + part for part in parts)


def _wallet_key(*, compressed: bool, rng: random.Random) -> str:
    """A private key in Bitcoin's wallet import format: base58 with a check sum."""
    payload = b"\x80" + rng.randbytes(32) + b"\x01" * compressed
    checked = payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    number, digits = int.from_bytes(checked, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        digits = _BASE58[digit] + digits
    return digits


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _letters(length: int, rng: random.Random) -> str:
    return "".join(rng.choices(_ALPHABETS["alnum"], k=length))


def _encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


_CONTEXTS = [
    "SOME_VARIABLE=VALUE",
    "export X='VALUE'\n$ ",
    'user@box:~/app$ echo "VALUE" | wc -c',
    '{"a": 1, "value": "VALUE", "b": [2]}',
    '[{"keystrokes": "vi .env\\nVALUE\\n", "duration": 0.1}]',
    "services:\n  app:\n    environment:\n      - KEY=VALUE\n",
    "2025-11-02T10:11:12Z INFO loaded VALUE from disk",
    "curl -H 'X-Auth: VALUE' http://localhost:8080/",
    "| name | VALUE |",
    "(VALUE)",
    '+    key = "VALUE"',
    "https://api.example.net/run?k=VALUE&n=1",
]
_PROSE = [
    "Contact: VALUE",
    "user@box:~$ echo VALUE",
    '{"id": 7, "contact": "VALUE"}',
    "| Jane | VALUE | active |",
    "id,name,contact\n1,Jane,VALUE\n",
    "We wrote to VALUE, and waited.",
    '[{"keystrokes": "echo \\"VALUE\\"\\n", "duration": 0.1}]',
]
_KEYS = [
    ("aws-key", "AKIA{base32:16}"),
    ("aws-key", "ASIA{base32:16}"),
    ("google-key", "AIza{url:34}x"),
    ("google-key", "GOCSPX-{url:27}x"),
    ("google-token", "ya29.{url:120}x"),
    ("github-token", "ghp_{alnum:36}"),
    ("github-token", "gho_{alnum:36}"),
    ("github-token", "ghs_{alnum:36}"),
    ("github-token", "github_pat_{alnum:22}_{alnum:59}"),
    ("gitlab-token", "glpat-{url:19}x"),
    ("gitlab-token", "glrt-{url:19}x"),
    ("slack-token", "xoxb-{digit:12}-{digit:12}-{alnum:24}"),
    ("slack-token", "xoxp-{digit:12}-{digit:12}-{digit:12}-{hex:32}"),
    ("slack-token", "xapp-1-A{upper:10}-{digit:13}-{hex:64}"),
    ("slack-webhook", "https://hooks.slack.com/services/T{upper:10}/B{upper:10}/{alnum:24}"),
    ("stripe-key", "sk_live_{alnum:24}"),
    ("stripe-key", "rk_live_{alnum:99}"),
    ("stripe-webhook-key", "whsec_{alnum:32}"),
    ("openai-key", "sk-proj-{url:120}x"),
    ("openai-key", "sk-{alnum:20}T3BlbkFJ{alnum:20}"),
    ("anthropic-key", "sk-ant-api03-{url:92}xAA"),
    ("openrouter-key", "sk-or-v1-{hex:64}"),
    ("model-key", "sk-{hex:32}"),
    ("huggingface-token", "hf_{alpha:34}"),
    ("npm-token", "npm_{alnum:36}"),
    ("pypi-token", "pypi-AgEIcHlwaS5vcmc{url:150}x"),
    ("rubygems-key", "rubygems_{hex:48}"),
    ("docker-token", "dckr_pat_{url:26}x"),
    ("digitalocean-token", "dop_v1_{hex:64}"),
    ("databricks-token", "dapi{hex:32}"),
    ("daytona-key", "dtn_{hex:64}"),
    ("e2b-key", "e2b_{hex:40}"),
    ("sendgrid-key", "SG.{url:22}.{url:42}x"),
    ("twilio-key", "SK{hex:32}"),
    ("twilio-key", "AC{hex:32}"),
    ("mailgun-key", "key-{hex:32}"),
    ("mailchimp-key", "{hex:32}-us14"),
    ("brevo-key", "xkeysib-{hex:64}-{alnum:16}"),
    ("azure-client-secret", "{alnum:3}8Q~{alnum:34}"),
    ("telegram-token", "{digit:10}:AA{url:32}x"),
    ("shopify-token", "shpat_{hex:32}"),
    ("square-token", "sq0atp-{url:21}x"),
    ("newrelic-key", "NRAK-{upper:27}"),
    ("newrelic-key", "{hex:36}NRAL"),
    ("vault-token", "hvs.{url:90}x"),
    ("terraform-token", "{alnum:14}.atlasv1.{url:66}x"),
    ("doppler-token", "dp.pt.{alnum:43}"),
    ("linear-key", "lin_api_{alnum:40}"),
    ("notion-token", "ntn_{digit:11}{alnum:35}"),
    ("notion-token", "secret_{alnum:43}"),
    ("postman-key", "PMAK-{hex:24}-{hex:34}"),
    ("grafana-token", "glsa_{alnum:32}_{hex:8}"),
    ("groq-key", "gsk_{alnum:52}"),
    ("xai-key", "xai-{alnum:80}"),
    ("perplexity-key", "pplx-{alnum:48}"),
    ("replicate-token", "r8_{alnum:37}"),
    ("figma-token", "figd_{url:39}x"),
    ("airtable-token", "pat{alnum:14}.{hex:64}"),
    ("tailscale-key", "tskey-auth-k{alnum:11}CNTRL-{alnum:32}"),
    ("planetscale-token", "pscale_tkn_{url:42}x"),
    ("sentry-token", "sntryu_{hex:64}"),
    ("supabase-key", "sbp_{hex:40}"),
    ("pulumi-token", "pul-{hex:40}"),
    ("discord-webhook", "https://discord.com/api/webhooks/1{digit:18}/{url:67}x"),
    ("jwt", "{jwt}"),
    ("private-key", "{openssh}"),
    ("private-key", "-----BEGIN RSA PRIVATE KEY-----\\n{base64:64}\\n{base64:64}\\n-----END RSA PRIVATE KEY-----"),
]
_NAMED = {
    "password": [
        "DB_PASSWORD=⟦{alnum:12}7a⟧",
        'password: "⟦{alnum:16}7a⟧"',
        "mysql://app:⟦{alnum:10}7a⟧@db.local:3306/x",
        '{"passwd":"⟦{alnum:9}7a⟧"}',
        "$env:ADMIN_PASSWORD = '⟦{alnum:11}7a⟧'",
        "amqps://u:⟦{alnum:18}7a⟧@mq.local/%2f",
    ],
    "token": [
        "API_TOKEN=⟦{alnum:40}7a⟧",
        'apiKey: "⟦{alnum:32}7a⟧"',
        "Authorization: Bearer ⟦{url:40}7a⟧",
        "--token ⟦{alnum:30}7a⟧",
        '"secret_key": "⟦{base64:40}7a⟧"',
        "client-secret = ⟦{alnum:24}7a⟧",
    ],
    "aws-secret": ["aws_secret_access_key=⟦{base64:40}⟧", 'secretAccessKey: "⟦{base64:40}⟧"'],
    "cookie": ["Cookie: ⟦JSESSIONID={HEX:32}⟧", "Set-Cookie: connect.sid=⟦s%3A{alnum:32}.{alnum:43}⟧; Path=/"],
    "azure-key": ["AccountName=x;AccountKey=⟦{base64:86}==⟧;", "SharedAccessKey=⟦{base64:43}=⟧"],
    "datadog-key": ["DD_APP_KEY=⟦{hex:40}⟧", "datadog_api_key: ⟦{hex:32}⟧"],
    "discord-token": ["bot.run('⟦MTA4NTQ2MjI5ODc2NTQzMjEw.G{alnum:5}.{url:37}x⟧')"],
}
_LOOK_ALIKES = [
    "{hex:40}",
    "{hex:64}",
    "{hex:32}",
    "{uuid}",
    "sha256:{hex:64}",
    "sha512-{base64:86}==",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "<your-token-here>",
    "${SECRET_TOKEN_1}",
    "AKIA{base32:9}",
    "AKIA{base32:24}",
    "sk-{lower:8}",
    "hf_{lower:10}",
    "SG.{lower:10}.{lower:10}",
    "npm_config_{lower:10}",
    "SK{HEX:32}",
    "eyJ{alnum:30}",
    "key-{lower:12}",
    "1.{digit:1}.{digit:1}.{digit:1}-rc{digit:1}",
    "10.{digit:2}.1{digit:1}.{digit:1}",
    "192.168.{digit:1}.{digit:1}",
    "2025-1{digit:1}-0{digit:1}T0{digit:1}:00:00+02:00",
    "1{digit:12}",
    "v2.{digit:1}.{digit:1}.{digit:1}",
    "lib@{digit:1}.{digit:2}.{digit:1}",
    "frame_{digit:2}@2x.png",
    "xoxb-your-token",
    "{base64:200}",
    "0x{hex:40}",
    "pk_live_{alnum:24}",
    "{upper:3}-{digit:4}",
]


def _email(rng: random.Random) -> tuple[str, str]:
    host = rng.choice(["acme.com", "mail.uni-bonn.de", "corp.co.uk", "startup.io", "ministry.gov.au"])
    return "email", f"{rng.choice(['jane', 'j.doe', 'jane_doe', 'jane+x'])}{rng.randrange(100)}@{host}"


def _ipv4(rng: random.Random) -> tuple[str, str]:
    numbers = rng.choice([45, 93, 141, 212]), rng.randrange(25, 256), rng.randrange(256), rng.randrange(256)
    return "ip", ".".join(map(str, numbers))


def _ipv6(rng: random.Random) -> tuple[str, str]:
    groups = ":".join(f"{rng.randrange(1, 0xFFFF):x}" for _ in range(rng.choice([2, 6])))
    return "ip", f"2a02:8071:{groups}" if groups.count(":") == 5 else f"2a02:8071:{groups}::1"


def _card(rng: random.Random) -> tuple[str, str]:
    prefix, length = rng.choice([("4", 16), ("52", 16), ("37", 15), ("6011", 16)])
    digits = prefix + "".join(rng.choices(string.digits, k=length - len(prefix) - 1))
    doubled = [int(digit) * (2 - place % 2) for place, digit in enumerate(reversed(digits))]
    digits += str(-sum(number - 9 if number > 9 else number for number in doubled) % 10)
    grouped = length == 16 and rng.random() < 0.5
    return "card", " ".join(re.findall("....", digits)) if grouped else digits


def _iban(rng: random.Random) -> tuple[str, str]:
    country, length = rng.choice([("DE", 18), ("FR", 23), ("ES", 20), ("NL", 14)])
    account = (
        "ABNA" + "".join(rng.choices(string.digits, k=length - 4))
        if country == "NL"
        else "".join(rng.choices(string.digits, k=length))
    )
    checked = "".join(str(int(char, 36)) for char in f"{account}{country}00")
    iban = f"{country}{98 - int(checked) % 97:02d}{account}"
    return "iban", " ".join(re.findall(".{1,4}", iban)) if rng.random() < 0.5 else iban


def _phone(rng: random.Random) -> tuple[str, str]:
    number = f"{rng.randrange(200, 999)}", f"{rng.randrange(1000, 9999)}"
    forms = ["+1 415 {0} {1}", "+1-415-{0}-{1}", "(415) {0}-{1}", "+4930{0}{1}", "+44 20 7{0} {1}", "+33 6 12 34 56 78"]
    written = rng.choice(forms).format(*number)
    return "phone", written.replace("411 ", "412 ").replace("911 ", "912 ")


_PERSONAL: list[Callable[[random.Random], tuple[str, str]]] = [_email, _ipv4, _ipv6, _card, _iban, _phone] * 3
