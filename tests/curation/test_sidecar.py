"""The sidecar's schema is a contract with its readers: a change of it must be meant."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation import CurationProfile, curate, open_sidecar
from curation.sidecar import SIDECAR
from tests.curation.recordings import files_of
from trajectories import Dataset, InputError

GOLDEN = Path(__file__).parent / "golden" / "sidecar.txt"


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)


def test_the_schema_is_the_golden_one() -> None:
    assert SIDECAR.to_string(show_schema_metadata=True) + "\n" == GOLDEN.read_text()


def test_a_part_tells_what_made_it(dataset: Dataset) -> None:
    profile = CurationProfile(seed=5)
    sidecar = curate(dataset, profile=profile).sidecar
    schema = pq.read_schema(sidecar.folder / sidecar.parts()[0])
    assert schema.remove_metadata() == SIDECAR.remove_metadata()
    assert CurationProfile.model_validate_json(schema.metadata[b"profile"]) == profile
    assert json.loads(schema.metadata[b"profile"])["word_rule"] == "python_lowered"
    assert schema.metadata[b"seed"] == b"5"
    assert json.loads(schema.metadata[b"versions"]).keys() == {"python", "sources", "unicode", "worldtape"}


def test_the_manifest_counts_what_the_parts_hold(dataset: Dataset) -> None:
    summary = curate(dataset)
    manifest = summary.sidecar.manifest()
    assert manifest is not None
    assert sorted(manifest.parts) == summary.sidecar.parts()
    assert (manifest.num_turns, manifest.num_kept) == (summary.num_turns, summary.num_kept)
    assert manifest.num_kept == summary.sidecar.scan().collect()["kept"].sum()


@pytest.mark.parametrize("folder", ["a=b", "domain=x", "a b", "a[1]*?", "ü%20#x"])
def test_a_data_set_below_a_folder_of_any_name_is_curated(make_dataset: Callable[[str], Dataset], folder: str) -> None:
    dataset = make_dataset(folder)
    rows = curate(dataset).sidecar.scan().select("domain", "run").unique().collect()
    assert set(rows.rows()) == {(part.domain, part.run) for part in dataset.turn_parts()}


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b""), flip_a_bit])
def test_a_part_that_is_not_what_was_written_is_found(dataset: Dataset, damage: Callable[[Path], object]) -> None:
    sidecar = curate(dataset).sidecar
    assert sidecar.damaged_parts() == []
    part = sidecar.parts()[1]
    damage(sidecar.folder / part)
    assert sidecar.damaged_parts() == [part]


def test_a_sidecar_of_a_newer_version_is_refused(dataset: Dataset) -> None:
    sidecar = curate(dataset).sidecar
    path = sidecar.folder / "manifest.json"
    path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 2'))
    with pytest.raises(InputError, match="newer worldtape"):
        open_sidecar(dataset).scan()


def test_a_spoilt_manifest_is_refused_in_one_line(dataset: Dataset) -> None:
    sidecar = curate(dataset).sidecar
    (sidecar.folder / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match=r"cannot be understood .*--overwrite"):
        sidecar.scan()


@pytest.mark.parametrize("column", ["trajectory_id", "class", "reason", "kept"])
def test_a_damaged_part_that_a_killed_job_has_left_is_judged_again(dataset: Dataset, column: str) -> None:
    sidecar = curate(dataset).sidecar
    whole = files_of(sidecar.folder)
    (sidecar.folder / "manifest.json").unlink()
    path = sidecar.folder / sidecar.parts()[0]
    group = pq.read_metadata(path).row_group(0)
    chunks = [group.column(place) for place in range(group.num_columns)]
    chunk = next(chunk for chunk in chunks if chunk.path_in_schema == column)
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    content = bytearray(path.read_bytes())
    content[start + chunk.total_compressed_size - 2] ^= 1
    path.write_bytes(content)
    curate(dataset)
    assert files_of(sidecar.folder) == whole
