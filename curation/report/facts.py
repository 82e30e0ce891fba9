"""The figures of a report: what the data set is, and what its curation found. Queries only; nothing is drawn here.

Everything is computed by streaming queries over small columns; of the texts only a few trajectories' are read.
"""

from __future__ import annotations

import hashlib

import polars as pl
from pydantic import BaseModel

from curation.manifest_files import damaged_tables
from curation.profile import CurationProfile
from curation.report.amounts import Amounts, Count, amounts, tally, tokens_of
from curation.report.examples import Example, choose_examples
from curation.report.histograms import Histogram, histograms
from curation.report.imports import ImportFacts, import_facts
from curation.report.judged import ClassFacts, ReasonFacts, Stage, class_facts, reason_facts, stages
from curation.report.origins import Origins, origins
from curation.report.packed import Packed, PackedDocuments
from curation.report.recorded import DatasetFacts, dataset_facts
from curation.report.searched import (
    ContaminationFacts,
    DuplicatesFacts,
    SecretsFacts,
    VolatileFacts,
    contamination_facts,
    duplicates_facts,
    secrets_facts,
    volatile_facts,
)
from curation.sidecar import Manifest, Sidecar
from trajectories.dataset import Dataset

SCHEMA_VERSION = 4


class Report(BaseModel):
    """The whole of ``report.json``."""

    schema_version: int = SCHEMA_VERSION
    curation: str
    judgement: str
    """16 hexadecimal digits that change with anything in the sidecar."""
    profile: CurationProfile
    versions: dict[str, str]
    dataset: DatasetFacts
    imports: list[ImportFacts]
    num_parts_unjudged: Count
    """Turns parts of the data set that the curation does not tell of, or not as they are now."""
    total: Amounts
    by_domain: dict[str, Amounts]
    packed: PackedDocuments | None = None
    """Whose tokens are counted; None where nobody has packed."""
    stages: list[Stage]
    """What was recorded, and what is left after each reason to mask a turn, in their order."""
    classes: list[ClassFacts]
    by_run: Origins
    by_source: Origins
    reasons: list[ReasonFacts]
    """Those that occur, in the order in which the first that holds is told."""
    secrets: SecretsFacts | None
    """None where the judgement knew of no such search; so the next three."""
    duplicates: DuplicatesFacts | None
    contamination: ContaminationFacts | None
    volatile: VolatileFacts | None
    statistics: list[Histogram]
    examples: list[Example]
    """Of the classes, in their order."""
    masked: list[Example]
    """Of the reasons for which turns are masked, in their order."""


def _require_undamaged(sidecar: Sidecar, manifest: Manifest) -> None:
    """Raise ``DamagedFileError`` where a table of the curation is not what was written: its figures would be others."""
    sidecar.refuse(sidecar.damaged_parts())
    for search in manifest.searches:
        sidecar.refuse([f"{search}/{table}" for table in damaged_tables(sidecar.folder / search)])


def gather(dataset: Dataset, sidecar: Sidecar, packed: Packed | None = None) -> Report:
    """The report of a whole sidecar.

    Args:
        packed: what packing by it came to.

    Raises:
        InputError: the data set is not curated (or not yet whole).
        DamagedFileError: a part cannot be read.
    """
    manifest = sidecar.whole()
    _require_undamaged(sidecar, manifest)
    tokens = None if packed is None else packed.tokens
    rows = sidecar.scan()
    tallied = tally(rows)
    by_run, by_source = origins(dataset, sidecar)
    examples = choose_examples(dataset, rows)
    return Report(
        curation=sidecar.name,
        judgement=judgement_of(manifest),
        profile=manifest.profile,
        versions=manifest.versions,
        dataset=dataset_facts(dataset),
        imports=import_facts(dataset),
        num_parts_unjudged=len(sidecar.unjudged_parts(dataset)),
        total=amounts(tallied, tokens_of(tokens)),
        by_domain={
            domain: amounts(tallied.filter(pl.col("domain") == domain), tokens_of(tokens, domain=domain))
            for domain in sorted(tallied["domain"].unique())
        },
        packed=None if packed is None else PackedDocuments(num_documents=packed.num_documents, refused=packed.refused),
        stages=stages(sidecar, tallied, manifest),
        classes=class_facts(tallied, manifest, tokens),
        by_run=by_run,
        by_source=by_source,
        reasons=reason_facts(tallied),
        secrets=secrets_facts(dataset, sidecar.name, manifest),
        duplicates=duplicates_facts(dataset, sidecar.name, manifest),
        contamination=contamination_facts(dataset, sidecar.name, manifest),
        volatile=volatile_facts(dataset, sidecar.name, manifest),
        statistics=histograms(rows),
        examples=examples.of_classes,
        masked=examples.of_reasons,
    )


def judgement_of(manifest: Manifest) -> str:
    """What tells one judgement from another: the profile, the searches, and the bytes of every part."""
    return hashlib.sha256(manifest.model_dump_json().encode()).hexdigest()[:16]
