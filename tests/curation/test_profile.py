"""The profile of a curation: frozen, complete, and read from TOML with errors that say how to mend them."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from curation.filters import Filters, Scope
from curation.profile import CurationProfile
from curation.reasons import REASONS
from trajectories.errors import InputError


def written(folder: Path, text: str) -> Path:
    path = folder / "profile.toml"
    path.write_text(text)
    return path


def test_what_a_file_leaves_out_has_its_default(tmp_path: Path) -> None:
    profile = CurationProfile.from_toml(written(tmp_path, "seed = 3\n[keep_ratios]\necho = 0.2\n"))
    assert profile.seed == 3
    assert profile.keep_ratios.echo == 0.2
    assert profile.keep_ratios.boilerplate == 0.1
    assert profile.thresholds == CurationProfile().thresholds
    assert profile.filters == CurationProfile().filters


def test_a_filter_is_switched_by_the_key_that_its_reason_is_called(tmp_path: Path) -> None:
    filters = CurationProfile.from_toml(written(tmp_path, "[filters]\nretry = false\ngui_failure = 'turn'\n")).filters
    assert not filters.retry
    assert filters.gui_failure is Scope.TURN
    assert Filters.model_fields.keys() - set(REASONS) == {"retry_similarity", "undeclared_tool_refused"}


def test_any_setting_changes_the_fingerprint_and_equal_profiles_share_it() -> None:
    assert CurationProfile(seed=1).fingerprint != CurationProfile().fingerprint
    copy = CurationProfile.model_validate_json(CurationProfile().canonical_json())
    assert copy.fingerprint == CurationProfile().fingerprint


def test_a_profile_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        CurationProfile().seed = 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sede = 1", r"unknown key .*key sede\); did you mean 'seed'\?"),
        ("[thresholds]\nechol = 0.5", r"key thresholds\.echol\); did you mean 'echo_ol'\?"),
        ("[keep_ratios]\necho = 1.5", r"bad value .*key keep_ratios\.echo\); Input should be less than or equal to 1"),
        ("[filters]\nretri = true", r"key filters\.retri\); did you mean 'retry'\?"),
        ("[filters]\nsandbox_died = 'all'", r"key filters\.sandbox_died\); .*'off', 'turn' or 'trajectory'"),
        ("[filters]\nfew_turns = 99999999999999999999", r"key filters\.few_turns\)"),
        ("[duplicates]\nshingle_words = 100000000000000000000", r"key duplicates\.shingle_words\)"),
        ("[duplicates]\nrows_per_band = 100000000", r"key duplicates\.rows_per_band\)"),
        (
            "[searches]\nduplicates = false\n[filters]\nduplicate_turn = true",
            r"bad value .*\.toml\); filters\.duplicate_turn masks what searches\.duplicates = false does not look for",
        ),
        ("word_rule = 'bytes'", r"bad value .*key word_rule\); Input should be 'python_lowered'"),
        ("seed = ", "not TOML"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_that_names_the_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CurationProfile.from_toml(written(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read .*nowhere\.toml"):
        CurationProfile.from_toml(tmp_path / "nowhere.toml")
