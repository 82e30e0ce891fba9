"""Which names and numbers are those of public domains and public addresses."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Sequence


def _words(words: Sequence[str], abbreviations: Sequence[str]) -> re.Pattern[bytes]:
    return re.compile(f"(?i:{'|'.join(words)}|\\b(?:{'|'.join(abbreviations)})\\b)".encode())


_COUNTRIES = (
    "ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca "
    "cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo "
    "fr ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je "
    "jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo "
    "mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt "
    "pw py qa re ro rs ru rw sa sb sc sd se sg sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk "
    "tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw"
)
_GENERIC = (
    "com org net edu gov mil int info biz name pro aero coop museum jobs mobi travel tel cat asia post app dev "
    "page blog cloud online site website web shop store tech technology software systems solutions digital agency "
    "studio design media news email live life world today space xyz top club group team company ltd llc inc gmbh "
    "consulting services support network host hosting academy school university college institute foundation ngo "
    "ong health care clinic bank finance capital fund money legal law energy science engineering build tools "
    "works zone social community chat games game music video photos photography art gallery events restaurant "
    "cafe hotel tours city london berlin paris amsterdam wien koeln hamburg tokyo nyc global international "
    "partners ventures expert guru ninja rocks wtf link one swiss scot bayern google amazon"
)
PUBLIC_DOMAINS = frozenset(f"{_COUNTRIES} {_GENERIC}".encode().split())
"""Top-level domains in which people have addresses: all of countries, and the more frequent of the others."""

_SCALED_IMAGE = re.compile(rb"\d+x?\.")
"""As in ``icon@2x.me``: the size of an image, not a host."""
PLACEHOLDER_DOMAINS = frozenset(b"example admin company domain mydomain test".split())
"""The second-level domain of documentation (RFC 2606), and others that stand for one's own."""


def is_public_domain(domain: bytes) -> bool:
    """Whether people may have an address there: it ends in one of `PUBLIC_DOMAINS`, and stands for no other."""
    above, _, top = domain.lower().rpartition(b".")
    return (
        top in PUBLIC_DOMAINS
        and above.rpartition(b".")[2] not in PLACEHOLDER_DOMAINS
        and _SCALED_IMAGE.match(domain) is None
    )


NOT_PUBLIC = [
    ipaddress.IPv4Network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/3"),
        *("1.3.6.0/24", "1.3.14.0/24", "1.3.36.0/24", "1.3.101.0/24", "1.3.132.0/24"),
        *("2.5.4.0/24", "2.5.8.0/24", "2.5.29.0/24"),
    )
]
"""Private, shared, local, reserved and multicast networks, and those for documentation (IANA's registry, RFC 6890); in
the last two lines those whose addresses look like object identifiers of certificates and curves, and hardly ever are
anything else."""
_MASKED = [(int(network.network_address), int(network.netmask)) for network in NOT_PUBLIC]
_NOT_PUBLIC_6 = [
    (int(network.network_address), int(network.netmask))
    for network in map(ipaddress.IPv6Network, ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
]
"""Those of ``2000::/3`` that belong to no one: of protocols, of documentation, and 6to4."""


def is_public_ipv4(numbers: Sequence[int]) -> bool:
    """Whether the four numbers are an address of a public network."""
    if max(numbers) > 255:
        return False
    value = int.from_bytes(numbers, "big")
    return all(value & mask != network for network, mask in _MASKED)


def is_public_ipv6(written: str) -> bool:
    """Whether an address that begins with 2 or 3 is one of a public network."""
    try:
        value = int.from_bytes(socket.inet_pton(socket.AF_INET6, written), "big")
    except OSError:
        return False
    return all(value & mask != network for network, mask in _NOT_PUBLIC_6)


VERSION_WORDS = (
    *("version", "release", "section", "chapter", "rfc", "§", "upgrad", "update", "patch", "since"),
    *("package", "unpacking", "setting up", "driver", "firmware", "build "),
)
VERSION_ABBREVIATIONS = ("oid", "deb", "pip", "deps", "v8")
ADDRESS_WORDS = ("addr", "host", "server", "@", "//")
ADDRESS_ABBREVIATIONS = ("ip", "dns", "ping", "from", "ssh", "curl", "inet", "via", "client", "peer", "remote", "dig")
"""Before four numbers in a line, these tell what they are; the abbreviations as whole words only."""

_VERSION_WORD = _words(VERSION_WORDS, VERSION_ABBREVIATIONS)
_ADDRESS_WORD = _words(ADDRESS_WORDS, ADDRESS_ABBREVIATIONS)
_VERSION_MARK = re.compile(
    rb"""(?i:(?<![a-z0-9])v
    | [\w)][-_] | [\w.]/ | \.                # of a package, a user agent, a library
    | [=<>~!^]=\s? | /[\w.-]{1,30}:          # of a requirement, an image
    )\Z""",
    re.VERBOSE,
)
_COMMENT = re.compile(rb"/[/*]\s\Z")
SMALL = 20
"""Four numbers up to this are hardly ever an address, and often a version."""
LARGEST_SECTION = 99
"""Four numbers up to this that begin a comment are a section of the standard that a program follows."""
RESOLVERS = frozenset({b"1.1.1.1", b"1.0.0.1", b"8.8.8.8", b"8.8.4.4", b"9.9.9.9"})


def stands_as_address(written: bytes, numbers: Sequence[int], before: bytes) -> bool:
    """Whether four numbers are an address rather than a version, by what stands before them in the line."""
    if _VERSION_MARK.search(before) or _VERSION_WORD.search(before):
        return False
    if max(numbers) <= LARGEST_SECTION and _COMMENT.search(before):
        return False
    return max(numbers) > SMALL or written in RESOLVERS or _ADDRESS_WORD.search(before) is not None
