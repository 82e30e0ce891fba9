"""The judgement of turns: from their texts to their rows of the sidecar."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from curation.classes import CLASSES, classify_batch
from curation.keep import draw_batch, keep_ratio_batch, trajectory_states
from curation.profile import CurationProfile, Draw
from curation.reasons import NO_REASON, Codes, Reason, code_of, reason_names
from curation.sidecar import sidecar_schema
from curation.statistics import Floats, batch_statistics

_CLASS_NAMES = pa.array([name.value for name in CLASSES], pa.string())


def judge(turns: pa.Table, profile: CurationProfile, filtered: Codes) -> pa.Table:
    """The sidecar rows of turns, in their order.

    Args:
        turns: a table with `curation.pieces.TEXT_COLUMNS`.
        profile: the configuration.
        filtered: what the filters say against each turn; it masks the turn and changes nothing else of its row.
    """
    stats = batch_statistics(turns["action"], turns["observation"])
    unreadable = stats["ol"].is_null().to_numpy(zero_copy_only=False)
    ol, nov, r, len_observation = (
        pc.fill_null(stats[name], 0).to_numpy() for name in ("ol", "nov", "r", "len_observation")
    )
    codes = classify_batch(ol, nov, r, len_observation, profile.thresholds)
    ratios = keep_ratio_batch(codes, len_observation, profile.keep_ratios)
    u = _draws(turns, profile.seed)
    by_token = (profile.draw is Draw.TOKEN) & (ratios > 0)
    kept = ((u < ratios) | by_token) & ~unreadable
    reasons = np.select(
        [unreadable, len_observation == 0, by_token & (ratios < 1), kept],
        [code_of(reason) for reason in (Reason.UNREADABLE, Reason.SILENCE, Reason.DRAWN_BY_TOKEN, Reason.KEPT)],
        code_of(Reason.DRAWN_OUT),
    )
    columns = {
        "trajectory_id": turns["trajectory_id"],
        "turn": turns["turn"],
        **{name: stats[name] for name in ("ol", "nov", "jac", "r", "len_action", "len_observation")},
        "class": _CLASS_NAMES.take(pa.array(codes, mask=unreadable)),
        "keep_ratio": pa.array(ratios, mask=unreadable),
        "u": u,
        "kept": kept & (filtered == NO_REASON),
        "reason": reason_names(np.minimum(reasons, filtered)),
    }
    return pa.table(columns, schema=sidecar_schema(profile))


def _draws(turns: pa.Table, seed: int) -> Floats:
    """u of every turn; a trajectory is hashed once, however many turns it has."""
    identities = turns["trajectory_id"].combine_chunks().dictionary_encode()
    states: NDArray[np.uint64] = trajectory_states(seed, identities.dictionary.to_pylist())
    return draw_batch(states[identities.indices.to_numpy()], turns["turn"].to_numpy())
