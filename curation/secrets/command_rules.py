"""Secrets in what people type: arguments and options of commands, and what commands answer."""

from __future__ import annotations

import re

from curation.secrets.checks import (
    Check,
    after,
    argument_password,
    genuine,
    named_password,
    password,
    text_password,
    token,
    token_or_uuid,
    unmistakable_password,
)
from curation.secrets.notation import OPENED, PASSWORD, QUOTED_VALUE, TOKEN, UNQUOTED
from curation.secrets.rule import Rank, Rule, loose_rule
from curation.secrets.triggers import ALNUM, DIGIT, any_case, exact

_LOOK_BACK = 160
_ARGUMENT = (
    rb"(?:\\{0,3}(?P<quote>[\"'`]))?(?P<secret>(?(quote)[^\"'`\\\n]{6,128}(?=\\{0,3}(?P=quote))|"
    + UNQUOTED
    + rb"{6,128}))"
)
"""One of a command; in quotes blanks are part of it."""
_ARGUMENTS = rb"[^\n|;]{0,200}?"
"""Other arguments, in between."""


_MECHANISM = re.compile(rb"(?:[A-Z]{2,9}-)?(?:SCRAM|CRAM|DIGEST|SHA|MD5|XOAUTH|NTLM)[A-Z0-9-]{0,16}\Z")
"""Ways to log in that a protocol names where a password may stand."""
_SOURCE = rb"(?:c|cc|cpp|cs|css|go|h|hpp|html|java|js|json|jsx|kt|md|php|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|ya?ml)"
_HOST = re.compile(rb"(?:\A|\n|\\n)[ \t]{0,8}(?:# ?)?(?P<host>[\w*][\w.*-]{0,127}|/[\w./-]{1,128})\Z")
_FILE = re.compile(rb".*\." + _SOURCE + rb"\Z")


def _after_host(check: Check) -> Check:
    """A check that holds only where nothing but a host's name, and not a file's, is before the match in its line."""

    def holds(match: re.Match[bytes]) -> bool:
        before = match.string[max(0, match.start() - _LOOK_BACK) : match.start()]
        host = _HOST.search(before)
        return host is not None and _FILE.match(host["host"]) is None and check(match)

    return holds


def _begin_of_echo(data: bytes, position: int) -> int | None:
    begin = data.rfind(b"echo ", max(0, position - _LOOK_BACK), position)
    return begin if begin >= 0 else None


def _option(commands: str, option: bytes, name: str, *, then: bytes = _ARGUMENT) -> Rule:
    """A rule for what follows an option of one of the commands (one a line)."""
    names = commands.split(", ")
    pattern = rb"(?:" + "|".join(map(re.escape, names)).encode() + rb")" + _ARGUMENTS + option + then
    return loose_rule("password", name, [exact(f"{command} ") for command in names], pattern, argument_password)


_OPTIONS = (
    loose_rule(
        "token",
        "--token value",
        [exact("-token "), any_case("-api-key "), any_case("-apikey "), exact("-secret ")],
        rb"-[A-Za-z-]{5,8} " + TOKEN,
        token,
    ),
    loose_rule(
        "password",
        "--password value",
        [exact(f"{option} ") for option in ("-password", "-passwd", "-passphrase", "storepass", "keypass")],
        rb"-?(?:pass|storep|keyp)[a-z]{2,6} " + PASSWORD,
        text_password,
    ),
    loose_rule(
        "password",
        "curl -u user:password",
        [
            *map(exact, (" -u", " -U ", " -a ", " --user ", " --user=", " --auth ", " --auth=")),
            *(exact(f" --proxy-user{joint}") for joint in " ="),
            *(exact(f" -{others}u ") for others in ("s", "k", "L", "v", "i", "sS", "sk", "ks", "sL", "si", "fsSL")),
        ],
        rb" (?:-[A-Za-z]{0,4}u ?|-[aU] |--(?:proxy-)?(?:user|auth)[ =])"
        + OPENED
        + rb"[\w.@-]{1,64}:(?!//)(?P<secret>"
        + UNQUOTED
        + rb"{6,128})",
        after(
            rb"\b(?:curl(?:\.exe)?|https?|xhs?)(?=[ \t]|\Z)(?:[^\n]|(?<=\\)\n)*+", within=3 * _LOOK_BACK, check=password
        ),
    ),
    loose_rule("password", "sshpass -p", [exact("sshpass -p")], rb"sshpass -p ?" + _ARGUMENT, argument_password),
    loose_rule(
        "password",
        "mysql -p",
        [exact(" -p") + ALNUM, exact(" -p'"), exact(' -p"')],
        rb" -p" + PASSWORD,
        after(
            rb"\b(?:mysql|mariadb)\w*[^\n|;]*",
            rb"\b(?:7z\w?|(?:un)?rar)\b[^\n|;]*",
            within=_LOOK_BACK,
            check=password,
        ),
    ),
    _option(
        "docker login, podman login, skopeo login, buildah login, nerdctl login, crane auth login, "
        "helm registry login, az login, oc login, cf login",
        rb" -p[ =]?",
        "login -p",
    ),
    _option(
        "mongosh, mongo, mongodump, mongorestore, cqlsh, influx, rabbitmqadmin, beeline, ncftpput, ncftpget",
        rb" -p[ =]?",
        "mongosh -p",
    ),
    _option("redis-cli", rb" (?:-a|--pass)[ =]", "redis-cli -a"),
    _option("zip, unzip, mosquitto_pub, mosquitto_sub, sqlcmd, bcp, isql, tsql, ipmitool", rb" -P[ =]?", "zip -P"),
    _option("ldapsearch, ldapadd, ldapmodify, ldapwhoami, ldappasswd", rb" -w[ =]?", "ldapsearch -w"),
    _option(
        "smbclient, rpcclient, smbmap", rb" -U[ =]?", "smbclient -U", then=OPENED + rb"[\w.@\\/-]{1,64}%" + PASSWORD
    ),
    _option("crackmapexec, nxc, netexec, hydra, medusa, wpscan, kerbrute, bloodhound-python", rb" -p ", "nxc -p"),
    _option("security add-generic-password, security add-internet-password", rb" -w ", "security -w"),
    _option("mc alias set, mc config host add", rb" [\w-]{1,64} https?://\S{1,128} \S{1,64} ", "mc alias set"),
    _option("plink, pscp, psftp", rb" -pw ", "plink -pw"),
    _option("winrm, evil-winrm", rb" -p ", "winrm -p"),
    _option("xfreerdp, mstsc", rb" /p:", "xfreerdp /p:"),
    _option("kinit, passwd, sudo -S", rb"<<< ?", "<<<"),
    _option("mysqladmin, nmcli", rb" (?:password|[\w-]{1,32}\.psk) ", "mysqladmin password"),
    _option("useradd, usermod", rb" (?:-p|--password)[ =]", "useradd -p"),
    _option("net use", rb" \\{2,4}[^\s\"']{3,128} ", "net use"),
    _option("snmpwalk, snmpget, snmpset, snmpbulkwalk", rb" -A ", "snmpwalk -A"),
    _option("snmpwalk, snmpget, snmpset, snmpbulkwalk", rb" -X ", "snmpwalk -X"),
    _option("rabbitmqctl", rb" (?:add_user|change_password) [\w.@-]{1,64} ", "rabbitmqctl add_user"),
    _option("wpa_passphrase", rb"(?<= )[\"']?[^\s\"']{1,32}[\"']? ", "wpa_passphrase"),
    _option("mosquitto_passwd", rb" -b [^\s-]{1,128} [\w.@-]{1,64} ", "mosquitto_passwd -b"),
    loose_rule(
        "password",
        "--creds user:password",
        [exact("creds "), exact("creds=")],
        rb"creds[ =]" + OPENED + rb"[\w.@-]{1,64}:(?P<secret>" + UNQUOTED + rb"{6,128})",
        after(rb"--(?:src-|dest-)?\Z", within=8, check=password),
    ),
    loose_rule(
        "password",
        "impacket",
        [exact("impacket-"), *(exact(f"{name}.py ") for name in ("exec", "dump", "client", "SPNs"))],
        rb"(?:impacket-\w{2,24}|\w{4,6}\.py)"
        + _ARGUMENTS
        + rb" [\"']?(?:[\w.-]{1,64}/)?[\w.-]{1,64}:"
        + OPENED
        + rb"(?P<secret>[^\s\"'@]{6,128})[\"']?@",
        password,
    ),
    _option("lftp", rb" -u[ =]?", "lftp -u", then=rb"[\w.@-]{1,64}," + PASSWORD),
    _option("openssl", rb" (?:pass:|-k )", "openssl pass:"),
    _option("aws ssm put-parameter", rb"SecureString[^\n]{0,200}? --value[ =]", "SecureString --value"),
    _option("net user", rb" [\w.-]{1,64} ", "net user"),
    _option("sqlplus", rb" [\w.-]{1,64}/", "sqlplus user/password", then=rb"(?P<secret>[^\s@\"'/]{6,128})@"),
    loose_rule(
        "password",
        "ConvertTo-SecureString",
        [exact("ConvertTo-SecureString ")],
        rb"ConvertTo-SecureString(?: -String| -AsPlainText| -Force){0,3} [\"'](?P<secret>[^\"'\n]{6,128})",
        password,
    ),
    loose_rule(
        "password",
        "jdbc:oracle",
        [exact("jdbc:oracle:")],
        rb"jdbc:oracle:\w{3,5}:[\w.-]{1,64}/(?P<secret>[^\s@\"'/]{6,128})@",
        password,
    ),
)

_LOGINS = loose_rule(
    "token",
    "login token",
    [
        *(exact(f"{login} ") for login in ("cargo login", "wandb login", "vault login", "authtoken", "snyk auth")),
        exact("with-token <<< "),
    ],
    rb"[\w-]{4,10} ?(?:<<<|\w{0,5}) " + TOKEN,
    token_or_uuid,
)

_READ_PASSWORDS = (
    *("| chpasswd", "| sudo chpasswd", "| sudo -S", "| passwd", "| sudo passwd", "--password-stdin", "| smbpasswd"),
    *("| docker secret create", "| podman secret create", "| cryptsetup", "| openssl passwd", "| htpasswd -i"),
    *("| gh secret set", "| pass insert", "| kinit"),
)
"""Commands that are told a password by what is before them."""

_PIPES = (
    Rule(
        name="echo password |",
        kind="password",
        triggers=tuple(map(exact, _READ_PASSWORDS)),
        pattern=re.compile(rb"echo (?:-\w{1,3} )?" + OPENED + rb"(?:[\w.-]{1,64}:)?(?P<secret>[^\s\"'`\\]{6,128})"),
        accepts=password,
        begin=_begin_of_echo,
        rank=Rank.LOOSE,
    ),
    loose_rule(
        "password",
        "base64 -d",
        [exact("base64 -d"), exact("base64 --decode")],
        rb"base64 -(?:d|-decode)[^\n]{0,16}\n" + PASSWORD + rb"(?=[\s\w@]|\Z)",
        after(rb"password", rb"passwd", rb"secret", rb"token", within=2 * _LOOK_BACK, check=password),
    ),
    loose_rule(
        "password",
        "password on a line of its own",
        [any_case("password:\n")],
        rb"[A-Za-z]{8}:\n{1,2}(?P<secret>" + UNQUOTED + rb"{16,64})(?=\n|\Z)",
        token,
    ),
    loose_rule(
        "password",
        "expect",
        [exact('send "'), exact('send -- "')],
        rb'send (?:-- )?"(?P<secret>[^\s"\\]{6,128})\\{1,2}[rn]"',
        after(rb"(?i:assword|assphrase)[^\n]*\n?", within=_LOOK_BACK, check=password),
    ),
    loose_rule(
        "password",
        "typed into a field",
        [exact("fill("), exact("type("), exact("keys("), exact("Keys("), exact("input_text("), exact("alue(")],
        rb"\w{4,10}\([^()\n]{0,80}?(?i:password|passwd)[^()\n,]{0,24}[\"'`]\s?,\s{0,8}(?P<quote>[\"'`])(?P<secret>"
        + UNQUOTED
        + rb"{6,128})(?P=quote)",
        text_password,
    ),
)

_FILES = (
    loose_rule(
        "password",
        "SQL",
        [any_case("password '"), any_case("password('"), any_case("identified ")],
        rb"(?i:password|identified(?: with \w{1,32})? by)(?: |\()"
        rb"(?P<quote>['\"])(?P<secret>[^\s'\"\\]{6,128})(?P=quote)",
        text_password,
    ),
    loose_rule(
        "password",
        "SET PASSWORD FOR",
        [any_case("set password for ")],
        rb"(?i:set password for) \S{1,128} ?= ?(?:(?i:password)\()?'(?P<secret>[^\s'\\]{6,128})'",
        text_password,
    ),
    loose_rule(
        "password",
        "getConnection",
        [exact("getConnection(")],
        rb"getConnection\([^,()\n]{1,200},\s?\"[^\"\n]{1,64}\",\s?\"(?P<secret>[^\"\n]{6,128})\"",
        password,
    ),
    loose_rule(
        "password",
        "htpasswd -b",
        [exact("htpasswd -")],
        rb"htpasswd -\w{0,6}b\w{0,6} [^\s-]{1,128} [^\s-]{1,128} " + PASSWORD,
        password,
    ),
    loose_rule(
        "password",
        "netrc",
        [exact("login ")],
        rb"login[ \t](?!(?:with|using|via|and|or)\s)\S{1,128}\s{1,8}password[ \t](?P<secret>\S{4,128})",
        password,
    ),
    loose_rule(
        "password",
        "pgpass",
        [exact(":543") + DIGIT + exact(":"), exact(":6432:")],
        rb":\d{4}:[\w*-]{1,64}:[\w*-]{1,64}:(?P<secret>[^\s:\"'\\]{4,128})",
        text_password,
    ),
    loose_rule(
        "password",
        "pgpass, of any port",
        [exact(":") + DIGIT * 4 + exact(":"), exact(":") + DIGIT * 5 + exact(":"), exact(":*:")],
        rb":(?:\d{4,5}|\*):(?!\d{1,6}:)[\w*-]{1,64}:[\w.@*-]{1,64}:(?P<secret>(?:[^\s:\"'\\]|\\[:\\]){6,128})"
        rb"(?=[ \t\r]{0,8}(?:\n|\Z))",
        _after_host(text_password),
    ),
    loose_rule(
        "password",
        "AUTH",
        [exact("AUTH ")],
        rb"(?:(?<=>\x20)|(?<![^\n]))AUTH (?:(?!(?:[A-Z]{1,9}-)?SCRAM|DIGEST|CRAM)[\w-]{1,32} )?"
        rb"(?P<secret>[^\s\"'\\]{6,128})(?=[ \t\r]{0,8}(?:\n|\Z))",
        lambda match: unmistakable_password(match) and _MECHANISM.match(match["secret"]) is None,
    ),
    loose_rule(
        "password",
        "PASS",
        [exact("PASS ")],
        rb"PASS (?P<secret>[^\s\"'\\]{6,128})(?=[ \t\r]{0,8}(?:\n|\Z))",
        after(
            rb"\bUSER \S{1,64}\r?\n(?:[^\n]{0,80}\n){0,3}[^\n\w]{0,4}(?:\w:? )?\Z", within=_LOOK_BACK, check=password
        ),
    ),
    loose_rule(
        "password",
        "LOGIN",
        [exact(" LOGIN ")],
        rb"(?<![^\s\w.]) LOGIN [\"']?[\w.@-]{1,64}[\"']? "
        + OPENED
        + rb"(?P<secret>[^\s\"'\\]{6,128})[\"']?(?=[ \t\r]{0,8}(?:\n|\Z))",
        password,
    ),
    loose_rule(
        "password", "redis.conf", [exact("requirepass "), exact("masterauth ")], rb"\w{10,11} " + PASSWORD, password
    ),
    loose_rule(
        "password",
        "WIFI:",
        [exact("WIFI:")],
        rb"WIFI:(?:[TSHR]:[^;\n]{0,64};){1,4}P:(?P<secret>[^;\n]{8,63});",
        password,
    ),
    loose_rule(
        "password",
        "router",
        [exact("enable secret "), exact(" password 0 "), exact(" secret 0 "), exact("server community ")],
        rb" ?\w{6,8} ?\w{0,9} (?:0 )?(?P<secret>[^\s\"'<>]{6,64})(?=\s|\Z)",
        password,
    ),
    loose_rule(
        "password",
        "login: password:",
        [exact("login: ")],
        rb"login: \S{1,64}[ \t]{2,8}password: (?P<secret>\S{4,128})",
        genuine,
    ),
    loose_rule(
        "password",
        "set password",
        [exact("set password "), exact("set pass "), exact("> user ")],
        rb"(?:set pass(?:word)?|> user [\w.@-]{1,64}) (?P<secret>[^\s\"'`\\\[]{6,128})(?=[ \t\r]{0,8}(?:\n|\Z))",
        password,
    ),
    loose_rule("password", "REDISCLI_AUTH", [exact("REDISCLI_AUTH=")], rb"\w{13}=" + PASSWORD, text_password),
    loose_rule(
        "password",
        "property",
        [any_case(".password ")],
        rb"\.\w{8}[ \t]{1,8}(?P<secret>\S{6,128}+)(?=[ \t\r]{0,8}(?:\n|\Z))",
        after(rb"(?:\A|\n)[\w.-]{2,80}\Z", within=_LOOK_BACK, check=password),
    ),
    loose_rule("token", "rndc.key", [exact('secret "')], rb'secret "(?P<secret>[A-Za-z0-9+/]{16,128}={0,2})"', token),
)

_FIELDS = (
    loose_rule(
        "password",
        "typed into what was found",
        [exact(f".{method}(") for method in ("fill", "type", "send_keys", "sendKeys", "set_text")],
        rb"\.\w{4,9}\(" + QUOTED_VALUE,
        after(rb"(?i:password|passwd|passphrase|\bpwd|\bpw|\bpass)[\"'\])]", within=_LOOK_BACK, check=text_password),
    ),
    loose_rule(
        "password",
        "part of a form",
        [exact('form-data; name="')],
        rb'form-data; name="(?P<name>[\w.-]{2,64}+)"(?:\r?\n|\\r\\n){2}(?P<secret>' + UNQUOTED + rb"{6,256}+)",
        named_password,
    ),
    loose_rule(
        "password",
        "column after password",
        [exact("password  ")],
        rb"(?<![^\n])password {2,24}(?P<secret>\S{6,128}+)(?=[ \t\r]{0,8}(?:\n|\Z))",
        password,
    ),
)

COMMAND_RULES = (*_OPTIONS, _LOGINS, *_PIPES, *_FILES, *_FIELDS)
