"""``worldtape pack``: token shards and packs of a curated data set."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sharding.limits import MAX_CHARACTERS
from trajectories.plurals import plural
from worldtape.console import note, progress, show_facts, show_json, show_table
from worldtape.datasets import local_dataset
from worldtape.extras import extra
from worldtape.options import Scheduler, Workers, path_here

if TYPE_CHECKING:
    from sharding import PackSummary
    from sharding.manifest import ClassTokens
    from trajectories import Dataset

NAME = "pack"


@extra("pack")
def run(
    dataset: Annotated[str, typer.Argument(help="The data set's folder.")],
    tokenizer: Annotated[str, typer.Option(help="A tokenizer's folder, or its name on the Hub.")],
    context: Annotated[int, typer.Option(help="Tokens a pack; readers may repack to another one.")] = 8192,
    curation: Annotated[str, typer.Option(help="Whose mask says what is in the loss.")] = "default",
    name: Annotated[str, typer.Option(help="Of the shards; a data set may have several.")] = "default",
    overflow: Annotated[Literal["split", "drop"], typer.Option(help="Documents longer than the context.")] = "split",
    chat_template: Annotated[
        Path | None,
        typer.Option(
            help="A Jinja file to lay conversations out by (default: the tokenizer's own).",
            parser=path_here,
            metavar="PATH",
        ),
    ] = None,
    keep_secrets: Annotated[
        bool, typer.Option("--keep-secrets", help="Leave secrets and personal data in, without placeholders.")
    ] = False,
    max_characters: Annotated[
        int,
        typer.Option(
            min=1,
            help="Of one text; a trajectory with a longer one is refused, and counted. Tokenising takes up to some 500 "
            "bytes of memory a character.",
        ),
    ] = MAX_CHARACTERS,
    scheduler: Scheduler = None,
    workers: Workers = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the shards of this name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the manifest as JSON.")] = False,
) -> None:
    """Tokenise the conversations of a curated data set with their loss mask, and pack them best-fit.

    The curation's report is written again: from then on it says what the keep ratios have come to in tokens.

    Example: worldtape pack data --tokenizer Qwen/Qwen3-0.6B --context 8192
    """
    from sharding import pack
    from worldtape.hub import quiet_hub

    quiet_hub()

    opened = local_dataset(dataset)
    with progress("pack", "row group", headings=[f"{dataset} with {tokenizer}, context {context}"]) as report:
        summary = pack(
            opened,
            tokenizer=tokenizer,
            context=context,
            curation=curation,
            name=name,
            overflow=overflow,
            chat_template=chat_template,
            keep_secrets=keep_secrets,
            max_characters=max_characters,
            scheduler=scheduler,
            workers=workers,
            overwrite=overwrite,
            progress=report,
        )
    if as_json:
        show_json({"path": str(summary.path), **summary.manifest.model_dump()})
    else:
        _show(summary)
        _show_classes(summary)
    _report_again(opened, curation, summary)


def _show(summary: PackSummary) -> None:
    made = summary.manifest
    redactions = ", ".join(f"{count:,} {kind}" for kind, count in made.redactions.items())
    refused = ", ".join(f"{count} with {reason}" for reason, count in made.refused.items())
    show_facts(
        f"Shards in {summary.path}",
        {
            "documents": f"{made.num_documents:,}" + (f" (refused: {refused})" if refused else ""),
            "tokens": f"{made.num_tokens:,}, of them {made.num_loss_tokens:,} in the loss",
            "turns": f"{made.num_turns:,}, of them {made.num_kept_turns:,} in the loss",
            "packs": f"{made.packs.num_packs:,} of {made.packs.context:,} tokens, {made.packs.fill:.2%} full",
            "too long": f"{made.packs.num_split_documents:,} split, {made.packs.num_dropped_documents:,} dropped",
            "placeholders": redactions or "none",
            "volatile": f"{plural(made.num_volatile_tokens, 'token')} out of the loss for it",
            "chat template": f"{made.chat_template.origin}: {made.chat_template.reason}",
        },
    )


def _show_classes(summary: PackSummary) -> None:
    by_class: dict[str, list[ClassTokens]] = {}
    for of_domain in summary.manifest.classes.values():
        for name, counts in of_domain.items():
            by_class.setdefault(name, []).append(counts)
    show_table(
        "What of the observations is in the loss",
        ("class", "turns", "kept", "tokens", "in the loss", "realised"),
        [_class_row(name, counts) for name, counts in by_class.items()],
    )


def _class_row(name: str, counts: Iterable[ClassTokens]) -> tuple[str, int, int, int, int, str]:
    every = [(one.turns, one.kept_turns, one.observation_tokens, one.loss_tokens) for one in counts]
    turns, kept, tokens, in_loss = map(sum, zip(*every, strict=True))
    return name, turns, kept, tokens, in_loss, f"{in_loss / tokens:.1%}"


def _report_again(dataset: Dataset, curation: str, summary: PackSummary) -> None:
    """Tell the curation's report the tokens that its classes have come to."""
    from curation import open_sidecar, write_report
    from curation.report import Packed

    made = summary.manifest
    packed = Packed(num_documents=made.num_documents, refused=made.refused, tokens=summary.token_counts)
    try:
        page = write_report(dataset, open_sidecar(dataset, curation), packed)
    except ModuleNotFoundError as error:
        note(f"pack: the curation's report is as it was; {error.name}, which draws it, is of the 'curate' extra")
    else:
        note(f"pack: the report now says the tokens too: {page}")
