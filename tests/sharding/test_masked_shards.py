"""What a curation says token by token is what the shards have in the loss."""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from curation import Draw, Searches, Sidecar, curate
from curation.keep import token_draws
from curation.replays import VolatileSettings, find_volatile, open_volatile
from sharding import PackSummary, TokenShards, pack
from sharding.chat import load_tokenizer
from sharding.manifest import ClassTokens
from tests.curation.recordings import Texts
from tests.sharding.conftest import decoded, files_of, plain_profile, record
from trajectories import Dataset, InputError, compact
from worldtape.cli import app

SEED = 5


def curated_by_token(dataset: Dataset, ratio: float) -> Sidecar:
    profile = plain_profile(ratio).model_copy(update={"draw": Draw.TOKEN, "seed": SEED})
    return curate(dataset, profile=profile, overwrite=True).sidecar


def packed(dataset: Dataset, tokenizer: Path, name: str = "default", *, workers: int | None = None) -> PackSummary:
    return pack(dataset, tokenizer=str(tokenizer), context=4096, name=name, overwrite=True, workers=workers)


def losses(summary: PackSummary) -> list[list[bool]]:
    shards = TokenShards(summary.path, verify=True)
    return [shards.document(number).loss.tolist() for number in range(shards.num_documents)]


def turns_of(whole: PackSummary) -> list[list[list[int]]]:
    """Where the tokens of each turn are in each document, its stop token last, told from a loss that holds them all."""
    shards, stop = TokenShards(whole.path), whole.manifest.chat_template.stop_token_id
    documents = []
    for number in range(shards.num_documents):
        document = shards.document(number)
        turns: list[list[int]] = [[]]
        for place in np.flatnonzero(document.loss).tolist():
            turns[-1].append(place)
            if document.tokens[place] == stop:
                turns.append([])
        documents.append(turns[:-1])
    return documents


@pytest.fixture
def whole(recorded: Dataset, tiny_tokenizer: Path) -> PackSummary:
    """Shards of ``recorded`` that have every turn in the loss."""
    curate(recorded, profile=plain_profile(1.0))
    return packed(recorded, tiny_tokenizer, "whole")


def test_of_every_thinned_turn_those_tokens_are_in_the_loss_whose_draw_is_below_its_ratio(
    recorded: Dataset, tiny_tokenizer: Path, whole: PackSummary
) -> None:
    curated_by_token(recorded, 0.3)
    thinned = packed(recorded, tiny_tokenizer, "thinned")
    ids = pl.read_parquet(thinned.path / "documents.parquet")["trajectory_id"].to_list()
    for name, loss, turns in zip(ids, losses(thinned), turns_of(whole), strict=True):
        expected = [False] * len(loss)
        for number, (*own, stop) in enumerate(turns, start=1):
            for place, draw in zip(own, token_draws(SEED, name, number, len(own)), strict=True):
                expected[place] = bool(draw < 0.3)
            expected[stop] = True
        assert loss == expected
    assert thinned.manifest.num_kept_turns == whole.manifest.num_kept_turns
    assert thinned.manifest.num_loss_tokens < whole.manifest.num_loss_tokens


def test_where_turns_are_drawn_a_turn_is_in_the_loss_as_a_whole_or_not_at_all(
    recorded: Dataset, tiny_tokenizer: Path, whole: PackSummary
) -> None:
    sidecar = curate(recorded, profile=plain_profile(0.5), overwrite=True).sidecar
    half = packed(recorded, tiny_tokenizer, "half")
    kept = {(row["trajectory_id"], row["turn"]): row["kept"] for row in sidecar.scan().collect().to_dicts()}
    ids, ids_half = (
        pl.read_parquet(one.path / "documents.parquet")["trajectory_id"].to_list() for one in (whole, half)
    )
    of_half = dict(zip(ids_half, losses(half), strict=True))
    for name, turns in zip(ids, turns_of(whole), strict=True):
        for number, places in enumerate(turns, start=1):
            if name in of_half:
                assert {of_half[name][place] for place in places} == {kept[name, number]}
    assert {False, True} == set(kept.values())


def test_a_larger_ratio_keeps_all_tokens_that_a_smaller_one_keeps(recorded: Dataset, tiny_tokenizer: Path) -> None:
    found = []
    for ratio in (0.1, 0.4, 0.9):
        curated_by_token(recorded, ratio)
        found.append(losses(packed(recorded, tiny_tokenizer)))
    for fewer, more in itertools.pairwise(found):
        assert fewer != more
        for one, other in zip(fewer, more, strict=True):
            assert (np.array(one) <= np.array(other)).all()


def test_tokens_are_drawn_alike_whatever_the_workers(recorded: Dataset, tiny_tokenizer: Path) -> None:
    curated_by_token(recorded, 0.5)
    one = files_of(packed(recorded, tiny_tokenizer, workers=1).path)
    assert files_of(packed(recorded, tiny_tokenizer, workers=2).path) == one


CLOCK = "user@host:~$ date\n{time}\nuser@host:~$ "


@pytest.fixture
def replayed(tmp_path: Path) -> Dataset:
    """Two recordings of the same three turns: a clock, the same answer twice, and nothing but a number."""
    dataset = Dataset(tmp_path / "data")
    for name, time, number in (("a", "Mon 12:31:05", "4711"), ("b", "Mon 12:33:10", "90210")):
        texts: Texts = [("date\n", CLOCK.format(time=time)), ("true\n", "the same é"), ("echo $$\n", number)]
        record(dataset, name, texts)
    compact(dataset, "r1")
    return dataset


def curated_with_spans(dataset: Dataset) -> Sidecar:
    """Curated, with its volatile spans, whatever share of a text they are."""
    settings = {
        "searches": Searches(secrets=False, duplicates=False, volatile=True),
        "volatile": VolatileSettings(max_differing=1.0),
    }
    return curate(dataset, profile=plain_profile(1.0).model_copy(update=settings), overwrite=True).sidecar


def test_what_is_volatile_is_not_in_the_loss_and_all_else_is(replayed: Dataset, tiny_tokenizer: Path) -> None:
    curate(replayed, profile=plain_profile(1.0))
    whole = packed(replayed, tiny_tokenizer, "whole")
    curated_with_spans(replayed)
    masked = packed(replayed, tiny_tokenizer, "masked")
    tokenizer = load_tokenizer(str(tiny_tokenizer))
    shards = TokenShards(masked.path)
    np.testing.assert_array_equal(shards.tokens, TokenShards(whole.path).tokens)
    documents = [shards.document(number) for number in range(2)]
    shown = [decoded(tokenizer, document.tokens[document.loss]) for document in documents]
    assert shown[0] == shown[1]
    assert re.fullmatch(
        r"user@host:~\$ date\nMon 12::\nuser@host:~\$ <\|im_end\|>the same é<\|im_end\|><\|im_end\|>", shown[0]
    )
    manifest = masked.manifest
    assert manifest.num_volatile_tokens == whole.manifest.num_loss_tokens - manifest.num_loss_tokens > 0
    assert manifest.num_kept_turns == whole.manifest.num_kept_turns == 6
    summary = open_volatile(replayed).summary()
    assert summary is not None
    assert manifest.curation.searches == {"volatile": summary.fingerprint}


@pytest.mark.parametrize("change", ["other", "gone"])
def test_other_volatile_spans_than_the_curation_knew_of_are_refused(
    replayed: Dataset, tiny_tokenizer: Path, change: str
) -> None:
    curated_with_spans(replayed)
    if change == "other":
        find_volatile(replayed)
    else:
        shutil.rmtree(open_volatile(replayed).folder)
    with pytest.raises(
        InputError, match=r"volatile spans are not those that curation 'default' knew of .*run: worldtape curate"
    ):
        packed(replayed, tiny_tokenizer)


def test_spans_that_the_curation_did_not_search_for_mask_nothing(replayed: Dataset, tiny_tokenizer: Path) -> None:
    curate(replayed, profile=plain_profile(1.0))
    find_volatile(replayed)
    assert packed(replayed, tiny_tokenizer).manifest.num_volatile_tokens == 0


def test_the_command_line_tells_how_many_trajectories_have_too_long_a_text(
    recorded: Dataset, tiny_tokenizer: Path
) -> None:
    curate(recorded, profile=plain_profile(1.0))
    command = ["pack", recorded.url, "--tokenizer", str(tiny_tokenizer), "--max-characters", "80"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    refused = TokenShards(recorded.folder / "shards" / "default").manifest.refused
    assert f"{refused['a text of over 80 characters']} with a text of over 80 characters" in " ".join(
        result.output.split()
    )


def test_the_command_line_shows_what_the_ratios_have_come_to_and_the_report_does(
    recorded: Dataset, tiny_tokenizer: Path
) -> None:
    sidecar = curated_by_token(recorded, 0.5)
    command = ["pack", recorded.url, "--tokenizer", str(tiny_tokenizer), "--context", "256"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    by_class: dict[str, list[ClassTokens]] = {}
    for classes in TokenShards(recorded.folder / "shards" / "default").manifest.classes.values():
        for name, counts in classes.items():
            by_class.setdefault(name, []).append(counts)
    for name, every in by_class.items():
        tokens, in_loss = (sum(getattr(one, field) for one in every) for field in ("observation_tokens", "loss_tokens"))
        assert re.search(rf"{name} .* {tokens:,} +{in_loss:,} +{in_loss / tokens:.1%}", result.output)
    assert str(sidecar.folder / "report.html") in result.output
    assert (sidecar.folder / "report.html").is_file()
