"""The sidecar's schema is a contract with its readers: a change of it must be meant."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation import CurationProfile, curate, open_sidecar
from curation.sidecar import SIDECAR
from trajectories import Dataset, InputError

GOLDEN = Path(__file__).parent / "golden" / "sidecar.txt"


def test_the_schema_is_the_golden_one() -> None:
    assert SIDECAR.to_string(show_schema_metadata=True) + "\n" == GOLDEN.read_text()


def test_a_part_tells_what_made_it(dataset: Dataset) -> None:
    profile = CurationProfile(seed=5)
    sidecar = curate(dataset, profile=profile).sidecar
    schema = pq.read_schema(sidecar.folder / sidecar.parts()[0])
    assert schema.remove_metadata() == SIDECAR.remove_metadata()
    assert CurationProfile.model_validate_json(schema.metadata[b"profile"]) == profile
    assert schema.metadata[b"seed"] == b"5"
    assert json.loads(schema.metadata[b"versions"]).keys() == {"python", "unicode", "worldtape"}


def test_the_manifest_counts_what_the_parts_hold(dataset: Dataset) -> None:
    summary = curate(dataset)
    manifest = summary.sidecar.manifest()
    assert manifest is not None
    assert sorted(manifest.parts) == summary.sidecar.parts()
    assert (manifest.num_turns, manifest.num_kept) == (summary.num_turns, summary.num_kept)
    assert manifest.num_kept == summary.sidecar.scan().collect()["kept"].sum()


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
