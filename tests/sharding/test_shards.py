from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from datatrove.tools.check_dataset import load_dataset_bytes, load_doc_ends
from datatrove.utils.dataset import DatatroveFolderDataset

from sharding import TokenShards
from trajectories import DamagedFileError, InputError


@pytest.fixture
def shards(shards_of: Callable[..., TokenShards], tmp_path: Path) -> TokenShards:
    return shards_of(tmp_path, [[False, True, True], [True, False, True, False]], context=9)


def test_a_document_has_its_tokens_and_its_mask(shards: TokenShards) -> None:
    document = shards.document(1)
    assert document.tokens.tolist() == [100, 101, 102, 103]
    assert document.loss.tolist() == [True, False, True, False]
    assert shards.lengths().tolist() == [3, 4]
    with pytest.raises(IndexError):
        shards.document(2)


def test_the_bytes_on_disk_are_as_the_format_says(shards: TokenShards) -> None:
    data = shards.data_file
    assert data.read_bytes()[6:8] == bytes([100, 0])
    assert data.with_name("small.ds.index").read_bytes() == bytes([3, *[0] * 7, 7, *[0] * 7])
    assert data.with_name("small.ds.loss").read_bytes() == bytes([0, 1, 1, 1, 0, 1, 0])


def test_datatrove_reads_them(shards: TokenShards) -> None:
    data = shards.data_file
    ends = load_doc_ends(data.with_name("small.ds.index").open("rb"))
    documents = load_dataset_bytes(data.open("rb"), ends, bytes_per_value=2)
    assert [np.frombuffer(document, "<u2").tolist() for document in documents] == [[0, 1, 2], [100, 101, 102, 103]]
    windows = DatatroveFolderDataset(str(shards.path), seq_len=6, token_size=2, return_positions=True)
    assert len(windows) == 1
    assert windows[0]["input_ids"].tolist() == [0, 1, 2, 100, 101, 102, 103]
    assert windows[0]["positions"].tolist() == [0, 1, 2, 0, 1, 2, 3]


def test_a_pickled_copy_carries_a_path_and_no_tokens(shards: TokenShards) -> None:
    pickled = pickle.dumps(shards)
    assert len(pickled) < 1000
    assert pickle.loads(pickled).document(0).tokens.tolist() == [0, 1, 2]


def test_a_folder_without_shards_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no token shards here .*worldtape pack"):
        TokenShards(tmp_path / "nothing")


def test_a_cut_or_missing_file_is_noticed(shards: TokenShards) -> None:
    loss = shards.data_file.with_name("small.ds.loss")
    loss.write_bytes(loss.read_bytes()[:-1])
    with pytest.raises(DamagedFileError, match=r"small\.ds\.loss has 6 bytes, its manifest says 7"):
        TokenShards(shards.path)
    loss.unlink()
    with pytest.raises(DamagedFileError, match=r"small\.ds\.loss is missing"):
        TokenShards(shards.path)


def test_a_flipped_bit_is_noticed_where_checksums_are_asked_for(shards: TokenShards) -> None:
    data = bytearray(shards.data_file.read_bytes())
    data[0] ^= 1
    shards.data_file.write_bytes(data)
    TokenShards(shards.path)
    with pytest.raises(DamagedFileError, match=r"small\.ds does not have the checksum"):
        TokenShards(shards.path, verify=True)


def test_files_that_do_not_belong_together_are_noticed(shards: TokenShards) -> None:
    index = shards.data_file.with_name("small.ds.index")
    index.write_bytes(np.array([3, 6], "<u8").tobytes())
    with pytest.raises(DamagedFileError, match="2 documents ending at 6 do not belong together"):
        TokenShards(shards.path)


@pytest.mark.parametrize("ends", [[0, 7], [8, 7], [7, 7], [2**63, 7]])
def test_documents_that_end_before_they_begin_are_noticed(shards: TokenShards, ends: list[int]) -> None:
    shards.data_file.with_name("small.ds.index").write_bytes(np.array(ends, "<u8").tobytes())
    with pytest.raises(DamagedFileError, match="ends do not ascend"):
        TokenShards(shards.path)


def test_a_manifest_of_the_first_version_is_read(shards: TokenShards) -> None:
    """It told nothing of classes, searches and volatile tokens."""
    path = shards.path / "manifest.json"
    written = json.loads(path.read_text()) | {"format_version": 1}
    del written["classes"], written["num_volatile_tokens"], written["curation"]["searches"]
    path.write_text(json.dumps(written))
    manifest = TokenShards(shards.path).manifest
    assert (manifest.classes, manifest.num_volatile_tokens, manifest.curation.searches) == ({}, 0, {})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"format_version": 99, "unheard_of": 1}, r"shards of format 99; this worldtape reads up to 2 .*upgrade"),
        ({"dtype": "float32"}, "bad manifest: dtype: "),
        ({"unheard_of": 1}, "bad manifest: unheard_of: "),
    ],
)
def test_a_manifest_it_cannot_read_is_refused(shards: TokenShards, changes: dict[str, object], complaint: str) -> None:
    path = shards.path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(InputError, match=complaint):
        TokenShards(shards.path)
