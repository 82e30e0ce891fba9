"""A whole session's recording, put together from the raw events that its journal kept turn by turn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from trajectories.blobs import BlobStore
from trajectories.journal_format import Record, RecordKind
from trajectories.recording import RawEvent, event_line, parse_event, turn_marker


def session_lines(records: Iterable[Record], blobs: BlobStore) -> Iterator[bytes]:
    """The header line, then the events, with a marker before each turn's; memory holds one record at a time."""
    seconds = 0.0
    for record in records:
        if record.session is not None:
            yield json.dumps(record.session.recording_header).encode() + b"\n"
        lines = _event_lines(record, blobs)
        last = next(lines, None)
        if record.kind is RecordKind.TURN:
            began = parse_event(last).seconds if last else seconds
            yield event_line(RawEvent(began, "m", turn_marker(int(record.row["turn"] or 0))))
        if last:
            yield last
        for last in lines:
            yield last
        seconds = parse_event(last).seconds if last else seconds


def _event_lines(record: Record, blobs: BlobStore) -> Iterator[bytes]:
    if record.events_blob is None:
        return map(event_line, record.events)
    return blobs.lines(record.events_blob)
