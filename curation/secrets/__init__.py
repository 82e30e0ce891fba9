"""Secrets and personal data: found in text, told in a table, and replaced by typed placeholders where text is packed.

The way to speed is to look closely at few places: one compiled pass tells where any rule could apply
(`curation.secrets.triggers`) and settles what numbers, addresses and names set off everywhere
(`curation.secrets.judges`); where that is not enough a rule's pattern is tried, and last a check: entropy, check
digits, decoding.

What was found once is replaced at every other place of its trajectory too, unless it could be ordinary text: shorter
than 8 bytes, a word with up to four digits (``postgres15``), two words in small letters shorter than 16 bytes
(``oatmeal-bowl``). What a machine did not draw is so only where it stands whole. Personal data is only where it shows.

Not found, by design, because they look like too much else: passwords shorter than 6 characters in an assignment, or of
letters only, but for joined words where only a text can stand (``"BlueHarborDoor"``, not ``sunshine``); UUIDs used as
tokens (but for vendors' fixed forms, and beside a name that says of what, as ``SNYK_TOKEN``); passwords in a table
beside a cell that says so, in rows without their head, and in rows of SQL whose columns are named nowhere before;
national phone numbers without a ``+`` or a word for phone before them (but for North American ones); IBANs in small
letters; e-mail at rare top-level domains, and at ``example.com`` and its like; cards and accounts of handbooks; a
secret wrapped at the edge of a screen whose rows hold double-width characters.
"""

from curation.secrets.detector import SCREEN_COLUMNS, find, screen_columns
from curation.secrets.documents import redact_document
from curation.secrets.finding import PERSONAL, Finding
from curation.secrets.job import find_secrets
from curation.secrets.redaction import Placeholders, redact, redact_trajectory
from curation.secrets.table import KindFacts, SecretFindings, SecretsSummary, open_secrets

__all__ = [
    "PERSONAL",
    "SCREEN_COLUMNS",
    "Finding",
    "KindFacts",
    "Placeholders",
    "SecretFindings",
    "SecretsSummary",
    "find",
    "find_secrets",
    "open_secrets",
    "redact",
    "redact_document",
    "redact_trajectory",
    "screen_columns",
]
