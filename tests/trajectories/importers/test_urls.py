"""What goes wrong over a URL is one line, and tells no secret."""

from __future__ import annotations

import errno
import os
import socket

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from trajectories import InputError
from trajectories.importers.urls import check_url, failure
from trajectories.urls import HTTP, shown_url


def _wrapped(inner: Exception) -> Exception:
    """An error as libraries pass it on, two layers above."""
    try:
        try:
            raise RuntimeError("Max retries exceeded") from inner
        except RuntimeError as error:
            raise FileNotFoundError("http://host.invalid/a") from error
    except FileNotFoundError as error:
        return error


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connect call failed ('::1', 9)"), os.strerror(errno.ECONNREFUSED)),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "Name or service not known"),
        (TimeoutError(errno.ETIMEDOUT, "took too long"), os.strerror(errno.ETIMEDOUT)),
    ],
)
def test_a_refused_connection_is_told_as_the_system_tells_it_below_all_layers(inner: Exception, told: str) -> None:
    found = failure(_wrapped(inner), "http://host.invalid/a")
    assert found.exit_code == 1
    assert str(found).startswith(f"it cannot be fetched: {told} (http://host.invalid/a); check the URL")


def test_what_is_not_there_is_an_input_error_and_a_full_disk_is_none() -> None:
    assert failure(FileNotFoundError("x"), "memory://a").exit_code == 2
    assert "the disk is full" in str(failure(OSError(errno.ENOSPC, "No space left"), "memory://a"))


def test_a_wall_of_text_is_cut_to_a_line() -> None:
    assert len(str(failure(RuntimeError("a\nb " * 10_000), "memory://a"))) < 400


@given(st.sampled_from(HTTP), st.text() | st.just("[::1]"), st.text("secret", min_size=30), st.text())
def test_whatever_a_url_looks_like_its_query_is_not_shown(scheme: str, host: str, secret: str, end: str) -> None:
    assume("://" not in host and secret not in host)
    url = f"{scheme}{host}/a?token={secret}{end}"
    assert secret not in shown_url(url)
    assert secret not in str(failure(RuntimeError(f"no answer from {url}"), url))


def test_what_only_looks_like_a_url_is_refused() -> None:
    with pytest.raises(InputError, match=r"not a URL.*; check it"):
        check_url("http://[::1")


@pytest.mark.parametrize("url", ["https://user:geheim@[::1", "https://user:geheim@h\u2100st/x"])
def test_what_is_wrong_with_a_url_is_told_without_its_password(url: str) -> None:
    with pytest.raises(InputError, match="not a URL") as refused:
        check_url(url)
    assert "geheim" not in str(refused.value)
