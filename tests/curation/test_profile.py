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
        ("seed = ", r"not TOML \(.*profile\.toml:1\)"),
        ("seed = 1\nsede 2\n", r"not TOML \(.*profile\.toml:2\)"),
        ('a = """\nseed = 1', r"not TOML"),
        ("seed = 1\nseed = 2\n", r"says twice what seed is \(.*profile\.toml:2\); leave out one of the two"),
        ("[filters]\nretry = true\nretry = false\n\n[searches]\n", r"says twice what retry is .*profile\.toml:3\)"),
        ("[filters]\n[searches]\n[filters]", r"says twice what \[filters\] is .*profile\.toml:3\)"),
        ("filters = 3", r"key filters\); a table is expected"),
        ("[filtres]\nretry = true", r"key filtres\); did you mean 'filters'\?"),
        ("[thresholds]\necho_ol = nan", r"key thresholds\.echo_ol\); a finite number is expected"),
        ("[keep_ratios]\necho = inf", r"key keep_ratios\.echo\); a finite number is expected"),
        ("[thresholds]\nretrieval_r = -inf", r"key thresholds\.retrieval_r\); a finite number is expected"),
        ("[contamination]\nngram_words = nan", r"key contamination\.ngram_words\); a finite number is expected"),
        ("[filters]\nretry = 'yes'", r"key filters\.retry\); true or false is expected"),
        ("[keep_ratios]\necho = '0.1'", r"key keep_ratios\.echo\); a number is expected"),
        ("seed = true", r"key seed\); a whole number is expected"),
        ("seed = 1.5", r"key seed\); a whole number is expected"),
        ("seed = 1979-05-27", r"key seed\); a whole number is expected"),
        (f"seed = {'9' * 5000}", r"a number in the curation profile has too many digits \(.*profile\.toml\)"),
        (f"seed = {'[' * 9999}", r"nested too deep \(.*profile\.toml\)"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_that_names_the_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CurationProfile.from_toml(written(tmp_path, text))


@pytest.mark.parametrize(
    ("codec", "named"), [("utf-16", "UTF-16"), ("utf-16-le", "UTF-16LE"), ("latin-1", "ISO-8859-1")]
)
def test_a_file_in_another_encoding_is_told_with_what_converts_it(tmp_path: Path, codec: str, named: str) -> None:
    path = tmp_path / "profile.toml"
    path.write_bytes(("seed = 1" if codec == "utf-16-le" else "seed = 1  # où").encode(codec))
    with pytest.raises(InputError, match=rf"the curation profile is not UTF-8.*iconv -f {named} -t UTF-8"):
        CurationProfile.from_toml(path)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert CurationProfile.from_toml(written(tmp_path, "\ufeffseed = 3")).seed == 3


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read .*nowhere\.toml"):
        CurationProfile.from_toml(tmp_path / "nowhere.toml")
