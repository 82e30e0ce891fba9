"""The packing job: a curated data set as token shards and packs, the same bytes with any number of workers.

Units of the turns (`sharding.units`) are tokenised to a shard each, wherever a worker is free; their shards are joined
in the order of the data set, packed, and described in a manifest. The folder takes its place when all of it is there.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from curation.sidecar import open_sidecar
from curation.spread import spread
from sharding.chat_tokenizer import ChatTokenizer
from sharding.folders import folder_written_whole
from sharding.manifest import (
    DOCUMENTS_FILE,
    MANIFEST_FILE,
    PACKS_FILE,
    TEMPLATE_FILE,
    CurationFacts,
    FileFacts,
    Manifest,
    Overflow,
    PackFacts,
    Width,
)
from sharding.packs import cut_to_context, pack_slices, write_packs
from sharding.schemas import DOCUMENTS
from sharding.shards import MappedDocuments
from sharding.units import SourcePart, Sources, TokeniserSetup, Unit, UnitResult, tokenise_unit, unit_file
from sharding.writer import ShardWriter
from trajectories import InputError
from trajectories.dataset import Dataset
from trajectories.files import storage_errors, written_whole

_IN_PROCESS_BYTES = 32 * 2**20
"""With less text than this, worker processes would take longer to start than to work."""


@dataclass(frozen=True, slots=True)
class PackSummary:
    """What a packing came to: the folder of the shards, and its manifest with all counts."""

    path: Path
    manifest: Manifest


def pack(
    dataset: Dataset,
    *,
    tokenizer: str,
    context: int,
    curation: str = "default",
    name: str = "default",
    overflow: Overflow = "split",
    chat_template: Path | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
) -> PackSummary:
    """Tokenise every trajectory of a curated data set with its loss mask, and pack the documents.

    Args:
        tokenizer: a folder, or a name on the Hub.
        context: tokens a pack; ``PackedDataset`` repacks to another one without tokenising.
        curation: the name of the sidecar that says which turns are in the loss.
        name: of the shards, a folder below ``shards/``.
        overflow: what becomes of documents longer than the context.
        chat_template: a Jinja file to use instead of the tokenizer's own.
        scheduler: address of a Dask scheduler, whose workers see the data set at the same path.
        workers: processes to start without one; all cores unless given, none for little work.
        overwrite: replace the shards of this name.

    Raises:
        InputError: a name, tokenizer, template or context that will not do; turns that are not curated; shards of this
            name that are there already; not one document with a trainable token.
        StorageError: the disk is full or fails. In every case nothing half-written is left.
    """
    target = _free_place(dataset, name, overwrite=overwrite)
    if context < 2:
        raise InputError(f"a context of {context} tokens trains nothing", mend="give a context of at least 2")
    parts = [SourcePart(part.domain, part.run, Path(part.path).name) for part in dataset.turn_parts()]
    sources, curated = _curated_sources(dataset, parts, curation)
    chat = ChatTokenizer.load(tokenizer, chat_template)
    with storage_errors(target), folder_written_whole(target) as folder:
        work = folder / "work"
        units = [unit for part in parts for unit in sources.units(part)]
        results = _tokenise(units, sources, chat, work, scheduler=scheduler, workers=workers)
        refused = _refused(results, sum(map(sources.num_trajectories, parts)))
        documents = pa.concat_tables([DOCUMENTS.empty_table(), *(result.documents for result in results)])
        if not documents.num_rows:
            raise _all_refused(dataset, refused)
        data_file = folder / f"{name}.ds"
        _join([unit_file(work, result.number) for result in results], data_file, chat.width)
        shutil.rmtree(work)
        _write_documents(documents, folder / DOCUMENTS_FILE)
        _write_text(chat.template.text, folder / TEMPLATE_FILE)
        packs = _pack(MappedDocuments(data_file, chat.width), folder / PACKS_FILE, context, overflow)
        manifest = _manifest(folder, name, chat, documents, curation=curated, refused=refused, packs=packs)
        _write_text(manifest.to_json(), folder / MANIFEST_FILE)
    return PackSummary(target, manifest)


def _free_place(dataset: Dataset, name: str, *, overwrite: bool) -> Path:
    if re.fullmatch(r"\w[\w.-]*", name) is None:
        raise InputError("not a name for shards", where=repr(name), mend="use letters, digits, '.', '_' and '-'")
    target = dataset.folder / "shards" / name
    if target.exists() and not overwrite:
        raise InputError(
            f"shards '{name}' are there already",
            where=str(target),
            mend="pack under another --name, or with --overwrite",
        )
    return target


def _curated_sources(dataset: Dataset, parts: Sequence[SourcePart], curation: str) -> tuple[Sources, CurationFacts]:
    """Where the parts of the data set and of the sidecar lie.

    Raises:
        InputError: there is no whole sidecar of this name, or it lacks some of the parts.
    """
    sidecar = open_sidecar(dataset, curation)
    manifest = sidecar.manifest()
    covered = set(manifest.parts) if manifest else set()
    missing = {part.path for part in parts} - covered
    if manifest is None or missing:
        raise InputError(
            f"curation '{curation}' does not cover {len(missing)} of {len(parts)} turns parts",
            where=str(sidecar.folder),
            mend="run: worldtape curate DATASET",
        )
    curated = CurationFacts(name=curation, fingerprint=manifest.fingerprint)
    return Sources(dataset.folder, sidecar.folder), curated


def _tokenise(
    units: Sequence[Unit],
    sources: Sources,
    chat: ChatTokenizer,
    work: Path,
    *,
    scheduler: str | None,
    workers: int | None,
) -> list[UnitResult]:
    """Tokenise every unit to a shard in ``work``; the results in the order of the data set."""
    work.mkdir()
    backend = work / "tokenizer.json"
    backend.write_text(chat.backend_json, encoding="utf-8")
    setup = TokeniserSetup(backend, chat.backend_sha256, chat.template.form, tuple(chat.control.items()), chat.width)
    if workers is None:
        little = sum(unit.num_bytes for unit in units) < _IN_PROCESS_BYTES
        workers = 1 if little else os.cpu_count() or 1
    tokenise = partial(tokenise_unit, sources=sources, setup=setup, work=work)
    results = spread(tokenise, list(enumerate(units)), scheduler=scheduler, workers=workers)
    return sorted(results, key=attrgetter("number"))


def _join(shards: Sequence[Path], data_file: Path, width: Width) -> None:
    """Make one shard of many, in their order."""
    with ShardWriter(data_file, width) as writer:
        for shard in shards:
            writer.append_shard(shard)


def _refused(results: Sequence[UnitResult], num_trajectories: int) -> dict[str, int]:
    """How many trajectories became no document, by reason."""
    without_kept_turn = sum(result.refused for result in results)
    num_documents = sum(result.documents.num_rows for result in results)
    counts = {"no kept turn": without_kept_turn, "no turn": num_trajectories - num_documents - without_kept_turn}
    return {reason: count for reason, count in counts.items() if count}


def _all_refused(dataset: Dataset, refused: Mapping[str, int]) -> InputError:
    reasons = ", ".join(f"{reason}: {count}" for reason, count in refused.items())
    return InputError(
        f"no trajectory has anything to train on ({reasons})",
        where=dataset.url,
        mend="record more, or curate with higher keep ratios",
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
    folder: Path,
    name: str,
    chat: ChatTokenizer,
    documents: pa.Table,
    *,
    curation: CurationFacts,
    refused: dict[str, int],
    packs: PackFacts,
) -> Manifest:
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
        refused=refused,
        tokenizer=chat.tokenizer_facts(),
        chat_template=chat.template_facts(),
        curation=curation,
        packs=packs,
        files={path.name: FileFacts.of(path) for path in sorted(folder.iterdir())},
    )


def _write_documents(documents: pa.Table, path: Path) -> None:
    """Write the units' documents under one numbering."""
    numbers = pa.array(np.arange(documents.num_rows))
    numbered = documents.set_column(0, documents.schema.field("document"), numbers)
    with written_whole(path) as file:
        pq.write_table(numbered, file, compression="zstd")


def _write_text(text: str, path: Path) -> None:
    with written_whole(path) as file:
        file.write(text.encode())
