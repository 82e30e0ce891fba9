"""Which names and numbers are those of public domains and public addresses."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence

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
_PUBLIC = frozenset(f"{_COUNTRIES} {_GENERIC}".encode().split())
_SCALED_IMAGE = re.compile(rb"\d+x?\.")
"""As in ``icon@2x.me``: the size of an image, not a host."""


def is_public_domain(domain: bytes) -> bool:
    """Whether it ends in a top-level domain: all of countries, and those of the others that hold people's addresses."""
    return domain.rpartition(b".")[2].lower() in _PUBLIC and _SCALED_IMAGE.match(domain) is None


_NOT_PUBLIC = [
    ipaddress.IPv4Network(network)
    for network in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/3"),
    )
]
"""Private, shared, local, reserved and multicast networks, and those for documentation (IANA's registry, RFC 6890)."""
_MASKED = [(int(network.network_address), int(network.netmask)) for network in _NOT_PUBLIC]


def is_public_ipv4(numbers: Sequence[int]) -> bool:
    """Whether the four numbers are an address of a public network."""
    if max(numbers) > 255:
        return False
    value = int.from_bytes(numbers, "big")
    return all(value & mask != network for network, mask in _MASKED)


def is_public_ipv6(written: str) -> bool:
    try:
        return ipaddress.IPv6Address(written).is_global
    except ValueError:
        return False
