"""The units of the packing job: stretches of turns parts that hold whole trajectories, each tokenised to a shard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sharding.chat_format import ChatFormat
from sharding.conversation import ContextText, TurnText, conversation
from sharding.manifest import Width
from sharding.redaction import redacted
from sharding.schemas import DOCUMENTS
from sharding.tokenise import ConversationTokenizer
from sharding.writer import ShardWriter
from trajectories import InputError
from trajectories.files import storage_errors
from trajectories.part_files import reading_part


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A part of the data set: turns, trajectories and sidecar have a file each of the same path below their folders."""

    domain: str
    run: str
    name: str

    @property
    def path(self) -> str:
        return f"domain={self.domain}/run={self.run}/{self.name}"


@dataclass(frozen=True, slots=True)
class Unit:
    """Row groups ``first`` to ``end`` (excluded) of a turns part; their borders are borders of trajectories.

    ``num_bytes`` is the size of the turns, uncompressed.
    """

    part: SourcePart
    first: int
    end: int
    first_id: str
    last_id: str
    num_bytes: int

    @property
    def num_groups(self) -> int:
        return self.end - self.first


@dataclass(frozen=True, slots=True)
class Sources:
    """The folders of a data set and of a sidecar, which have the same parts."""

    dataset: Path
    sidecar: Path

    def turns(self, part: SourcePart) -> Path:
        return self.dataset / "turns" / part.path

    def trajectories(self, part: SourcePart) -> Path:
        return self.dataset / "trajectories" / part.path

    def judgements(self, part: SourcePart) -> Path:
        return self.sidecar / part.path

    def num_trajectories(self, part: SourcePart) -> int:
        path = self.trajectories(part)
        with reading_part(path):
            return int(pq.read_metadata(path).num_rows)

    def units(self, part: SourcePart) -> Iterator[Unit]:
        """The units of a part, in order: as few row groups each as hold whole trajectories.

        A part is sorted by trajectory, so one that goes on in the next row group shows in the groups' statistics.
        """
        path = self.turns(part)
        with reading_part(path):
            metadata = pq.read_metadata(path)
        ids = metadata.schema.names.index("trajectory_id")
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        spans = [group.column(ids).statistics for group in groups]
        first = 0
        for end in range(1, len(groups) + 1):
            if end == len(groups) or spans[end - 1].max != spans[end].min:
                num_bytes = sum(group.total_byte_size for group in groups[first:end])
                yield Unit(part, first, end, spans[first].min, spans[end - 1].max, num_bytes)
                first = end


@dataclass(frozen=True, slots=True)
class TokeniserSetup:
    """What a worker needs to tokenise; the tokenizer's serialised form is a file, read once a worker."""

    backend_file: Path
    backend_sha256: str
    """Tells the tokenizers apart that a long-lived worker meets at the same place."""
    form: ChatFormat
    control: tuple[tuple[str, int], ...]
    width: Width
    keep_secrets: bool


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What became of unit ``number``: its documents (schema ``DOCUMENTS``, numbered from 0), and those refused."""

    number: int
    documents: pa.Table
    refused: int
    """Trajectories without a kept turn."""
    redactions: Counter[str]
    """Secrets and personal data that placeholders stand for, by kind."""


def unit_file(folder: Path, number: int) -> Path:
    """Where the shard of unit ``number`` lies in the job's work folder."""
    return folder / f"{number:06d}.ds"


def tokenise_unit(task: tuple[int, Unit], *, sources: Sources, setup: TokeniserSetup, work: Path) -> UnitResult:
    """Write the shard of one unit, one document in memory at a time; the same bytes however often and wherever."""
    number, unit = task
    tokenizer = _tokenizer(setup)
    contexts = _contexts(sources, unit)
    rows: list[dict[str, str | int]] = []
    refused = 0
    redactions: Counter[str] = Counter()
    shard = unit_file(work, number)
    with storage_errors(shard), ShardWriter(shard, setup.width) as writer:
        for trajectory_id, turns in _trajectories(sources, unit):
            num_kept = sum(turn.kept for turn in turns)
            if not num_kept:
                refused += 1
                continue
            context = contexts[trajectory_id]
            if not setup.keep_secrets:
                context, turns, counts = redacted(context, turns)
                redactions.update(counts)
            document = tokenizer.encode(conversation(context, turns))
            writer.append(document)
            rows.append(
                {
                    "document": len(rows),
                    "trajectory_id": trajectory_id,
                    "domain": unit.part.domain,
                    "run": unit.part.run,
                    "num_turns": len(turns),
                    "num_kept_turns": num_kept,
                    "num_tokens": len(document.tokens),
                    "num_loss_tokens": int(document.loss.sum()),
                }
            )
    return UnitResult(number, pa.Table.from_pylist(rows, schema=DOCUMENTS), refused, redactions)


@lru_cache(maxsize=1)
def _tokenizer(setup: TokeniserSetup) -> ConversationTokenizer:
    return ConversationTokenizer(setup.backend_file.read_text(encoding="utf-8"), setup.form, dict(setup.control))


def _contexts(sources: Sources, unit: Unit) -> dict[str, ContextText]:
    """What the trajectories of a unit say before their first turns, by trajectory id."""
    names = [name for name in ContextText._fields if name != "domain"]
    in_unit = (pc.field("trajectory_id") >= unit.first_id) & (pc.field("trajectory_id") <= unit.last_id)
    path = sources.trajectories(unit.part)
    with reading_part(path):
        rows = pq.read_table(path, columns=["trajectory_id", *names], filters=in_unit, partitioning=None)
    columns = (_texts(rows[name]) for name in ("trajectory_id", *names))
    return {
        trajectory_id: ContextText(unit.part.domain, *parts) for trajectory_id, *parts in zip(*columns, strict=True)
    }


def _trajectories(sources: Sources, unit: Unit) -> Iterator[tuple[str, list[TurnText]]]:
    """Every trajectory of a unit with its turns, one row group in memory at a time."""
    for trajectory_id, rows in groupby(_turns(sources, unit), key=itemgetter(0)):
        yield trajectory_id, [turn for _, turn in rows]


def _turns(sources: Sources, unit: Unit) -> Iterator[tuple[str, TurnText]]:
    """The unit's turns beside what the sidecar says of them: it mirrors the turns row for row."""
    sidecar = sources.judgements(unit.part)
    with _part(sources.turns(unit.part)) as turns, _part(sidecar) as judgements:
        if judgements.file.num_row_groups != turns.file.num_row_groups:
            raise _stale(sidecar)
        for group in range(unit.first, unit.end):
            rows = turns.read_row_group(group, ["trajectory_id", "turn", "action", "observation"])
            judged = judgements.read_row_group(group, ["trajectory_id", "turn", "kept"])
            if not rows.select(["trajectory_id", "turn"]).equals(judged.select(["trajectory_id", "turn"])):
                raise _stale(sidecar)
            texts = map(TurnText, _texts(rows["action"]), _texts(rows["observation"]), judged["kept"].to_pylist())
            yield from zip(rows["trajectory_id"].to_pylist(), texts, strict=True)


@dataclass(frozen=True, slots=True)
class _Part:
    """An open Parquet file that names itself where it is damaged."""

    path: Path
    file: pq.ParquetFile

    def read_row_group(self, group: int, columns: list[str]) -> pa.Table:
        with reading_part(self.path):
            return self.file.read_row_group(group, columns=columns)


@contextmanager
def _part(path: Path) -> Iterator[_Part]:
    with reading_part(path):
        file = pq.ParquetFile(path)
    with file:
        yield _Part(path, file)


def _texts(column: pa.ChunkedArray) -> list[str]:
    """A column's texts: what is missing is empty, and what is not UTF-8 (curation masks it) has U+FFFD for it."""
    return [(value or b"").decode(errors="replace") for value in column.cast(pa.binary()).to_pylist()]


def _stale(sidecar: Path) -> InputError:
    return InputError(
        "the curation is not of these turns", where=str(sidecar), mend="run: worldtape curate DATASET --overwrite"
    )
