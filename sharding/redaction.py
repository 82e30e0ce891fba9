"""What a trajectory says, with placeholders for the secrets and personal data in it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

from curation.replays.spans import Spans, shifted, union
from curation.secrets import Finding, Placeholders, redact, screen_columns
from curation.secrets.detector import PLACEHOLDER
from sharding.conversation import ContextText, TurnText


def redacted(context: ContextText, turns: Sequence[TurnText]) -> tuple[ContextText, list[TurnText], Counter[str]]:
    """The same trajectory without them, and how many values of each kind were replaced in its texts.

    What is volatile in an observation is so in its new form, and a placeholder for any of it is.
    """
    domain, *parts = context
    columns = screen_columns(domain)
    placeholders = Placeholders()
    for text in (*parts, *(text for turn in turns for text in (turn.action, turn.observation))):
        placeholders.learn(text, columns=columns)
    counts: Counter[str] = Counter()

    def without(text: str) -> tuple[str, list[Finding]]:
        new, findings = redact(text, placeholders, columns=columns)
        counts.update(finding.kind for finding in findings)
        return new, findings

    said_before = ContextText(domain, *(without(part)[0] for part in parts))
    said = []
    for action, observation, mask in turns:
        new_action, _ = without(action)
        new, findings = without(observation)
        spans = carried(mask.volatile, observation, new, findings) if mask.volatile else ()
        said.append(TurnText(new_action, new, mask._replace(volatile=spans)))
    return said_before, said, counts


def carried(spans: Spans, text: str, new: str, findings: Sequence[Finding]) -> Spans:
    """Where spans of a text are in its redacted form: a placeholder that stands for any of a span is in it whole.

    All of the new text is, where it cannot be told what came from where: a known value has run into a placeholder.

    Args:
        text: as it was given to `redact`.
        new: as it came back.
        findings: what was replaced, at its place in ``text``, in order.
    """
    verbatim: list[tuple[int, int, int]] = []
    touched: list[tuple[int, int]] = []
    reached, place = 0, 0
    for finding in findings:
        verbatim.append((reached, place, finding.start - reached))
        placeholder = PLACEHOLDER.match(new, place + finding.start - reached)
        if placeholder is None:
            return [(0, len(new))]
        if _touch(spans, finding.start, finding.end):
            touched.append(placeholder.span())
        reached, place = finding.end, placeholder.end()
    verbatim.append((reached, place, len(text) - reached))
    if any(text[here : here + size] != new[there : there + size] for here, there, size in verbatim):
        return [(0, len(new))]
    return union([shifted(spans, verbatim), touched])


def _touch(spans: Spans, start: int, end: int) -> bool:
    """Whether any of the spans has a character from ``start`` to ``end``."""
    place = bisect_right(spans, start, key=itemgetter(1))
    return place < len(spans) and spans[place][0] < end
