"""Code in pages of HTML, and what looks like Markdown in them."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trajectories.importers.corpus_support import document, text
from trajectories.importers.corpus.code_blocks import unescaped, with_blocks

CODE = "def f(x):\n    if x:\n        return 1\n    return 2 < x"
PROSE = "<p>" + "The valve behind the pump trusts what it reads, and so both are tested together. " * 6 + "</p>"
MARKUP = [
    f'<pre><code class="python">{escape(CODE)}\n</code></pre>',
    f"<pre>{escape(CODE)}</pre>",
    f"<pre>\n{escape(CODE)}\n\n</pre>",
    "<pre>" + escape(CODE).replace("\n", "<br>") + "</pre>",
    "<pre>" + escape(CODE).replace("return", '<span class="k">return</span>') + "</pre>",
    f'<div class="highlight"><pre><span></span>{escape(CODE)}\n</pre></div>',
]


def _page(folder: Path, body: str) -> str:
    path = folder / "page.html"
    path.write_text(f"<!doctype html><html><head><title>Pump</title></head><body>{body}</body></html>")
    return text(document(path))


@pytest.mark.parametrize("markup", MARKUP)
@pytest.mark.parametrize("around", ["<p>So:</p>", PROSE])
def test_code_keeps_its_lines_and_blanks_in_short_pages_and_long_ones(markup: str, around: str, tmp_path: Path) -> None:
    found = _page(tmp_path, f"<article>{around}{markup}{around}</article>")
    assert f"```\n{CODE}\n```" in found
    assert found.count("return 1") == 1


def test_code_with_fences_of_its_own_has_longer_ones(tmp_path: Path) -> None:
    assert "````\n```\na\n```\n````" in _page(tmp_path, "<p>So:</p><pre>```\na\n```</pre>")


@pytest.mark.parametrize("around", ["", PROSE])
def test_what_looks_like_markdown_stands_as_the_page_shows_it(around: str, tmp_path: Path) -> None:
    shown = r"run a_b <now> & 2*3*4 [x] in C:\*.txt"
    assert shown in _page(tmp_path, f"<article>{around}<p>{escape(shown)}</p>{around}</article>")


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        (r"\<a\> and \\\* b", r"<a\> and \* b"),
        (r"`\*` \*", r"`\*` *"),
        ("```\n\\*\n```\n\\*", "```\n\\*\n```\n*"),
        (r"\\* two", r"\\* two"),
        (r"\` no code \`", "` no code `"),
    ],
)
def test_backslashes_go_but_for_those_of_code(markdown: str, shown: str) -> None:
    assert unescaped(markdown) == shown


@given(st.text("ab \n\\`*", max_size=30), st.text("ab \n", max_size=30))
def test_a_text_without_blocks_and_escapes_stays_as_it_is(text: str, plain: str) -> None:
    assert with_blocks(text, {}) == text
    assert unescaped(plain) == plain
