"""The n-grams of benchmarks: which items have which, without those that are boilerplate of their source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from curation.contamination import kernel
from curation.contamination.benchmark_files import BenchmarkItem
from curation.ngrams import Hashes, texts_of
from curation.search_settings import ContaminationSettings
from curation.text_buffers import Ends
from curation.words import lower_table
from trajectories.files import storage_errors, written_whole

_TEXTS_AT_ONCE = 64
_SLOTS_AN_NGRAM = 2
_BITS_AN_NGRAM = 16
_NGRAMS = {"item": pl.UInt32, "text": pl.UInt64, "hash": pl.UInt64}


class SourceFacts(BaseModel):
    """What an index knows of one benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_items: int
    num_ngrams: int
    """Distinct n-grams, boilerplate left out."""
    num_common: int
    """Distinct n-grams left out as boilerplate."""
    num_too_short: int
    """Items none of whose texts has as many words as an n-gram: they cannot be found."""
    num_only_common: int
    """Items that have no n-gram but boilerplate: they cannot be found either."""


@dataclass(frozen=True, slots=True)
class NgramIndex:
    """The n-grams of all items, as arrays. Item i is ``names[i]`` of ``sources[i]``.

    What is looked for are *groups* of n-grams: group i is all that item i has, and the groups after those are texts of
    items that have few, so that such a one is found by a share of its own. Group k belongs to item ``items[k]`` and has
    ``sizes[k]`` n-grams. The groups that have n-gram g, whose hash is ``hashes[g]``, are
    ``postings[starts[g] : starts[g + 1]]``.
    """

    sources: Sequence[str]
    names: Sequence[str]
    items: Ends
    sizes: Ends
    """How many distinct n-grams each group has, boilerplate left out."""
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
        for array in (self.items, self.hashes, self.starts, self.postings):
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
                items=self.items,
                sizes=self.sizes,
                hashes=self.hashes,
                starts=self.starts,
                postings=self.postings,
            )

    @classmethod
    def load(cls, path: Path) -> NgramIndex:
        with np.load(path) as made:
            arrays = (made[name] for name in ("items", "sizes", "hashes", "starts", "postings"))
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
    frames = [_ngram_frame(batch, settings.ngram_words) for batch in _batches(_distinct(texts, numbers))]
    items = pl.DataFrame(
        {"item": range(len(numbers)), "source": [key[0] for key in numbers], "name": [key[1] for key in numbers]},
        schema={"item": pl.UInt32, "source": pl.String, "name": pl.String},
    )
    items = items.sort("source", "name").with_row_index("number")
    of_texts = pl.concat([pl.DataFrame(schema=_NGRAMS), *frames]).join(items, on="item")
    of_texts = of_texts.select("number", "source", "text", "hash")
    ngrams = of_texts.select("number", "source", "hash").unique()
    ngrams = ngrams.with_columns(common=pl.len().over("source", "hash") > settings.common_items)
    common = ngrams.filter("common").select("source", "hash").unique()
    own = of_texts.join(common, on=["source", "hash"], how="anti").select("number", "text", "hash")
    return _index(items, own, settings), _facts(items, ngrams)


class _Text(NamedTuple):
    """A text of the item of this number, and a digest of it."""

    item: int
    digest: int
    text: str


def _distinct(texts: Iterable[BenchmarkItem], numbers: dict[tuple[str, str], int]) -> Iterator[_Text]:
    """The distinct texts of each item; new items get the next numbers."""
    seen: set[tuple[int, int]] = set()
    for source, name, text in texts:
        item = numbers.setdefault((source, name), len(numbers))
        # JSON may hold lone surrogates, which UTF-8 cannot.
        readable = text.encode(errors="replace")
        digest = int.from_bytes(hashlib.blake2b(readable, digest_size=8).digest())
        if (item, digest) not in seen:
            seen.add((item, digest))
            yield _Text(item, digest, readable.decode())


def _batches(texts: Iterator[_Text]) -> Iterator[list[_Text]]:
    return iter(lambda: list(islice(texts, _TEXTS_AT_ONCE)), [])


def _ngram_frame(batch: Sequence[_Text], n: int) -> pl.DataFrame:
    """The distinct n-grams of some texts, with the numbers of their items and their digests."""
    sizes = np.zeros(len(batch), np.int64)
    column = pa.chunked_array([pa.array([text.text for text in batch], pa.large_string())])
    hashes = kernel.ngram_sets(texts_of(column), lower_table(), n, sizes)
    items = np.array([text.item for text in batch], np.uint32)
    digests = np.array([text.digest for text in batch], np.uint64)
    return pl.DataFrame({"item": np.repeat(items, sizes), "text": np.repeat(digests, sizes), "hash": hashes})


def _index(items: pl.DataFrame, ngrams: pl.DataFrame, settings: ContaminationSettings) -> NgramIndex:
    """The index of the n-grams of texts: by the number of the item, the text's digest, and the n-gram's hash."""
    of_texts = ngrams.group_by("number", "text").len()
    # A text with more n-grams than this is found by `min_ngrams` of the item's before it is by its own share.
    small = of_texts.filter(pl.col("len") * settings.min_share < settings.min_ngrams).sort("number", "text")
    small = small.with_row_index("group", offset=items.height)
    of_small = ngrams.join(small, on=["number", "text"]).select("group", "hash")
    of_items = ngrams.select(pl.col("number").alias("group"), "hash").unique()
    postings = pl.concat([of_items, of_small]).sort("hash", "group")
    hashes, starts = np.unique(postings["hash"].to_numpy(), return_index=True)
    groups = postings["group"].to_numpy().astype(np.int64)
    return NgramIndex(
        items["source"].to_list(),
        items["name"].to_list(),
        np.append(np.arange(items.height), small["number"].to_numpy()).astype(np.int64),
        np.bincount(groups, minlength=items.height + small.height).astype(np.int64),
        hashes,
        np.append(starts, groups.size).astype(np.int64),
        groups,
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
