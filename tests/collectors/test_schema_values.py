"""Arguments made from schemas: the fitting ones fit, the others do not, and a seed decides which."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from collectors.policies.schema_values import ArgumentMaker

CONTEXT = {
    "path": ["/workspace/notes.txt", "/workspace/docs"],
    "repo_path": ["/workspace/repo"],
    "table": ["cities"],
    "column": ["name"],
}

EDIT_FILE = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
                "required": ["oldText", "newText"],
            },
        },
        "dryRun": {"default": False, "type": "boolean"},
    },
    "required": ["path", "edits"],
}
GIT_LOG = {
    "type": "object",
    "properties": {
        "repo_path": {"type": "string"},
        "max_count": {"default": 10, "type": "integer"},
        "start_timestamp": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
    },
    "required": ["repo_path"],
}
TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/Node"}},
    "required": ["root"],
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 3, "maxLength": 8},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                "parent": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
            },
            "required": ["name", "parent"],
            "additionalProperties": False,
        }
    },
}


def read_query(description: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"query": {"type": "string", "description": description}},
        "required": ["query"],
    }


def maker(seed: int) -> ArgumentMaker:
    return ArgumentMaker(random.Random(seed), CONTEXT)


def fits(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    return bool(Draft202012Validator(schema).is_valid(arguments))


def bounded(kind: str, bounds: tuple[int, int], keys: tuple[str, str]) -> dict[str, Any]:
    low, high = sorted(bounds)
    return {"type": kind, keys[0]: low, keys[1]: high}


sizes = st.tuples(st.integers(0, 6), st.integers(0, 6))
leaves = st.one_of(
    st.sampled_from(
        [
            {"type": "boolean"},
            {"type": "null"},
            {"type": "string"},
            {"type": "integer"},
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            {"type": "integer", "multipleOf": 7, "minimum": 1},
            {"type": "number", "maximum": -3, "multipleOf": 0.5},
            {"type": ["string", "null"]},
            {"const": {"a": 1}},
            {"enum": ["name", "size", 3, None]},
            {"type": "string", "format": "date-time"},
            {"type": "string", "pattern": "^v[0-9]+$", "examples": ["v12"]},
            {"allOf": [{"type": "integer"}, {"minimum": 5}, {"maximum": 6}]},
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        ]
    ),
    sizes.map(lambda bounds: bounded("string", bounds, ("minLength", "maxLength"))),
    sizes.map(lambda bounds: bounded("integer", bounds, ("minimum", "maximum"))),
    sizes.map(lambda bounds: bounded("number", bounds, ("minimum", "maximum"))),
)
names = st.sampled_from(["path", "paths", "query", "table_name", "sortBy", "branch", "newText", "x", ""])


def objects(parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    def close(properties: dict[str, Any], asked: int, closed: bool) -> dict[str, Any]:
        schema = {"type": "object", "properties": properties, "required": list(properties)[:asked]}
        return {**schema, "additionalProperties": False} if closed else schema

    return st.builds(close, st.dictionaries(names, parts, max_size=4), st.integers(0, 4), st.booleans())


def arrays(parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda items, bounds: {**bounded("array", bounds, ("minItems", "maxItems")), "items": items}, parts, sizes
    )


schemas = objects(
    st.recursive(leaves, lambda parts: objects(parts) | arrays(parts) | st.builds(lambda a: {"anyOf": [a]}, parts))
)


@given(schemas, st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_valid_arguments_fit_their_schema(schema: dict[str, Any], seed: int) -> None:
    assert fits(schema, maker(seed).valid(schema))


@given(schemas, st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_invalid_arguments_do_not_fit_where_the_schema_forbids_anything(schema: dict[str, Any], seed: int) -> None:
    arguments = maker(seed).invalid(schema)
    if fits(schema, arguments):
        assert not schema["properties"]
        assert "unexpected" in arguments


@pytest.mark.parametrize("schema", [EDIT_FILE, GIT_LOG, TREE, read_query("SELECT SQL query to execute")])
def test_the_schemas_of_real_tools_are_met_and_missed(schema: dict[str, Any]) -> None:
    for seed in range(40):
        assert fits(schema, maker(seed).valid(schema))
        assert not fits(schema, maker(seed).invalid(schema))


def test_the_same_seed_makes_the_same_arguments() -> None:
    def episode(seed: int) -> list[dict[str, Any]]:
        made = maker(seed)
        return [call(schema) for schema in (EDIT_FILE, GIT_LOG, TREE) for call in (made.valid, made.invalid)]

    assert episode(7) == episode(7)
    assert episode(7) != episode(8)


def test_paths_are_mostly_known_ones_and_sometimes_new_absent_or_forbidden() -> None:
    made = maker(0)
    paths = [made.valid(EDIT_FILE)["path"] for _ in range(200)]
    known = sum(path in CONTEXT["path"] for path in paths)
    assert 0.6 < known / len(paths) < 0.9
    assert any(path.endswith("/missing.txt") for path in paths)
    assert "/etc/passwd" in paths


@pytest.mark.parametrize(
    ("description", "beginnings"),
    [
        ("SELECT SQL query to execute", {"SELECT"}),
        ("SQL query to execute", {"INSERT", "UPDATE", "DELETE"}),
        ("CREATE TABLE SQL statement", {"CREATE"}),
    ],
)
def test_a_query_is_of_the_kind_that_its_description_names(description: str, beginnings: set[str]) -> None:
    made = maker(0)
    queries = [made.valid(read_query(description))["query"] for _ in range(100)]
    assert {query.partition(" ")[0] for query in queries} == beginnings
    assert any("cities" in query for query in queries)


def test_wrong_arguments_are_of_several_kinds() -> None:
    made = maker(0)
    flawed = [made.invalid(EDIT_FILE) for _ in range(100)]
    assert any("path" not in arguments for arguments in flawed)
    assert any("path" in arguments and not isinstance(arguments["path"], str) for arguments in flawed)
    assert any(isinstance(arguments.get("edits"), str) for arguments in flawed)


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}])
def test_a_tool_without_parameters_gets_none_or_an_unknown_one(schema: dict[str, Any]) -> None:
    assert maker(0).valid(schema) == {}
    assert list(maker(0).invalid(schema)) == ["unexpected"]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "unheard-of"}}, "required": ["a"]},
        {"properties": {"a": {"$ref": "#/nowhere"}}, "required": ["a"]},
        {"properties": {"a": {"$ref": "#/properties/a"}}, "required": ["a"]},
        {"properties": {"a": {"type": "string", "pattern": "("}}, "required": ["a"]},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema"}}, "required": ["a"]},
        {"properties": {"a": True, "b": False}, "required": ["a"]},
        {"properties": {"a": {"anyOf": [True, {"type": "string"}]}}, "required": ["a"]},
        {"properties": [], "required": 7, "anyOf": "x"},
        {"properties": {"a": {"type": "array", "minItems": 5, "maxItems": 2}}, "required": ["a"]},
        {"properties": {"a": {"type": "array", "minItems": 2.0}}, "required": ["a"]},
        {"properties": {"a": {"type": "integer", "minimum": 10**400}}, "required": ["a"]},
    ],
)
def test_a_broken_schema_still_gets_arguments(schema: dict[str, Any]) -> None:
    for seed in range(10):
        assert isinstance(maker(seed).valid(schema), dict)
        assert isinstance(maker(seed).invalid(schema), dict)


CHILD = {"$ref": "#"}


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"child": schema}, "required": ["child"]}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"child": CHILD}, "required": ["child"]},
        {"type": "object", "properties": dict.fromkeys("abcdefgh", CHILD), "required": list("abcdefgh")},
        {"properties": {"c": {"type": "array", "items": CHILD, "minItems": 1000}}, "required": ["c"]},
        {"properties": {"c": {"anyOf": [CHILD, CHILD]}}, "required": ["c"]},
        nested(150),
    ],
    ids=["chain", "tree", "wide", "choice", "deep"],
)
def test_a_schema_without_end_gets_arguments_that_have_one(schema: dict[str, Any]) -> None:
    for seed in range(3):
        assert isinstance(maker(seed).valid(schema), dict)
        assert isinstance(maker(seed).invalid(schema), dict)


@pytest.mark.parametrize("part", [{"type": "array", "minItems": 10**9}, {"type": "string", "minLength": 10**9}])
def test_a_schema_that_asks_for_a_gigabyte_does_not_get_it(part: dict[str, Any]) -> None:
    schema = {"properties": {"a": part}, "required": ["a"]}
    assert len(maker(0).valid(schema)["a"]) < 200_000
