"""The forms an action may take in a task file, and the action each stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from trajectories import Action
from trajectories.spelling import nearest

LINE_WAIT_S = 5.0
"""How long a typed line is given at most, in seconds; a shell that says when a command has ended is not waited for."""

Model = TypeVar("Model", bound=BaseModel)

_FORMS = "a line to type, {keystrokes, duration}, a list of those, or {call: {name, arguments}}"


class _Keys(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    keystrokes: str
    duration: float = Field(default=1.0, ge=0, le=600)


class _Call(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


def parse_action(value: object) -> Action:
    """An action of a task file as an :class:`Action`. Raises ``ValueError`` that says what is wrong with it."""
    if isinstance(value, Action):
        return value
    if isinstance(value, Mapping) and "call" in value:
        _refuse_unknown(value, {"call"})
        call = _checked(_Call, value["call"])
        return Action.call(call.name, call.arguments)
    keys = [_parse_keys(item) for item in (value if isinstance(value, list) else [value])]
    return Action.keys(*((item.keystrokes, item.duration) for item in keys))


def _parse_keys(value: object) -> _Keys:
    if isinstance(value, str):
        return _Keys(keystrokes=value if value.endswith("\n") else value + "\n", duration=LINE_WAIT_S)
    if isinstance(value, Mapping) and not value.keys().isdisjoint(_Keys.model_fields):
        return _checked(_Keys, value)
    raise ValueError(f"an action is {_FORMS}; this is {value!r} (put a line to type that YAML takes apart into quotes)")


def _checked(model: type[Model], value: object) -> Model:
    if isinstance(value, Mapping):
        _refuse_unknown(value, set(model.model_fields))
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise ValueError(f"{key + ': ' if key else ''}{first['msg']}; an action is {_FORMS}") from None


def _refuse_unknown(value: Mapping[object, object], known: set[str]) -> None:
    for key in value:
        if key not in known:
            raise ValueError(f"unknown key '{key}'; {nearest(str(key), known)}")
