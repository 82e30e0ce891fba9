"""Arguments made from a tool's JSON schema: ones that fit it, and ones that do not."""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from collectors.policies.named_values import NamedValues
from trajectories import JsonValue

Schema: TypeAlias = Mapping[str, Any]

_ATTEMPTS = 20
_OPTIONAL_SHARE = 0.4
_MAX_DEPTH = 5
_DEEPEST = 2 * _MAX_DEPTH
_MOST_VALUES = 10_000
"""Beyond these a value is null: a schema may ask for a part of its own kind without end."""
_MAX_REFERENCES = 20
_MORE_ITEMS = 3
_MOST_ITEMS = 1000
_LONGEST_TEXT = 100_000
"""What a schema asks beyond these is not met: a server may ask for a text of a gigabyte."""
_SPAN = 20
"""How many steps a number lies from its only bound, at most."""
_JUNK: Sequence[JsonValue] = (7, -1, 2.5, 10**9, "seven", "", "x" * 300, True, None, [], {}, ["a", 1], {"odd": "value"})
_FORMATS: Mapping[str, str] = {
    "date": "2026-01-15",
    "date-time": "2026-01-15T14:30:25Z",
    "email": "ada@example.org",
    "uri": "https://example.org/index.html",
    "uuid": "6fa459ea-ee8a-4ca4-894e-db77e160355e",
}


class ArgumentMaker:
    """Makes arguments for tool calls; the same state of ``rng`` and the same context make the same arguments.

    Understood are ``type``, ``enum``, ``const``, ``properties``, ``required``, ``items``, ``uniqueItems``, the bounds
    of numbers, strings and arrays, ``multipleOf``, ``anyOf``, ``oneOf``, ``allOf`` and local ``$ref``. What a schema
    asks beyond that is met by luck, or by its own ``default`` and ``examples``.

    Args:
        rng: where every choice comes from.
        context: known values by kind, see :class:`~collectors.policies.named_values.NamedValues`.
    """

    def __init__(self, rng: random.Random, context: Mapping[str, Sequence[str]]) -> None:
        self._rng = rng
        self._named = NamedValues(rng, context)

    def valid(self, schema: Schema) -> dict[str, Any]:
        """Arguments that fit the schema; what they are about need not exist in the world."""
        return self._fitting(_sound(schema))

    def invalid(self, schema: Schema) -> dict[str, Any]:
        """Arguments that do not fit: one is missing, of a wrong type, out of bounds, or not in its enumeration.

        Where the schema forbids nothing, there is one that the tool does not know.
        """
        schema = _sound(schema)
        arguments = self._fitting(schema)
        resolved = _Sampler(schema, self._rng, self._named).resolved(schema)
        flawed = [list(_each_missing(resolved, arguments)), list(_each_wrong(resolved, arguments))]
        for group in self._rng.sample(flawed, len(flawed)):
            for candidate in self._rng.sample(group, len(group)):
                if not accepts(schema, candidate):
                    return candidate
        return {**arguments, "unexpected": self._named.sentence()}

    def _fitting(self, schema: Schema) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for _ in range(_ATTEMPTS):
            sampler = _Sampler(schema, self._rng, self._named)
            arguments = sampler.object(sampler.resolved(schema), depth=0)
            if next(sampler.numbers) > _MOST_VALUES or accepts(schema, arguments):
                break
        return arguments


def _sound(schema: Schema) -> Schema:
    """The schema, or one that forbids nothing where it is no JSON schema: servers may list anything."""
    try:
        validator_for(schema, default=Draft202012Validator).check_schema(dict(schema))
    except (SchemaError, RecursionError):
        return {}
    return schema


def accepts(schema: Schema, value: JsonValue) -> bool:
    """Whether the value fits. A schema that cannot be judged forbids nothing."""
    validator = validator_for(schema, default=Draft202012Validator)
    try:
        # An empty registry: a server's schema must not make us fetch what it refers to.
        return bool(validator(schema, registry=Registry()).is_valid(value))
    except (Unresolvable, re.error, RecursionError):
        return True


def _each_missing(schema: Schema, arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in schema.get("required", ()):
        yield {key: value for key, value in arguments.items() if key != name}


def _each_wrong(schema: Schema, arguments: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in schema.get("properties", {}):
        for junk in _JUNK:
            yield {**arguments, name: junk}


@dataclass(frozen=True, slots=True)
class _Sampler:
    """Makes values for parts of one schema."""

    root: Schema
    rng: random.Random
    named: NamedValues
    numbers: Iterator[int] = field(default_factory=itertools.count)
    """Counts the values made."""

    def resolved(self, schema: Schema | bool, depth: int = 0) -> Schema:
        """An equal or narrower schema without references and combinations at its top."""
        plain: Schema = {} if isinstance(schema, bool) else schema
        for _ in range(_MAX_REFERENCES):
            if "$ref" in plain:
                parts: list[Schema | bool] = [self._referenced(plain["$ref"])]
            elif "allOf" in plain:
                parts = plain["allOf"]
            elif "anyOf" in plain or "oneOf" in plain:
                parts = [self._option(plain.get("anyOf") or plain["oneOf"], depth)]
            else:
                return plain
            rest = {key: value for key, value in plain.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")}
            plain = _merged([part for part in (*parts, rest) if isinstance(part, Mapping)])
        return plain

    def object(self, schema: Schema, depth: int) -> dict[str, Any]:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        required: Sequence[str] = schema.get("required", ())
        share = _OPTIONAL_SHARE if depth < _MAX_DEPTH else 0.0
        chosen = [name for name in properties if name in required or self.rng.random() < share]
        chosen += [name for name in required if name not in properties]
        return {name: self._value(properties.get(name, {}), name, depth + 1) for name in chosen}

    def _value(self, schema: Schema | bool, name: str, depth: int) -> JsonValue:
        if depth > _DEEPEST or next(self.numbers) > _MOST_VALUES:
            return None
        plain = self.resolved(schema, depth)
        if "const" in plain:
            return plain["const"]  # type: ignore[no-any-return]  # any JSON value
        if values := plain.get("enum"):
            return self.rng.choice(values)  # type: ignore[no-any-return]  # any JSON value
        match self._type(plain):
            case "object":
                return self.object(plain, depth)
            case "array":
                return self._array(plain, name, depth)
            case "integer" | "number":
                return self._number(plain)
            case "boolean":
                return self.rng.random() < 0.5
            case "null":
                return None
            case _:
                return self._string(plain, name)

    def _type(self, schema: Schema) -> str:
        kind = schema.get("type")
        if isinstance(kind, str):
            return kind
        if kind:
            return str(self.rng.choice(kind))
        if "properties" in schema or "required" in schema:
            return "object"
        return "array" if "items" in schema else "string"

    def _array(self, schema: Schema, name: str, depth: int) -> list[JsonValue]:
        fewest = int(min(schema.get("minItems", 0), _MOST_ITEMS))
        most = int(min(schema.get("maxItems", math.inf), fewest + (_MORE_ITEMS if depth < _MAX_DEPTH else 0)))
        wanted = self.rng.randint(fewest, max(fewest, most))
        items: list[JsonValue] = []
        for attempt in range(wanted * _ATTEMPTS):
            if len(items) == wanted:
                break
            item = self._value(schema.get("items", {}), name, depth + 1)
            must_differ = schema.get("uniqueItems", False) or attempt < 2 * wanted
            if not (must_differ and item in items):
                items.append(item)
        return items

    def _number(self, schema: Schema) -> int | float:
        step = schema.get("multipleOf", 1)
        low, high = _bounds(schema, _SPAN * step)
        try:
            first, last = math.ceil(low / step), math.floor(high / step)
        except OverflowError:  # beyond what a float holds
            return low
        first += first * step == schema.get("exclusiveMinimum")
        last -= last * step == schema.get("exclusiveMaximum")
        if first > last:
            return self.rng.uniform(low, high)
        number = self.rng.randint(first, last) * step
        return int(number) if number == int(number) else number

    def _string(self, schema: Schema, name: str) -> str:
        wishes = [
            self.named.make(name, str(schema.get("description", ""))),
            _FORMATS.get(schema.get("format", "")),
            schema.get("default"),
            *schema.get("examples", ()),
        ]
        for wish in wishes:
            if isinstance(wish, str) and accepts(schema, wish):
                return wish
        text = self.named.sentence()
        while len(text) < min(schema.get("minLength", 0), _LONGEST_TEXT):
            text += f" {self.named.sentence()}"
        return text[: int(schema.get("maxLength", len(text)))]

    def _option(self, options: Sequence[Schema | bool], depth: int) -> Schema | bool:
        if depth < _MAX_DEPTH:
            return self.rng.choice(options)
        return min(options, key=_complexity)

    def _referenced(self, reference: str) -> Schema:
        """What a local reference (``#/$defs/Name``) means; anything at all where it leads nowhere."""
        target: Any = self.root
        for part in reference.removeprefix("#").split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            target = target.get(key, {}) if isinstance(target, Mapping) else {}
        return target if isinstance(target, Mapping) else {}


def _complexity(schema: Schema | bool) -> tuple[bool, int]:
    text = json.dumps(schema)
    return '"$ref"' in text, len(text)


def _merged(schemas: Sequence[Schema]) -> Schema:
    """All of them at once, as far as their properties and required names go; else the last one wins."""
    merged: dict[str, Any] = {}
    for schema in schemas:
        both = {
            "properties": {**merged.get("properties", {}), **schema.get("properties", {})},
            "required": [*merged.get("required", ()), *schema.get("required", ())],
        }
        merged |= schema
        merged |= {key: value for key, value in both.items() if value}
    return merged


def _bounds(schema: Schema, span: float) -> tuple[float, float]:
    lows = [schema[key] for key in ("minimum", "exclusiveMinimum") if key in schema]
    highs = [schema[key] for key in ("maximum", "exclusiveMaximum") if key in schema]
    if lows:
        return max(lows), min(highs, default=max(lows) + span)
    if highs:
        return min(highs) - span, min(highs)
    return 0, span
