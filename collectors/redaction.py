"""Takes the secrets a sandbox was given out of everything that is recorded, before it is recorded.

Each occurrence becomes the typed placeholder ``[secret:NAME]`` and is counted. The placeholder has another length than
the value: a session replayed from redacted raw events may break the row it stands in at another place than the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from collectors.secret_search import Part, SecretSearch, Span
from trajectories import Action, EventSpool, JsonValue, WorldtapeError, canonical_json

_BUFFERED_BYTES = 2**20


class Redactor:
    """Redacts one trajectory. It keeps count, and remembers a value that a turn ended in the middle of.

    Args:
        secrets: name → value, as given to the sandbox.

    Raises:
        InputError: a value is too short to be told from ordinary text.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._counts: Counter[str] = Counter()
        self._search = SecretSearch(secrets)
        self._unfinished: dict[str, tuple[bytes, ...]] = {}
        self._typed_before = b""

    def take_counts(self) -> dict[str, int]:
        """How often each name was redacted since the last call, in texts and in raw events together."""
        counts, self._counts = self._counts, Counter()
        return dict(sorted(counts.items()))

    def text(self, text: str) -> str:
        """``text`` without any secret."""
        if not self._search:
            return text
        data = text.encode("utf-8", "surrogatepass")
        return self._cut(data, self._search.find(data)).decode("utf-8", "surrogatepass")

    def observation(self, text: str) -> str:
        """``text`` without any secret, also where its end breaks one off (a screen captured early)."""
        if not self._search:
            return text
        whole = self.text(text).encode("utf-8", "surrogatepass")
        part = self._search.part_at_end(whole)
        spans = [Span(part.start, len(whole), part.name)] if part else []
        return self._cut(whole, spans).decode("utf-8", "surrogatepass")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Take the secrets out of the line that an error of ours, leaving the block, is printed as."""
        try:
            yield
        except WorldtapeError as error:
            what, where, mend = (self.optional_text(part) for part in (error.what, error.where, error.mend))
            WorldtapeError.__init__(error, what or "", where=where, mend=mend)
            raise

    def optional_text(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def json(self, value: JsonValue) -> JsonValue:
        """``value`` with every string in it, keys too, redacted."""
        return self._mapped(value, self.text)

    def _mapped(self, value: JsonValue, redact: Callable[[str], str]) -> JsonValue:
        """``value`` with its texts redacted so, in order; keys are redacted each by itself."""
        if isinstance(value, str):
            return redact(value)
        if isinstance(value, Mapping):
            return {self.text(key): self._mapped(item, redact) for key, item in value.items()}
        if isinstance(value, Sequence):
            return [self._mapped(item, redact) for item in value]
        return value

    def action(self, action: Action) -> Action:
        """The action redacted; its text stays its payload's canonical JSON where it was.

        The texts of its payload, keys apart, are one stream over all actions of the trajectory: a value typed in
        several pieces is redacted in each that is still to be written. What stands is a first piece too short to be
        known for the beginning of a value: its action is on disk before the next one is known.
        """
        if not self._search:
            return action
        payload = self._typed(action.payload)
        derived = action.text == canonical_json(action.payload)
        text = canonical_json(payload) if derived else self.text(action.text)
        return Action(text, payload, self.optional_text(action.reasoning))

    def _typed(self, payload: JsonValue) -> JsonValue:
        """An action's payload redacted, with what was typed before it in mind."""
        typed = b"".join(text.encode("utf-8", "surrogatepass") for text in _texts(payload))
        known = len(self._typed_before)
        whole = self._typed_before + typed
        spans = [
            Span(max(0, span.start - known), span.end - known, span.name)
            for span in self._search.find(whole)
            if span.end > known
        ]
        end = len(typed.rstrip())
        if end and (part := self._search.part_at_end(whole)):
            spans.append(Span(max(0, part.start - known), end, part.name))
        self._typed_before = whole[-self._search.reach :]
        self._count(spans)
        cutter = _Cutter(spans)

        def cut(text: str) -> str:
            return cutter.cut(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

        return self._mapped(payload, cut)

    def events(self, events: EventSpool) -> EventSpool | None:
        """The turn's raw events redacted, as a new spool; None where there was nothing to redact.

        The events of each kind (output, input) are one stream, redacted as a whole whatever pieces it came in.
        """
        if not self._search:
            return None
        spans = {kind: self._spans(kind, events) for kind in sorted({event.kind for event in events})}
        if not any(spans.values()):
            return None
        redacted = EventSpool()
        cutters = {kind: _Cutter(found) for kind, found in spans.items()}
        for event in events:
            data = cutters[event.kind].cut(_encoded(event.data)).decode("utf-8", "surrogateescape")
            if data or not event.data:
                redacted.append(event._replace(data=data))
        return redacted

    def _cut(self, data: bytes, spans: Sequence[Span]) -> bytes:
        self._count(spans)
        return _Cutter(spans).cut(data)

    def _count(self, spans: Iterable[Span]) -> None:
        self._counts.update(span.name for span in spans if span.name is not None)

    def _spans(self, kind: str, events: EventSpool) -> list[Span]:
        """Where the secrets are in the stream of one kind, in memory bounded by the buffer."""
        stream = _StreamSearch(self._search, self._unfinished.pop(kind, ()))
        for event in events:
            if event.kind == kind:
                stream.feed(_encoded(event.data))
        part = stream.finish()
        if part is not None:
            self._unfinished[kind] = part.rests
        self._count(stream.spans)
        return stream.spans


class _StreamSearch:
    """Searches a stream that comes in pieces, in memory bounded by its buffer; ``spans`` is what it found.

    ``unfinished`` are the possible rests of a value whose beginning ended the turn before.
    """

    def __init__(self, search: SecretSearch, unfinished: tuple[bytes, ...]) -> None:
        self.spans: list[Span] = []
        self._search = search
        self._unfinished = unfinished
        self._buffer = bytearray()
        self._offset = 0

    def feed(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) > _BUFFERED_BYTES + self._search.reach:
            self._settle(len(self._buffer) - self._search.reach)

    def finish(self) -> Part | None:
        """Search what is left; the beginning of a value that the stream ends with, if it does."""
        self._settle(len(self._buffer))
        part = self._search.part_at_end(bytes(self._buffer))
        if part is not None:
            self.spans.append(Span(self._offset + part.start, self._offset + len(self._buffer), part.name))
        return part

    def _settle(self, limit: int) -> None:
        """Find every value that starts before ``limit``, then forget the buffer up to there."""
        data = bytes(self._buffer)
        found = [span for span in self._search.find(data) if span.start < limit]
        if self._unfinished:
            length = self._search.length_at_start(self._unfinished, data)
            self._unfinished = ()
            found = [*([Span(0, length, None)] if length else []), *(span for span in found if span.start >= length)]
        self.spans += [Span(self._offset + start, self._offset + end, name) for start, end, name in found]
        settled = max(found[-1].end if found else 0, min(limit, len(data) - self._search.reach))
        if settled > 0:
            del self._buffer[:settled]
            self._offset += settled


class _Cutter:
    """Cuts spans out of a stream that comes in pieces; the placeholder stands where the span begins."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._next = 0
        self._offset = 0

    def cut(self, piece: bytes) -> bytes:
        begin, end = self._offset, self._offset + len(piece)
        self._offset = end
        kept, position = [], begin
        while self._next < len(self._spans) and self._spans[self._next].start < end:
            span = self._spans[self._next]
            if span.start >= begin:
                kept.append(piece[position - begin : span.start - begin])
                kept.append(f"[secret:{span.name}]".encode() if span.name else b"")
            position = min(end, span.end)
            if span.end > end:
                break
            self._next += 1
        kept.append(piece[position - begin :])
        return b"".join(kept)


def _texts(value: JsonValue) -> Iterator[str]:
    """Every string in ``value`` but the keys, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | Sequence):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


def _encoded(data: str) -> bytes:
    return data.encode("utf-8", "surrogateescape")
