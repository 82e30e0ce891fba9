"""The n-grams of benchmarks: which items have which, without those that are boilerplate of their source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from curation.contamination import kernel
from curation.contamination.benchmark_files import BenchmarkItem
from curation.ngrams import Ends, Hashes, texts_of
from curation.search_settings import ContaminationSettings
from curation.words import lower_table
from trajectories.files import storage_errors, written_whole

_TEXTS_AT_ONCE = 64
_SLOTS_AN_NGRAM = 2
_BITS_AN_NGRAM = 16


class SourceFacts(BaseModel):
    """What an index knows of one benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_items: int
    num_ngrams: int
    """Distinct n-grams, boilerplate left out."""
    num_common: int
    """Distinct n-grams left out as boilerplate."""
    num_too_short: int
    """Items of fewer words than an n-gram has: they cannot be found."""
    num_only_common: int
    """Items that have no n-gram but boilerplate: they cannot be found either."""


@dataclass(frozen=True, slots=True)
class NgramIndex:
    """The n-grams of all items, as arrays. Item i is ``names[i]`` of ``sources[i]``, with ``sizes[i]`` n-grams.

    The items that have n-gram g, whose hash is ``hashes[g]``, are ``postings[starts[g] : starts[g + 1]]``.
    """

    sources: Sequence[str]
    names: Sequence[str]
    sizes: Ends
    hashes: Hashes
    starts: Ends
    postings: Ends

    def lookup(self) -> kernel.Lookup:
        """The hash table of the n-grams."""
        num_slots = _power_of_two(_SLOTS_AN_NGRAM * self.hashes.size)
        num_words = _power_of_two(_BITS_AN_NGRAM * self.hashes.size // 64)
        return kernel.build(self.hashes, num_slots, num_words)

    @property
    def fingerprint(self) -> str:
        """Changes with the items, or with what they contain."""
        state = hashlib.sha256("\0".join([*self.sources, *self.names]).encode(errors="surrogatepass"))
        for array in (self.hashes, self.starts, self.postings):
            state.update(np.ascontiguousarray(array).data)
        return state.hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Write it as a NumPy file.

        Raises:
            StorageError: the disk is full or fails.
        """
        with storage_errors(path), written_whole(path) as file:
            np.savez(
                file,
                sources=np.array(self.sources, np.str_),
                names=np.array(self.names, np.str_),
                sizes=self.sizes,
                hashes=self.hashes,
                starts=self.starts,
                postings=self.postings,
            )

    @classmethod
    def load(cls, path: Path) -> NgramIndex:
        with np.load(path) as made:
            arrays = (made[name] for name in ("sizes", "hashes", "starts", "postings"))
            return cls(made["sources"].tolist(), made["names"].tolist(), *arrays)


def _power_of_two(least: int) -> int:
    return 1 << max(least, 1).bit_length()


def build_index(
    texts: Iterable[BenchmarkItem], settings: ContaminationSettings
) -> tuple[NgramIndex, Mapping[str, SourceFacts]]:
    """The index of all items, and what it knows of each source, by name.

    Args:
        texts: in any order; the texts of one item need not come together.
        settings: for the size of an n-gram, and what is boilerplate.
    """
    numbers: dict[tuple[str, str], int] = {}
    frames = [_ngram_frame(batch, numbers, settings.ngram_words) for batch in _batches(texts)]
    empty = pl.DataFrame(schema={"item": pl.Int64, "hash": pl.UInt64})
    items = pl.DataFrame(
        {
            "item": range(len(numbers)),
            "source": [source for source, _ in numbers],
            "name": [name for _, name in numbers],
        },
        schema={"item": pl.Int64, "source": pl.String, "name": pl.String},
    )
    items = items.sort("source", "name").with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    ngrams = pl.concat([empty, *frames]).unique().join(items, on="item").select("number", "source", "hash")
    common = pl.len().over("source", "hash") > settings.common_items
    ngrams = ngrams.with_columns(common=common)
    return _index(items, ngrams.filter(~pl.col("common"))), _facts(items, ngrams)


def _batches(texts: Iterable[BenchmarkItem]) -> Iterator[list[BenchmarkItem]]:
    rest = iter(texts)
    return iter(lambda: list(islice(rest, _TEXTS_AT_ONCE)), [])


def _ngram_frame(batch: Sequence[BenchmarkItem], numbers: dict[tuple[str, str], int], n: int) -> pl.DataFrame:
    """The distinct n-grams of some texts, by the number of the item; new items get the next ones."""
    items = [numbers.setdefault((text.source, text.item), len(numbers)) for text in batch]
    # JSON may hold lone surrogates, which UTF-8 cannot.
    readable = [text.text.encode(errors="replace").decode() for text in batch]
    sizes = np.zeros(len(batch), np.int64)
    hashes = kernel.ngram_sets(
        texts_of(pa.chunked_array([pa.array(readable, pa.large_string())])), lower_table(), n, sizes
    )
    return pl.DataFrame({"item": np.repeat(np.array(items, np.int64), sizes), "hash": hashes}).unique()


def _index(items: pl.DataFrame, ngrams: pl.DataFrame) -> NgramIndex:
    ngrams = ngrams.sort("hash", "number")
    hashes, starts = np.unique(ngrams["hash"].to_numpy(), return_index=True)
    numbers = ngrams["number"].to_numpy().astype(np.int64)
    return NgramIndex(
        items["source"].to_list(),
        items["name"].to_list(),
        np.bincount(numbers, minlength=items.height).astype(np.int64),
        hashes,
        np.append(starts, numbers.size).astype(np.int64),
        numbers,
    )


def _facts(items: pl.DataFrame, ngrams: pl.DataFrame) -> dict[str, SourceFacts]:
    of_items = ngrams.group_by("number").agg(only_common=pl.col("common").all())
    counted = (
        items.join(of_items, on="number", how="left")
        .group_by("source")
        .agg(
            num_items=pl.len(),
            num_too_short=pl.col("only_common").is_null().sum(),
            num_only_common=pl.col("only_common").sum(),
        )
        .join(
            ngrams.unique(["source", "hash"])
            .group_by("source")
            .agg(num_ngrams=(~pl.col("common")).sum(), num_common=pl.col("common").sum()),
            on="source",
            how="left",
        )
        .fill_null(0)
        .sort("source")
    )
    return {row.pop("source"): SourceFacts(**row) for row in counted.to_dicts()}
