"""Screens that show no world: no state was captured, a CAPTCHA bars the way, or a server sent an error page."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from curation.reasons import Booleans

COLUMNS: Final = ("observation", "tree_status")

_MISSING: Final = pa.array(["missing", "failed"])
"""``tree_status`` of a state that was not captured; a partial one is there."""

_HEAD_BYTES: Final = 2000
"""Such pages are short and say what they are in their title; further down, a phrase may be what the page is about."""

_CAPTCHA: Final = (
    r"(verify|confirm|prove) (that )?you( a|.{1,3})re (a )?(human|not a (ro)?bot)",
    r"i( a|.{1,3})m not a robot",
    r"are you (a )?(human|(ro)?bot)\?",
    r"(solve|complete|enter|type) the (captcha|security check|characters (you see|shown))",
    r"unusual traffic from your (computer )?network",
    r"checking (your browser before accessing|if the site connection is secure)",
    r"attention required! \| cloudflare",
    r"just a moment\.\.\.",
    r"h-?captcha (challenge|widget)|recaptcha challenge",
)
_HTTP_ERROR: Final = (
    r"\b4\d\d:? (bad request|unauthorized|forbidden|not found|method not allowed|request timeout|too many requests)",
    r"\b5\d\d:? (internal server error|bad gateway|service (temporarily )?unavailable|gateway time-?out)",
    r"\bhttp error [45]\d\d\b",
    r"this (site|page|webpage) can.{1,3}t be (reached|found)",
    r"\berr_(name_not|connection|internet|address|timed_out|ssl|cert|empty_response|too_many|tunnel|http)",
    r"chrome-error://|about:neterror",
)
"""Regular expressions in small letters, looked for whatever the case; ``.{1,3}`` stands for an apostrophe of any kind
(up to three bytes in UTF-8)."""

_FAILURE: Final = "|".join((*_CAPTCHA, *_HTTP_ERROR))


def show_failure(turns: pa.Table) -> Booleans:
    """Which turns of a table with `COLUMNS` ended on such a screen."""
    observations = turns["observation"].cast(pa.binary())
    missing = pc.or_kleene(pc.is_in(turns["tree_status"], _MISSING), pc.equal(pc.binary_length(observations), 0))
    heads = pc.binary_slice(observations, 0, _HEAD_BYTES)
    failed = pc.or_kleene(missing, pc.match_substring_regex(heads, _FAILURE, ignore_case=True))
    found: Booleans = pc.fill_null(failed, False).to_numpy()
    return found
