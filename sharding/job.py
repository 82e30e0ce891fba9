"""The packing job: a curated data set as token shards and packs, the same bytes with any number of workers.

Units of the turns (`sharding.units`) are tokenised to a shard each, wherever a worker is free; their shards are joined
in the order of the data set, packed, and described in a manifest. The folder takes its place when all of it is there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.spread import spread
from sharding.chat_tokenizer import ChatTokenizer
from sharding.curated import curated_sources
from sharding.limits import MAX_CHARACTERS
from sharding.manifest import (
    DOCUMENTS_FILE,
    MANIFEST_FILE,
    PACKS_FILE,
    TOKENIZER_FOLDER,
    CurationFacts,
    FileFacts,
    Manifest,
    Overflow,
    PackFacts,
    Width,
)
from sharding.outcome import Outcome
from sharding.packs import check_context, cut_to_context, pack_slices, write_packs
from sharding.shards import MappedDocuments
from sharding.sources import SourcePart, Sources, Unit
from sharding.units import TokeniserSetup, UnitResult, tokenise_unit, unit_file
from sharding.writer import ShardWriter
from trajectories import InputError
from trajectories.dataset import Dataset, check_name
from trajectories.files import storage_errors, written_whole
from trajectories.folders import folder_written_whole
from trajectories.part_files import PARQUET_OPTIONS

_IN_PROCESS_BYTES = 32 * 2**20
"""With less text than this, worker processes would take longer to start than to work."""


@dataclass(frozen=True, slots=True)
class PackSummary:
    """What a packing came to: the folder of the shards, and its manifest with all counts."""

    path: Path
    manifest: Manifest

    @property
    def token_counts(self) -> dict[str, dict[str, tuple[int, int]]]:
        """Domain → class → (tokens of observations and their stop tokens, those of them in the loss)."""
        return {
            domain: {name: (counts.observation_tokens, counts.loss_tokens) for name, counts in classes.items()}
            for domain, classes in self.manifest.classes.items()
        }


def pack(
    dataset: Dataset,
    *,
    tokenizer: str,
    context: int,
    curation: str = "default",
    name: str = "default",
    overflow: Overflow = "split",
    chat_template: Path | None = None,
    keep_secrets: bool = False,
    max_characters: int = MAX_CHARACTERS,
    scheduler: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> PackSummary:
    """Tokenise every trajectory of a curated data set with its loss mask, and pack the documents.

    Args:
        tokenizer: a folder, or a name on the Hub.
        context: tokens a pack; ``PackedDataset`` repacks to another one without tokenising.
        curation: the name of the sidecar that says which turns are in the loss.
        name: of the shards, a folder below ``shards/``.
        overflow: what becomes of documents longer than the context.
        chat_template: a Jinja file to use instead of the tokenizer's own.
        keep_secrets: leave secrets and personal data as they are, instead of placeholders of their kind.
        max_characters: of one text of a trajectory; one with a longer text is refused, and counted in the manifest.
        scheduler: address of a Dask scheduler, whose workers see the data set at the same path.
        workers: processes to start without one; unless given, all cores, or none for little work.
        overwrite: replace the shards of this name.
        progress: called with the number of row groups of turns tokenised so far, and of all of them.

    Raises:
        InputError: a name, tokenizer, template or context that will not do; turns that are not curated; shards of this
            name that are there already; not one document with a trainable token.
        DamagedFileError: a part of the data set or of its curation is not what was written.
        StorageError: the disk is full or fails. In every case nothing half-written is left.
    """
    target = _free_place(dataset, name, overwrite=overwrite)
    check_context(context)
    parts = [SourcePart(part.domain, part.run, Path(part.path).name) for part in dataset.turn_parts()]
    sources, curated = curated_sources(dataset, parts, curation)
    chat = ChatTokenizer.load(tokenizer, chat_template)
    with storage_errors(target), folder_written_whole(target) as folder:
        work = folder / "work"
        units = [unit for part in parts for unit in sources.units(part)]
        setup = _setup(chat, work, keep_secrets=keep_secrets, max_characters=max_characters)
        results = _tokenise(units, sources, setup, work, scheduler=scheduler, workers=workers, progress=progress)
        outcome = Outcome(units, results, sum(map(sources.num_trajectories, parts)))
        documents = outcome.documents()
        if not documents.num_rows:
            raise _all_refused(dataset, outcome.refused())
        data_file = folder / f"{name}.ds"
        _join([unit_file(work, result.number) for result in results], data_file, chat.width)
        shutil.rmtree(work)
        _write_documents(documents, folder / DOCUMENTS_FILE)
        chat.save(folder / TOKENIZER_FOLDER)
        packs = _pack(MappedDocuments(data_file, chat.width), folder / PACKS_FILE, context, overflow)
        manifest = _manifest(folder, name, chat, outcome, curation=curated, packs=packs)
        (folder / MANIFEST_FILE).write_text(manifest.to_json(), encoding="utf-8")
    return PackSummary(target, manifest)


def _free_place(dataset: Dataset, name: str, *, overwrite: bool) -> Path:
    target = dataset.folder / "shards" / check_name(name, "name for shards")
    if target.exists() and not overwrite:
        raise InputError(
            f"shards '{name}' are there already",
            where=str(target),
            mend="pack under another --name, or with --overwrite",
        )
    return target


def _setup(chat: ChatTokenizer, work: Path, *, keep_secrets: bool, max_characters: int) -> TokeniserSetup:
    """What the workers need, in a new folder ``work`` where it is a file."""
    work.mkdir()
    backend = work / "tokenizer.json"
    backend.write_text(chat.backend_json, encoding="utf-8")
    control = tuple(chat.control.items())
    return TokeniserSetup(
        backend, chat.backend_sha256, chat.template.form, control, chat.width, keep_secrets, max_characters
    )


def _tokenise(
    units: Sequence[Unit],
    sources: Sources,
    setup: TokeniserSetup,
    work: Path,
    *,
    scheduler: str | None,
    workers: int | None,
    progress: Callable[[int, int], None] | None,
) -> list[UnitResult]:
    """Tokenise every unit to a shard in ``work``; the results in the order of the data set."""
    if workers is None:
        little = sum(unit.num_bytes for unit in units) < _IN_PROCESS_BYTES
        workers = 1 if little else os.cpu_count() or 1
    tokenise = partial(tokenise_unit, sources=sources, setup=setup, work=work)
    num_done, num_groups = 0, sum(unit.num_groups for unit in units)
    if progress is not None:
        progress(0, num_groups)
    results = []
    for result in spread(tokenise, list(enumerate(units)), scheduler=scheduler, workers=workers):
        results.append(result)
        num_done += units[result.number].num_groups
        if progress is not None:
            progress(num_done, num_groups)
    return sorted(results, key=attrgetter("number"))


def _join(shards: Sequence[Path], data_file: Path, width: Width) -> None:
    """Make one shard of many, in their order."""
    with ShardWriter(data_file, width) as writer:
        for shard in shards:
            writer.append_shard(shard)


def _all_refused(dataset: Dataset, refused: Mapping[str, int]) -> InputError:
    reasons = ", ".join(f"{reason}: {count}" for reason, count in refused.items())
    return InputError(
        f"no trajectory has anything to train on ({reasons})",
        where=dataset.url,
        mend="record more, curate with higher keep ratios, or pack with a higher --max-characters",
    )


def _pack(documents: MappedDocuments, path: Path, context: int, overflow: Overflow) -> PackFacts:
    """Write the pack index."""
    cut = cut_to_context(documents, context, overflow)
    if not len(cut.slices):
        raise InputError(
            f"nothing to train on fits a context of {context} tokens",
            where=f"{documents.num_documents} documents, {cut.num_dropped_documents} of them too long",
            mend="give a longer --context, or --overflow split",
        )
    packs = pack_slices(cut.slices, context)
    with written_whole(path) as file:
        write_packs(packs, file)
    return PackFacts(
        context=context,
        overflow=overflow,
        num_packs=len(packs),
        num_tokens=packs.num_tokens,
        fill=packs.num_tokens / (len(packs) * context),
        num_split_documents=cut.num_split_documents,
        num_dropped_documents=cut.num_dropped_documents,
        num_dropped_tokens=cut.num_dropped_tokens,
    )


def _manifest(
    folder: Path, name: str, chat: ChatTokenizer, outcome: Outcome, *, curation: CurationFacts, packs: PackFacts
) -> Manifest:
    documents = outcome.documents()

    def total(column: str) -> int:
        return int(pc.sum(documents[column]).as_py())

    return Manifest(
        name=name,
        dtype=chat.width,
        num_documents=documents.num_rows,
        num_tokens=total("num_tokens"),
        num_loss_tokens=total("num_loss_tokens"),
        num_turns=total("num_turns"),
        num_kept_turns=total("num_kept_turns"),
        num_volatile_tokens=outcome.num_volatile_tokens(),
        classes=outcome.classes(),
        refused=outcome.refused(),
        redactions=outcome.redactions(),
        tokenizer=chat.tokenizer_facts(),
        chat_template=chat.template_facts(),
        curation=curation,
        packs=packs,
        files=FileFacts.below(folder),
    )


def _write_documents(documents: pa.Table, path: Path) -> None:
    """Write the units' documents under one numbering."""
    numbers = pa.array(np.arange(documents.num_rows))
    numbered = documents.set_column(0, documents.schema.field("document"), numbers)
    with written_whole(path) as file:
        pq.write_table(numbered, file, **PARQUET_OPTIONS)
