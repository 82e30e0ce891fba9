from __future__ import annotations

import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation import curate, open_sidecar
from sharding import PackedDataset, PackSummary, TokenShards, pack
from sharding.chat import load_tokenizer
from sharding.manifest import Overflow
from tests.sharding.conftest import files_of, plain_profile
from trajectories import DamagedFileError, Dataset, InputError, StorageError
from trajectories.part_files import read_part


class Options(TypedDict, total=False):
    """How shards are asked for."""

    context: int
    overflow: Overflow
    name: str
    curation: str


def documents_by_id(summary: PackSummary) -> dict[str, list[int]]:
    """The tokens of every document, by the trajectory that it is of."""
    shards = TokenShards(summary.path)
    ids = pl.read_parquet(summary.path / "documents.parquet")["trajectory_id"]
    return {name: shards.document(number).tokens.tolist() for number, name in enumerate(ids)}


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100] ^= 0xFF
    path.write_bytes(content)


def test_every_trajectory_becomes_a_document_in_the_order_of_the_data_set(
    curated: Dataset, tiny_tokenizer: Path
) -> None:
    """Also those whose turns lie in two row groups: a row group holds three turns here."""
    summary = pack(curated, tokenizer=str(tiny_tokenizer), context=4096)
    shards = TokenShards(summary.path, verify=True)
    documents = pl.read_parquet(summary.path / "documents.parquet")
    expected = (
        curated.scan_turns().group_by("domain", "run", "trajectory_id").len().sort("domain", "run", "trajectory_id")
    ).collect()
    assert documents["trajectory_id"].to_list() == expected["trajectory_id"].to_list()
    assert documents["num_turns"].to_list() == expected["len"].to_list()
    assert documents["document"].to_list() == list(range(11))
    assert documents["num_tokens"].to_list() == shards.lengths().tolist()
    assert documents["num_loss_tokens"].sum() == int(shards.loss.sum()) == summary.manifest.num_loss_tokens


def test_the_stop_token_of_every_kept_turn_is_in_the_loss(curated: Dataset, tiny_tokenizer: Path) -> None:
    summary = pack(curated, tokenizer=str(tiny_tokenizer), context=4096)
    shards = TokenShards(summary.path)
    stops = np.asarray(shards.tokens) == summary.manifest.chat_template.stop_token_id
    assert int((stops & shards.loss).sum()) == summary.manifest.num_kept_turns == summary.manifest.num_turns


def test_observations_come_back_from_the_loss_verbatim(curated: Dataset, tiny_tokenizer: Path) -> None:
    """Spelled-out control tokens, escapes and wide characters included."""
    summary = pack(curated, tokenizer=str(tiny_tokenizer), context=4096)
    shards = TokenShards(summary.path)
    ids = pl.read_parquet(summary.path / "documents.parquet")["trajectory_id"]
    tokenizer = load_tokenizer(str(tiny_tokenizer))
    for number, trajectory_id in enumerate(ids):
        document = shards.document(number)
        observations = curated.trajectory(trajectory_id).turns["observation"]
        assert tokenizer.decode(document.tokens[document.loss]) == "".join(f"{text}<|im_end|>" for text in observations)


def test_trajectories_without_a_trainable_token_are_refused_and_counted(
    recorded: Dataset, tiny_tokenizer: Path
) -> None:
    curate(recorded, profile=plain_profile(0.0, other=1.0))
    summary = pack(recorded, tokenizer=str(tiny_tokenizer), context=4096)
    assert summary.manifest.refused == {"no kept turn": 10, "no turn": 1}
    document = TokenShards(summary.path).document(0)
    assert document.tokens[document.loss].tolist() == [summary.manifest.chat_template.stop_token_id]


@pytest.mark.parametrize("limit", [80, 150, 10_000])
def test_a_trajectory_with_a_text_of_more_characters_than_the_limit_is_refused_and_counted(
    curated: Dataset, tiny_tokenizer: Path, limit: int
) -> None:
    """Whether it is an action or an observation; every other document is what it is without the limit."""
    whole = pack(curated, tokenizer=str(tiny_tokenizer), context=4096, name="whole")
    texts = curated.scan_turns().with_columns(
        pl.max_horizontal(pl.col("action", "observation").str.len_chars()).alias("characters")
    )
    longest = dict(texts.group_by("trajectory_id").agg(pl.col("characters").max()).collect().rows())
    expected = {
        trajectory_id: tokens
        for trajectory_id, tokens in documents_by_id(whole).items()
        if longest[trajectory_id] <= limit
    }
    summary = pack(curated, tokenizer=str(tiny_tokenizer), context=4096, max_characters=limit)
    assert documents_by_id(summary) == expected
    refused = {f"a text of over {limit:,} characters": len(longest) - len(expected), "no turn": 1}
    assert summary.manifest.refused == {reason: count for reason, count in refused.items() if count}


def test_a_data_set_with_nothing_to_train_on_is_refused(recorded: Dataset, tiny_tokenizer: Path) -> None:
    """The silent trajectory is not among these: silence is kept whatever the ratios."""
    for table in ("turns", "trajectories"):
        shutil.rmtree(recorded.folder / table / "domain=terminal")
    curate(recorded, profile=plain_profile(0.0))
    with pytest.raises(InputError, match=r"no trajectory has anything to train on \(no kept turn: 4\)"):
        pack(recorded, tokenizer=str(tiny_tokenizer), context=64)
    assert list((recorded.folder / "shards").iterdir()) == []


@pytest.mark.parametrize("num_workers", [2, 4])
def test_any_number_of_workers_writes_the_same_bytes(curated: Dataset, tiny_tokenizer: Path, num_workers: int) -> None:
    one = pack(curated, tokenizer=str(tiny_tokenizer), context=256, workers=1)
    alone = files_of(one.path)
    many = pack(curated, tokenizer=str(tiny_tokenizer), context=256, workers=num_workers, overwrite=True)
    assert files_of(many.path) == alone


def test_what_stands_is_replaced_only_where_that_is_asked_for(curated: Dataset, tiny_tokenizer: Path) -> None:
    first = pack(curated, tokenizer=str(tiny_tokenizer), context=256)
    with pytest.raises(InputError, match="shards 'default' are there already"):
        pack(curated, tokenizer=str(tiny_tokenizer), context=512)
    assert TokenShards(first.path).manifest == first.manifest
    pack(curated, tokenizer=str(tiny_tokenizer), context=512, overwrite=True)
    assert TokenShards(first.path).manifest.packs.context == 512
    assert [path.name for path in first.path.parent.iterdir()] == ["default"]


def test_the_tokenizer_lies_beside_the_shards_with_the_template_they_were_laid_out_by(
    curated: Dataset, tiny_tokenizer: Path, tmp_path: Path
) -> None:
    """What lies there is all that another trainer or a server needs, wherever the shards are taken."""
    template = tmp_path / "mine.jinja"
    template.write_text("{% for m in messages %}<|im_start|>{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}")
    summary = pack(curated, tokenizer=str(tiny_tokenizer), context=256, chat_template=template)
    shards = TokenShards(shutil.move(summary.path, tmp_path / "elsewhere"), verify=True)
    assert summary.manifest.chat_template.origin == "file"
    ours, given = load_tokenizer(str(shards.tokenizer_folder)), load_tokenizer(str(tiny_tokenizer))
    assert ours.get_vocab() == given.get_vocab()
    assert ours.chat_template == template.read_text()
    spoken = ours.apply_chat_template([{"role": "user", "content": "ls"}], tokenize=False)
    assert spoken == "<|im_start|>user: ls<|im_end|>"
    assert {f"tokenizer/{path.name}" for path in shards.tokenizer_folder.iterdir()} < set(shards.manifest.files)
    assert str(tiny_tokenizer) not in "".join(path.read_text() for path in shards.tokenizer_folder.iterdir())


def test_documents_longer_than_the_context_are_split_or_dropped_and_counted(
    curated: Dataset, tiny_tokenizer: Path
) -> None:
    split = pack(curated, tokenizer=str(tiny_tokenizer), context=512, name="split").manifest.packs
    drop = pack(curated, tokenizer=str(tiny_tokenizer), context=512, name="drop", overflow="drop").manifest.packs
    assert split.num_split_documents == drop.num_dropped_documents > 0
    assert split.num_tokens > drop.num_tokens


def test_the_packs_on_disk_are_what_the_loader_serves(curated: Dataset, tiny_tokenizer: Path) -> None:
    shards = TokenShards(pack(curated, tokenizer=str(tiny_tokenizer), context=256).path)
    dataset = PackedDataset(shards)
    labels = sum(int((dataset.sample(number).labels >= 0).sum()) for number in range(len(dataset)))
    split_firsts = shards.manifest.num_loss_tokens - labels
    assert 0 <= split_firsts <= len(dataset)
    assert len(dataset) == shards.manifest.packs.num_packs == pl.read_parquet(shards.path / "packs.parquet").height


def test_turns_that_were_never_curated_are_refused(recorded: Dataset, tiny_tokenizer: Path) -> None:
    with pytest.raises(InputError, match="run: worldtape curate"):
        pack(recorded, tokenizer=str(tiny_tokenizer), context=64)


def test_turns_recorded_after_the_curation_are_refused(curated: Dataset, tiny_tokenizer: Path) -> None:
    for table in ("turns", "trajectories"):
        old = next((curated.folder / table).glob("domain=mcp/run=*/*.parquet"))
        shutil.copy(old, old.with_name("part-0123456789abcdef.parquet"))
    with pytest.raises(InputError, match=r"does not cover 1 of 3 turns parts .*run: worldtape curate"):
        pack(curated, tokenizer=str(tiny_tokenizer), context=64)


def test_turns_that_are_others_than_those_judged_are_refused(curated: Dataset, tiny_tokenizer: Path) -> None:
    path = next((curated.folder / "turns").glob("domain=mcp/run=*/*.parquet"))
    rows = pq.read_table(path, partitioning=None)
    place = rows.column_names.index("observation")
    others = pa.array([f"another {text}" for text in rows["observation"].to_pylist()])
    pq.write_table(rows.set_column(place, rows.schema.field(place), others), path)
    with pytest.raises(InputError, match=r"another than curation 'default' has judged .*curate DATASET --name default"):
        pack(curated, tokenizer=str(tiny_tokenizer), context=64)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"context": 1}, "a context of 1 tokens trains nothing"),
        ({"context": 99999999999}, "a context of 99999999999 tokens is beyond"),
        ({"context": 2, "overflow": "drop"}, "nothing to train on fits a context of 2 tokens"),
        ({"name": "../elsewhere"}, "cannot be a name for shards"),
        ({"curation": "other"}, "there is no whole curation 'other' .*curate DATASET --name other"),
    ],
)
def test_options_that_will_not_do_are_refused_and_leave_nothing(
    curated: Dataset, tiny_tokenizer: Path, options: Options, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        pack(curated, tokenizer=str(tiny_tokenizer), **(Options(context=64) | options))
    shards = curated.folder / "shards"
    assert not shards.exists() or list(shards.iterdir()) == []


def test_a_context_longer_than_all_documents_takes_no_memory_for_it(curated: Dataset, tiny_tokenizer: Path) -> None:
    packs = pack(curated, tokenizer=str(tiny_tokenizer), context=2**31 - 1).manifest.packs
    assert (packs.num_packs, packs.context) == (1, 2**31 - 1)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b""), flip_a_byte])
def test_a_damaged_curation_is_refused_until_it_is_made_again(
    curated: Dataset, tiny_tokenizer: Path, damage: Callable[[Path], object]
) -> None:
    sidecar = open_sidecar(curated)
    manifest = sidecar.manifest()
    assert manifest is not None
    path = sidecar.folder / sidecar.parts()[0]
    damage(path)
    with pytest.raises(DamagedFileError, match=f"not what was written .*{path.name}.*worldtape curate"):
        pack(curated, tokenizer=str(tiny_tokenizer), context=64)
    assert not (curated.folder / "shards").exists()
    curate(curated, profile=manifest.profile)
    pack(curated, tokenizer=str(tiny_tokenizer), context=64)


@pytest.mark.parametrize("table", ["turns", "trajectories"])
def test_a_damaged_part_of_the_data_set_is_named_and_leaves_no_shards(
    curated: Dataset, tiny_tokenizer: Path, table: str
) -> None:
    path = next((curated.folder / table).rglob("*.parquet"))
    path.write_bytes(b"PAR1" + bytes(400) + path.read_bytes()[404:])
    with pytest.raises(DamagedFileError, match=f"cannot be read .*{path.name}"):
        pack(curated, tokenizer=str(tiny_tokenizer), context=64)
    assert list((curated.folder / "shards").iterdir()) == []


def test_a_tokenizer_without_a_chat_template_is_refused(curated: Dataset, tokenizer_without_template: Path) -> None:
    with pytest.raises(InputError, match="no chat template to train with"):
        pack(curated, tokenizer=str(tokenizer_without_template), context=64)


def test_a_disk_that_takes_no_more_is_told_and_leaves_nothing(curated: Dataset, tiny_tokenizer: Path) -> None:
    """A limit on the size of files stands for the full disk: both are an error of ``write``."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(StorageError, match="File too large"):
            pack(curated, tokenizer=str(tiny_tokenizer), context=64)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list((curated.folder / "shards").iterdir()) == []


_KILLED_ON_THE_WAY = """
import os, signal, sys
from sharding import job
from trajectories import Dataset

def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(job, sys.argv[3], die)
job.pack(Dataset(sys.argv[1]), tokenizer=sys.argv[2], context=64)
"""


@pytest.mark.parametrize("at", ["tokenise_unit", "_join", "_pack", "_manifest"])
def test_a_killed_job_leaves_no_shards_and_the_next_one_the_same_as_if_nothing_had_been(
    curated: Dataset, tiny_tokenizer: Path, at: str
) -> None:
    expected = files_of(pack(curated, tokenizer=str(tiny_tokenizer), context=64).path)
    shards = curated.folder / "shards"
    shutil.rmtree(shards)
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED_ON_THE_WAY, curated.url, str(tiny_tokenizer), at], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert [path.name for path in shards.iterdir()] == [".default.part"]
    summary = pack(curated, tokenizer=str(tiny_tokenizer), context=64)
    assert [path.name for path in shards.iterdir()] == ["default"]
    assert files_of(summary.path) == expected


def test_what_the_documents_hold_is_counted_by_domain_and_class(recorded: Dataset, tiny_tokenizer: Path) -> None:
    """The classes together are all of the documents."""
    sidecar = curate(recorded, profile=plain_profile(0.5, retrieval=1.0)).sidecar
    summary = pack(recorded, tokenizer=str(tiny_tokenizer), context=4096)
    manifest = summary.manifest
    packed = pl.read_parquet(summary.path / "documents.parquet")["trajectory_id"].to_list()
    judged = sidecar.scan().filter(pl.col("trajectory_id").is_in(packed)).collect()
    expected = judged.group_by("domain", "class").agg(pl.len(), pl.col("kept").sum()).sort("domain", "class").rows()
    found = [
        (domain, name, counts.turns, counts.kept_turns)
        for domain, classes in manifest.classes.items()
        for name, counts in classes.items()
    ]
    assert sorted(found) == expected
    every = [counts for classes in manifest.classes.values() for counts in classes.values()]
    assert sum(counts.turns for counts in every) == manifest.num_turns
    assert sum(counts.kept_turns for counts in every) == manifest.num_kept_turns < manifest.num_turns
    assert sum(counts.loss_tokens for counts in every) == manifest.num_loss_tokens
    assert summary.token_counts["terminal"]["retrieval"][0] == manifest.classes["terminal"]["retrieval"].loss_tokens
    assert {"terminal", "mcp"} == summary.token_counts.keys()


def test_unkept_turns_count_with_the_tokens_that_they_would_have_had_in_the_loss(
    recorded: Dataset, tiny_tokenizer: Path
) -> None:
    curate(recorded, profile=plain_profile(1.0))
    whole = pack(recorded, tokenizer=str(tiny_tokenizer), context=4096, name="whole").token_counts
    curate(recorded, profile=plain_profile(0.0, other=1.0, retrieval=1.0), overwrite=True)
    summary = pack(recorded, tokenizer=str(tiny_tokenizer), context=4096, name="some")
    assert summary.manifest.refused == {"no turn": 1}
    for domain, classes in whole.items():
        for name, (tokens, in_loss) in classes.items():
            assert tokens == in_loss
            assert summary.token_counts[domain][name] == (tokens, tokens if name in {"other", "retrieval"} else 0)


@pytest.mark.parametrize("name", ["documents", "packs"])
def test_a_changed_byte_of_a_parquet_file_of_the_shards_is_noticed(
    curated: Dataset, tiny_tokenizer: Path, name: str
) -> None:
    path = pack(curated, tokenizer=str(tiny_tokenizer), context=64).path / f"{name}.parquet"
    read_part(path)
    first = pq.read_metadata(path).row_group(0).column(0)
    content = bytearray(path.read_bytes())
    content[first.data_page_offset + first.total_compressed_size - 1] ^= 1
    path.write_bytes(content)
    with pytest.raises(OSError, match="CRC"):
        read_part(path)


def test_importing_sharding_loads_nothing_heavy() -> None:
    code = "import sys, sharding; print({'torch', 'transformers', 'numba', 'dask'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"


@pytest.mark.parametrize(
    ("module", "heavy"), [("packed", {"torch", "transformers", "numba"}), ("units", {"torch", "transformers"})]
)
def test_readers_and_workers_load_no_more_than_they_need(module: str, heavy: set[str]) -> None:
    """Workers look for secrets with a compiled kernel, and readers do without."""
    code = f"import sys, sharding.{module}; print({heavy!r} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
