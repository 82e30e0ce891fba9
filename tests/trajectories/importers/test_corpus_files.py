"""Collections as folders of text, Markdown and HTML files."""

from __future__ import annotations

import gzip
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.trajectories.importers.corpus_support import document, documents, problems, results, skipped, text, title
from tests.trajectories.importers.fetch_support import archive
from tests.trajectories.importers.import_support import store_rows
from trajectories import Dataset, MissingExtraError
from trajectories.importers import Corpus, CorpusSettings, Field, Imported, Problem, import_trajectories

FRONT_MATTER = """\
---
title: "The Pump: a warning"
date: 2021-03-04
license: CC-BY-SA-4.0
url: https://ics.example/pump
id: ics-7
tags: [scada, pumps]
draft: null
---

# Another title

The pump trusts what it reads.
"""
PAGE = """\
<!doctype html><html lang="en"><head><title>The Pump | ICS</title>
<meta property="article:published_time" content="2021-03-04T10:00:00Z">
<link rel="canonical" href="https://ics.example/pump"></head><body>
<nav><a href="/">Home</a> <a href="/about">About this site</a></nav>
<article><h1>The Pump</h1>
<p>The controller of the pump reads a length from the wire and trusts it. Anyone on the network can write past it.</p>
<h2>What to do</h2><ul><li>Update to 2.1.</li><li>Put it behind a firewall.</li></ul>
<table><tr><th>Version</th><th>Affected</th></tr><tr><td>2.0</td><td>yes</td></tr></table>
<pre><code>length = read()</code></pre></article>
<footer><a rel="license" href="https://creativecommons.org/licenses/by/4.0/">Terms</a> All about cookies</footer>
</body></html>"""


def _file(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_front_matter_says_what_a_markdown_file_is(tmp_path: Path) -> None:
    found = document(_file(tmp_path, "pump.md", FRONT_MATTER))
    assert title(found) == "The Pump: a warning"
    assert text(found) == "# Another title\n\nThe pump trusts what it reads.\n"
    assert (found.licence, found.source, found.source_id) == ("CC-BY-SA-4.0", "https://ics.example/pump", "ics-7")
    assert found.began == datetime(2021, 3, 4, tzinfo=UTC)
    assert found.loss.no_place == {"front matter.tags": 1}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("# One ##\n\ntext", "One"),
        ("before\n\n# Two\n", "Two"),
        ("Three\n=====\n\ntext", "Three"),
        ("```sh\n# no heading\n```\n# Four\n", "Four"),
        ("## Second level only\n", "file"),
        ("no heading", "file"),
    ],
)
def test_the_title_of_a_markdown_file_is_its_first_heading(content: str, expected: str, tmp_path: Path) -> None:
    found = document(_file(tmp_path, "file.md", content))
    assert title(found) == expected
    assert text(found) == content


@pytest.mark.parametrize(
    "block",
    ["---\njust a rule\n---\n", "---\n- a list\n---\n", "---\na: [\n---\n", "---\nno end\n", "---\na: &a [*a]\n---\n"],
)
def test_a_block_that_is_no_front_matter_stays_in_the_text(block: str, tmp_path: Path) -> None:
    assert text(document(_file(tmp_path, "a.md", f"{block}text"))) == f"{block}text"


def test_references_in_front_matter_do_not_multiply(tmp_path: Path) -> None:
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))
    found = document(_file(tmp_path, "a.md", f"---\na0: &a0 [x]\n{levels}\n---\ntext"))
    assert text(found) == "text"


def test_a_text_file_is_named_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "notes on pumps.txt.gz"
    path.write_bytes(gzip.compress("\ufeffPumps.\r\n".encode()))
    found = document(path)
    assert (title(found), text(found)) == ("notes on pumps", "Pumps.\r\n")
    assert found.loss.inferred["title of the document"] == 1


def test_of_a_page_the_main_content_is_kept_as_markdown(tmp_path: Path) -> None:
    found = document(_file(tmp_path, "pump.html", PAGE))
    (turn,) = found.turns
    assert turn.observation.renderer == "corpus-html@1"
    assert title(found) == "The Pump"
    assert text(found).startswith("# The Pump\n\nThe controller of the pump")
    assert "## What to do\n\n- Update to 2.1.\n- Put it behind a firewall." in text(found)
    assert "| 2.0 | yes |" in text(found)
    assert "length = read()" in text(found)
    assert not {"Home", "About this site", "cookies"} & set(text(found).split())
    assert (found.licence, found.source) == ("CC BY 4.0", "https://ics.example/pump")
    assert found.began == datetime(2021, 3, 4, tzinfo=UTC)
    assert found.loss.inferred["licence read from the page"] == 1
    assert found.versions.keys() == {"trafilatura"}


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("windows-1252", "cp1252"),
        ("iso-8859-1", "cp1252"),
        ("shift_jis", "shift_jis"),
        ("utf-16", "utf-8"),
        ("", "utf-16"),
    ],
)
def test_a_page_is_read_in_the_encoding_that_it_declares(declared: str, encoding: str, tmp_path: Path) -> None:
    word = "ポンプ" if encoding == "shift_jis" else "pümp"
    page = PAGE.replace("<head>", f'<head><meta charset="{declared}">').replace("trusts it", word)
    assert f"{word}. Anyone" in text(document(_file(tmp_path, "a.html", page.encode(encoding))))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.txt", b"\xff", "not UTF-8"),
        ("a.md", b"\xff", "not UTF-8"),
        ("a.html", b"<p>\xff", "the page is not utf-8"),
        ("a.html", b"<meta charset=idna><p>a", "'idna', which is no encoding of pages"),
        ("a.html", b"<meta charset=none-such><p>a", "'none-such', which is no encoding of pages"),
        ("a.md", b"---\nlicense: {a: b}\n---\ntext", "the licence in 'license' is not a string"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_a_problem(name: str, content: bytes, reason: str, tmp_path: Path) -> None:
    (problem,) = problems(_file(tmp_path, name, content))
    assert problem.file == str(tmp_path / name)
    assert reason in problem.reason


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
def test_a_file_beyond_the_limit_is_a_problem(name: str, tmp_path: Path) -> None:
    (problem,) = problems(_file(tmp_path, name, "x" * 1025), max_document_bytes=1024)
    assert "longer than" in problem.reason


def test_what_is_no_text_and_what_is_empty_is_counted(tmp_path: Path) -> None:
    for name in ("a.txt", "in/b.md", "c.png", "d.tar.gz", "README", ".git/config.txt", ".b.txt", "e.jsonl"):
        _file(tmp_path, name, '{"text": "x"}')
    _file(tmp_path, "empty.txt", "")
    _file(tmp_path, "menu.html", "<html><body><img src=a.png></body></html>")
    assert len(documents(tmp_path)) == 3
    assert sorted(skipped(tmp_path)) == [
        "document without a text",
        "file that is no text: *.png",
        "file that is no text: a name without an ending",
        "hidden file",
        "hidden folder",
        "page of which no main content can be told",
    ]


def test_an_archive_of_files_is_imported_as_its_folder_is(tmp_path: Path) -> None:
    files = {"x/pump.md": FRONT_MATTER.encode(), "x/page.html": PAGE.encode(), "x/a.txt": b"A."}
    for name, content in files.items():
        _file(tmp_path / "folder", name, content)
    corpus = CorpusSettings(field=Field.INDUSTRIAL_CONTROL)
    for data, path in (("one", tmp_path / "folder"), ("two", archive(tmp_path / "folder.zip", files))):
        import_trajectories(Dataset(tmp_path / data), "corpus", [path], importer=Corpus(corpus), licence="MIT")
    one, two = (Dataset(tmp_path / data).scan_trajectories().collect() for data in ("one", "two"))
    columns = ["trajectory_id", "licence", "split_group", "started_at"]
    assert one.select(columns).equals(two.select(columns))
    assert set(two["split_group"]) == {"folder", "ics.example"}
    assert f"{tmp_path}/folder.zip!x/a.txt" in set(two["source"])


def test_the_libraries_of_the_extras_are_loaded_when_they_are_needed() -> None:
    loaded = "import sys, worldtape.cli; print(*({'trafilatura', 'lxml', 'datasets', 'aiohttp'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", loaded], text=True).split() == []


def test_without_its_library_a_page_names_the_extra_and_texts_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    assert text(document(_file(tmp_path, "a.txt", "A."))) == "A."
    with pytest.raises(MissingExtraError, match=r"worldtape\[corpora\]"):
        results(_file(tmp_path, "a.html", PAGE))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_mutated_file_never_surprises(tmp_path: Path, data: st.DataObject) -> None:
    name, whole = data.draw(st.sampled_from([("a.md", FRONT_MATTER), ("a.html", PAGE), ("a.txt", "A.\n")]))
    content = bytearray(whole.encode())
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=6))
    for result in results(_file(tmp_path, name, bytes(content))):
        if isinstance(result, Imported):
            store_rows(result)


@pytest.mark.parametrize(
    "content", ["<div>" * 100_000, "<a<" * 10_000, "\x00<p>a", "<!--" * 10_000, "&#x110000;" * 100]
)
def test_a_hostile_page_is_a_problem_or_no_document(content: str, tmp_path: Path) -> None:
    for result in results(_file(tmp_path, "a.html", content)):
        if isinstance(result, Imported):
            store_rows(result)
        elif isinstance(result, Problem):
            assert "\n" not in result.reason
