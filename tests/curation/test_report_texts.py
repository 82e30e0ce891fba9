"""What a report shows of recorded texts: their beginnings, whatever they hold, and no secret of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation import curate, write_report
from curation.report.texts import MISSING, Excerpt, Place, excerpts, without_secrets
from tests.curation.recordings import Texts, a_header, cut_row_groups, record, record_turns, turn
from tests.curation.secrets.test_detector import key
from trajectories import Dataset, compact

GITHUB = f"ghp_{key(seed=1)}"
SHOWN = 1200


def recorded(folder: Path, texts: Texts, *, domain: str = "terminal", **header: Any) -> Dataset:
    dataset = Dataset(folder / "recorded")
    turns = [turn(action, observation) for action, observation in texts]
    record_turns(dataset, a_header("t", domain=domain, **header), turns)
    compact(dataset, "r1")
    return dataset


def shown(dataset: Dataset, turns: Sequence[int] = (1,), column: str = "observation") -> list[Excerpt]:
    (part,) = dataset.turn_parts()
    places = [Place(part.domain, part.run, "t", number, column) for number in turns]
    found = excerpts(dataset, places)
    return [found[place] for place in places]


def test_a_text_is_shown_as_it_is_and_a_long_one_says_how_much_is_left_out(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, [("go", "short é\n"), ("go", "x" * 5000), ("go", "é" * 400_000)])
    short, long, huge = shown(dataset, [1, 2, 3])
    assert short == Excerpt(text="short é\n", num_left_out=0)
    assert long == Excerpt(text="x" * SHOWN, num_left_out=3800)
    assert huge == Excerpt(text="é" * SHOWN, num_left_out=400_000 - SHOWN)
    page = write_report(dataset, curate(dataset).sidecar).read_text()
    assert "3,800 more characters" in page


@pytest.mark.parametrize("before", range(SHOWN - 45, SHOWN + 5, 7))
def test_a_secret_that_the_end_would_cut_does_not_slip_through(tmp_path: Path, before: int) -> None:
    text = f"{'x ' * (before // 2)}{'y' * (before % 2)} {GITHUB} {'z ' * 2000}"
    (excerpt,) = shown(recorded(tmp_path, [("cat it", text)]))
    assert GITHUB[:12] not in excerpt.text


def test_a_secret_that_another_text_tells_is_not_shown_either(tmp_path: Path) -> None:
    secret = key(24, seed=3)
    dataset = recorded(tmp_path, [("cat it", f"it says {secret}"), ("env", f"API_TOKEN={secret}")])
    told, telling = shown(dataset, [1, 2])
    assert told.text == "it says [secret:token:1]"
    assert telling.text == "API_TOKEN=[secret:token:1]"


def test_a_secret_in_the_task_is_known_in_the_turns(tmp_path: Path) -> None:
    secret = key(24, seed=4)
    dataset = recorded(tmp_path, [("login", f"sent {secret}")], instruction=f"Log in with API_TOKEN={secret}")
    assert shown(dataset)[0].text == "sent [secret:token:1]"
    assert shown(dataset, [0], "instruction")[0].text == "Log in with API_TOKEN=[secret:token:1]"


def test_a_secret_that_a_screen_has_wrapped_is_found_in_a_terminal_only(tmp_path: Path) -> None:
    row = f"{'x ' * 70}{GITHUB}"
    screen = f"{row[:160]}\n{row[160:]}\n$"
    assert "ghp_" not in shown(recorded(tmp_path / "screen", [("env", screen)]))[0].text


def test_a_secret_that_goes_over_the_end_of_what_is_looked_through_is_not_shown(tmp_path: Path) -> None:
    block = "\n".join(key(64, seed=seed) for seed in range(6000))
    text = f"-----BEGIN RSA PRIVATE KEY-----\n{block}\n-----END RSA PRIVATE KEY-----\n"
    (excerpt,) = shown(recorded(tmp_path, [("cat id_rsa", text)], domain="swe"))
    assert key(64, seed=0) not in excerpt.text
    assert key(64, seed=5999) not in excerpt.text


def test_many_secrets_leave_only_what_is_far_from_the_end_of_what_is_looked_through(tmp_path: Path) -> None:
    lines = [f"ghp_{key(seed=seed)}" for seed in range(7000)]
    (excerpt,) = shown(recorded(tmp_path, [("env", "\n".join(lines))], domain="swe"))
    assert "ghp_" not in excerpt.text
    assert excerpt.text.startswith("[secret:github-token:1]\n[secret:github-token:2]")


def test_what_is_missing_and_what_is_no_text_is_said(tmp_path: Path) -> None:
    dataset = recorded(tmp_path, [("a", "one"), ("b", "two"), ("c", "three"), ("d", "nul \0 here")])
    (part,) = dataset.turn_parts()
    table = pq.read_table(part.path, partitioning=None)
    place = table.schema.get_field_index("observation")
    texts = pa.array([None, b"bad \xff\xfe", b"good", b"nul \0 here"], pa.binary()).view(pa.string())
    pq.write_table(table.set_column(place, pa.field("observation", pa.string()), texts), part.path)
    missing, bad, good, nul = shown(dataset, [1, 2, 3, 4])
    assert missing == MISSING
    assert bad == Excerpt(text="bad ��", problem="not UTF-8")
    assert (good, nul) == (Excerpt(text="good"), Excerpt(text="nul \0 here"))
    assert shown(dataset, [9]) == [MISSING]
    page = write_report(dataset, curate(dataset).sidecar)
    assert "\0" not in page.read_text()
    assert "nul ␀ here" in page.read_text()
    assert "not UTF-8, bad bytes replaced" in page.read_text()


def test_a_turn_is_found_in_whatever_row_group_and_part_it_lies(tmp_path: Path) -> None:
    dataset = Dataset(tmp_path / "recorded")
    for number in range(30):
        texts = [(f"act {number} {turn}", f"saw {number} {turn}") for turn in range(1, 9)]
        record(dataset, f"t{number:02d}", texts, run=f"r{number % 3}", domain=("terminal", "mcp")[number % 2])
    for run in ("r0", "r1", "r2"):
        compact(dataset, run)
    cut_row_groups(dataset, 5)
    places = {
        Place(row["domain"], row["run"], row["trajectory_id"], row["turn"], "observation"): row["observation"]
        for row in dataset.scan_turns().collect().to_dicts()
    }
    assert {place: excerpt.text for place, excerpt in excerpts(dataset, places).items()} == places


def test_names_are_told_without_secrets() -> None:
    assert (
        without_secrets("https://jane:hunter2x9@example.org/data")
        == "https://jane:[secret:password:1]@example.org/data"
    )
    assert without_secrets("CC0-1.0") == "CC0-1.0"


def test_no_secret_is_anywhere_in_the_report(tmp_path: Path) -> None:
    planted = [f"ghp_{key(seed=seed)}" for seed in range(8)]
    bare, mail = key(24, seed=20), "jane.doe@acme-corp.io"
    dataset = Dataset(tmp_path / "recorded")
    for number, secret in enumerate(planted[:6]):
        texts = [
            (f"export TOKEN={secret}", f"{secret}\n{'w ' * 560}{secret} and {'v ' * 900}"),
            (f"mail {mail}", f"to {mail}: {bare}"),
            ("", secret),
            ("cat it", f"API_TOKEN={bare}"),
        ]
        header = a_header(
            f"t{number}",
            domain=("terminal", "mcp")[number % 2],
            instruction=f"Use {planted[6]}",
            source=f"https://x:{planted[7]}@example.org",
            source_format="atif",
            policy=f"agent {secret}",
            loss_report={"skipped": {f"a field {secret}": 2}},
        )
        record_turns(dataset, header, [turn(action, observation) for action, observation in texts])
    compact(dataset, "r1")
    page = write_report(dataset, curate(dataset).sidecar)
    for written in (page.read_text(), page.with_name("report.json").read_text()):
        assert "[secret:" in written
        for value in (*planted, bare, mail):
            assert value not in written
            assert value[:14] not in written
