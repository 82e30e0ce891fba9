"""What the exploring policy writes into the files it makes: small, ordinary, different every time."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping

from collectors.policies.grammar import Maker

NAMES = ("Ada", "Bruno", "Chen", "Dilara", "Emeka", "Freya", "Goran", "Hana", "Imre", "Jóhanna", "Kofi", "Leïla")
CITIES = ("Lisbon", "Osaka", "Nairobi", "Bergen", "Quito", "Gdańsk", "Hanoi", "Perth", "Zürich", "Izmir")
COMPONENTS = ("auth", "billing", "cache", "gateway", "mailer", "scheduler", "search", "storage")
LEVELS = ("DEBUG", "INFO", "INFO", "INFO", "WARN", "ERROR")
MESSAGES = (
    "connection reset by peer",
    "request took {n} ms",
    "retry {n} of 5",
    "user {n} signed in",
    "cache miss for key item:{n}",
    "wrote {n} rows",
    "queue length is {n}",
    "certificate expires in {n} days",
)
# fmt: off
WORDS = (
    "apple", "ridge", "copper", "lantern", "river", "signal", "meadow", "harbor",
    "index", "falcon", "margin", "violet", "pepper", "summit", "anchor", "willow",
    "table", "engine", "circle", "bronze", "winter", "garden", "ticket", "marble",
)
# fmt: on
ITEMS = ("bolt", "washer", "hinge", "bracket", "valve", "gasket", "spring", "bearing")


def log_lines(rng: random.Random) -> str:
    clock = rng.randrange(86_400)
    lines = []
    for _ in range(rng.randint(6, 16)):
        clock = (clock + rng.randint(1, 400)) % 86_400
        stamp = f"{clock // 3600:02}:{clock // 60 % 60:02}:{clock % 60:02}"
        message = rng.choice(MESSAGES).format(n=rng.randint(1, 900))
        lines.append(f"2026-03-{rng.randint(1, 28):02} {stamp} {rng.choice(LEVELS)} {rng.choice(COMPONENTS)} {message}")
    return "\n".join(lines)


def table_lines(rng: random.Random) -> str:
    rows = [
        f"{number},{rng.choice(NAMES)},{rng.choice(CITIES)},{rng.randint(5, 950)}"
        for number in range(1, rng.randint(6, 14))
    ]
    return "\n".join(["id,name,city,amount", *rows])


def json_document(rng: random.Random) -> str:
    items = [
        {"sku": f"{rng.choice(ITEMS)}-{rng.randint(10, 99)}", "stock": rng.randint(0, 40), "tags": rng.sample(WORDS, 2)}
        for _ in range(rng.randint(2, 4))
    ]
    return json.dumps({"warehouse": rng.choice(CITIES), "items": items}, ensure_ascii=False, indent=2)


def note_lines(rng: random.Random) -> str:
    lines = [f"# {rng.choice(WORDS).title()} {rng.choice(WORDS)}", ""]
    lines += [f"- {' '.join(rng.choices(WORDS, k=rng.randint(3, 8)))}" for _ in range(rng.randint(3, 7))]
    return "\n".join([*lines, "", f"Owner: {rng.choice(NAMES)}"])


def settings_lines(rng: random.Random) -> str:
    section = rng.choice(COMPONENTS)
    return "\n".join(
        [
            f"[{section}]",
            f"host = {section}.internal",
            f"port = {rng.randint(1025, 9999)}",
            f"retries = {rng.randint(0, 9)}",
            f"verbose = {rng.choice(('true', 'false'))}",
            "",
            "[paths]",
            f"root = /srv/{rng.choice(WORDS)}",
        ]
    )


_PROGRAMS = (
    "import sys\n\n\ndef total(numbers):\n    return sum(numbers)\n\n\n"
    "print('total:', total(range({n})))\nprint('arguments:', sys.argv[1:])",
    "from collections import Counter\n\nwords = '{w} {v} {w} {n}'.split()\n"
    "for word, count in Counter(words).most_common():\n    print(f'{{count:>3}} {{word}}')",
    "import sys\n\nfor number, line in enumerate(sys.stdin, 1):\n"
    "    print(number, len(line.split()), line.strip()[::-1])",
    "import json\nimport platform\n\n"
    "print(json.dumps({{'{w}': [{n}, {n} ** 2], 'system': platform.system()}}, indent=1))",
    "def collatz(n):\n    while n != 1:\n        yield n\n        n = n // 2 if n % 2 == 0 else 3 * n + 1\n\n\n"
    "print(*collatz({n}))",
)

_BROKEN_PROGRAMS = (
    "def mean(values):\n    return sum(values) / len(values)\n\n\nprint(mean([{n}, 4]))\nprint(mean([]))",
    "settings = {{'{w}': {n}}}\nprint(settings['{w}'])\nprint(settings['{v}'])",
    "for i in range({n})\n    print(i)",
    "import {w}_{v}\n\nprint({w}_{v}.__name__)",
    "text = '{w}'\nprint(text + {n})",
    "def walk(depth):\n    return walk(depth + 1)\n\n\nprint('start {w}')\nwalk({n})",
)


def program(rng: random.Random) -> str:
    return _filled(rng, rng.choice(_PROGRAMS))


def broken_program(rng: random.Random) -> str:
    return _filled(rng, rng.choice(_BROKEN_PROGRAMS))


def _filled(rng: random.Random, template: str) -> str:
    first, second = rng.sample(WORDS, 2)
    return template.format(w=first, v=second, n=rng.randint(3, 30))


CONTENTS: Mapping[str, Maker] = {
    "loglines": log_lines,
    "tablelines": table_lines,
    "jsondocument": json_document,
    "notelines": note_lines,
    "settingslines": settings_lines,
    "program": program,
    "brokenprogram": broken_program,
}
