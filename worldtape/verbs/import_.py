"""``worldtape import``: other people's trajectories, with a report of what was lost."""

from __future__ import annotations

from typing import Annotated, TypedDict

import typer

from trajectories import DOMAINS, InputError, JsonValue
from trajectories.importers import FORMATS, Corpus, CorpusSettings, Field, Importer, ImportReport, import_trajectories
from worldtape.console import note, progress, show_facts, show_json, show_table
from worldtape.datasets import local_dataset
from worldtape.options import check_known

NAME = "import"


class _Keys(TypedDict):
    text_key: str | None
    title_key: str | None
    id_key: str | None
    date_key: str | None
    licence_key: str | None
    source_key: str | None


_CORPUS = "corpus"
_PATHS = "Files, folders, archives, or URLs of these (https://, s3://, hf://); for a corpus also datasets:NAME."


def run(
    source_format: Annotated[str, typer.Argument(metavar="FORMAT", help=f"One of: {', '.join(FORMATS)}.")],
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help=_PATHS)],
    dataset: Annotated[str, typer.Option(help="The data set's folder.")],
    run: Annotated[str | None, typer.Option(help="What to call it (default: import-FORMAT).")] = None,
    domain: Annotated[str | None, typer.Option(help="Their domain (default: what the importer chooses).")] = None,
    licence: Annotated[str, typer.Option(help="Of what does not name its own (default: none).")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Import nothing if anything cannot be read.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    field: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help=f"Corpus: what the texts are about; one of: {', '.join(Field)}."),
    ] = None,
    source: Annotated[str, typer.Option(help="Corpus: its name (default: what its rows say).")] = "",
    text_key: Annotated[str | None, typer.Option(help="Corpus: column of the text (default: the usual).")] = None,
    title_key: Annotated[str | None, typer.Option(help="Corpus: column of the title (default: the usual).")] = None,
    id_key: Annotated[str | None, typer.Option(help="Corpus: column of the id (default: the usual).")] = None,
    date_key: Annotated[str | None, typer.Option(help="Corpus: column of the date (default: the usual).")] = None,
    licence_key: Annotated[str | None, typer.Option(help="Corpus: column of the licence (default: the usual).")] = None,
    source_key: Annotated[str | None, typer.Option(help="Corpus: column of the source (default: the usual).")] = None,
) -> None:
    """Import trajectories of another format, or texts, whole or not at all, and report what was lost.

    Importing the same again writes nothing new.

    Example: worldtape import atif runs/ --dataset data --licence Apache-2.0

    Example: worldtape import corpus https://host/laws.jsonl.zst --dataset data --field law --licence CC-BY-4.0
    """
    keys = _Keys(
        text_key=text_key,
        title_key=title_key,
        id_key=id_key,
        date_key=date_key,
        licence_key=licence_key,
        source_key=source_key,
    )
    check_known("format", source_format, FORMATS)
    importer = _corpus(source_format, field, source, keys)
    with progress("import", "trajectory", "trajectories") as report_progress:
        report = import_trajectories(
            local_dataset(dataset),
            source_format,
            paths,
            run=run,
            domain=domain,
            licence=licence,
            strict=strict,
            importer=importer,
            progress=report_progress,
        )
    if domain is not None and domain not in DOMAINS:
        note(f"import: '{domain}' is none of {', '.join(DOMAINS)}: what is curated for one of these leaves it alone")
    _show(report, as_json=as_json)


def _corpus(source_format: str, field: str | None, source: str, keys: _Keys) -> Importer | None:
    """The importer of texts with its settings; None for another format, which has none."""
    if source_format == _CORPUS:
        if field is None:
            raise InputError("what the texts are about is not said", mend=f"--field with one of: {', '.join(Field)}")
        check_known("field", field, Field)
        return Corpus(CorpusSettings(field=Field(field), source=source, **keys))
    given = {"field": field, "source": source, **keys}
    for name, value in given.items():
        if value:
            raise InputError(f"--{name.replace('_', '-')} is for the format corpus, not for {source_format}")
    return None


def _show(report: ImportReport, *, as_json: bool) -> None:
    facts = report.as_json()
    if as_json:
        show_json(facts)
        return
    counts = ("sources", "trajectories", "turns", "without_turns", "already_there", "unreadable")
    show_facts(f"Imported as the run '{report.run}'", {name.replace("_", " "): facts[name] for name in counts})
    if stages := facts["stages"]:
        show_table("What passed the stages", ("stage", "of", "in", "out"), _stage_rows(stages))
    rows = _loss_rows(report.loss.as_json())
    if rows:
        show_table("What was lost, and what was decided", ("what", "kind", "count"), rows)
    for problem in report.problems:
        note(f"import: not imported: {problem}")
    if report.num_problems > len(report.problems):
        note(f"import: and {report.num_problems - len(report.problems)} more")


def _stage_rows(stages: JsonValue) -> list[tuple[object, ...]]:
    rows = stages.items() if isinstance(stages, dict) else ()
    return [(name, *(counts[key] for key in ("of", "in", "out"))) for name, counts in rows if isinstance(counts, dict)]


def _loss_rows(loss: dict[str, JsonValue]) -> list[tuple[str, str, object]]:
    return [
        (part.replace("_", " "), kind, count)
        for part, counts in loss.items()
        if isinstance(counts, dict)
        for kind, count in counts.items()
    ]
