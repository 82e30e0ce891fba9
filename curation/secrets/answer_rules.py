"""Secrets that commands print: the command says that it prints one, the line after it is one."""

from __future__ import annotations

import re

from curation.secrets.checks import Check, named_password, named_token, password
from curation.secrets.rule import Rank, Rule
from curation.secrets.triggers import exact

_ANSWER = rb"[ \t]{0,4}\r?\n(?P<secret>\S{6,512}+)(?=[ \t\r]{0,8}(?:\n|\Z))"
_PROMPT = re.compile(rb"(?:(?:ba|z|fi|da)?sh-[\d.]+|[^@]*@.*|[~/].*)[$#>%]\Z", re.DOTALL)
"""What a shell writes where there was no answer."""

_NAME = rb"(?P<name>[\w.:-]{2,96}+)"
_NAMED = (
    (("cat ", "cat -"), rb"cat (?:[^\n|;&<>]{0,200}[/ ])?(?P<name>[\w.-]{2,96}?)(?:\.(?:txt|key|pass|secret|token))?"),
    (("echo $", 'echo "$'), rb"echo \"?\$\{?(?P<name>\w{2,96}+)\}?\"?"),
    (("printenv ",), rb"printenv (?P<name>\w{2,96}+)"),
    (("output -raw ",), rb"output -raw (?P<name>[\w-]{2,96}+)"),
    (
        ("config get ", "config:get "),
        rb"config[ :]get (?:[^\n|;&<>]{0,80}? )??" + _NAME + rb"(?: -[^\n]{0,80})?",
    ),
)
"""Commands that show what has a name, which tells whether it is a secret: a file, a variable, an output, a setting."""
_REVEALING = (
    "vault kv get ",
    "vault read ",
    "aws ssm get-parameter ",
    "aws secretsmanager get-secret-value ",
    "gcloud secrets versions access ",
    "az keyvault secret show ",
    "security find-generic-password ",
    "secret-tool lookup ",
    "initial-password",
    "bw get password ",
    "op read ",
    "pass show ",
    "openssl rand ",
    "pwgen",
)
"""Commands that show nothing but secrets, or make them."""


def _is_answer(check: Check) -> Check:
    return lambda match: _PROMPT.match(match["secret"]) is None and check(match)


def _named(kind: str, check: Check) -> tuple[Rule, ...]:
    return tuple(
        Rule(
            name=f"{kind} after {triggers[0].strip()}",
            kind=kind,
            triggers=tuple(map(exact, triggers)),
            pattern=re.compile(command + _ANSWER),
            accepts=_is_answer(check),
            alone=True,
            rank=Rank.LOOSE,
        )
        for triggers, command in _NAMED
    )


_REVEALED = Rule(
    name="after a command that reveals it",
    kind="password",
    triggers=tuple(map(exact, _REVEALING)),
    pattern=re.compile(rb"(?:" + "|".join(map(re.escape, _REVEALING)).encode() + rb")[^\n]{0,300}" + _ANSWER),
    accepts=_is_answer(password),
    alone=True,
    rank=Rank.LOOSE,
)

ANSWER_RULES = (*_named("password", named_password), *_named("token", named_token), _REVEALED)
