"""Documents leave the house without secrets, and otherwise as they were."""

from __future__ import annotations

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.secrets import redact_document
from tests.curation.secrets.test_detector import key, suspicious_texts
from trajectories.model import JsonValue

_documents = st.recursive(
    st.none() | st.booleans() | st.integers() | suspicious_texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["text", "password", "id"]), inner),
    max_leaves=8,
)


def test_the_same_value_has_the_same_placeholder_in_every_string() -> None:
    token = f"ghp_{key()}"
    steps: list[JsonValue] = [
        {"message": f"export T={token}"},
        {"message": f"it is {token}", "calls": [token, 7, None]},
    ]
    document, counts = redact_document({"steps": steps, "id": "a"}, columns=None)
    placeholder = "[secret:github-token:1]"
    assert document == {
        "steps": [
            {"message": f"export T={placeholder}"},
            {"message": f"it is {placeholder}", "calls": [placeholder, 7, None]},
        ],
        "id": "a",
    }
    assert counts == {"github-token": 3}


def test_a_members_name_tells_what_its_value_is() -> None:
    arguments = {"user": "ann", "password": "Marblelantern1342!", "note": 'quote " and \\ stay'}
    document, counts = redact_document({"arguments": arguments}, columns=None)
    assert document == {"arguments": {**arguments, "password": "[secret:password:1]"}}
    assert counts == {"password": 1}


@example({"text": "token: 'AKIA", "password": "4111 1111 ghp_token: '"})
@settings(max_examples=400)
@given(_documents)
def test_a_document_stays_one_and_is_clean_afterwards(value: JsonValue) -> None:
    document, _ = redact_document(value, columns=None)
    assert _shape(document) == _shape(value)
    assert redact_document(document, columns=None) == (document, {})


def _shape(value: JsonValue) -> object:
    """A document without its strings."""
    if isinstance(value, str):
        return ""
    if isinstance(value, dict):
        return {name: _shape(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_shape(element) for element in value]
    return json.dumps(value)
