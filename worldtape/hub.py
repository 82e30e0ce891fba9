"""The Hub's client, as a command line wants it."""

from __future__ import annotations

from huggingface_hub.utils import logging


def quiet_hub() -> None:
    """Keep the client's retries and warnings to itself: what goes wrong in the end is one line of ours."""
    logging.set_verbosity_error()
