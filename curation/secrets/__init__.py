"""Secrets and personal data: found in text, and replaced by typed placeholders where it is packed or published.

The way to speed is to look closely at few places: one compiled pass tells where any rule could apply
(`curation.secrets.triggers`), there a rule's pattern is tried, and last a check: entropy, check digits, decoding.

Not found, by design, because they look like too much else: passwords of letters only, or shorter than 6 characters in
an assignment; UUIDs used as tokens (but for vendors' fixed forms); password hashes; national phone numbers without a
``+`` (but for North American ones); e-mail at rare top-level domains; a secret wrapped at the edge of a screen
whose rows hold double-width characters.
"""

from curation.secrets.detector import SCREEN_COLUMNS, find
from curation.secrets.finding import PERSONAL, Finding
from curation.secrets.redaction import Placeholders, redact, redact_trajectory

__all__ = ["PERSONAL", "SCREEN_COLUMNS", "Finding", "Placeholders", "find", "redact", "redact_trajectory"]
