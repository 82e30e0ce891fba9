"""Screens that show no world: told from those that speak of errors and challenges, whichever way they are written."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from curation.filters.failure_pages import is_failure
from curation.filters.screens import show_failure

DATA = Path(__file__).parent / "data"
PAGE = "RootWebArea 'Orders', focused, url=https://shop.example/orders\n\t[3] link 'Order 17'"


def labelled(name: str) -> dict[str, str]:
    screens: dict[str, str] = yaml.safe_load((DATA / f"screens_{name}.yaml").read_text())
    return {title: screen.replace("{TAB}", "\t") for title, screen in screens.items()}


FAILED, HEALTHY = labelled("failed"), labelled("healthy")


def shown(text: str, tree_status: str | None = None) -> bool:
    rows = {"observation": pa.array([text], pa.string()), "tree_status": pa.array([tree_status], pa.string())}
    (found,) = show_failure(pa.table(rows)).tolist()
    return bool(found)


def test_of_the_labelled_failures_at_least_95_percent_are_found_and_of_those_found_as_many_are_some() -> None:
    missed = [title for title, screen in FAILED.items() if not shown(screen)]
    wrong = [title for title, screen in HEALTHY.items() if shown(screen)]
    num_found = len(FAILED) - len(missed)
    assert num_found / len(FAILED) >= 0.95, missed
    assert num_found / (num_found + len(wrong)) >= 0.95, wrong


def test_the_words_that_are_looked_for_first_leave_out_no_page_that_says_it_failed() -> None:
    assert [title for title, screen in FAILED.items() if is_failure(screen) != shown(screen)] == []


@pytest.mark.parametrize(
    ("text", "tree_status"),
    [(PAGE, "failed"), (PAGE, "missing"), ("", "missing"), ("", None), ("RootWebArea ''", "ok")],
)
def test_a_state_that_was_not_captured_is_a_failure(text: str, tree_status: str | None) -> None:
    assert shown(text, tree_status)


@pytest.mark.parametrize("tree_status", ["ok", "partial", None])
def test_a_state_that_is_there_at_least_in_part_is_none(tree_status: str | None) -> None:
    assert not shown(PAGE, tree_status)


@pytest.mark.parametrize("title", ["404 Not Found", "Sorry, you have been blocked", "Just a moment..."])
def test_a_page_that_has_much_to_say_has_not_failed(title: str) -> None:
    line = "\n\t[4] StaticText 'a line of an article with some words'"
    assert shown(f"RootWebArea '{title}'" + line)
    assert not shown(f"RootWebArea '{title}'" + line * 60)


@pytest.mark.parametrize(
    "failure",
    ["RootWebArea 'Depot'\n\theading 'Something went wrong'", "RootWebArea 'Depot'\n\theading 'Verify you are human'"],
)
@pytest.mark.parametrize(
    "beside",
    [
        "textbox 'Email'",
        "button 'Add to cart'",
        "StaticText '12 comments'",
        "StaticText '$12.00'",
        "heading 'Examples'",
    ],
)
def test_what_stands_beside_a_subject_makes_it_no_failure(failure: str, beside: str) -> None:
    assert shown(failure)
    assert not shown(f"{failure}\n\t{beside}")


def test_letters_of_scripts_without_spaces_count_as_words() -> None:
    heading = "RootWebArea '图书馆'\n\theading '页面不存在'"
    assert shown(heading)
    assert not shown(heading + "\n\tStaticText '" + "春眠不觉晓" * 40 + "'")


def test_the_same_page_is_a_failure_in_every_notation() -> None:
    say = "This site can’t be reached"
    written = [
        f"RootWebArea 'shop.example'\n\t[2] heading '{say}'",
        f'- generic [ref=e1]:\n  - heading "{say}" [level=1] [ref=e2]',
        f"tag\tname\ttext\tclass\nheading\t{say}\t{say}\t\t\t(1, 2)\t(3, 4)",
        f"tag\ttext\tposition (center x & y)\tsize (w & h)\nheading\t{say}\t(1, 2)\t(3, 4)",
        f'[ 1] | android.view.View | text="{say}" desc="" | bounds=[0,0][10,10] |',
        f'App: com.android.chrome\n1. View: "", "{say}" - (0,0,10,10)',
        f"<html><body><h1>{say}</h1></body></html>",
        f'<hierarchy><node text="{say}" class="android.widget.TextView" content-desc="" /></hierarchy>',
        f"Tab 0 (current): shop.example\n\n[1] RootWebArea 'shop.example' focused: True\n\t[2] heading '{say}'",
        f'- Page Title: shop.example\n- Page Snapshot:\n```yaml\n- heading "{say}" [level=1] [ref=e2]\n```',
        f'App: Browser\nActivity: browser/.Main\n\nFrameLayout\n  TextView "{say}"',
        f"# {say}",
        say,
    ]
    assert [text for text in written if not shown(text)] == []


@given(
    st.text(max_size=400), st.sampled_from(["", "RootWebArea '", "tag\t", '[ 1] | a.B | text="', "- text: ", "<h1>"])
)
def test_any_text_is_judged_without_an_error(text: str, before: str) -> None:
    is_failure(before + text)


def test_bytes_that_end_within_a_character_are_judged() -> None:
    rows = {"observation": pa.array(["RootWebArea '404 Not Found'" + "é" * 9000], pa.string())}
    table = pa.table({**rows, "tree_status": pa.nulls(1, pa.string())})
    assert show_failure(table).tolist() == [False]
