"""URLs are opened in any case and shown without what is secret in them."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajectories import InputError
from trajectories.urls import is_local, is_url, opened_url, shown_url, without_login, without_secrets

_SCHEMES = ["http", "HTTPS", "s3", "S3", "gs", "webdav", "smb", "sftp", "ssh", "ftp", "hdfs", "git+https", "x"]
_SECRETS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=8, max_size=20)
"""In capitals: nothing else of a URL is."""
_HOSTS = st.sampled_from(["host", "host.example:8080", "[::1]", "[::1]:80", "bucket", "127.0.0.1"])
_PATHS = st.sampled_from(["", "/", "/a/b.jsonl", "/with%20blank", "/@scope/x"])


@st.composite
def _urls(draw: st.DrawFn, *, password: str, query: str) -> str:
    scheme, host, path = draw(st.sampled_from(_SCHEMES)), draw(_HOSTS), draw(_PATHS)
    user = draw(st.sampled_from(["", "user", "user:name"]))
    login = f"{user}:{password}@" if password else ""
    return f"{scheme}://{login}{host}{path}" + (
        f"?{draw(st.sampled_from(['s=', 'a=1&token=', '']))}{query}" if query else ""
    )


@given(st.data(), _SECRETS, _SECRETS, st.lists(st.sampled_from(["filecache", "zip://a/b.jsonl", "tar"]), max_size=2))
def test_no_password_and_no_query_of_a_url_is_shown(
    data: st.DataObject, password: str, query: str, chain: list[str]
) -> None:
    links = [data.draw(_urls(password=password, query=query)), data.draw(_urls(password=password, query=""))]
    url = "::".join((*chain, *links))
    for shown in (
        shown_url(url),
        without_login(f"no answer ({url}, line 3)", url),
        without_secrets(f"{url} {password}", url),
    ):
        assert password not in shown
        assert query not in shown
    assert shown_url(shown_url(url)) == shown_url(url)


@given(
    st.sampled_from(_SCHEMES),
    st.text("abc", min_size=1),
    _SECRETS,
    st.sampled_from("/?#@:[]"),
    _SECRETS,
    _HOSTS,
    _PATHS,
)
def test_a_password_that_was_written_as_it_is_is_not_shown(
    scheme: str, user: str, first: str, sign: str, second: str, host: str, path: str
) -> None:
    url = f"{scheme}://{user}:{first}{sign}{second}@{host}{path}"
    shown = [shown_url(url), without_login(f"{url} is none", url), without_secrets(f"invalid port {first}", url)]
    assert not [text for text in shown if first in text or second in text]


@given(_SECRETS, st.sampled_from("/?#@: %"))
def test_a_library_that_tells_a_password_decoded_is_not_repeated(secret: str, sign: str) -> None:
    password = f"{secret}{sign}{secret}"
    told = without_secrets(f"login failed for {password}", f"smb://user:{quote(password, safe='')}@host/x")
    assert told == "login failed for …"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("HTTPS://user:pass@127.0.0.1:1/x?s=S", "https://127.0.0.1:1/x"),
        ("https://TOKEN@host/x", "https://host/x"),
        ("s3://KEY:SE/CRET@bucket/x", "s3://…"),
        ("https://user:pass", "https://…"),
        ("github://org:repo@main/x", "github://org:repo@main/x"),
        ("abfs://box@account.example/x?sig=S", "abfs://box@account.example/x"),
        ("hf://datasets/org/name@v1/x", "hf://datasets/org/name@v1/x"),
        ("file:///a@b/c?d", "file:///a@b/c?d"),
        ("zip://a.jsonl::https://u:p@host/x.zip?s=S", "zip://a.jsonl::https://host/x.zip"),
        ("/a:b@c/d?e", "/a:b@c/d?e"),
    ],
)
def test_what_names_the_place_is_shown(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_our_own_words_stay_where_a_user_has_a_name_of_them() -> None:
    url = "http://a:e@host/data?e"
    assert (
        without_login(f"there is nothing ({url}/part, line 1)", url)
        == "there is nothing (http://host/data/part, line 1)"
    )


def test_paths_and_urls_of_files_are_local() -> None:
    assert all(map(is_local, ("data", "/data", "file:///data", "FILE:///data", "local:///data", "C:/data")))
    assert not any(map(is_local, ("http://host/data", "s3://bucket/data", "zip://a::file:///data.zip")))


@pytest.mark.parametrize(
    ("written", "opened"),
    [
        ("HTTPS://Host/Path?Q=A", "https://Host/Path?Q=A"),
        ("Zip://A/B::FILE:///X.zip", "zip://A/B::file:///X.zip"),
        ("FileCache::S3://Bucket/X", "filecache::s3://Bucket/X"),
        ("/Data/A::B", "/Data/A::B"),
        ("Data", "Data"),
    ],
)
def test_schemes_are_opened_in_small_letters_and_nothing_else_is_changed(written: str, opened: str) -> None:
    assert opened_url(written) == opened
    assert is_url(written) == is_url(opened)


def test_an_error_is_reworded_and_stays_what_it_is() -> None:
    error = InputError("no a", where="a", mend="call a")
    error.reword(lambda text: text.replace("a", "b"))
    assert (str(error), error.where) == ("no b (b); cbll b", "b")
    nowhere = InputError("a")
    nowhere.reword(str.upper)
    assert (str(nowhere), nowhere.where, nowhere.mend) == ("A", None, None)
