"""The units of the packing job, each tokenised to a shard of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from sharding.chat_format import ChatFormat
from sharding.conversation import ContextText, conversation, longest_text
from sharding.limits import too_long
from sharding.manifest import NO_KEPT_TURN, Width
from sharding.reading import JudgedTurn, contexts, trajectories
from sharding.redaction import redacted
from sharding.schemas import DOCUMENTS
from sharding.sources import Sources, Unit
from sharding.tokenise import ConversationTokenizer, TokenisedConversation, TurnTokens
from sharding.writer import ShardWriter
from trajectories import DamagedFileError
from trajectories.files import storage_errors


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
    max_characters: int
    """Of one text; a trajectory with a longer one is refused."""


@dataclass(slots=True)
class UnitResult:
    """What became of unit ``number``: its documents (schema ``DOCUMENTS``, numbered from 0), and those refused."""

    number: int
    documents: pa.Table = field(default_factory=DOCUMENTS.empty_table)
    refused: Counter[str] = field(default_factory=Counter)
    """Trajectories that became no document, by reason."""
    redactions: Counter[str] = field(default_factory=Counter)
    """Secrets and personal data that placeholders stand for, by kind."""
    classes: dict[str, Counter[str]] = field(default_factory=dict)
    """The fields of a `sharding.manifest.ClassTokens`, by class, over the documents."""
    num_volatile_tokens: int = 0

    def count(self, turn: JudgedTurn, tokens: TurnTokens) -> None:
        """Add what became of one turn."""
        of_class = self.classes.setdefault(turn.turn_class, Counter())
        of_class["turns"] += 1
        of_class["kept_turns"] += turn.text.mask.kept
        of_class["observation_tokens"] += tokens.num_tokens
        of_class["loss_tokens"] += tokens.num_loss_tokens
        self.num_volatile_tokens += tokens.num_volatile_tokens


def unit_file(folder: Path, number: int) -> Path:
    """Where the shard of unit ``number`` lies in the job's work folder."""
    return folder / f"{number:06d}.ds"


def tokenise_unit(task: tuple[int, Unit], *, sources: Sources, setup: TokeniserSetup, work: Path) -> UnitResult:
    """Write the shard of one unit, one document in memory at a time; the same bytes however often and wherever."""
    number, unit = task
    said_before = contexts(sources, unit)
    result = UnitResult(number)
    rows: list[dict[str, str | int]] = []
    shard = unit_file(work, number)
    with storage_errors(shard), ShardWriter(shard, setup.width) as writer:
        for trajectory_id, turns in trajectories(sources, unit):
            if trajectory_id not in said_before:
                raise _has_no_row(trajectory_id, sources.trajectories(unit.part))
            context = said_before[trajectory_id]
            refusal = _refusal(context, turns, setup.max_characters)
            if refusal is not None:
                result.refused[refusal] += 1
                continue
            document = _tokenised(context, turns, setup, result)
            writer.append(document)
            rows.append(
                {
                    "document": len(rows),
                    "trajectory_id": trajectory_id,
                    "domain": unit.part.domain,
                    "run": unit.part.run,
                    "num_turns": len(turns),
                    "num_kept_turns": sum(turn.text.mask.kept for turn in turns),
                    "num_tokens": len(document.tokens),
                    "num_loss_tokens": int(document.loss.sum()),
                }
            )
    result.documents = pa.Table.from_pylist(rows, schema=DOCUMENTS)
    return result


def _refusal(context: ContextText, turns: Sequence[JudgedTurn], max_characters: int) -> str | None:
    """Why a trajectory becomes no document, if it does not; told before anything is made of its texts."""
    if not any(turn.text.mask.kept for turn in turns):
        return NO_KEPT_TURN
    if longest_text(context, (turn.text for turn in turns)) > max_characters:
        return too_long(max_characters)
    return None


def _has_no_row(trajectory_id: str, path: Path) -> DamagedFileError:
    return DamagedFileError(
        f"trajectory {trajectory_id} has turns and no row", where=str(path), mend="copy it again from its source"
    )


def _tokenised(
    context: ContextText, turns: list[JudgedTurn], setup: TokeniserSetup, result: UnitResult
) -> TokenisedConversation:
    """A trajectory as tokens; what became of its turns and of its secrets is added to the result."""
    texts = [turn.text for turn in turns]
    if not setup.keep_secrets:
        context, texts, counts = redacted(context, texts)
        result.redactions.update(counts)
    document = _tokenizer(setup).encode(conversation(context, texts))
    for turn, tokens in zip(turns, document.turns, strict=True):
        result.count(turn, tokens)
    return document


@lru_cache(maxsize=1)
def _tokenizer(setup: TokeniserSetup) -> ConversationTokenizer:
    return ConversationTokenizer(setup.backend_file.read_text(encoding="utf-8"), setup.form, dict(setup.control))
